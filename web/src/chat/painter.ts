// Painter: shows a growing text at most every 50 ms, or every 16 tokens when they come
// faster. The first part is shown at once.

export interface Clock {
  now(): number;
  after(ms: number, action: () => void): number;
  cancel(timer: number): void;
}

export const realClock: Clock = {
  now: () => performance.now(),
  after: (ms, action) => window.setTimeout(action, ms),
  cancel: (timer) => clearTimeout(timer),
};

const EVERY_MS = 50;
const EVERY_TOKENS = 16;

export class Painter {
  private text: string;
  private waiting = 0; // tokens that are not shown yet
  private paintedMs = -Infinity;
  private timer: number | undefined;

  constructor(
    begin: string,
    private readonly show: (text: string) => void,
    private readonly clock: Clock = realClock,
  ) {
    this.text = begin;
  }

  get whole(): string {
    return this.text;
  }

  add(text: string, tokens: number): void {
    this.text += text;
    this.waiting += tokens;
    const sinceMs = this.clock.now() - this.paintedMs;
    if (sinceMs >= EVERY_MS || this.waiting >= EVERY_TOKENS) this.flush();
    else this.timer ??= this.clock.after(EVERY_MS - sinceMs, () => this.flush());
  }

  flush(): void {
    if (this.timer !== undefined) this.clock.cancel(this.timer);
    this.timer = undefined;
    this.waiting = 0;
    this.paintedMs = this.clock.now();
    this.show(this.text);
  }
}
