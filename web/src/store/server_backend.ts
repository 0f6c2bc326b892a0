// Conversations in the server's history, so that they follow a person across browsers.
import { dropHistory, listHistory, readHistory, writeHistory, type HistoryEntry } from "../api/history";
import type { Backend, Saved } from "./backend";
import { conversationOf } from "./check";
import type { Conversation, Summary } from "./types";

function summary({ id, title, updated_ms: updatedMs, revision }: HistoryEntry): Summary {
  return { id, title, updatedMs, revision };
}

export class ServerBackend implements Backend {
  readonly place = "server";

  async list(): Promise<Summary[]> {
    return ((await listHistory()) ?? []).map(summary);
  }

  async search(words: string): Promise<Summary[]> {
    return ((await listHistory(words)) ?? []).map(summary);
  }

  async load(id: string): Promise<Conversation | undefined> {
    const document = await readHistory(id);
    if (!document || typeof document.data !== "object") return undefined;
    return conversationOf({ ...document.data, id, title: document.title, revision: document.revision });
  }

  async save(conversation: Conversation, onRevision: (revision: number) => void): Promise<Saved> {
    const { revision, title, ...data } = conversation;
    const next = await writeHistory(conversation.id, { title, data, revision });
    if (next === undefined) return "conflict";
    onRevision(next);
    return "saved";
  }

  remove(id: string): Promise<void> {
    return dropHistory(id);
  }
}
