// What the server is: its properties, models, slots, cache.
import { json, send } from "./http";

export interface Props {
  default_generation_settings: { params: Record<string, unknown>; n_ctx: number };
  total_slots: number;
  model_alias: string;
  build_info: string;
  ui_settings?: { history?: boolean }; // whether the server keeps conversations
}

export interface Model {
  id: string;
  parent?: string;
  status?: { value: "loaded" | "loading" | "unloaded"; progress?: number }; // progress: 0 to 1
  meta?: { n_ctx: number; n_ctx_train: number; n_params: number; size: number; ftype: string };
}

export interface Slot {
  id: number;
  n_ctx: number;
  is_processing: boolean;
  n_prompt_tokens?: number;
  n_prompt_tokens_processed?: number;
  n_prompt_tokens_cache?: number;
  next_token?: { n_decoded: number }[];
}

export interface CacheModel {
  model: string;
  pages: number;
  page_bytes: number;
  pages_in_use: number;
  pages_cached: number;
  cached_tokens: number;
  cached_bytes: number;
  conversations: { cache_id: string; tokens: number; bytes: number; idle_ms: number }[];
}

const named = (path: string, model: string): string =>
  model ? `${path}?model=${encodeURIComponent(model)}` : path;

export const getProps = (model = ""): Promise<Props> => json(named("props", model));
export const getSlots = (model = ""): Promise<Slot[]> => json(named("slots", model));

export async function getModels(): Promise<Model[]> {
  return (await json<{ data: Model[] }>("v1/models")).data;
}

export async function getCache(): Promise<CacheModel[]> {
  return (await json<{ models: CacheModel[] }>("v1/cache")).models;
}

export async function getMetrics(): Promise<string> {
  return (await send("metrics")).text();
}

export async function countTokens(model: string, content: string, signal?: AbortSignal): Promise<number> {
  const body = { model, content, parse_special: false };
  const call = signal ? { body, signal } : { body };
  return (await json<{ tokens: number[] }>("tokenize", call)).tokens.length;
}

// Returns once the model is in memory; an empty prompt asks for nothing else.
export async function loadModel(model: string, signal: AbortSignal): Promise<void> {
  await send("api/generate", { body: { model, prompt: "", stream: false }, signal });
}
