// TypeAhead: sends the draft ahead while it is typed, after short pauses and now and then in
// between, never while an input method composes. A newer draft replaces a running request.
import { signal } from "@preact/signals";

import { isAbort } from "../api/errors";
import type { PrefillReply } from "../api/prefill";
import { realClock, type Clock } from "./painter";

const PAUSE_MS = 150;
const EVERY_MS = 400; // while the typing does not pause, and never more often

export type SendDraft = (draft: string, signal: AbortSignal) => Promise<PrefillReply>;

export class TypeAhead {
  // Of the draft as it is now, once the server has read all of it.
  readonly ready = signal<PrefillReply | null>(null);

  private draft = "";
  private sent: string | undefined; // what the server has read or reads
  private sentMs = -Infinity;
  private unsentMs: number | undefined; // since when there is something that was not sent
  private composing = false;
  private timer: number | undefined;
  private running: AbortController | undefined;

  constructor(
    private readonly send: SendDraft,
    private readonly clock: Clock = realClock,
  ) {}

  changed(draft: string): void {
    if (draft === this.draft) return;
    this.draft = draft;
    this.ready.value = null;
    this.schedule();
  }

  compositionStart(): void {
    this.composing = true;
    this.clearTimer();
    this.unsentMs = undefined;
  }

  compositionEnd(draft: string): void {
    this.composing = false;
    this.draft = draft;
    this.ready.value = null;
    this.schedule();
  }

  // Ends what runs: the question is asked, or the draft belongs to another conversation.
  cancel(): void {
    this.clearTimer();
    this.running?.abort();
    this.running = undefined;
    this.ready.value = null;
    this.draft = "";
    this.sent = undefined;
    this.sentMs = -Infinity;
    this.unsentMs = undefined;
  }

  private schedule(): void {
    this.clearTimer();
    if (this.composing || this.draft.trim() === "") return;
    const now = this.clock.now();
    this.unsentMs ??= now;
    const due = Math.min(now + PAUSE_MS, Math.max(this.sentMs, this.unsentMs) + EVERY_MS);
    const wait = Math.max(due, this.sentMs + EVERY_MS) - now;
    this.timer = this.clock.after(Math.max(0, wait), () => this.fire());
  }

  private clearTimer(): void {
    if (this.timer !== undefined) this.clock.cancel(this.timer);
    this.timer = undefined;
  }

  private fire(): void {
    this.timer = undefined;
    const draft = this.draft;
    if (this.composing || draft === this.sent) return;
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.sent = draft;
    this.sentMs = this.clock.now();
    this.unsentMs = undefined;
    this.send(draft, running.signal).then(
      (reply) => {
        if (running.signal.aborted) return;
        this.running = undefined;
        if (reply.complete && this.draft === draft) this.ready.value = reply;
      },
      (error: unknown) => {
        // Asking will say what is wrong; typing is not disturbed.
        if (!isAbort(error) && this.running === running) this.running = undefined;
      },
    );
  }
}
