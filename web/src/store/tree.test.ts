import { expect, test } from "vitest";

import { conversationOf } from "./check";
import { matches, messageWith } from "./backend";
import { fileNameOf, fromJson, toJson, toMarkdown } from "./transfer";
import { changed, chosenSibling, copyOf, emptyConversation, newMessage, pathOf, showing, siblingsOf, withMessage } from "./tree";
import type { Conversation, Message } from "./types";

let time = 1000;

function add(conversation: Conversation, parent: string, role: Message["role"], text: string): [Conversation, Message] {
  const message = { ...newMessage(parent, role, text, "done"), createdMs: time++ };
  return [withMessage(conversation, message), message];
}

function sample() {
  let conversation = emptyConversation(1);
  let question, answer, other;
  [conversation, question] = add(conversation, "", "user", "What is a **tree**?\nPlease.");
  [conversation, answer] = add(conversation, question.id, "assistant", "A graph.");
  [conversation, other] = add(conversation, question.id, "assistant", "没有环的图。");
  return { conversation, question, answer, other };
}

const texts = (conversation: Conversation): string[] => pathOf(conversation).map((message) => message.text);

test("the newest version is shown, others are a step away", () => {
  const { conversation, other } = sample();
  expect(texts(conversation)).toEqual(["What is a **tree**?\nPlease.", "没有环的图。"]);
  expect(siblingsOf(conversation, other)).toHaveLength(2);
  const back = chosenSibling(conversation, other, -1);
  expect(texts(back)[1]).toBe("A graph.");
  expect(chosenSibling(conversation, other, 1)).toBe(conversation);
});

test("a branch keeps what is below it", () => {
  let { conversation, question } = sample();
  [conversation] = add(conversation, "", "user", "Another question");
  expect(texts(conversation)).toEqual(["Another question"]);
  conversation = chosenSibling(conversation, pathOf(conversation)[0]!, -1);
  expect(pathOf(conversation)[0]!.id).toBe(question.id);
  expect(pathOf(conversation)).toHaveLength(2);
});

test("the title is the first line of the first question", () => {
  expect(sample().conversation.title).toBe("What is a **tree**?");
});

test("files bring back what they were made from", () => {
  const { conversation } = sample();
  expect(fromJson(toJson([conversation]))).toEqual([conversation]);
  expect(fromJson("{}")).toBeUndefined();
  expect(fromJson("not json")).toBeUndefined();
  expect(toMarkdown(conversation, { user: "You", assistant: "Answer" })).toContain("## Answer\n\n没有环的图。\n");
  expect(fileNameOf('a/b: "c"?', "md")).toBe("a b c.md");
});

test("what comes from outside is checked", () => {
  const { conversation } = sample();
  expect(conversationOf(null)).toBeUndefined();
  expect(conversationOf({ ...conversation, id: "../etc" })).toBeUndefined();
  const odd = conversationOf({ ...conversation, messages: { a: 1, b: { id: "b", role: "evil" } }, chosen: { x: 1 } });
  expect(odd?.messages).toEqual({});
  expect(odd?.chosen).toEqual({});
});

test("a ring of messages ends", () => {
  const message = newMessage("", "user", "a", "done");
  const messages = { a: { ...message, id: "a", parent: "" }, b: { ...message, id: "b", parent: "b" } };
  expect(pathOf({ ...emptyConversation(), messages })).toHaveLength(1);
});

test("search looks into titles and texts, in any script", () => {
  const { conversation } = sample();
  expect(matches(conversation, "TREE graph")).toBe(true);
  expect(matches(conversation, "没有环")).toBe(true);
  expect(matches(conversation, "tree forest")).toBe(false);
});

test("a copy has an id of its own", () => {
  const { conversation } = sample();
  const copy = copyOf(conversation, "x");
  expect(copy.id).not.toBe(conversation.id);
  expect(copy).toMatchObject({ title: "x", revision: 0, messages: conversation.messages });
});

test("a search shows the version that has the words", () => {
  let { conversation, question, answer, other } = sample();
  let next;
  [conversation, next] = add(conversation, answer.id, "user", "And a forest?");
  conversation = chosenSibling(conversation, answer, 1);
  expect(texts(conversation)).toEqual([question.text, other.text]);
  expect(messageWith(conversation, "FOREST")).toBe(conversation.messages[next.id]);
  expect(messageWith(conversation, "tree")?.id).toBe(question.id);
  expect(messageWith(conversation, "lake")).toBeUndefined();
  expect(texts(showing(conversation, next))).toEqual([question.text, answer.text, next.text]);
  expect(showing(conversation, other)).toBe(conversation);
});

test("attached files are searched", () => {
  let { conversation, question } = sample();
  conversation = changed(conversation, question.id, { attachments: [{ name: "a.txt", size: 4, text: "Lake" }] });
  expect(matches(conversation, "lake tree")).toBe(true);
  expect(messageWith(conversation, "lake")?.id).toBe(question.id);
});
