// Text files that are about to be sent: read here, and counted by the server.
import { signal } from "@preact/signals";

import { countTokens } from "../api/server";
import { formatBytes, t } from "../i18n";
import { model } from "../store/server";
import type { Attachment } from "../store/types";
import { showToast } from "../ui/toast";

const MOST_BYTES = 4_000_000;

export const attachments = signal<Attachment[]>([]);

// Text has no zero bytes, and hardly anything that is not UTF-8.
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function setTokens(file: Attachment, tokens: number): void {
  attachments.value = attachments.value.map((known) => (known === file ? { ...file, tokens } : known));
}

async function count(file: Attachment): Promise<void> {
  try {
    setTokens(file, await countTokens(model.value, file.text));
  } catch {
    // A guess that holds a large file back rather than not.
    setTokens(file, Math.ceil(file.text.length / 3));
  }
}

async function add(file: File): Promise<void> {
  if (file.size > MOST_BYTES) {
    showToast(t("tooLarge", { name: file.name, most: formatBytes(MOST_BYTES) }));
    return;
  }
  const text = textOf(new Uint8Array(await file.arrayBuffer()));
  if (text === undefined) {
    showToast(t("notText", { name: file.name }));
    return;
  }
  const attachment: Attachment = { name: file.name, size: file.size, text };
  attachments.value = [...attachments.value.filter((known) => known.name !== file.name), attachment];
  await count(attachment);
}

export async function addFiles(files: Iterable<File>): Promise<void> {
  for (const file of files) await add(file);
}

export function removeFile(file: Attachment): void {
  attachments.value = attachments.value.filter((known) => known !== file);
}
