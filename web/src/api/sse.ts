// Events of a stream of server-sent events. Comments keep a silent stream open and are dropped.

export interface SseEvent {
  event: string; // "message" where the server names none
  data: string;
}

// Cuts text that comes in pieces of any size into events.
export class SseParser {
  private rest = "";
  private event = "";
  private data: string[] = [];

  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (this.data.length) events.push({ event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
        continue;
      }
      this.field(line);
    }
    return events;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "event") this.event = value;
    if (name === "data") this.data.push(value);
  }
}

export async function* readEvents(response: Response): AsyncGenerator<SseEvent> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Leaving the loop early ends the request.
    await reader.cancel().catch(() => undefined);
  }
}
