// How long an answer took and why, in plain words, with a small plot of its speed.
import type { Timings } from "../api/timings";
import { formatNumber, t } from "../i18n";

const round = (ms: number): string => formatNumber(ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms));

function firstToken(timings: Timings): string {
  const preparing = (timings.template_ms ?? 0) + (timings.tokenize_ms ?? 0);
  const parts: string[] = [];
  if (timings.queue_ms >= 0.5) parts.push(t("partWaiting", { ms: round(timings.queue_ms) }));
  if (preparing >= 0.5) parts.push(t("partPreparing", { ms: round(preparing) }));
  if (timings.cache_ms >= 0.5) parts.push(t("partCache", { ms: round(timings.cache_ms) }));
  parts.push(t("partReading", { ms: round(timings.prefill_ms), n: timings.prompt_n }));
  return `${t("firstToken", { ms: round(timings.first_token_ms) })}${t("colon")}${parts.join(t("comma"))}`;
}

export function timingWords(timings: Timings): string {
  const words = [firstToken(timings)];
  if (timings.predicted_per_second > 0) {
    const speed = t("speed", { rate: round(timings.predicted_per_second) });
    words.push(`${t("length", { n: timings.predicted_n })}${t("comma")}${speed}`);
  }
  const prompt = timings.cache_n + timings.prompt_n;
  words.push(t("remembered", { cached: timings.cache_n, prompt }));
  if (timings.draft_n > 0) words.push(t("drafted", { right: timings.draft_n_accepted, all: timings.draft_n }));
  if (timings.dropped_tokens > 0) words.push(t("dropped", { n: timings.dropped_tokens }));
  return words.join(t("semicolon"));
}

const WIDTH = 88;
const HEIGHT = 18;

export function SpeedPlot({ rates: measured }: { rates: number[] }) {
  if (measured.length === 0) return null;
  const rates = measured.length === 1 ? [measured[0]!, measured[0]!] : measured;
  const most = Math.max(...rates);
  const step = WIDTH / (rates.length - 1);
  const points = rates.map((rate, i) => `${(i * step).toFixed(1)},${(HEIGHT - 1 - (rate / most) * (HEIGHT - 2)).toFixed(1)}`);
  return (
    <svg
      class="speed-plot"
      data-testid="timing-plot"
      role="img"
      aria-label={t("speedPlot", { most: Math.round(most) })}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    >
      <polygon points={`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} class="plot-area" />
      <polyline points={points.join(" ")} class="plot-line" />
    </svg>
  );
}

// While an answer is written; as tall as what will stand there after it.
export function RunningSpeed({ rates }: { rates: number[] }) {
  const rate = rates.at(-1);
  return (
    <div class="timing running-speed">
      <SpeedPlot rates={rates} />
      {rate !== undefined && <span>{t("speed", { rate: round(rate) })}</span>}
    </div>
  );
}

export function TimingLine({ timings, rates }: { timings: Timings; rates: number[] }) {
  return (
    <div
      class="timing"
      data-testid="timing"
      data-cached={timings.cache_n}
      data-prompt={timings.cache_n + timings.prompt_n}
      data-predicted={timings.predicted_n}
    >
      <SpeedPlot rates={rates} />
      <span>{timingWords(timings)}</span>
    </div>
  );
}
