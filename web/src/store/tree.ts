// What can be asked of a conversation's tree, and what can be done to it. Pure functions.
import { newId, type Conversation, type Message } from "./types";

const TITLE_LENGTH = 60;

export function emptyConversation(now = Date.now()): Conversation {
  const id = newId();
  return { id, title: "", named: false, createdMs: now, updatedMs: now, revision: 0, messages: {}, chosen: {} };
}

// Children of each message, oldest first, kept for as long as the messages are the same.
const childrenOf = new WeakMap<Conversation["messages"], Map<string, Message[]>>();

function children(conversation: Conversation): Map<string, Message[]> {
  const known = childrenOf.get(conversation.messages);
  if (known) return known;
  const map = new Map<string, Message[]>();
  for (const message of Object.values(conversation.messages)) {
    const list = map.get(message.parent);
    if (list) list.push(message);
    else map.set(message.parent, [message]);
  }
  for (const list of map.values()) list.sort((a, b) => a.createdMs - b.createdMs);
  childrenOf.set(conversation.messages, map);
  return map;
}

const pathsOf = new WeakMap<Conversation, Message[]>();

// The messages that are shown, from the first to the last.
export function pathOf(conversation: Conversation): Message[] {
  const known = pathsOf.get(conversation);
  if (known) return known;
  const path = findPath(conversation);
  pathsOf.set(conversation, path);
  return path;
}

function findPath(conversation: Conversation): Message[] {
  const map = children(conversation);
  const path: Message[] = [];
  const seen = new Set<string>();
  for (let at = ""; !seen.has(at); ) {
    seen.add(at);
    const list = map.get(at);
    if (!list?.length) break;
    const next = list.find((message) => message.id === conversation.chosen[at]) ?? list[list.length - 1]!;
    path.push(next);
    at = next.id;
  }
  return path;
}

export function siblingsOf(conversation: Conversation, message: Message): Message[] {
  return children(conversation).get(message.parent) ?? [message];
}

function titleOf(text: string): string {
  const line = text.trim().split("\n", 1)[0]!.trim();
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1).trimEnd()}…` : line;
}

// Adds a message below its parent and shows it.
export function withMessage(conversation: Conversation, message: Message): Conversation {
  const title =
    conversation.title || conversation.named
      ? conversation.title
      : titleOf(message.text) || message.attachments?.[0]?.name || "";
  return {
    ...conversation,
    title,
    updatedMs: message.createdMs,
    messages: { ...conversation.messages, [message.id]: message },
    chosen: { ...conversation.chosen, [message.parent]: message.id },
  };
}

export function changed(conversation: Conversation, id: string, change: Partial<Message>): Conversation {
  const message = conversation.messages[id];
  if (!message) return conversation;
  const messages = { ...conversation.messages, [id]: { ...message, ...change } };
  return { ...conversation, messages, updatedMs: Date.now() };
}

// Without keys whose value would be undefined.
export function without(conversation: Conversation, id: string, ...keys: (keyof Message)[]): Conversation {
  const message = conversation.messages[id];
  if (!message) return conversation;
  const left = { ...message };
  for (const key of keys) delete left[key];
  return { ...conversation, messages: { ...conversation.messages, [id]: left } };
}

export function chosenSibling(conversation: Conversation, message: Message, step: number): Conversation {
  const siblings = siblingsOf(conversation, message);
  const at = siblings.findIndex((sibling) => sibling.id === message.id) + step;
  const next = siblings[at];
  if (!next) return conversation;
  return { ...conversation, chosen: { ...conversation.chosen, [message.parent]: next.id } };
}

// The version of the conversation that has this message in it.
export function showing(conversation: Conversation, message: Message): Conversation {
  if (pathOf(conversation).some((shown) => shown.id === message.id)) return conversation;
  const chosen = { ...conversation.chosen };
  const seen = new Set<string>();
  for (let at: Message | undefined = message; at && !seen.has(at.id); at = conversation.messages[at.parent]) {
    seen.add(at.id);
    chosen[at.parent] = at.id;
  }
  return { ...conversation, chosen };
}

export function newMessage(
  parent: string,
  role: Message["role"],
  text: string,
  state: Message["state"],
): Message {
  return { id: newId(), parent, role, text, createdMs: Date.now(), state };
}

// The same conversation as another one, with an id of its own.
export function copyOf(conversation: Conversation, title: string): Conversation {
  return { ...conversation, id: newId(), title, named: true, revision: 0, updatedMs: Date.now() };
}
