// Prometheus' text format, as far as the server writes it.

export interface Sample {
  labels: Record<string, string>;
  value: number;
}

export type Metrics = Map<string, Sample[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const match of text.matchAll(LABEL)) {
    labels[match[1]!] = match[2]!.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
  }
  return labels;
}

export function parseMetrics(text: string): Metrics {
  const metrics: Metrics = new Map();
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) continue;
    const match = LINE.exec(line);
    if (!match) continue;
    const value = match[3] === "+Inf" ? Infinity : Number(match[3]);
    const samples = metrics.get(match[1]!) ?? [];
    samples.push({ labels: labelsOf(match[2] ?? ""), value });
    metrics.set(match[1]!, samples);
  }
  return metrics;
}

// The sum over all labels; undefined where the server has no such metric.
export function valueOf(metrics: Metrics, name: string): number | undefined {
  const samples = metrics.get(name);
  return samples?.reduce((sum, sample) => sum + sample.value, 0);
}

export interface Bucket {
  upTo: number; // seconds, or Infinity
  count: number; // in this bucket alone
}

export function histogramOf(metrics: Metrics, name: string): Bucket[] {
  let below = 0;
  return (metrics.get(`${name}_bucket`) ?? []).map((sample) => {
    const bound = sample.labels["le"] ?? "+Inf";
    const bucket = { upTo: bound === "+Inf" ? Infinity : Number(bound), count: sample.value - below };
    below = sample.value;
    return bucket;
  });
}

// What came between two scrapes; all of `now` where there is nothing before or the server
// was started again.
export function histogramSince(before: Bucket[] | undefined, now: Bucket[]): Bucket[] {
  if (!before || before.length !== now.length) return now;
  const since = now.map((bucket, i) => ({ upTo: bucket.upTo, count: bucket.count - before[i]!.count }));
  return since.some((bucket) => bucket.count < 0) ? now : since;
}

// Linear within a bucket, as Prometheus does; undefined without a value.
export function quantile(buckets: Bucket[], share: number): number | undefined {
  const total = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  if (total <= 0) return undefined;
  let wanted = share * total;
  let from = 0;
  for (const bucket of buckets) {
    if (wanted <= bucket.count && bucket.count > 0) {
      return bucket.upTo === Infinity ? from : from + ((bucket.upTo - from) * wanted) / bucket.count;
    }
    wanted -= bucket.count;
    if (bucket.upTo !== Infinity) from = bucket.upTo;
  }
  return from;
}
