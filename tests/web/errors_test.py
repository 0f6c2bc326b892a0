"""What goes wrong is a plain sentence with a way out, and no text is lost."""
import json
import signal

import pytest
from playwright.sync_api import expect

LONG = "Write a long story about a dragon who lives in a mountain."  # never ends by itself
NETWORK = ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE", "ERR_CONNECTION_RESET", "ERR_EMPTY"]


def test_a_server_that_dies_in_mid_answer(open_page, serve):
    server = serve("qwen-coder", "--no-speculation", "--max-tokens", "300")
    chat = open_page(server, expect=NETWORK)
    chat.settings(temperature=0)
    chat.send(LONG)
    chat.writes(60)
    server.stop(signal.SIGKILL)
    expect(chat("error", kind="gone")).to_be_visible()
    text = chat.text_of(chat("message", role="assistant").last)
    assert len(text) > 60, "the text is kept"
    serve("qwen-coder", "--no-speculation", "--max-tokens", "300", port=server.port)
    chat("error-continue").click()
    answer = chat.answered()
    after = chat.text_of(answer)
    assert after.startswith(text[:40]) and len(after) > len(text)
    expect(chat("error")).to_have_count(0)


def test_a_question_that_nobody_took_can_be_asked_again(open_page, serve):
    server = serve("smollm2", "--max-tokens", "10")
    chat = open_page(server, expect=NETWORK)
    server.stop(signal.SIGKILL)
    chat.send("Say hello.")
    expect(chat("error", kind="gone")).to_be_visible()
    expect(chat("message", role="user")).to_contain_text("Say hello.")
    serve("smollm2", "--max-tokens", "10", port=server.port)
    chat("error-retry").click()
    expect(chat("timing")).to_have_count(1)
    expect(chat("error")).to_have_count(0)


def test_a_full_context(open_page, serve):
    chat = open_page(serve("smollm2", "--ctx", "256", "--max-tokens", "16"), expect=["400"])
    chat.ask("Tell me about rivers. " * 20)
    chat.send("Tell me about lakes. " * 28)
    expect(chat("error", kind="context")).to_be_visible()
    expect(chat("error-new-chat")).to_be_visible()
    chat("error-drop-oldest").click()
    expect(chat("error")).to_have_count(0)
    chat.answered()
    body = json.loads(chat.posted("/v1/chat/completions")[-1])
    assert "lakes" in body["messages"][-1]["content"]
    assert not any("rivers" in message["content"] for message in body["messages"])
    expect(chat("message", role="user")).to_have_count(2)  # still there to be read


def test_a_key_is_asked_for(browser, open_page, serve):
    server = serve("smollm2", "--api-key", "secret-key", "--max-tokens", "8")
    chat = open_page(server, expect=["401"], ready=False)
    expect(chat("key-input")).to_be_visible()
    chat("key-input").fill("wrong")
    chat("key-save").click()
    expect(chat("key-input")).to_be_visible()
    chat("key-input").fill("secret-key")
    chat("key-save").click()
    expect(chat("key-input")).to_have_count(0)
    chat.ask("Say hello.")
    stored = chat.page.evaluate("JSON.stringify([localStorage, document.cookie, location.href])")
    assert "secret-key" not in stored, "the key lives as long as the tab"


def test_a_model_that_is_missing(open_page, chat_server):
    chat = open_page(chat_server, expect=["404"])

    def other_model(route):
        body = json.loads(route.request.post_data) | {"model": "no-such-model"}
        route.continue_(post_data=json.dumps(body))

    chat.page.route("**/v1/chat/completions", other_model, times=1)
    chat.send("Say hello.")
    expect(chat("error", kind="model")).to_be_visible()
    chat("error-model").first.click()
    expect(chat("timing")).to_have_count(1)
    expect(chat("error")).to_have_count(0)


@pytest.mark.parametrize("status, headers, kind", [
    (503, {"Retry-After": "1"}, "busy"), (500, {}, "server")])
def test_a_server_that_cannot_now(open_page, chat_server, status, headers, kind):
    chat = open_page(chat_server, expect=[str(status)])
    error = {"error": {"code": status, "message": "the queue is full", "type": "unavailable_error"}}
    chat.page.route("**/v1/chat/completions", times=1, handler=lambda route: route.fulfill(
        status=status, headers=headers, json=error))
    chat.send("Say hello.")
    expect(chat("error", kind=kind)).to_be_visible()
    chat("error-retry").click()
    expect(chat("timing")).to_have_count(1)
    expect(chat("error")).to_have_count(0)


def test_a_build_without_the_page_says_so(serve):
    server = serve("smollm2", "--no-webui")
    status, _, body = server.request("GET", "/", headers={"Accept": "text/html"})
    assert status == 404 and b"web page" in body
