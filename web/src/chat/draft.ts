// The draft of the shown conversation, and what is done with it while it is typed.
import { effect, signal } from "@preact/signals";

import { prefill } from "../api/prefill";
import { countTokens } from "../api/server";
import { isAbort } from "../api/errors";
import { controls, preferences } from "../settings/preferences";
import { current, idOf } from "../store/library";
import { connection, model } from "../store/server";
import { pathOf } from "../store/tree";
import { answerIn, ask } from "./answers";
import { attachments } from "./attachments";
import { draftRead, fits, historyRead, overflow, pendingFiles, pendingTokens } from "./gauge";
import { chatMessages, contentOf, keptOf } from "./prompt";
import { TypeAhead } from "./type_ahead";
import { toEnd, wanted } from "./view";

export const draft = signal("");

// Drafts of conversations that are not shown.
const kept = new Map<string, string>();
let shownId = "";
let reading = new AbortController();

// The whole content that would be sent, so files are read ahead as well.
const content = (text: string): string => contentOf(text, attachments.value);

export const typeAhead = new TypeAhead((text, signal) => {
  const before = chatMessages(controls.value.system, keptOf(current.value, pathOf(current.value)));
  return prefill(model.value, [...before, { role: "user", content: text }], current.value.id, true, signal);
});

function readsAhead(): boolean {
  if (!preferences.value.prefill || connection.value !== "up" || answerIn(current.value)) return false;
  return fits.value && !attachments.value.some((file) => file.tokens === undefined);
}

export function onTyped(text: string): void {
  draft.value = text;
  if (readsAhead()) typeAhead.changed(content(text));
}

export function onCompositionEnd(text: string): void {
  draft.value = text;
  typeAhead.compositionEnd(readsAhead() ? content(text) : "");
}

// Counted exactly where it could be too much; a short draft never is.
const COUNT_FROM = 1000;
let counting = new AbortController();
let countTimer = 0;

function countDraft(text: string, fileTokens: number): void {
  clearTimeout(countTimer);
  counting.abort();
  pendingFiles.value = fileTokens > 0;
  pendingTokens.value = fileTokens + (text ? Math.ceil(text.length / 4) : 0);
  if (text.length < COUNT_FROM) return;
  counting = new AbortController();
  const { signal } = counting;
  countTimer = window.setTimeout(() => {
    countTokens(model.value, text, signal).then(
      (tokens) => (pendingTokens.value = fileTokens + tokens),
      (error: unknown) => void isAbort(error),
    );
  }, 300);
}

export function canSend(): boolean {
  if (draft.value.trim() === "" && attachments.value.length === 0) return false;
  if (answerIn(current.value) || overflow.value) return false;
  return !attachments.value.some((file) => file.tokens === undefined);
}

export function sendDraft(): boolean {
  if (!canSend()) return false;
  typeAhead.cancel();
  reading.abort();
  const text = draft.value.trim();
  const files = attachments.value;
  draft.value = "";
  attachments.value = [];
  ask(current.value, text, files);
  wanted.value = null;
  toEnd.value++;
  return true;
}

// The history is read when a conversation is opened, so that its next question starts late.
async function readHistory(): Promise<void> {
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  const conversation = current.value;
  const path = pathOf(conversation);
  if (path.length === 0 || !readsAhead()) return;
  try {
    const messages = chatMessages(controls.value.system, keptOf(conversation, path));
    const reply = await prefill(model.value, messages, conversation.id, false, signal);
    if (!signal.aborted) historyRead.value = { conversation: conversation.id, messages: path.length, reply };
  } catch {
    // Asking says what is wrong.
  }
}

// Called once a conversation is shown.
export function onShown(): void {
  const { id } = current.value;
  // One that became a copy goes on as it was.
  const same = idOf(shownId) === id;
  if (same) shownId = id;
  if (same) return;
  if (shownId) kept.set(shownId, draft.value);
  shownId = id;
  typeAhead.cancel();
  draft.value = kept.get(id) ?? "";
  void readHistory();
}

export function startDraft(): void {
  effect(() => {
    draftRead.value = typeAhead.ready.value;
  });
  effect(() => {
    const files = attachments.value.reduce((sum, file) => sum + (file.tokens ?? 0), 0);
    countDraft(draft.value, files);
  });
  // What was typed while an answer was written is read once it is there.
  effect(() => {
    const answering = answerIn(current.value) !== undefined;
    const whole = content(draft.peek());
    if (!answering && draft.peek() && preferences.peek().prefill) typeAhead.changed(whole);
  });
  // Another model or system prompt has read nothing yet.
  effect(() => {
    void [model.value, controls.value.system];
    typeAhead.cancel();
  });
  // Files change what would be sent, like typing does.
  effect(() => {
    const whole = content(draft.peek());
    if (attachments.value.length && readsAhead()) typeAhead.changed(whole);
  });
}
