"""Answers that a test writes itself: the page's fetch is replaced for chat completions, so
that every byte and every pause is known. All else goes to the real server."""
import json

# Each answer is a list of [milliseconds to wait, text]; the last one is used again.
SCRIPT = """(answers) => {
  const real = window.fetch;
  let asked = 0;
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  window.fetch = async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    if (!url.endsWith("/v1/chat/completions")) return real(input, init);
    const parts = answers[Math.min(asked++, answers.length - 1)];
    const bytes = new TextEncoder();
    const event = (delta, finish) => bytes.encode("data: " + JSON.stringify({
      object: "chat.completion.chunk", model: "scripted",
      choices: [{index: 0, delta, finish_reason: finish}]}) + "\\n\\n");
    const body = new ReadableStream({
      async start(stream) {
        for (const [ms, text] of parts) {
          if (ms) await pause(ms);
          if (init?.signal?.aborted) return stream.error(init.signal.reason);
          stream.enqueue(event({content: text}, null));
        }
        stream.enqueue(event({}, "stop"));
        stream.enqueue(bytes.encode("data: [DONE]\\n\\n"));
        stream.close();
      },
    });
    return new Response(body, {headers: {"Content-Type": "text/event-stream"}});
  };
}"""


def answering(*answers):
    """What to pass as `before` of a visit: the page is answered with these, one after another.

    An answer is a text, or a list of (milliseconds before, text).
    """
    parts = [[[0, one]] if isinstance(one, str) else [list(part) for part in one]
             for one in answers]
    return lambda page: page.add_init_script(f"({SCRIPT})({json.dumps(parts)})")
