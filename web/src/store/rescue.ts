// The text of running answers, written where a page that is just leaving can still write.
import { readLocal, writeLocal } from "./persist";
import { changed } from "./tree";
import type { Conversation } from "./types";

const KEY = "vivace.running";

type Texts = Record<string, string>; // by message

export function rescue(message: string, text: string): void {
  writeLocal(KEY, { ...readLocal<Texts>(KEY), [message]: text });
}

export function forget(message: string): void {
  const texts = readLocal<Texts>(KEY);
  if (!texts || !(message in texts)) return;
  delete texts[message];
  writeLocal(KEY, Object.keys(texts).length ? texts : undefined);
}

// With the texts of answers that were cut off, where they are longer than what was saved.
export function withRescued(conversation: Conversation): Conversation {
  let result = conversation;
  for (const [id, text] of Object.entries(readLocal<Texts>(KEY) ?? {})) {
    const message = conversation.messages[id];
    if (message?.state !== "running" || typeof text !== "string") continue;
    if (text.length > message.text.length) result = changed(result, id, { text });
  }
  return result;
}
