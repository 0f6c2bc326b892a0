"""Line 4: streamed Markdown without flicker, code, tables, formulas, very long conversations."""
import json

from playwright.sync_api import expect
from scripted import answering

RICH = """# Heading

Some *text* with `code` and **weight**.

| a | b |
|---|--:|
| 1 | 2 |

```python
def add(a, b):
    return a + b
```

Inline $e^{i\\pi} + 1 = 0$ and

$$\\int_0^1 x^2 \\, dx = \\frac{1}{3}$$

1. one
2. two

The end."""


def pieces(text, ms, size=12):
    return [(ms, text[i:i + size]) for i in range(0, len(text), size)]


def test_markdown_code_tables_and_formulas(open_page, chat_server):
    chat = open_page(chat_server, before=answering(RICH))
    answer = chat.ask("Show me everything.")
    expect(answer.locator("h1")).to_have_text("Heading")
    expect(answer.locator("table td")).to_have_count(2)
    expect(answer.locator("ol li")).to_have_count(2)
    expect(answer.locator('[data-testid="code-block"] .hljs')).to_contain_text("def add")
    assert answer.locator('[data-testid="code-block"] [class*="hljs-"]').count() > 0
    expect(answer.locator('[data-testid="math"]')).to_have_count(2)
    expect(answer.locator(".katex").first).to_be_visible()


def test_code_can_be_copied(open_page, chat_server):
    chat = open_page(chat_server, before=answering(RICH),
                     permissions=["clipboard-read", "clipboard-write"])
    answer = chat.ask("Show me code.")
    answer.locator('[data-testid="code-block"]').hover()
    answer.locator('[data-testid="code-copy"]').click()
    chat.wait("async () => (await navigator.clipboard.readText()).length > 0")
    copied = chat.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == "def add(a, b):\n    return a + b"


def test_what_is_written_is_not_drawn_again(open_page, chat_server):
    parts = pieces(RICH, 15) + [(800, " More")] + pieces(" words" * 40, 10)
    chat = open_page(chat_server, before=answering(parts))
    chat.send("Show me everything.")
    chat.wait("document.querySelectorAll('[data-testid=math]').length === 2")
    chat.page.evaluate("""() => {
      const text = document.querySelector('[data-role=assistant] [data-testid=message-text]');
      window.kept = [...text.querySelectorAll('h1, table, ol, pre')];
      window.heights = [];
      new ResizeObserver(() => window.heights.push(text.offsetHeight)).observe(text);
    }""")
    chat.answered()
    kept, heights = chat.page.evaluate(
        "[window.kept.map((node) => node.isConnected), window.heights]")
    assert kept and all(kept), "finished blocks keep their elements"
    assert heights == sorted(heights), "the text never shrinks while it is written"


def test_fast_answers_are_painted_in_batches(open_page, chat_server):
    words = [(0, f"word{i} ") for i in range(1500)]
    chat = open_page(chat_server, before=answering(words))
    chat.page.evaluate("""() => {
      window.paints = 0;
      new MutationObserver(() => window.paints++).observe(
        document.querySelector('[data-testid=app]'), {subtree: true, characterData: true, childList: true});
    }""")
    answer = chat.ask("Quickly!")
    expect(answer).to_contain_text("word1499")
    assert chat.page.evaluate("window.paints") < 400, "1500 tokens, 16 or 50 ms at a time"


def test_scrolling_up_is_respected(open_page, chat_server):
    lines = "".join(f"Line {i}\n\n" for i in range(120))
    chat = open_page(chat_server, before=answering([*pieces(lines, 2, 40), (1500, "last"),
                                                    *pieces(lines, 5, 40)]))
    chat.send("Many lines, please.")
    chat.wait("document.body.innerText.includes('Line 60')")
    chat("thread").hover()
    chat.page.mouse.wheel(0, -3000)
    expect(chat("jump-newest")).to_be_visible()
    chat.page.wait_for_timeout(150)
    before = chat("thread").evaluate("element => element.scrollTop")
    chat.answered()
    assert abs(chat("thread").evaluate("element => element.scrollTop") - before) < 60
    chat("jump-newest").click()
    chat.wait("""() => {
      const thread = document.querySelector('[data-testid=thread]');
      return thread.scrollHeight - thread.scrollTop - thread.clientHeight < 40;
    }""")


def long_export(count):
    """A file of one conversation of that many messages, as the page exports them."""
    messages, parent = {}, ""
    for i in range(count):
        name = f"m{i:05}"
        messages[name] = {"id": name, "parent": parent, "createdMs": 1_790_000_000_000 + i,
                          "role": "assistant" if i % 2 else "user", "state": "done",
                          "text": f"Message {i}. " + "Words to fill a line or two. " * (i % 7)}
        parent = name
    conversation = {"id": "long", "title": "Long", "messages": messages, "chosen": {}}
    return {"format": "vivace-conversations", "version": 1, "conversations": [conversation]}


def test_five_thousand_messages_stay_light(open_page, chat_server, tmp_path):
    file = tmp_path / "long.json"
    file.write_text(json.dumps(long_export(5000)), "utf-8")
    chat = open_page(chat_server, expect=["ERR_FAILED"],
                     before=lambda page: page.route("**/v1/prefill", lambda route: route.abort()))
    chat("import-file").set_input_files(file)
    chat("conversation-title").first.click()
    expect(chat("thread")).to_have_attribute("data-count", "5000")
    chat.wait("document.body.innerText.includes('Message 4999')")
    assert chat("message").count() < 80
    for position, seen in ((0, "Message 0."), (0.5, "Message 2"), (1, "Message 4999")):
        chat("thread").evaluate(
            "(element, share) => { element.scrollTop = share * element.scrollHeight; }", position)
        chat.wait("text => document.body.innerText.includes(text)", arg=seen)
        assert chat("message").count() < 80
    nodes = chat.page.evaluate("document.querySelectorAll('*').length")
    print(f"5000 messages: {nodes} elements")
    assert nodes < 6000
