// Backend: where conversations are kept. All may reject; the library says so and tries again.
import type { Conversation, Summary } from "./types";

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
  const texts = [conversation.title, ...Object.values(conversation.messages).map((message) => message.text)];
  const all = texts.map((text) => text.toLocaleLowerCase());
  return wanted.every((word) => all.some((text) => text.includes(word)));
}
