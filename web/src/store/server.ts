// The server as the page knows it: whether it answers, its models, which one is chosen.
import { computed, signal } from "@preact/signals";

import { factsOf, isAbort } from "../api/errors";
import { apiKey } from "../api/http";
import { getModels, getProps, loadModel, type Model, type Props } from "../api/server";
import { preferences } from "../settings/preferences";

const AGAIN_MS = 2000;
const PROGRESS_MS = 400;

export type Connection = "unknown" | "up" | "down" | "loading" | "key";

interface Loading {
  model: string;
  sinceMs: number;
  share?: number; // done, 0 to 1; only where it takes longer
  error?: string;
}

export const connection = signal<Connection>("unknown");
export const keyRefused = signal(false); // the key that was given is a wrong one
export const historyKept = signal<boolean | undefined>(undefined);
export const models = signal<Model[]>([]);
export const props = signal<Props | null>(null); // of the chosen model
export const loading = signal<Loading | null>(null);

// The chosen model if it is there, else the server's first.
export const model = computed(() => {
  const wanted = preferences.value.model;
  if (wanted && models.value.some((entry) => entry.id === wanted)) return wanted;
  return models.value[0]?.id ?? "";
});

export const contextSize = computed(() => props.value?.default_generation_settings.n_ctx ?? 0);

let timer = 0;
let abortLoading = new AbortController();

export async function connect(): Promise<boolean> {
  clearTimeout(timer);
  try {
    historyKept.value = (await getProps()).ui_settings?.history;
    models.value = await getModels();
    connection.value = "up";
    keyRefused.value = false;
    void chooseModel(model.value);
    return true;
  } catch (error) {
    const { kind } = factsOf(error);
    keyRefused.value = kind === "key" && apiKey.value !== "";
    connection.value = kind === "key" ? "key" : kind === "busy" ? "loading" : "down";
    if (kind !== "key") timer = window.setTimeout(() => void connect(), AGAIN_MS);
    return false;
  }
}

// A request found nobody there.
export function noteGone(): void {
  if (connection.value !== "up") return;
  connection.value = "down";
  clearTimeout(timer);
  timer = window.setTimeout(() => void connect(), AGAIN_MS);
}

export function noteKeyNeeded(): void {
  connection.value = "key";
}

const isLoaded = (name: string): boolean => models.value.some((entry) => entry.id === name && entry.meta);

// While a model is loaded the list tells how far that is.
async function watchLoading(name: string, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await new Promise((resolve) => setTimeout(resolve, PROGRESS_MS));
    const list = await getModels().catch(() => []);
    const share = list.find((entry) => entry.id === name)?.status?.progress;
    const state = loading.value;
    if (ended.aborted || state?.model !== name || state.error !== undefined) return;
    if (share !== undefined && share > 0) loading.value = { ...state, share };
  }
}

// Makes it the one that answers, and has it loaded where it is not in memory.
export async function chooseModel(name: string): Promise<void> {
  abortLoading.abort();
  abortLoading = new AbortController();
  const { signal: aborted } = abortLoading;
  if (name !== model.value) preferences.value = { ...preferences.value, model: name };
  try {
    if (!isLoaded(name)) {
      loading.value = { model: name, sinceMs: performance.now() };
      const loaded = new AbortController();
      void watchLoading(name, loaded.signal);
      await loadModel(name, aborted).finally(() => loaded.abort());
      models.value = await getModels();
    }
    const found = await getProps(name);
    if (aborted.aborted) return;
    props.value = found;
    loading.value = null;
  } catch (error) {
    if (isAbort(error) || aborted.aborted) return;
    const facts = factsOf(error);
    if (facts.kind === "gone") noteGone();
    loading.value = { model: name, sinceMs: 0, error: facts.message };
  }
}
