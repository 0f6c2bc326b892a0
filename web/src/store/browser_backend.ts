// Conversations in the browser's IndexedDB. Messages have a store of their own, so that a
// running answer is saved without writing the whole conversation again.
import { matches, summaryOf, type Backend, type Saved } from "./backend";
import { conversationOf } from "./check";
import type { Conversation, Message, Summary } from "./types";

const NAME = "vivace";
const VERSION = 1;

type Head = Omit<Conversation, "messages">;
type StoredMessage = Message & { conversation: string };

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function finished(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, VERSION);
  request.onupgradeneeded = () => {
    const database = request.result;
    database.createObjectStore("conversations", { keyPath: "id" });
    const messages = database.createObjectStore("messages", { keyPath: ["conversation", "id"] });
    messages.createIndex("conversation", "conversation");
  };
  return done(request);
}

export class BrowserBackend implements Backend {
  readonly place = "browser";
  // What is stored of each conversation that was read or written here.
  private readonly stored = new Map<string, Conversation["messages"]>();

  private constructor(private readonly database: IDBDatabase) {}

  static async open(): Promise<BrowserBackend> {
    return new BrowserBackend(await open());
  }

  async list(): Promise<Summary[]> {
    const heads = await done<Head[]>(this.store("conversations").getAll());
    return heads.map((head) => summaryOf({ ...head, messages: {} }));
  }

  async search(words: string): Promise<Summary[]> {
    const found: Summary[] = [];
    for (const { id } of await this.list()) {
      const conversation = await this.read(id);
      if (conversation && matches(conversation, words)) found.push(summaryOf(conversation));
    }
    return found;
  }

  async load(id: string): Promise<Conversation | undefined> {
    const conversation = await this.read(id);
    if (conversation) this.stored.set(id, conversation.messages);
    return conversation;
  }

  async save(conversation: Conversation): Promise<Saved> {
    const { messages, ...head } = conversation;
    const before = this.stored.get(conversation.id) ?? {};
    const transaction = this.database.transaction(["conversations", "messages"], "readwrite");
    transaction.objectStore("conversations").put(head);
    const store = transaction.objectStore("messages");
    for (const [id, message] of Object.entries(messages)) {
      if (before[id] !== message) store.put({ ...message, conversation: conversation.id });
    }
    await finished(transaction);
    this.stored.set(conversation.id, messages);
    return "saved";
  }

  async remove(id: string): Promise<void> {
    const transaction = this.database.transaction(["conversations", "messages"], "readwrite");
    transaction.objectStore("conversations").delete(id);
    const store = transaction.objectStore("messages");
    store.delete(IDBKeyRange.bound([id], [id, []]));
    await finished(transaction);
    this.stored.delete(id);
  }

  private store(name: string): IDBObjectStore {
    return this.database.transaction(name).objectStore(name);
  }

  private async read(id: string): Promise<Conversation | undefined> {
    const transaction = this.database.transaction(["conversations", "messages"]);
    const head = done<Head | undefined>(transaction.objectStore("conversations").get(id));
    const messages = done<StoredMessage[]>(transaction.objectStore("messages").index("conversation").getAll(id));
    const [found, list] = await Promise.all([head, messages]);
    if (!found) return undefined;
    const entries = list.map(({ conversation: _, ...message }) => [message.id, message]);
    return conversationOf({ ...found, messages: Object.fromEntries(entries) });
  }
}
