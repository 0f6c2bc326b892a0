// Which parts beside the conversation are open. Closing gives the focus back.
import { signal, type Signal } from "@preact/signals";

// Wide windows always show the list of conversations; on a phone it is a drawer.
export const sidebarOpen = signal(false);
export const settingsOpen = signal(false);
export const helpOpen = signal(false); // a dialog of the browser, which minds the focus itself

const openers = new Map<Signal<boolean>, Element | null>();

export function openPanel(panel: Signal<boolean>): void {
  openers.set(panel, document.activeElement);
  panel.value = true;
}

export function closePanel(panel: Signal<boolean>): void {
  panel.value = false;
  const opener = openers.get(panel);
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
}

// Closes what lies on top; false where nothing was open.
export function closeTop(): boolean {
  const open = [settingsOpen, sidebarOpen].find((panel) => panel.value);
  if (open) closePanel(open);
  return open !== undefined;
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
