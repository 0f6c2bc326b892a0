// A histogram as bars, with its median and 95th percentile in words.
import { quantile, type Bucket } from "../api/metrics";
import { formatNumber, t } from "../i18n";

const WIDTH = 480;
const HEIGHT = 140;
const FOOT = 18;

export function duration(seconds: number): string {
  const ms = seconds * 1000;
  return ms >= 1000 ? `${formatNumber(ms / 1000)} s` : `${formatNumber(ms < 10 ? ms : Math.round(ms))} ms`;
}

function bound(bucket: Bucket): string {
  return bucket.upTo === Infinity ? "∞" : duration(bucket.upTo);
}

// Without the empty ends, but with one bar around what is there.
function trimmed(buckets: Bucket[]): Bucket[] {
  const first = buckets.findIndex((bucket) => bucket.count > 0);
  if (first < 0) return buckets.slice(0, 8);
  const end = buckets.findLastIndex((bucket) => bucket.count > 0);
  return buckets.slice(Math.max(0, first - 1), end + 2);
}

function Bars({ buckets, title }: { buckets: Bucket[]; title: string }) {
  const shown = trimmed(buckets);
  const most = Math.max(1, ...shown.map((bucket) => bucket.count));
  const width = WIDTH / Math.max(shown.length, 1);
  const each = Math.ceil(shown.length / 8); // labels that do not touch
  const values = shown.map((bucket) => t("plotBar", { bound: bound(bucket), n: bucket.count })).join(", ");
  return (
    <svg class="bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t("plotValues", { title, values })}>
      {shown.map((bucket, i) => {
        const height = ((HEIGHT - FOOT - 4) * bucket.count) / most;
        return (
          <g key={bucket.upTo}>
            <rect
              class={bucket.count > 0 ? "bar" : "bar none"}
              x={i * width + 2}
              y={HEIGHT - FOOT - Math.max(height, 2)}
              width={Math.max(width - 4, 1)}
              height={Math.max(height, 2)}
              rx="2"
            >
              <title>{t("plotBar", { bound: bound(bucket), n: bucket.count })}</title>
            </rect>
            {i % each === 0 && (
              <text x={(i + 0.5) * width} y={HEIGHT - 4} text-anchor="middle">
                {bound(bucket)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

export function Distribution({ title, testId, buckets }: { title: string; testId: string; buckets: Bucket[] }) {
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const half = quantile(buckets, 0.5);
  const most = quantile(buckets, 0.95);
  return (
    <section
      class="card plot"
      data-testid={testId}
      data-count={count}
      data-p50-ms={half === undefined ? undefined : Math.round(half * 1e4) / 10}
      data-p95-ms={most === undefined ? undefined : Math.round(most * 1e4) / 10}
    >
      <h2>{title}</h2>
      <p class="hint">
        {half === undefined || most === undefined
          ? t("noValues")
          : `${t("half", { ms: duration(half) })}${t("comma")}${t("most95", { ms: duration(most) })}`}
      </p>
      <Bars buckets={buckets} title={title} />
    </section>
  );
}
