// The controls: texts as they were typed, and what they say to the server. Empty is the
// server's default.
import type { Sampling } from "../api/chat";

export interface NumberField {
  name: keyof Omit<Sampling, "stop">;
  min: number;
  max: number;
  step: number; // 1: whole numbers
  parameter: string; // its name among the server's defaults
}

export const NUMBER_FIELDS: NumberField[] = [
  { name: "temperature", min: 0, max: 5, step: 0.1, parameter: "temperature" },
  { name: "top_p", min: 0, max: 1, step: 0.05, parameter: "top_p" },
  { name: "top_k", min: 0, max: 1_000_000, step: 1, parameter: "top_k" },
  { name: "min_p", min: 0, max: 1, step: 0.01, parameter: "min_p" },
  { name: "repeat_penalty", min: 0.01, max: 10, step: 0.05, parameter: "repeat_penalty" },
  { name: "presence_penalty", min: -2, max: 2, step: 0.1, parameter: "presence_penalty" },
  { name: "frequency_penalty", min: -2, max: 2, step: 0.1, parameter: "frequency_penalty" },
  { name: "max_tokens", min: 1, max: 1_000_000, step: 1, parameter: "max_tokens" },
  { name: "seed", min: 0, max: 4294967294, step: 1, parameter: "seed" },
];

export type ControlName = NumberField["name"] | "system" | "stop" | "schema";
export type Controls = Record<ControlName, string>;

export const EMPTY_CONTROLS: Controls = {
  system: "",
  temperature: "",
  top_p: "",
  top_k: "",
  min_p: "",
  repeat_penalty: "",
  presence_penalty: "",
  frequency_penalty: "",
  max_tokens: "",
  seed: "",
  stop: "",
  schema: "",
};

export type Fault = { kind: "range"; min: number; max: number } | { kind: "whole" } | { kind: "number" } | { kind: "json" };

export function numberOf(field: NumberField, text: string): number | undefined | Fault {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = Number(trimmed.replace(",", "."));
  if (!Number.isFinite(value)) return { kind: "number" };
  if (field.step === 1 && !Number.isInteger(value)) return { kind: "whole" };
  if (value < field.min || value > field.max) return { kind: "range", min: field.min, max: field.max };
  return value;
}

// One per line; \n and \t stand for what they stand for elsewhere.
export function stopsOf(text: string): string[] {
  const escapes: Record<string, string> = { n: "\n", t: "\t", "\\": "\\" };
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/\\([nt\\])/g, (_, c: string) => escapes[c]!));
}

export function schemaOf(text: string): unknown | Fault {
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { kind: "json" };
  } catch {
    return { kind: "json" };
  }
}

const isFault = (value: unknown): value is Fault =>
  typeof value === "object" && value !== null && typeof (value as Fault).kind === "string";

export interface Reading {
  sampling: Sampling;
  schema?: unknown;
  faults: Partial<Record<ControlName, Fault>>;
}

export function readControls(controls: Controls): Reading {
  const reading: Reading = { sampling: {}, faults: {} };
  for (const field of NUMBER_FIELDS) {
    const value = numberOf(field, controls[field.name]);
    if (typeof value === "number") reading.sampling[field.name] = value;
    else if (value) reading.faults[field.name] = value;
  }
  const stop = stopsOf(controls.stop);
  if (stop.length) reading.sampling.stop = stop;
  const schema = schemaOf(controls.schema);
  // A schema may have a member "kind" too, but then it is no fault of ours.
  if (isFault(schema) && schema.kind === "json" && Object.keys(schema).length === 1) reading.faults.schema = schema;
  else if (schema !== undefined) reading.schema = schema;
  return reading;
}
