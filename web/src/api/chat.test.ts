import { expect, test } from "vitest";

import { chatBody, chatPart, type ChatCall } from "./chat";
import { errorOf } from "./errors";

const CALL: ChatCall = {
  model: "m",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hel" },
  ],
  sampling: { temperature: 0, stop: ["END"] },
  cacheId: "c",
};

test("a chat sends only what was set, and asks for few events", () => {
  const body = chatBody(CALL);
  expect(body).toMatchObject({ model: "m", cache_id: "c", stream: true, temperature: 0, stop: ["END"] });
  expect(body["stream_chunk"]).toEqual({ tokens: 16, ms: 50 });
  expect(body).not.toHaveProperty("response_format");
  expect(body).not.toHaveProperty("max_tokens");
  const bound = chatBody({ ...CALL, schema: { type: "object" } });
  expect(bound["response_format"]).toMatchObject({ type: "json_schema", json_schema: { schema: { type: "object" } } });
});

test("continuing ends with the answer so far, without a schema", () => {
  const body = chatBody({ ...CALL, goesOn: true, schema: { type: "object" } });
  expect(body).toMatchObject({ continue_final_message: true, add_generation_prompt: false, stop: ["END"] });
  expect(body["messages"]).toEqual(CALL.messages);
  expect(body).not.toHaveProperty("response_format");
});

test("parts of an answer", () => {
  expect(chatPart({ choices: [{ delta: { content: "a" }, finish_reason: null }] })).toEqual({ text: "a" });
  expect(chatPart({ choices: [{ delta: {}, finish_reason: "length" }] })).toEqual({ finish: "length" });
  expect(chatPart({ choices: [] })).toEqual({});
});

test("errors have a kind that the page knows a way out of", () => {
  const kind = (status: number, error: unknown): string => errorOf(status, { error }).kind;
  expect(kind(401, { code: 401 })).toBe("key");
  expect(kind(404, { code: 404, message: "no such model" })).toBe("model");
  expect(kind(503, {})).toBe("busy");
  expect(kind(501, {})).toBe("unsupported");
  expect(kind(500, null)).toBe("server");
  expect(kind(400, "text")).toBe("input");
  const full = errorOf(400, { error: { type: "exceed_context_size_error", n_prompt_tokens: 9, n_ctx: 8 } });
  expect(full.facts).toMatchObject({ kind: "context", promptTokens: 9, context: 8 });
  expect(errorOf(503, null, "7").facts.retryAfterS).toBe(7);
});
