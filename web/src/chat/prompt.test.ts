import { expect, test } from "vitest";

import { textOf } from "./attachments";
import { Heights } from "./heights";
import { ancestors, chatMessages, contentOf, keptOf } from "./prompt";
import { emptyConversation, newMessage, withMessage } from "../store/tree";

test("files stand before the question, in a fence that they cannot close", () => {
  const file = { name: "a.md", size: 9, text: "x\n````\ny\n" };
  expect(contentOf("Why?", [file])).toBe("a.md:\n`````\nx\n````\ny\n`````\n\nWhy?");
  expect(contentOf("Why?")).toBe("Why?");
});

test("messages up to one, with the system prompt and without answers that never began", () => {
  let conversation = emptyConversation();
  const question = newMessage("", "user", "Hi", "done");
  const failed = newMessage(question.id, "assistant", "", "failed");
  const next = newMessage(failed.id, "user", "Hello?", "done");
  for (const message of [question, failed, next]) conversation = withMessage(conversation, message);
  const path = ancestors(conversation, next.id);
  expect(path.map((message) => message.text)).toEqual(["Hi", "", "Hello?"]);
  expect(chatMessages("Be kind.", path)).toEqual([
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi" },
    { role: "user", content: "Hello?" },
  ]);
  expect(keptOf(conversation, path)).toEqual(path);
  expect(keptOf({ ...conversation, keepFrom: next.id }, path)).toEqual([next]);
});

test("text is told from other files", () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  expect(textOf(bytes("Grüße, 世界"))).toBe("Grüße, 世界");
  expect(textOf(new Uint8Array([1, 0, 2]))).toBeUndefined();
  expect(textOf(new Uint8Array([0xff, 0xfe, 0x41]))).toBeUndefined();
});

test("of many messages only those near the window are shown", () => {
  const heights = new Heights();
  const ids = Array.from({ length: 5000 }, (_, i) => `m${i}`);
  const end = heights.window(ids, Infinity, 800);
  expect(end.first).toBe(5000);
  const total = heights.total(ids);
  const { first, last, above, below } = heights.window(ids, total / 2, 800);
  expect(last - first).toBeLessThan(40);
  expect(above + below + (last - first) * heights.of("m0")).toBe(total);
  expect(heights.set("m0", 200)).toBe(60);
  expect(heights.total(ids)).toBe(total + 60);
  expect(heights.topOf(ids, "m1")).toBe(200);
});
