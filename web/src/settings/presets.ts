// Presets: controls for a purpose. Each sets only the sampling; the system prompt, stop
// strings and the schema stay what they are.
import { EMPTY_CONTROLS, type Controls } from "./fields";

export const PRESETS = {
  default: {},
  chat: { temperature: "0.8", top_p: "0.95", min_p: "0.05", repeat_penalty: "1.05" },
  code: { temperature: "0.2", top_p: "0.95", top_k: "40", repeat_penalty: "1" },
  extraction: { temperature: "0", top_k: "1", repeat_penalty: "1" },
  // Small models repeat themselves; short answers keep them on their way.
  edge: { temperature: "0.5", top_k: "20", top_p: "0.9", repeat_penalty: "1.1", max_tokens: "256" },
} satisfies Record<string, Partial<Controls>>;

export type Preset = keyof typeof PRESETS;

export function withPreset(controls: Controls, preset: Preset): Controls {
  const { system, stop, schema, seed } = controls;
  return { ...EMPTY_CONTROLS, ...PRESETS[preset], system, stop, schema, seed };
}

export function presetOf(controls: Controls): Preset | undefined {
  const names = Object.keys(PRESETS) as Preset[];
  return names.find((name) => {
    const wanted = withPreset(controls, name);
    return (Object.keys(wanted) as (keyof Controls)[]).every((key) => wanted[key] === controls[key]);
  });
}
