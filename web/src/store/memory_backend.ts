// Conversations until the page is left: for browsers that forbid storage.
import { matches, summaryOf, type Backend, type Saved } from "./backend";
import type { Conversation, Summary } from "./types";

export class MemoryBackend implements Backend {
  readonly place = "memory";
  private readonly kept = new Map<string, Conversation>();

  async list(): Promise<Summary[]> {
    return [...this.kept.values()].map(summaryOf);
  }
  async search(words: string): Promise<Summary[]> {
    return [...this.kept.values()].filter((kept) => matches(kept, words)).map(summaryOf);
  }
  async load(id: string): Promise<Conversation | undefined> {
    return this.kept.get(id);
  }
  async save(conversation: Conversation): Promise<Saved> {
    this.kept.set(conversation.id, conversation);
    return "saved";
  }
  async remove(id: string): Promise<void> {
    this.kept.delete(id);
  }
}
