"""Line 1: the page is there, asks and shows the answer; what an answer holds does no harm."""
import json
import re

from scripted import answering

HOSTILE = """# <script>window.hit = 1</script>

<img src=x onerror="window.hit = 2"> <svg onload="window.hit = 3"></svg>
<iframe srcdoc="<script>parent.hit = 4</script>"></iframe>
[link](javascript:window.hit=5) ![image](https://example.com/pixel.png)
<a href="data:text/html,<script>window.hit = 6</script>">data</a> <form action="https://example.com">
<style>body { display: none }</style> <p style="position:fixed;inset:0">over it all</p>

```html"><img src=x onerror=window.hit=7>
<b onmouseover="window.hit = 8">code</b>
```

$\\href{javascript:window.hit=9}{x}$ $\\includegraphics{https://example.com/x.png}$
"""


def letters(text):
    return re.sub(r"\W+", "", text)


def test_a_question_gets_the_servers_answer(chat, chat_server):
    chat.settings(temperature=0, seed=1)
    answer = chat.ask("What is the capital of France?")
    body = json.loads(chat.posted("/v1/chat/completions")[-1])
    assert body["messages"][-1] == {"role": "user", "content": "What is the capital of France?"}
    whole = chat_server.post("/v1/chat/completions", body | {"stream": False, "stream_options": None})
    assert letters(chat.text_of(answer)) == letters(whole["choices"][0]["message"]["content"])


def test_the_first_token_is_seen_after_the_server_has_it(chat):
    answer = chat.ask("Name a colour.")
    page, server = (float(answer.get_attribute(name))
                    for name in ("data-ttft-ms", "data-server-ttft-ms"))
    print(f"first token: {server:.1f} ms at the server, {page:.1f} ms on the page")
    assert 0 < server <= page


def test_a_conversation_goes_on(chat):
    chat.ask("My name is Zoe.")
    chat.ask("What is my name?")
    messages = json.loads(chat.posted("/v1/chat/completions")[-1])["messages"]
    assert [message["role"] for message in messages][-3:] == ["user", "assistant", "user"]
    assert chat("message").count() == 4


def test_hostile_answers_do_nothing(open_page, chat_server):
    chat = open_page(chat_server, before=answering(HOSTILE))
    chat.page.on("dialog", lambda dialog: chat.problems.append("a dialog"))
    answer = chat.ask(HOSTILE)
    chat.page.wait_for_timeout(300)  # for what loads later: highlighting, formulas
    assert chat.page.evaluate("window.hit") is None
    assert chat("thread").locator("iframe, form, object, embed, img[src^=http]").count() == 0
    assert chat("thread").evaluate("""thread => [...thread.querySelectorAll('*')].filter((node) =>
      ['SCRIPT', 'STYLE', 'LINK', 'META', 'BASE'].includes(node.tagName) ||
      [...node.attributes].some((attribute) => attribute.name.startsWith('on'))).length""") == 0
    for link in answer.locator("a[href]").all():
        assert link.get_attribute("href").startswith(("http://", "https://", "mailto:"))
    # The question is the conversation's title as well, here and after a reload.
    chat.page.reload()
    chat("conversation-title").first.wait_for()
    assert chat.page.evaluate("window.hit") is None


def test_the_address_of_a_conversation_opens_it(chat):
    chat.ask("Say hello.")
    address = chat.page.url
    assert "#/c/" in address
    chat.new_chat()
    chat.wait("document.querySelectorAll('[data-testid=message]').length === 0")
    chat.page.goto(address)
    chat("message", role="assistant").wait_for()
    assert chat("message").count() == 2
