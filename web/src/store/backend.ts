// Backend: where conversations are kept. All may reject; the library says so and tries again.
import { pathOf } from "./tree";
import type { Conversation, Message, Summary } from "./types";

export type Saved = "saved" | "conflict";

export interface Backend {
  readonly place: "browser" | "server" | "memory";
  list(): Promise<Summary[]>;
  search(words: string): Promise<Summary[]>;
  load(id: string): Promise<Conversation | undefined>;
  // "conflict": someone else has written since this one was read. Sets the revision otherwise.
  save(conversation: Conversation, onRevision: (revision: number) => void): Promise<Saved>;
  remove(id: string): Promise<void>;
}

export function summaryOf(conversation: Conversation): Summary {
  return { id: conversation.id, title: conversation.title, updatedMs: conversation.updatedMs };
}

export const wordsOf = (text: string): string[] => text.toLocaleLowerCase().split(/\s+/).filter(Boolean);

// Whether each of the words stands somewhere in titles or texts.
export function matches(conversation: Conversation, words: string): boolean {
  const wanted = wordsOf(words);
  if (!wanted.length) return true;
  const texts = [conversation.title, ...Object.values(conversation.messages).flatMap(textsOf)];
  return wanted.every((word) => texts.some((text) => has(text, word)));
}

const has = (text: string, word: string): boolean => text.toLocaleLowerCase().includes(word);

// Attached files are searched, too.
function textsOf(message: Message): string[] {
  return [message.text, ...(message.attachments ?? []).map((file) => file.text)];
}

// The message that a search meant: one with all words, or else with one of them; and of those
// one that is shown before one of a hidden version.
export function messageWith(conversation: Conversation, words: string): Message | undefined {
  const wanted = wordsOf(words);
  const contains = (message: Message) => (word: string) => textsOf(message).some((text) => has(text, word));
  const shown = pathOf(conversation);
  const all = Object.values(conversation.messages).sort((a, b) => b.createdMs - a.createdMs);
  const whole = (message: Message): boolean => wanted.every(contains(message));
  const part = (message: Message): boolean => wanted.some(contains(message));
  return shown.find(whole) ?? all.find(whole) ?? shown.find(part) ?? all.find(part);
}
