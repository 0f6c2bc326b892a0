// What went wrong with an answer, in a sentence, with the ways out as buttons.
import { useState } from "preact/hooks";

import type { ErrorFacts } from "../api/errors";
import { setKey } from "../api/http";
import { t } from "../i18n";
import { chooseModel, connect, keyRefused, models } from "../store/server";
import type { Conversation, Message } from "../store/types";
import { Icon } from "../ui/icons";
import { goTo } from "../route";
import { continueAnswer, dropOldest, retry } from "./answers";

function sentenceOf(error: ErrorFacts, hasText: boolean): string {
  const message = error.message.replace(/[.。]$/, "");
  switch (error.kind) {
    case "gone":
      return t(hasText ? "errorGone" : "errorGoneEmpty");
    case "context":
      return error.promptTokens && error.context
        ? t("errorContextNumbers", { used: error.promptTokens, total: error.context })
        : t("errorContext");
    case "key":
      return t("errorKey");
    case "model":
      return t("errorModel");
    case "busy":
      return t("errorBusy", { s: error.retryAfterS ?? 1 });
    case "unsupported":
      return t("errorUnsupported", { message });
    case "input":
      return t("errorInput", { message });
    case "server":
      return t("errorServer", { message });
  }
}

export function KeyForm({ wrong, onSaved }: { wrong: boolean; onSaved: () => void }) {
  const [value, setValue] = useState("");
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!value.trim()) return;
        setKey(value.trim());
        onSaved();
      }}
    >
      <label>
        <span>{t("keyLabel")}</span>
        <input
          type="password"
          autocomplete="off"
          data-testid="key-input"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button primary" data-testid="key-save">
        {t("keySave")}
      </button>
      <p class="hint">{wrong ? t("keyWrong") : t("keyHint")}</p>
    </form>
  );
}

function Action({ testId, label, act, primary }: { testId: string; label: string; act: () => void; primary?: boolean }) {
  return (
    <button type="button" class={primary ? "button primary" : "button"} data-testid={testId} onClick={act}>
      {label}
    </button>
  );
}

function WaysOut({ conversation, message, error }: { conversation: Conversation; message: Message; error: ErrorFacts }) {
  const again = (): void => retry(conversation.id, message);
  const retryButton = <Action testId="error-retry" label={t("retry")} act={again} />;
  switch (error.kind) {
    case "gone":
      return (
        <>
          {message.text !== "" && (
            <Action
              primary
              testId="error-continue"
              label={t("continue")}
              act={() => continueAnswer(conversation.id, message)}
            />
          )}
          {retryButton}
        </>
      );
    case "context":
      return (
        <>
          <Action primary testId="error-drop-oldest" label={t("dropOldest")} act={() => dropOldest(conversation.id, message)} />
          <Action testId="error-new-chat" label={t("newChat")} act={() => goTo("#/")} />
        </>
      );
    case "key":
      return <KeyForm wrong={keyRefused.value} onSaved={() => void connect().then((up) => up && again())} />;
    case "model":
      return (
        <>
          {models.value.map((entry) => (
            <Action
              key={entry.id}
              testId="error-model"
              label={entry.id}
              act={() => void chooseModel(entry.id).then(again)}
            />
          ))}
          {models.value.length === 0 && retryButton}
        </>
      );
    default:
      return retryButton;
  }
}

export function ErrorCard({ conversation, message }: { conversation: Conversation; message: Message }) {
  const { error } = message;
  if (!error) return null;
  return (
    <div class="error" role="alert" data-testid="error" data-kind={error.kind}>
      <Icon name="warning" />
      <div>
        <p>{sentenceOf(error, message.text !== "")}</p>
        <div class="actions">
          <WaysOut conversation={conversation} message={message} error={error} />
        </div>
      </div>
    </div>
  );
}
