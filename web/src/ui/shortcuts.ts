// Keys that work everywhere on the page.
import type { Signal } from "@preact/signals";

import { stop } from "../chat/answers";
import { goTo } from "../route";
import { current } from "../store/library";
import { closePanel, closeTop, focusOn, helpOpen, openPanel, settingsOpen, sidebarOpen } from "./panels";

const narrow = (): boolean => !matchMedia("(min-width: 800px)").matches;

function toggle(panel: Signal<boolean>, first: string): void {
  if (panel.value) {
    closePanel(panel);
    return;
  }
  openPanel(panel);
  focusOn(first);
}

function withCommand(event: KeyboardEvent): boolean {
  switch (event.key.toLowerCase()) {
    case "k":
      if (event.shiftKey) return false;
      sidebarOpen.value = narrow();
      focusOn("search");
      return true;
    case "o":
      if (!event.shiftKey) return false;
      goTo("#/");
      focusOn("composer-input");
      return true;
    case "s":
      if (!event.shiftKey) return false;
      if (narrow()) toggle(sidebarOpen, "new-chat");
      else focusOn("new-chat");
      return true;
    case ",":
      toggle(settingsOpen, "setting-system");
      return true;
    case "/":
      helpOpen.value = !helpOpen.value;
      return true;
    default:
      return false;
  }
}

function onEscape(): boolean {
  if (helpOpen.value) return false;
  if (!closeTop()) stop(current.value);
  return true;
}

export function startShortcuts(): void {
  addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const command = event.ctrlKey || event.metaKey;
    const done = command ? withCommand(event) : event.key === "Escape" && onEscape();
    if (done) event.preventDefault();
  });
}
