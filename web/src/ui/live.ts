// What screen readers speak. Texts here are said once, politely.
import { signal } from "@preact/signals";

export const spoken = signal("");

export function announce(text: string): void {
  spoken.value = text;
}
