// The library: all conversations, the one that is shown, and when which is saved.
//
// Conversations in memory are the truth; the backend follows. Each is saved by one write at a
// time, soon after it changed.
import { signal } from "@preact/signals";

import { t } from "../i18n";
import { listHistory } from "../api/history";
import { renameRoute } from "../route";
import { summaryOf, type Backend } from "./backend";
import { BrowserBackend } from "./browser_backend";
import { MemoryBackend } from "./memory_backend";
import { withRescued } from "./rescue";
import { ServerBackend } from "./server_backend";
import { copyOf, emptyConversation } from "./tree";
import type { Conversation, Summary } from "./types";

const RETRY_AFTER_MS = 5000;
// A server gets the whole conversation each time, so a long one is sent less often while it
// is being answered; the running text is kept in this browser meanwhile.
const LONG = 200; // messages
const LONG_SAVE_AFTER_MS = 5000;

export const summaries = signal<Summary[]>([]);
export const current = signal<Conversation>(emptyConversation());
export const place = signal<Backend["place"]>("memory");
export const started = signal(false);
export const unsaved = signal(""); // why the last write failed

let backend: Backend = new MemoryBackend();
const loaded = new Map<string, Conversation>();
const movedTo = new Map<string, string>(); // conversations that became copies
const saving = new Map<string, Promise<void>>();
const dirty = new Set<string>();
const busy = new Set<string>(); // being answered here
const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("vivace");

// `kept`: whether the server says that it keeps conversations; asked where it does not say.
async function chooseBackend(kept: boolean | undefined): Promise<Backend> {
  const asks = kept ?? true;
  if (asks && (await listHistory().catch(() => undefined)) !== undefined) return new ServerBackend();
  try {
    return await BrowserBackend.open();
  } catch {
    return new MemoryBackend();
  }
}

export async function startLibrary(kept: boolean | undefined): Promise<void> {
  backend = await chooseBackend(kept);
  place.value = backend.place;
  // What was asked before the library was there.
  for (const id of loaded.keys()) save(id);
  await refresh();
  started.value = true;
  if (channel) channel.onmessage = (event: MessageEvent<string>) => void onOtherTab(event.data);
  addEventListener("focus", () => void refresh());
}

function newestFirst(list: Summary[]): Summary[] {
  return list.sort((a, b) => b.updatedMs - a.updatedMs);
}

export async function refresh(): Promise<void> {
  try {
    const list = await backend.list();
    summaries.value = newestFirst([...list, ...notIn(list)]);
    await refreshCurrent(list);
  } catch {
    // The bar about the connection says why.
  }
}

// What is not saved yet is listed all the same.
function notIn(list: Summary[]): Summary[] {
  const known = new Set(list.map((entry) => entry.id));
  const ours = [...new Set([...dirty, ...saving.keys()])].filter((id) => !known.has(id));
  return ours.map((id) => loaded.get(id)).filter((found) => found !== undefined).map(summaryOf);
}

async function refreshCurrent(list: Summary[]): Promise<void> {
  const shown = current.value;
  const entry = list.find((known) => known.id === shown.id);
  if (!entry || dirty.has(shown.id) || busy.has(shown.id) || saving.has(shown.id)) return;
  // Clocks of two machines cannot be compared, revisions can.
  const isNewer = entry.revision === undefined ? entry.updatedMs > shown.updatedMs : entry.revision > shown.revision;
  if (!isNewer) return;
  const fresh = await backend.load(shown.id);
  if (fresh && current.value === shown) put(fresh);
}

async function onOtherTab(id: string): Promise<void> {
  if (!busy.has(id) && !dirty.has(id) && current.value.id !== id) loaded.delete(id);
  await refresh();
}

function put(conversation: Conversation): void {
  loaded.set(conversation.id, conversation);
  if (current.value.id === conversation.id) current.value = conversation;
}

export function idOf(id: string): string {
  return movedTo.get(id) ?? id;
}

export function get(id: string): Conversation | undefined {
  return loaded.get(idOf(id));
}

// Shows a conversation; false where there is none.
export async function open(id: string): Promise<boolean> {
  const known = get(id);
  const conversation = known ?? (await backend.load(idOf(id)));
  if (!conversation) return false;
  const whole = known ?? withRescued(conversation);
  loaded.set(whole.id, whole);
  current.value = whole;
  return true;
}

// What others have made of it.
export async function reload(id: string): Promise<void> {
  const fresh = await backend.load(id);
  if (fresh && !dirty.has(id) && !busy.has(id)) put(withRescued(fresh));
}

export function openNew(): void {
  current.value = emptyConversation();
}

// Changes a conversation that is loaded or shown. It is listed from its first message on.
export function update(id: string, change: (conversation: Conversation) => Conversation): void {
  const real = idOf(id);
  const before = loaded.get(real) ?? (current.value.id === real ? current.value : undefined);
  if (!before) return;
  const after = change(before);
  if (after === before) return;
  put(after);
  list(after);
  save(real);
}

function list(conversation: Conversation): void {
  const entry = summaryOf(conversation);
  const old = summaries.value.find((known) => known.id === entry.id);
  if (old && old.title === entry.title && entry.updatedMs - old.updatedMs < 2000) return;
  summaries.value = newestFirst([entry, ...summaries.value.filter((known) => known.id !== entry.id)]);
}

export function setBusy(id: string, value: boolean): void {
  if (value) busy.add(idOf(id));
  else busy.delete(idOf(id));
}

function save(id: string): void {
  dirty.add(id);
  if (!saving.has(id)) saving.set(id, saveLater(id, patience(id)));
}

// Milliseconds; mostly none, as the page may be left at any time.
function patience(id: string): number {
  const messages = Object.keys(loaded.get(id)?.messages ?? {}).length;
  return place.value === "server" && busy.has(id) && messages > LONG ? LONG_SAVE_AFTER_MS : 0;
}

async function saveLater(id: string, ms: number): Promise<void> {
  // Even without waiting, changes of the same moment are one write.
  await (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : Promise.resolve());
  await write(id);
  saving.delete(id);
  if (dirty.has(id)) saving.set(id, saveLater(id, unsaved.value ? RETRY_AFTER_MS : patience(id)));
}

// Once nothing of it is left to be written.
export async function whenSaved(id: string): Promise<void> {
  for (let running = saving.get(idOf(id)); running; running = saving.get(idOf(id))) await running;
}

async function write(id: string): Promise<void> {
  const conversation = loaded.get(id);
  if (!conversation || !dirty.delete(id)) return;
  try {
    const saved = await backend.save(conversation, (revision) => {
      const now = loaded.get(id);
      if (now) put({ ...now, revision });
    });
    if (saved === "conflict") await keepBoth(id);
    unsaved.value = "";
    channel?.postMessage(id);
  } catch (error) {
    dirty.add(id);
    unsaved.value = error instanceof Error ? error.message : String(error);
  }
}

// Someone else has written to this conversation: theirs keeps the name, ours becomes a copy.
async function keepBoth(id: string): Promise<void> {
  const theirs = await backend.load(id);
  const ours = loaded.get(id);
  if (!ours) return;
  if (!theirs) {
    put({ ...ours, revision: 0 });
    dirty.add(id);
    return;
  }
  const copy = copyOf(ours, t("copyOf", { title: ours.title }));
  movedTo.set(id, copy.id);
  if (busy.delete(id)) busy.add(copy.id);
  loaded.set(copy.id, copy);
  loaded.set(id, theirs);
  if (current.value.id === id) {
    current.value = copy;
    renameRoute(`#/c/${copy.id}`);
  }
  list(copy);
  save(copy.id);
  await refresh();
}

// Takes it out of the list; what was there is returned, for undoing.
export async function remove(id: string): Promise<Conversation | undefined> {
  const conversation = loaded.get(id) ?? (await backend.load(id));
  dirty.delete(id);
  await saving.get(id);
  dirty.delete(id);
  loaded.delete(id);
  summaries.value = summaries.value.filter((entry) => entry.id !== id);
  await backend.remove(id);
  channel?.postMessage(id);
  return conversation;
}

export function restore(conversation: Conversation): void {
  loaded.set(conversation.id, { ...conversation, revision: 0 });
  list(conversation);
  save(conversation.id);
}

// Takes conversations of a file; those whose id is here already get another one.
export function importAll(conversations: Conversation[]): void {
  for (const conversation of conversations) {
    const known = summaries.value.some((entry) => entry.id === conversation.id);
    restore(known ? copyOf(conversation, conversation.title) : conversation);
  }
}

export async function readAll(): Promise<Conversation[]> {
  const all = await Promise.all(summaries.value.map((entry) => loaded.get(entry.id) ?? backend.load(entry.id)));
  return all.filter((found) => found !== undefined);
}

export async function read(id: string): Promise<Conversation | undefined> {
  return loaded.get(id) ?? backend.load(id);
}

export function rename(id: string, title: string): Promise<void> {
  return withLoaded(id, (conversation) => ({ ...conversation, title, named: true, updatedMs: Date.now() }));
}

async function withLoaded(id: string, change: (conversation: Conversation) => Conversation): Promise<void> {
  const conversation = await read(id);
  if (!conversation) return;
  loaded.set(id, conversation);
  update(id, change);
}

export const search = (words: string): Promise<Summary[]> => backend.search(words).then(newestFirst);
