// The server's numbers, once a second while the page of metrics is shown, with the last
// minute kept for what happens between two points of time.
import { signal } from "@preact/signals";

import { factsOf } from "../api/errors";
import { histogramOf, histogramSince, parseMetrics, valueOf, type Bucket, type Metrics } from "../api/metrics";
import { getCache, getMetrics, getSlots, type CacheModel, type Slot } from "../api/server";
import { connection, model, noteGone, noteKeyNeeded } from "../store/server";

export interface Snapshot {
  ms: number;
  metrics: Metrics;
}

const EVERY_MS = 1000;
const KEPT = 61; // a minute

export const snapshots = signal<Snapshot[]>([]);
export const slots = signal<Slot[]>([]);
export const caches = signal<CacheModel[]>([]);

export type Range = "minute" | "start";

async function poll(): Promise<void> {
  const [text, slotList, cacheList] = await Promise.all([getMetrics(), getSlots(model.value), getCache()]);
  const snapshot = { ms: performance.now(), metrics: parseMetrics(text) };
  snapshots.value = [...snapshots.value.slice(1 - KEPT), snapshot];
  slots.value = slotList;
  caches.value = cacheList;
}

// Until the returned function is called.
export function startPolling(): () => void {
  let timer = 0;
  let ended = false;
  const step = async (): Promise<void> => {
    try {
      if (connection.value === "up") await poll();
    } catch (error) {
      const { kind } = factsOf(error);
      if (kind === "gone") noteGone();
      if (kind === "key") noteKeyNeeded();
    }
    if (!ended) timer = window.setTimeout(() => void step(), EVERY_MS);
  };
  void step();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

const last = (): Snapshot | undefined => snapshots.value.at(-1);
const first = (): Snapshot | undefined => snapshots.value[0];

export function now(name: string): number | undefined {
  const snapshot = last();
  return snapshot ? valueOf(snapshot.metrics, name) : undefined;
}

// How much a counter has grown within the last `ms`, and in which time.
export function growth(name: string, ms: number): { by: number; ms: number } | undefined {
  const end = last();
  if (!end) return undefined;
  const begin = snapshots.value.find((snapshot) => snapshot.ms >= end.ms - ms);
  const to = valueOf(end.metrics, name);
  const from = begin && valueOf(begin.metrics, name);
  if (!begin || begin === end || to === undefined || from === undefined || to < from) return undefined;
  return { by: to - from, ms: end.ms - begin.ms };
}

export function perSecond(name: string): number | undefined {
  const grown = growth(name, 5000);
  return grown ? (1000 * grown.by) / grown.ms : undefined;
}

export function histogram(name: string, range: Range): Bucket[] {
  const end = last();
  if (!end) return [];
  const whole = histogramOf(end.metrics, name);
  const begin = first();
  return range === "start" || !begin ? whole : histogramSince(histogramOf(begin.metrics, name), whole);
}

export function counted(name: string, range: Range): number | undefined {
  const total = now(name);
  const begin = first();
  if (range === "start" || total === undefined || !begin) return total;
  return total - (valueOf(begin.metrics, name) ?? 0);
}
