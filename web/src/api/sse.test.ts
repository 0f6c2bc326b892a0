import { expect, test } from "vitest";

import { SseParser } from "./sse";

const TEXT = ': hello\n\ndata: {"a":1}\n\nevent: ping\r\ndata: one\r\ndata: two\r\n\r\ndata:[DONE]\n\n';

test("events are the same however the stream is cut", () => {
  const whole = new SseParser().push(TEXT);
  expect(whole).toEqual([
    { event: "message", data: '{"a":1}' },
    { event: "ping", data: "one\ntwo" },
    { event: "message", data: "[DONE]" },
  ]);
  for (let size = 1; size < 8; size++) {
    const parser = new SseParser();
    const events = [];
    for (let at = 0; at < TEXT.length; at += size) events.push(...parser.push(TEXT.slice(at, at + size)));
    expect(events).toEqual(whole);
  }
});

test("an event without its end is none yet", () => {
  expect(new SseParser().push("data: 1\n")).toEqual([]);
});
