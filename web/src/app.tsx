// The page: conversations on the left, what the address asks for in the middle, settings on
// the right.
import { useEffect } from "preact/hooks";
import { effect, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";

import { resume } from "./chat/answers";
import { ChatPage } from "./chat/chat_page";
import { onShown } from "./chat/draft";
import { Sidebar } from "./conversations/sidebar";
import { lang, t } from "./i18n";
import { goTo, renameRoute, route } from "./route";
import { Settings } from "./settings/panel";
import { current, open, openNew, started } from "./store/library";
import { props } from "./store/server";
import { Help } from "./ui/help";
import { spoken } from "./ui/live";
import { theme } from "./ui/theme";
import { ToastView } from "./ui/toast";

// Shows what the address names. A new conversation gets its address with its first message.
export async function followRoute(): Promise<void> {
  const wanted = route.value;
  if (wanted.page === "metrics") return;
  if (wanted.page === "new") {
    if (Object.keys(current.peek().messages).length > 0) openNew();
  } else if (current.peek().id !== wanted.id || Object.keys(current.peek().messages).length === 0) {
    if (!(await open(wanted.id))) {
      goTo("#/");
      return;
    }
  }
  onShown();
  void resume(current.peek());
}

export function followCurrent(): void {
  effect(() => {
    const title = route.value.page === "metrics" ? t("metricsTitle") : current.value.title;
    document.title = title ? `${title} – ${t("appName")}` : t("appName");
  });
  effect(() => {
    const { id, messages } = current.value;
    if (route.peek().page === "new" && Object.keys(messages).length > 0) renameRoute(`#/c/${id}`);
  });
}

// Loaded when it is first looked at.
function LazyMetrics() {
  const page = useSignal<ComponentType | null>(null);
  useEffect(() => {
    void import("./metrics/metrics_page").then((module) => (page.value = module.MetricsPage));
  }, []);
  const Page = page.value;
  return Page ? <Page /> : <main class="metrics" id="main" />;
}

export function App() {
  const metrics = route.value.page === "metrics";
  return (
    <div
      class="app"
      data-testid="app"
      data-ready={props.value !== null && started.value}
      data-theme={theme.value}
      data-lang={lang.value}
    >
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        {t("skip")}
      </a>
      <Sidebar />
      {metrics ? <LazyMetrics /> : <ChatPage />}
      <Settings />
      <Help />
      <ToastView />
      <div class="off-screen" aria-live="polite" data-testid="live">
        {spoken.value}
      </div>
    </div>
  );
}
