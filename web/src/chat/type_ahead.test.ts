import { beforeEach, expect, test } from "vitest";

import type { PrefillReply } from "../api/prefill";
import { Painter, type Clock } from "./painter";
import { Rates } from "./rates";
import { TypeAhead } from "./type_ahead";
import type { Timings } from "../api/timings";

// A clock that only moves when it is told to.
class HandClock implements Clock {
  private time = 0;
  private next = 1;
  private timers = new Map<number, { at: number; action: () => void }>();
  now(): number {
    return this.time;
  }
  after(ms: number, action: () => void): number {
    this.timers.set(this.next, { at: this.time + ms, action });
    return this.next++;
  }
  cancel(timer: number): void {
    this.timers.delete(timer);
  }
  pass(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const due = [...this.timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) break;
      this.timers.delete(due[0]);
      this.time = due[1].at;
      due[1].action();
    }
    this.time = end;
  }
}

interface Sent {
  draft: string;
  signal: AbortSignal;
  answer: (reply: PrefillReply) => void;
}

let clock: HandClock;
let sent: Sent[];
let ahead: TypeAhead;
const REPLY: PrefillReply = { prompt_tokens: 9, cached_tokens: 5, complete: true };

beforeEach(() => {
  clock = new HandClock();
  sent = [];
  ahead = new TypeAhead(
    (draft, signal) => new Promise((resolve) => sent.push({ draft, signal, answer: resolve })),
    clock,
  );
});

const drafts = (): string[] => sent.map((entry) => entry.draft);

function type(text: string, everyMs: number): void {
  for (let i = 1; i <= text.length; i++) {
    ahead.changed(text.slice(0, i));
    clock.pass(everyMs);
  }
}

test("a pause sends the draft once", () => {
  ahead.changed("Why");
  clock.pass(149);
  expect(drafts()).toEqual([]);
  clock.pass(1);
  expect(drafts()).toEqual(["Why"]);
  clock.pass(5000);
  expect(drafts()).toEqual(["Why"]);
});

test("fast typing sends now and then, and the newest replaces the one before", () => {
  type("abcdefghijklmnopqrst", 100); // 2 s
  clock.pass(500);
  expect(sent.length).toBeGreaterThanOrEqual(3);
  expect(sent.length).toBeLessThanOrEqual(7);
  expect(sent.at(-1)!.draft).toBe("abcdefghijklmnopqrst");
  expect(sent.slice(0, -1).every((entry) => entry.signal.aborted)).toBe(true);
  expect(sent.at(-1)!.signal.aborted).toBe(false);
});

test("nothing is sent while an input method composes", () => {
  ahead.compositionStart();
  type("nihao", 100);
  clock.pass(2000);
  expect(drafts()).toEqual([]);
  ahead.compositionEnd("你好");
  clock.pass(150);
  expect(drafts()).toEqual(["你好"]);
});

test("ready is what the draft is now, and only when all was read", async () => {
  ahead.changed("a");
  clock.pass(200);
  sent[0]!.answer({ ...REPLY, complete: false });
  await Promise.resolve();
  expect(ahead.ready.value).toBeNull();
  ahead.changed("ab");
  clock.pass(1000);
  sent[1]!.answer(REPLY);
  await Promise.resolve();
  expect(ahead.ready.value).toEqual(REPLY);
  ahead.changed("abc");
  expect(ahead.ready.value).toBeNull();
});

test("asking ends what runs", () => {
  ahead.changed("a");
  clock.pass(200);
  ahead.cancel();
  expect(sent[0]!.signal.aborted).toBe(true);
  ahead.changed("a");
  clock.pass(200);
  expect(drafts()).toEqual(["a", "a"]);
});

test("empty drafts are not sent", () => {
  ahead.changed("  \n");
  clock.pass(1000);
  expect(drafts()).toEqual([]);
});

test("painting comes at once, then in bundles", () => {
  const shown: string[] = [];
  const painter = new Painter("", (text) => shown.push(text), clock);
  painter.add("a", 1);
  expect(shown).toEqual(["a"]);
  painter.add("b", 1);
  painter.add("c", 1);
  expect(shown).toEqual(["a"]);
  clock.pass(50);
  expect(shown).toEqual(["a", "abc"]);
  painter.add("d", 16);
  expect(shown.at(-1)).toBe("abcd");
  painter.add("e", 1);
  painter.flush();
  clock.pass(100);
  expect(shown).toEqual(["a", "abc", "abcd", "abcde"]);
});

test("a long answer has as many points of speed as a short one", () => {
  const rates = new Rates();
  for (let i = 1; i < 1000; i++) rates.add({ predicted_n: i, predicted_ms: i * 10 } as Timings);
  expect(rates.points.length).toBeGreaterThan(30);
  expect(rates.points.length).toBeLessThanOrEqual(121);
  expect(rates.points.every((rate) => rate === 100)).toBe(true);
});
