// Requests to the server that this page came from. The key lives as long as the tab.
import { signal } from "@preact/signals";

import { ApiError, errorOf, factsOf, isAbort } from "./errors";

const KEY = "vivace.key";

function storedKey(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

export const apiKey = signal(storedKey());

export function setKey(key: string): void {
  apiKey.value = key;
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // Private windows may refuse; it then lasts until the next load.
  }
}

export interface Call {
  method?: string;
  body?: unknown;
  signal?: AbortSignal;
  keepalive?: boolean;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text());
  } catch {
    return null;
  }
}

// The response, if the server accepted the request. Throws ApiError or AbortError.
export async function send(path: string, call: Call = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (apiKey.value) headers["Authorization"] = `Bearer ${apiKey.value}`;
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  const init: RequestInit = { method: call.method ?? (call.body === undefined ? "GET" : "POST"), headers };
  if (call.body !== undefined) init.body = JSON.stringify(call.body);
  if (call.signal) init.signal = call.signal;
  if (call.keepalive) init.keepalive = true;
  let response: Response;
  try {
    response = await fetch(new URL(path, document.baseURI), init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(factsOf(error));
  }
  if (response.ok) return response;
  throw errorOf(response.status, await bodyOf(response), response.headers.get("Retry-After"));
}

export async function json<T>(path: string, call: Call = {}): Promise<T> {
  const response = await send(path, call);
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError({ kind: "gone", message: String(error), status: response.status });
  }
}
