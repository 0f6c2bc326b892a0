// What can be done with conversations as a whole: export, import, delete with a way back.
import { t } from "../i18n";
import { goTo } from "../route";
import { current, importAll, read, readAll, remove, restore } from "../store/library";
import { fileNameOf, fromJson, toJson, toMarkdown } from "../store/transfer";
import { stop } from "../chat/answers";
import { showToast } from "../ui/toast";

function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export async function exportJson(id: string): Promise<void> {
  const conversation = await read(id);
  if (conversation) saveFile(fileNameOf(conversation.title, "json"), toJson([conversation]), "application/json");
}

export async function exportMarkdown(id: string): Promise<void> {
  const conversation = await read(id);
  if (!conversation) return;
  const text = toMarkdown(conversation, { user: t("you"), assistant: t("assistant") });
  saveFile(fileNameOf(conversation.title, "md"), text, "text/markdown");
}

export async function exportAll(): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  saveFile(`vivace-${day}.json`, toJson(await readAll()), "application/json");
}

export async function importFile(file: File): Promise<void> {
  const conversations = fromJson(await file.text());
  if (!conversations?.length) {
    showToast(t("importFailed"));
    return;
  }
  importAll(conversations);
  showToast(t("imported", { n: conversations.length }));
}

export async function deleteConversation(id: string): Promise<void> {
  const shown = current.value.id === id;
  const whole = await read(id);
  if (whole) stop(whole);
  if (shown) goTo("#/");
  const conversation = await remove(id);
  if (!conversation) return;
  showToast(t("deleted", { title: conversation.title || t("untitled") }), () => {
    restore(conversation);
    if (shown) goTo(`#/c/${id}`);
  });
}
