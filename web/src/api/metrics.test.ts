import { expect, test } from "vitest";

import { histogramOf, histogramSince, parseMetrics, quantile, valueOf } from "./metrics";

const TEXT = `# HELP x y
llamacpp:prompt_tokens_total 8
vivace_engine_steps_total{model="a\\"b"} 5
vivace_engine_steps_total{model="c"} 7
t_bucket{le="0.1"} 2
t_bucket{le="0.2"} 6
t_bucket{le="+Inf"} 6
`;

test("numbers and labels", () => {
  const metrics = parseMetrics(TEXT);
  expect(valueOf(metrics, "llamacpp:prompt_tokens_total")).toBe(8);
  expect(valueOf(metrics, "vivace_engine_steps_total")).toBe(12);
  expect(metrics.get("vivace_engine_steps_total")?.[0]?.labels).toEqual({ model: 'a"b' });
  expect(valueOf(metrics, "absent")).toBeUndefined();
});

test("histograms and what came since", () => {
  const now = histogramOf(parseMetrics(TEXT), "t");
  expect(now).toEqual([
    { upTo: 0.1, count: 2 },
    { upTo: 0.2, count: 4 },
    { upTo: Infinity, count: 0 },
  ]);
  const before = now.map((bucket) => ({ ...bucket, count: 1 }));
  before[2]!.count = 0;
  expect(histogramSince(before, now).map((bucket) => bucket.count)).toEqual([1, 3, 0]);
  expect(histogramSince(now, before)).toBe(before); // started again
  expect(quantile(now, 0.5)).toBeCloseTo(0.125);
  expect(quantile([], 0.5)).toBeUndefined();
});
