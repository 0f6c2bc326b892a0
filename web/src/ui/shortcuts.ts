// Keys that work everywhere on the page.
import { stop } from "../chat/answers";
import { goTo } from "../route";
import { current } from "../store/library";
import { closeTop, focusOn, helpOpen, settingsOpen, sidebarOpen } from "./panels";

const narrow = (): boolean => !matchMedia("(min-width: 800px)").matches;

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
      if (narrow()) sidebarOpen.value = !sidebarOpen.value;
      else focusOn("new-chat");
      return true;
    case ",":
      settingsOpen.value = !settingsOpen.value;
      if (settingsOpen.value) focusOn("setting-system");
      return true;
    case "/":
      helpOpen.value = !helpOpen.value;
      return true;
    default:
      return false;
  }
}

function onEscape(): boolean {
  if (closeTop()) {
    focusOn("composer-input");
    return true;
  }
  stop(current.value);
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
