// Conversations kept by the server, when it was started to keep them.
import { ApiError } from "./errors";
import { json, send } from "./http";

export interface HistoryEntry {
  id: string;
  title: string;
  updated_ms: number;
  revision: number;
}

export interface HistoryDocument extends HistoryEntry {
  data: unknown;
}

const at = (id: string): string => `v1/history/${encodeURIComponent(id)}`;

// Undefined where the server keeps no history.
export async function listHistory(words = ""): Promise<HistoryEntry[] | undefined> {
  try {
    const path = words ? `v1/history?q=${encodeURIComponent(words)}` : "v1/history";
    return (await json<{ conversations: HistoryEntry[] }>(path)).conversations;
  } catch (error) {
    const status = error instanceof ApiError ? error.facts.status : undefined;
    if (status === 404 || status === 405 || status === 501) return undefined;
    throw error;
  }
}

export async function readHistory(id: string): Promise<HistoryDocument | undefined> {
  try {
    return await json<HistoryDocument>(at(id));
  } catch (error) {
    if (error instanceof ApiError && error.facts.status === 404) return undefined;
    throw error;
  }
}

// The new revision; undefined when someone else has written since `revision`.
export async function writeHistory(
  id: string,
  document: { title: string; data: unknown; revision: number },
): Promise<number | undefined> {
  try {
    return (await json<{ revision: number }>(at(id), { method: "PUT", body: document })).revision;
  } catch (error) {
    if (error instanceof ApiError && error.facts.status === 409) return undefined;
    throw error;
  }
}

export async function dropHistory(id: string): Promise<void> {
  try {
    await send(at(id), { method: "DELETE" });
  } catch (error) {
    if (!(error instanceof ApiError && error.facts.status === 404)) throw error;
  }
}
