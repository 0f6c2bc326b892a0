// Which parts beside the conversation are open.
import { signal } from "@preact/signals";

// Wide windows always show the list of conversations; on a phone it is a drawer.
export const sidebarOpen = signal(false);
export const settingsOpen = signal(false);
export const helpOpen = signal(false);

// Closes what lies on top; false where nothing was open.
export function closeTop(): boolean {
  for (const panel of [helpOpen, settingsOpen, sidebarOpen]) {
    if (!panel.value) continue;
    panel.value = false;
    return true;
  }
  return false;
}

// At once, so that no key goes astray; what is not there yet gets it after the next painting.
export function focusOn(testId: string): void {
  const focus = (): boolean => {
    const node = document.querySelector<HTMLElement>(`[data-testid="${testId}"]`);
    node?.focus();
    return node !== null && document.activeElement === node;
  };
  if (!focus()) requestAnimationFrame(focus);
}
