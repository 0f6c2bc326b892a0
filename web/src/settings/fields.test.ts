import { expect, test } from "vitest";

import { EMPTY_CONTROLS, readControls, stopsOf } from "./fields";
import { presetOf, withPreset } from "./presets";

test("empty fields say nothing", () => {
  expect(readControls(EMPTY_CONTROLS)).toEqual({ sampling: {}, faults: {} });
});

test("values, and what is wrong with them", () => {
  const { sampling, faults, schema } = readControls({
    ...EMPTY_CONTROLS,
    temperature: "0,5",
    top_k: "1.5",
    top_p: "2",
    min_p: "few",
    seed: "0",
    stop: "END\n\\n\\n",
    schema: '{"type": "object"}',
  });
  expect(sampling).toEqual({ temperature: 0.5, seed: 0, stop: ["END", "\n\n"] });
  expect(faults).toEqual({ top_k: { kind: "whole" }, top_p: { kind: "range", min: 0, max: 1 }, min_p: { kind: "number" } });
  expect(schema).toEqual({ type: "object" });
  expect(readControls({ ...EMPTY_CONTROLS, schema: "[1]" }).faults).toEqual({ schema: { kind: "json" } });
  expect(stopsOf("a\\\\n\n\nb")).toEqual(["a\\n", "b"]);
});

test("a preset keeps the prompt and is known again", () => {
  const controls = withPreset({ ...EMPTY_CONTROLS, system: "S", temperature: "2" }, "code");
  expect(controls).toMatchObject({ system: "S", temperature: "0.2" });
  expect(presetOf(controls)).toBe("code");
  expect(presetOf(EMPTY_CONTROLS)).toBe("default");
  expect(presetOf({ ...EMPTY_CONTROLS, top_k: "7" })).toBeUndefined();
});
