// A conversation with the field for writing, or the greeting of a new one.
import { t } from "../i18n";
import { preferences } from "../settings/preferences";
import { current } from "../store/library";
import { connect, connection, keyRefused } from "../store/server";
import { Composer } from "./composer";
import { KeyForm } from "./error_card";
import { Header } from "./header";
import { Thread } from "./thread";

function Welcome() {
  return (
    <div class="welcome">
      <h1>{t("welcome")}</h1>
      <p>{t(preferences.value.prefill ? "welcomeHint" : "welcomeHintPlain")}</p>
    </div>
  );
}

function KeyNeeded() {
  return (
    <div class="card key-card" data-testid="error" data-kind="key">
      <h1>{t("errorKey")}</h1>
      <KeyForm wrong={keyRefused.value} onSaved={() => void connect()} />
    </div>
  );
}

function ConnectionBar() {
  const state = connection.value;
  if (state !== "down" && state !== "loading") return null;
  return (
    <div class="connection" role="status" data-testid="connection">
      {t(state === "down" ? "serverDown" : "serverLoading")}
    </div>
  );
}

export function ChatPage() {
  const conversation = current.value;
  const isEmpty = Object.keys(conversation.messages).length === 0;
  const needsKey = connection.value === "key" && isEmpty;
  return (
    <main class={`chat ${isEmpty ? "empty-chat" : ""}`} id="main" tabIndex={-1}>
      {!isEmpty && <h1 class="off-screen">{conversation.title || t("untitled")}</h1>}
      <Header />
      <ConnectionBar />
      {needsKey ? <KeyNeeded /> : isEmpty ? <Welcome /> : <Thread conversation={conversation} />}
      {!needsKey && <Composer />}
    </main>
  );
}
