// Conversation: a tree of messages. Editing a question or asking again adds a sibling; which
// one is shown is remembered. Conversations are never changed in place.
import type { ErrorFacts } from "../api/errors";
import type { Timings } from "../api/timings";

export interface Attachment {
  name: string;
  size: number; // bytes
  text: string;
  tokens?: number;
}

export type MessageState =
  | "running" // being written; after a reload: was being written
  | "done"
  | "stopped" // by the reader
  | "length" // by the limit
  | "failed";

export interface Message {
  id: string;
  parent: string; // "" for the first message
  role: "user" | "assistant";
  text: string;
  createdMs: number;
  state: MessageState;
  attachments?: Attachment[];
  model?: string;
  timings?: Timings;
  pageTtftMs?: number;
  rates?: number[]; // tokens a second while it was written
  error?: ErrorFacts;
}

export interface Conversation {
  id: string;
  title: string;
  named: boolean; // by a person; otherwise after the first question
  createdMs: number;
  updatedMs: number;
  revision: number; // the server's; 0: not there
  messages: Record<string, Message>;
  chosen: Record<string, string>; // parent -> the child that is shown
  keepFrom?: string; // the first message that is still sent; those before did not fit
}

export interface Summary {
  id: string;
  title: string;
  updatedMs: number;
  revision?: number; // the server's
}

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(36).padStart(2, "0")).join("");
}
