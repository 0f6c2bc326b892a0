// Data from outside (a file, another version of this page) as a conversation, or nothing.
import type { Attachment, Conversation, Message, MessageState } from "./types";

const STATES: MessageState[] = ["running", "done", "stopped", "length", "failed"];

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const time = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : Date.now());

function attachmentOf(value: unknown): Attachment | undefined {
  const fields = fieldsOf(value);
  if (!fields || typeof fields["name"] !== "string" || typeof fields["text"] !== "string") return undefined;
  const attachment: Attachment = { name: fields["name"], text: fields["text"], size: fields["text"].length };
  if (typeof fields["size"] === "number") attachment.size = fields["size"];
  if (typeof fields["tokens"] === "number") attachment.tokens = fields["tokens"];
  return attachment;
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

// Timings are shown with arithmetic, so each has to be a number.
function timingsOf(value: unknown): Message["timings"] | undefined {
  const fields = fieldsOf(value);
  if (!fields) return undefined;
  const needed = ["cache_n", "prompt_n", "predicted_n", "predicted_per_second", "queue_ms", "cache_ms", "prefill_ms"];
  const numbers = [...needed, "first_token_ms"].every((name) => typeof fields[name] === "number");
  return numbers ? (value as Message["timings"]) : undefined;
}

function messageOf(value: unknown): Message | undefined {
  const fields = fieldsOf(value);
  if (!fields || typeof fields["id"] !== "string" || fields["id"] === "") return undefined;
  if (fields["role"] !== "user" && fields["role"] !== "assistant") return undefined;
  const state = STATES.find((known) => known === fields["state"]) ?? "done";
  const message: Message = {
    id: fields["id"],
    parent: text(fields["parent"]),
    role: fields["role"],
    text: text(fields["text"]),
    createdMs: time(fields["createdMs"]),
    state,
  };
  if (Array.isArray(fields["attachments"])) {
    message.attachments = fields["attachments"].map(attachmentOf).filter(isPresent);
  }
  if (typeof fields["model"] === "string") message.model = fields["model"];
  if (typeof fields["pageTtftMs"] === "number") message.pageTtftMs = fields["pageTtftMs"];
  const timings = timingsOf(fields["timings"]);
  if (timings) message.timings = timings;
  if (Array.isArray(fields["rates"])) {
    message.rates = fields["rates"].filter((rate): rate is number => typeof rate === "number");
  }
  const error = fieldsOf(fields["error"]);
  if (error && typeof error["kind"] === "string" && typeof error["message"] === "string") {
    message.error = error as unknown as NonNullable<Message["error"]>;
  }
  return message;
}

export function conversationOf(value: unknown): Conversation | undefined {
  const fields = fieldsOf(value);
  const messages = fieldsOf(fields?.["messages"]);
  if (!fields || !messages || typeof fields["id"] !== "string") return undefined;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(fields["id"])) return undefined;
  const conversation: Conversation = {
    id: fields["id"],
    title: text(fields["title"]).slice(0, 500),
    named: fields["named"] === true,
    createdMs: time(fields["createdMs"]),
    updatedMs: time(fields["updatedMs"]),
    revision: typeof fields["revision"] === "number" ? fields["revision"] : 0,
    messages: {},
    chosen: {},
  };
  if (typeof fields["keepFrom"] === "string") conversation.keepFrom = fields["keepFrom"];
  for (const message of Object.values(messages).map(messageOf).filter(isPresent)) {
    conversation.messages[message.id] = message;
  }
  for (const [parent, child] of Object.entries(fieldsOf(fields["chosen"]) ?? {})) {
    if (typeof child === "string") conversation.chosen[parent] = child;
  }
  return conversation;
}
