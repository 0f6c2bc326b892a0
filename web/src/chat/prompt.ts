// What a conversation says to the server: the system prompt, then the messages up to one.
import type { ChatMessage } from "../api/chat";
import type { Attachment, Conversation, Message } from "../store/types";

function fenceFor(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  return "`".repeat(longest + 1);
}

// Files first: while a question about them is typed, they are read already.
export function contentOf(text: string, attachments: Attachment[] = []): string {
  const files = attachments.map((file) => {
    const fence = fenceFor(file.text);
    return `${file.name}:\n${fence}\n${file.text.replace(/\n$/, "")}\n${fence}`;
  });
  return [...files, text].filter((part) => part !== "").join("\n\n");
}

// The messages from the first one to `id`, whatever is shown.
export function ancestors(conversation: Conversation, id: string): Message[] {
  const path: Message[] = [];
  for (let message = conversation.messages[id]; message; message = conversation.messages[message.parent]) {
    path.push(message);
    if (path.length > 100_000) break; // a file from outside may hold a ring
  }
  return path.reverse();
}

// Without those that were to be forgotten.
export function keptOf(conversation: Conversation, path: Message[]): Message[] {
  const first = path.findIndex((message) => message.id === conversation.keepFrom);
  return path.slice(Math.max(0, first));
}

export function chatMessages(system: string, messages: Message[]): ChatMessage[] {
  const result: ChatMessage[] = system.trim() ? [{ role: "system", content: system }] : [];
  for (const message of messages) {
    // An answer that never began is no turn of the conversation.
    if (message.role === "assistant" && message.text === "") continue;
    result.push({ role: message.role, content: contentOf(message.text, message.attachments) });
  }
  return result;
}
