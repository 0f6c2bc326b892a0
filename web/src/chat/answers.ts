// Answers that are being written: at most one for each conversation, also for those that are
// not shown. Whatever happens, the text so far is kept.
import { signal, type Signal } from "@preact/signals";

import { streamChat, type ChatCall, type ChatPart, type Finish } from "../api/chat";
import { factsOf, isAbort } from "../api/errors";
import type { Timings } from "../api/timings";
import { t } from "../i18n";
import { readControls } from "../settings/fields";
import { controls } from "../settings/preferences";
import * as library from "../store/library";
import { forget, rescue } from "../store/rescue";
import { model, noteGone, noteKeyNeeded } from "../store/server";
import { changed, newMessage, pathOf, withMessage, without } from "../store/tree";
import type { Attachment, Conversation, Message } from "../store/types";
import { announce } from "../ui/live";
import { Painter } from "./painter";
import { ancestors, chatMessages, keptOf } from "./prompt";
import { Rates } from "./rates";

const SAVE_EVERY_MS = 1000;

export interface Answer {
  conversationId: string;
  messageId: string;
  text: Signal<string>;
  progress: Signal<{ done: number; total: number } | null>; // while the prompt is read
  rates: Signal<number[]>;
  abort: AbortController;
}

// By message.
export const answers = signal<ReadonlyMap<string, Answer>>(new Map());

export function answerIn(conversation: Conversation): Answer | undefined {
  for (const [messageId, answer] of answers.value) {
    if (messageId in conversation.messages) return answer;
  }
  return undefined;
}

export function isAnswering(conversationId: string): boolean {
  return [...answers.value.values()].some((answer) => library.idOf(answer.conversationId) === conversationId);
}

function setAnswer(messageId: string, answer: Answer | undefined): void {
  const next = new Map(answers.value);
  if (answer) next.set(messageId, answer);
  else next.delete(messageId);
  answers.value = next;
}

function callOf(conversation: Conversation, message: Message): ChatCall {
  const { sampling, schema } = readControls(controls.value);
  const before = ancestors(conversation, message.parent);
  const call: ChatCall = {
    model: model.value,
    messages: chatMessages(controls.value.system, keptOf(conversation, before)),
    sampling,
    cacheId: conversation.id,
  };
  if (schema !== undefined) call.schema = schema;
  return call;
}

const LEAVING_MS = 3000;
let leftMs = -Infinity;

// Whether the page is being left, as far as one can know.
const isLeaving = (): boolean => performance.now() - leftMs < LEAVING_MS;

// One run of an answer, from its request to its end.
class Run {
  private readonly startMs = performance.now();
  private readonly painter: Painter;
  private readonly rates = new Rates();
  private ttftMs: number | undefined;
  private timings: Timings | undefined;
  private finish: Finish = "stop";
  private tokens = 0;
  readonly answer: Answer;

  constructor(
    private readonly conversationId: string,
    private readonly message: Message,
  ) {
    const text = signal(message.text);
    this.painter = new Painter(message.text, (whole) => (text.value = whole));
    this.answer = {
      conversationId,
      messageId: message.id,
      text,
      progress: signal(null),
      rates: signal([]),
      abort: new AbortController(),
    };
  }

  async work(parts: AsyncGenerator<ChatPart>): Promise<void> {
    const timer = setInterval(() => this.save("running"), SAVE_EVERY_MS);
    const onLeave = (): void => {
      leftMs = performance.now();
      this.save("running");
    };
    addEventListener("pagehide", onLeave);
    addEventListener("beforeunload", onLeave);
    try {
      for await (const part of parts) this.take(part);
      this.end(this.finish === "length" ? "length" : "done", {});
    } catch (error) {
      if (isAbort(error) || this.answer.abort.signal.aborted) {
        this.end("stopped", {});
      } else if (isLeaving()) {
        // The browser ends all requests; whoever comes back continues.
        this.save("running");
        setTimeout(() => this.end("failed", { error: factsOf(error) }), LEAVING_MS);
      } else {
        const facts = factsOf(error);
        if (facts.kind === "gone") noteGone();
        if (facts.kind === "key") noteKeyNeeded();
        this.end("failed", { error: facts });
      }
    } finally {
      clearInterval(timer);
      removeEventListener("pagehide", onLeave);
      removeEventListener("beforeunload", onLeave);
    }
  }

  private take(part: ChatPart): void {
    if (part.progress) this.answer.progress.value = { done: part.progress.processed, total: part.progress.total };
    if (part.timings) {
      this.timings = part.timings;
      this.rates.add(part.timings);
      this.answer.rates.value = this.rates.points;
    }
    if (part.finish) this.finish = part.finish;
    if (!part.text) return;
    if (this.ttftMs === undefined) {
      this.ttftMs = performance.now() - this.startMs;
      announce(t("answering"));
    }
    const tokens = this.timings?.predicted_n ?? this.tokens + 1;
    this.painter.add(part.text, tokens - this.tokens);
    this.tokens = tokens;
  }

  private save(state: Message["state"]): void {
    const text = this.painter.whole;
    if (state === "running") rescue(this.message.id, text);
    library.update(this.conversationId, (conversation) => changed(conversation, this.message.id, { text, state }));
  }

  private end(state: Message["state"], more: Partial<Message>): void {
    this.painter.flush();
    const change: Partial<Message> = { text: this.painter.whole, state, ...more };
    if (this.timings) change.timings = this.timings;
    if (this.ttftMs !== undefined) change.pageTtftMs = Math.round(this.ttftMs * 10) / 10;
    if (this.rates.points.length > 0) change.rates = this.rates.points;
    library.update(this.conversationId, (conversation) => changed(conversation, this.message.id, change));
    rescue(this.message.id, this.painter.whole);
    void library.whenSaved(this.conversationId).then(() => forget(this.message.id));
    if (state === "done" || state === "length") announce(t("answered", { text: this.painter.whole.slice(0, 1000) }));
  }
}

// Held while an answer is written, so that no other tab continues it.
const lockName = (messageId: string): string => `vivace.answer.${messageId}`;

function hold(messageId: string, until: Promise<void>): void {
  void navigator.locks?.request(lockName(messageId), () => until);
}

async function isHeldElsewhere(messageId: string): Promise<boolean> {
  const state = await navigator.locks?.query();
  return state?.held?.some((lock) => lock.name === lockName(messageId)) ?? false;
}

function start(conversationId: string, messageId: string, goOn: boolean): void {
  const conversation = library.get(conversationId);
  const message = conversation?.messages[messageId];
  if (!conversation || !message || answerIn(conversation)) return;
  const run = new Run(conversationId, message);
  const call = callOf(conversation, message);
  const { signal: aborted } = run.answer.abort;
  if (goOn) {
    call.messages.push({ role: "assistant", content: message.text });
    call.goesOn = true;
  }
  // Before anything is painted: each millisecond before the request is one without an answer.
  const ended = run.work(streamChat(call, aborted)).finally(() => {
    setAnswer(messageId, undefined);
    library.setBusy(conversationId, false);
  });
  setAnswer(messageId, run.answer);
  library.setBusy(conversationId, true);
  hold(messageId, ended);
}

function beginAnswer(conversationId: string, questionId: string): void {
  const message = newMessage(questionId, "assistant", "", "running");
  message.model = model.value;
  library.update(conversationId, (conversation) => withMessage(conversation, message));
  start(conversationId, message.id, false);
}

// Asks below the last message that is shown.
export function ask(conversation: Conversation, text: string, attachments: Attachment[]): void {
  const parent = pathOf(conversation).at(-1)?.id ?? "";
  askBelow(conversation.id, parent, text, attachments);
}

function askBelow(conversationId: string, parent: string, text: string, attachments: Attachment[]): void {
  const question = newMessage(parent, "user", text, "done");
  if (attachments.length) question.attachments = attachments;
  library.update(conversationId, (conversation) => withMessage(conversation, question));
  beginAnswer(conversationId, question.id);
}

// Another version of a question, beside the old one.
export function editAndAsk(conversationId: string, message: Message, text: string): void {
  askBelow(conversationId, message.parent, text, message.attachments ?? []);
}

// Another answer to the same question.
export function regenerate(conversationId: string, message: Message): void {
  const conversation = library.get(conversationId);
  if (!conversation || answerIn(conversation)) return;
  beginAnswer(conversationId, message.parent);
}

// The answer goes on where it ended.
export function continueAnswer(conversationId: string, message: Message): void {
  library.update(conversationId, (conversation) =>
    without(changed(conversation, message.id, { state: "running" }), message.id, "error"),
  );
  // Nothing was written yet: then it begins.
  start(conversationId, message.id, message.text !== "");
}

// The same answer once more, after a fault.
export function retry(conversationId: string, message: Message): void {
  library.update(conversationId, (conversation) =>
    without(changed(conversation, message.id, { text: "", state: "running" }), message.id, "error", "timings", "rates"),
  );
  start(conversationId, message.id, false);
}

// Tries again without the older half of what was sent. They stay to be read.
export function dropOldest(conversationId: string, message: Message): void {
  library.update(conversationId, (conversation) => {
    const kept = keptOf(conversation, ancestors(conversation, message.parent));
    const half = kept.slice(-Math.max(1, Math.floor(kept.length / 2)));
    const first = half.find((candidate) => candidate.role === "user") ?? half[0];
    return first ? { ...conversation, keepFrom: first.id } : conversation;
  });
  const conversation = library.get(conversationId);
  if (conversation) retry(conversationId, conversation.messages[message.id] ?? message);
}

export function stop(conversation: Conversation): void {
  answerIn(conversation)?.abort.abort();
}

function cutOff(conversation: Conversation | undefined): Message | undefined {
  if (!conversation || answerIn(conversation)) return undefined;
  const last = pathOf(conversation).at(-1);
  return last?.state === "running" ? last : undefined;
}

// An answer that was cut off when its page was left goes on by itself. One that another tab
// writes goes on here if that tab is closed.
export async function resume(conversation: Conversation): Promise<void> {
  const { id } = conversation;
  const last = cutOff(conversation);
  if (!last) return;
  if (await isHeldElsewhere(last.id)) {
    await navigator.locks.request(lockName(last.id), () => undefined);
    await library.reload(id);
  }
  const left = cutOff(library.get(id));
  if (left) continueAnswer(id, left);
}
