// Where questions are written: Enter sends, files are dropped or chosen, and a mark says when
// the model has read the draft.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { formatBytes, t } from "../i18n";
import { current } from "../store/library";
import { pathOf } from "../store/tree";
import { IconButton } from "../ui/icon_button";
import { Icon } from "../ui/icons";
import { answerIn, stop } from "./answers";
import { addFiles, attachments, removeFile } from "./attachments";
import { canSend, draft, onCompositionEnd, onTyped, sendDraft, typeAhead } from "./draft";
import { overflow } from "./gauge";
import { editing } from "./view";

function Chips() {
  if (!attachments.value.length) return null;
  return (
    <div class="chips">
      {attachments.value.map((file) => (
        <span class="chip" key={file.name} data-testid="attachment" data-name={file.name}>
          <Icon name="file" size={15} />
          <span class="chip-name">{file.name}</span>
          <span class="hint">{formatBytes(file.size)}</span>
          <span class="hint" data-testid="attachment-tokens">
            {file.tokens === undefined ? t("counting") : t("tokens", { n: file.tokens })}
          </span>
          <IconButton
            icon="close"
            label={t("removeFile", { name: file.name })}
            testId="attachment-remove"
            onClick={() => removeFile(file)}
          />
        </span>
      ))}
    </div>
  );
}

function Ready() {
  const ready = typeAhead.ready.value;
  if (!ready || overflow.value) return null;
  const hint = t("readyHint", { cached: ready.cached_tokens, prompt: ready.prompt_tokens });
  return (
    <span
      class="ready"
      title={hint}
      data-testid="prefill-ready"
      data-prompt={ready.prompt_tokens}
      data-cached={ready.cached_tokens}
    >
      <i aria-hidden="true" />
      {t("ready")}
    </span>
  );
}

function AttachButton() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="clip" label={t("attach")} testId="attach" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t("attach")}
        data-testid="attach-file"
        onChange={(event) => {
          void addFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

function editLast(): boolean {
  const last = pathOf(current.value).findLast((message) => message.role === "user");
  if (!last || draft.value !== "" || answerIn(current.value)) return false;
  editing.value = { id: last.id, text: last.text };
  return true;
}

function onKeyDown(event: KeyboardEvent): void {
  // While an input method composes, Enter chooses a word.
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    sendDraft();
  } else if (event.key === "ArrowUp" && editLast()) {
    event.preventDefault();
  }
}

function Input() {
  const input = useRef<HTMLTextAreaElement>(null);
  const text = draft.value;
  useLayoutEffect(() => {
    const node = input.current!;
    node.style.height = "auto";
    node.style.height = `${node.scrollHeight}px`;
  }, [text]);
  // Not as properties: elements have none of these names, so Preact would not know the events.
  useEffect(() => {
    const node = input.current!;
    const start = (): void => typeAhead.compositionStart();
    const end = (): void => onCompositionEnd(node.value);
    node.addEventListener("compositionstart", start);
    node.addEventListener("compositionend", end);
    return () => {
      node.removeEventListener("compositionstart", start);
      node.removeEventListener("compositionend", end);
    };
  }, []);
  const { id } = current.value;
  useEffect(() => {
    // On a phone the keyboard would cover the conversation.
    if (matchMedia("(min-width: 800px)").matches) input.current?.focus();
  }, [id]);
  return (
    <textarea
      ref={input}
      rows={1}
      placeholder={t("placeholder")}
      aria-label={t("placeholder")}
      data-testid="composer-input"
      value={text}
      onInput={(event) => onTyped(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

const dragging = signal(false);

function useDropping(): void {
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      dragging.value = true;
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) dragging.value = false;
    };
    const drop = (event: DragEvent): void => {
      dragging.value = false;
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      void addFiles([...event.dataTransfer.files]);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
}

export function Composer() {
  useDropping();
  const answer = answerIn(current.value);
  const over = overflow.value;
  return (
    <div class="composer-place">
      {over && (
        <p class="fit-warning" role="alert" data-testid="fit-warning">
          {t("doesNotFit", { needed: over.needed, total: over.total })}
        </p>
      )}
      <form
        class={`composer ${dragging.value ? "dragging" : ""}`}
        data-testid="composer"
        onSubmit={(event) => {
          event.preventDefault();
          sendDraft();
        }}
      >
        <Chips />
        <Input />
        <div class="composer-foot">
          <AttachButton />
          <Ready />
          <span class="grow" />
          {answer ? (
            <IconButton icon="stop" label={t("stop")} testId="stop" kind="round stop" onClick={() => stop(current.value)} />
          ) : (
            <button
              type="submit"
              class="icon-button round send"
              aria-label={t("send")}
              title={t("send")}
              disabled={!canSend()}
              data-testid="send"
            >
              <Icon name="send" />
            </button>
          )}
        </div>
        {dragging.value && <div class="drop-hint">{t("dropHere")}</div>}
      </form>
      <p class="disclaimer">{t("disclaimer")}</p>
    </div>
  );
}
