// Small values in the browser's local storage. Windows that forbid it just forget.
import { effect, signal, type Signal } from "@preact/signals";

export function readLocal<T>(key: string): T | undefined {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

export function writeLocal(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full or forbidden: the value lasts as long as the page.
  }
}

// An object of settings; what an older version did not know has its default.
export function persisted<T extends object>(key: string, defaults: T): Signal<T> {
  const stored = readLocal<Partial<T>>(key);
  const value = signal<T>({ ...defaults, ...(typeof stored === "object" && stored !== null ? stored : {}) });
  effect(() => writeLocal(key, value.value));
  return value;
}
