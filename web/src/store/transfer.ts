// Conversations as files: JSON with everything in it, Markdown for reading.
import { conversationOf } from "./check";
import { pathOf } from "./tree";
import type { Conversation } from "./types";

const FORMAT = "vivace-conversations";

export function toJson(conversations: Conversation[]): string {
  return `${JSON.stringify({ format: FORMAT, version: 1, conversations }, null, 1)}\n`;
}

// The conversations of a file; nothing where it is not one of ours.
export function fromJson(text: string): Conversation[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const file = value as { format?: unknown; conversations?: unknown } | null;
  if (file?.format !== FORMAT || !Array.isArray(file.conversations)) return undefined;
  return file.conversations.map(conversationOf).filter((found) => found !== undefined);
}

export function toMarkdown(conversation: Conversation, names: { user: string; assistant: string }): string {
  const parts = [`# ${conversation.title || "…"}`];
  for (const message of pathOf(conversation)) {
    const files = (message.attachments ?? []).map((file) => `*${file.name}*`).join(" · ");
    parts.push(`## ${names[message.role]}`);
    if (files) parts.push(files);
    parts.push(message.text.trim());
  }
  return `${parts.join("\n\n")}\n`;
}

export function fileNameOf(title: string, extension: string): string {
  const name = title.replace(/[\\/:*?"<>|\s\u0000-\u001f]+/g, " ").trim().slice(0, 60) || "vivace";
  return `${name}.${extension}`;
}
