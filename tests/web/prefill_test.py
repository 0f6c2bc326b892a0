"""Line 2: what is being typed is read ahead, so that Enter leaves the last tokens only."""
import json

import pytest

PREFILL = "/v1/prefill"
SENTENCE = "The river rose by {} metres in the night and took the wooden bridge with it. "
QUESTION = "Read this report. " + "".join(SENTENCE.format(i) for i in range(28))  # 500 tokens


@pytest.fixture(scope="module")
def fresh_server(serve_module):
    """Its cache is cleared by each test."""
    return serve_module("smollm2", "--max-tokens", "12", "--kv-disk-mb", "0")


@pytest.fixture
def chat(open_page, fresh_server):
    fresh_server.request("DELETE", "/v1/cache")
    return open_page(fresh_server)


def prompt_and_cached(answer):
    """Tokens of the prompt, and those of them that were there."""
    timing = answer.locator('[data-testid="timing"]')
    return int(timing.get_attribute("data-prompt")), int(timing.get_attribute("data-cached"))


def test_two_seconds_of_typing_hide_a_long_question(chat, fresh_server):
    chat.type(QUESTION)
    typed = " What did the river take?"
    chat("composer-input").press_sequentially(typed, delay=2000 / len(typed))
    ready_in_time = chat("prefill-ready").count() == 1
    chat("prefill-ready").wait_for()
    chat("composer-input").press("Enter")
    answer = chat.answered()
    prompt, cached = prompt_and_cached(answer)
    first = float(answer.get_attribute("data-server-ttft-ms"))
    # The same request again, when all of it is in the cache: nothing can be faster.
    body = json.loads(chat.posted("/v1/chat/completions")[-1])
    again = fresh_server.post("/v1/chat/completions",
                              body | {"stream": False, "stream_options": None})["timings"]
    print(f"ready within two seconds of typing: {ready_in_time}; "
          f"{cached} of {prompt} tokens were there, {first:.0f} ms; fully cached {again['first_token_ms']:.0f} ms")
    assert prompt > 500
    assert cached >= again["cache_n"] - 16, "all but the last page and the end of the turn"


def test_nothing_is_sent_while_characters_are_composed(chat):
    chat("composer-input").focus()
    input_method = chat.context.new_cdp_session(chat.page)
    for text in ("n", "ni", "nih", "niha", "nihao"):
        input_method.send("Input.imeSetComposition",
                          {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
        chat.page.wait_for_timeout(200)
    assert not chat.posted(PREFILL)
    with chat.page.expect_request(f"**{PREFILL}") as sent:
        input_method.send("Input.insertText", {"text": "你好"})
        chat("composer-input").press_sequentially("吗")
    assert "你好" in sent.value.post_data


def test_enter_that_ends_a_composition_sends_nothing(chat):
    chat("composer-input").focus()
    input_method = chat.context.new_cdp_session(chat.page)
    input_method.send("Input.imeSetComposition",
                      {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    chat("composer-input").dispatch_event("keydown", {"key": "Enter", "isComposing": True,
                                                      "keyCode": 229})
    chat.page.wait_for_timeout(200)
    assert not chat.posted("/v1/chat/completions")
    assert chat("message").count() == 0


def test_a_newer_draft_replaces_the_older(chat):
    chat.type(QUESTION)
    chat.page.wait_for_timeout(400)
    chat("composer-input").press_sequentially(" And then what happened?", delay=60)
    chat("prefill-ready").wait_for()
    drafts = [json.loads(body) for body in chat.posted(PREFILL)]
    assert len(drafts) >= 2
    assert len({draft["cache_id"] for draft in drafts}) == 1
    assert all(draft["partial"] for draft in drafts)
    assert drafts[-1]["messages"][-1]["content"].endswith("happened?")
    assert len(drafts) < 15, "not one for each key"


def test_the_mark_goes_when_the_draft_changes(chat):
    chat.type("Tell me about rivers.")
    chat("prefill-ready").wait_for()
    chat.page.route(f"**{PREFILL}", lambda route: None)  # never answered
    chat("composer-input").press_sequentially(" And lakes")
    chat("prefill-ready").wait_for(state="detached")
    chat("composer-input").press("Enter")
    chat.answered()


def test_it_can_be_switched_off(chat):
    chat("open-settings").click()
    chat("setting-prefill").uncheck()
    chat("settings-close").click()
    chat.ask("Say hello.")
    chat.type("Tell me about rivers and lakes.")
    chat.page.wait_for_timeout(800)
    assert not chat.posted(PREFILL)


def test_a_conversation_that_is_opened_is_read(chat, fresh_server):
    chat.ask("Tell me about rivers.")
    address = chat.page.url
    chat.new_chat()
    fresh_server.request("DELETE", "/v1/cache")
    before = len(chat.posted(PREFILL))
    with chat.page.expect_response(f"**{PREFILL}"):
        chat.page.goto(address)
    body = json.loads(chat.posted(PREFILL)[before])
    assert [message["role"] for message in body["messages"]][-2:] == ["user", "assistant"]
