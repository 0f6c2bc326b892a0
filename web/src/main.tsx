// Where the page begins.
import "./styles/main.css";

import { effect, untracked } from "@preact/signals";
import { render } from "preact";

import { App, followCurrent, followRoute } from "./app";
import { startDraft } from "./chat/draft";
import { route } from "./route";
import { startLibrary } from "./store/library";
import { connect, connection, historyKept } from "./store/server";
import { startShortcuts } from "./ui/shortcuts";
import { applyTheme } from "./ui/theme";

// The library asks the server whether it keeps conversations, so it starts once it answers.
async function startWithServer(): Promise<void> {
  await connect();
  if (connection.value !== "up") {
    await new Promise<void>((resolve) => {
      const stop = effect(() => {
        if (connection.value === "up") queueMicrotask(() => (stop(), resolve()));
      });
    });
  }
  await startLibrary(historyKept.value);
  followCurrent();
  effect(() => {
    void route.value;
    untracked(() => void followRoute());
  });
}

applyTheme();
startShortcuts();
startDraft();
render(<App />, document.getElementById("root")!);
void startWithServer();
