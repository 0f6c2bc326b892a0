"""Line 3: conversations are listed, found, changed, branched, kept, carried elsewhere."""
import json

import pytest
from playwright.sync_api import expect
from scripted import answering

LONG = "Write a long story about a dragon who lives in a mountain."  # never ends by itself


def titles(chat):
    return chat("conversation-title").all_inner_texts()


def menu(chat, item, index=0):
    chat("conversation").nth(index).hover()
    chat("conversation-menu").nth(index).click()
    chat(item).click()


def edit_first(chat, text):
    question = chat("message", role="user").first
    question.hover()
    question.locator('[data-testid="message-edit"]').click()
    chat("message-edit-input").fill(text)
    chat("message-edit-send").click()


def test_list_search_rename(chat):
    chat.ask("Tell me about the river Elbe.")
    chat.new_chat()
    chat.ask("介绍一下北京的天气。")
    expect(chat("conversation")).to_have_count(2)
    chat("search").fill("elbe")
    expect(chat("conversation")).to_have_count(1)
    chat("search").fill("北京")
    expect(chat("conversation")).to_have_count(1)
    chat("search").fill("nothing has this")
    expect(chat("conversation")).to_have_count(0)
    chat("search").fill("")
    menu(chat, "menu-rename")
    chat("rename-input").fill("Weather <b>in</b> Beijing")
    chat("rename-input").press("Enter")
    expect(chat("conversation-title").first).to_contain_text("Weather <b>in</b> Beijing")
    chat.page.reload()
    expect(chat("conversation-title").filter(has_text="Weather <b>in</b> Beijing")).to_have_count(1)


def test_delete_can_be_undone(chat):
    chat.ask("Say hello.")
    menu(chat, "menu-delete")
    expect(chat("conversation")).to_have_count(0)
    chat("toast-undo").click()
    expect(chat("conversation")).to_have_count(1)
    menu(chat, "menu-delete")
    expect(chat("conversation")).to_have_count(0)
    chat.page.reload()
    chat("app").wait_for()
    expect(chat("conversation")).to_have_count(0)


def test_an_edited_question_is_a_branch(chat):
    chat.ask("Name a river.")
    first = chat.text_of(chat("message", role="assistant").last)
    edit_first(chat, "Name a mountain.")
    expect(chat("sibling-count").first).to_have_text("2 / 2")
    chat.answered()
    expect(chat("message-text").first).to_contain_text("mountain")
    chat("sibling-previous").first.click()
    expect(chat("sibling-count").first).to_have_text("1 / 2")
    expect(chat("message-text").first).to_contain_text("river")
    assert chat.text_of(chat("message", role="assistant").last) == first


def test_search_opens_the_version_that_has_the_words(open_page, chat_server):
    chat = open_page(chat_server, before=answering("About rivers.", "Nothing of it."))
    chat.ask("Name a river.")
    edit_first(chat, "Name a mountain.")
    expect(chat("sibling-count").first).to_have_text("2 / 2")
    expect(chat("message-text").last).to_contain_text("Nothing")
    chat.answered()
    chat.new_chat()
    chat("search").fill("river")
    chat("conversation-title").first.click()
    expect(chat("sibling-count").first).to_have_text("1 / 2")
    expect(chat("message-text").last).to_contain_text("rivers")
    # Which version is read remains the reader's choice.
    chat("sibling-next").first.click()
    expect(chat("message-text").first).to_contain_text("mountain")
    chat("conversation-title").first.click()
    expect(chat("message-text").first).to_contain_text("river")


def test_regenerate_keeps_the_older_answer(chat):
    answer = chat.ask("Tell me something.")
    answer.hover()
    answer.locator('[data-testid="message-regenerate"]').click()
    expect(chat("sibling-count").last).to_have_text("2 / 2")
    chat.answered()
    expect(chat("message")).to_have_count(2)


def test_stop_and_continue(open_page, serve):
    chat = open_page(serve("qwen-coder", "--max-tokens", "400", "--no-speculation"))
    chat.settings(temperature=0)
    chat.send(LONG)
    chat.writes(10)
    chat("stop").click()
    answer = chat.answered()
    assert answer.get_attribute("data-state") == "stopped"
    text = chat.text_of(answer)
    answer.hover()
    with chat.page.expect_request("**/v1/chat/completions") as sent:
        answer.locator('[data-testid="message-continue"]').click()
    body = json.loads(sent.value.post_data)
    assert body["continue_final_message"] is True
    last = body["messages"][-1]
    assert last["role"] == "assistant" and last["content"].startswith(text[:10])
    chat.writes(len(text) + 20)
    chat.page.keyboard.press("Escape")
    answer = chat.answered()
    assert chat.text_of(answer).startswith(text[:40])
    expect(chat("message")).to_have_count(2)


def test_copy(open_page, chat_server):
    chat = open_page(chat_server, permissions=["clipboard-read", "clipboard-write"])
    question = "Say *hello* to\n<b>everyone</b>."
    chat.ask(question)
    message = chat("message", role="user").first
    message.hover()
    message.locator('[data-testid="message-copy"]').click()
    chat.wait("async () => (await navigator.clipboard.readText()).length > 0")
    assert chat.page.evaluate("navigator.clipboard.readText()") == question


def test_export_and_import(open_page, chat, chat_server, tmp_path):
    answer = chat.text_of(chat.ask("Tell me about the river Elbe."))
    with chat.page.expect_download() as markdown:
        menu(chat, "menu-export-markdown")
    assert "river Elbe" in markdown.value.path().read_text("utf-8")
    with chat.page.expect_download() as one:
        menu(chat, "menu-export-json")
    with chat.page.expect_download() as everything:
        chat("export-all").click()
    for download in (one.value, everything.value):
        file = tmp_path / download.suggested_filename
        download.save_as(file)
        assert "river Elbe" in json.dumps(json.loads(file.read_text("utf-8")))
        other = open_page(chat_server)
        other("import-file").set_input_files(file)
        expect(other("conversation")).to_have_count(1)
        other("conversation-title").first.click()
        expect(other("message")).to_have_count(2)
        assert other.text_of(other("message").last) == answer


def test_a_file_that_is_no_export_is_refused(chat, tmp_path):
    file = tmp_path / "x.json"
    file.write_text('{"conversations": [{"id": 5}, "x"]}')
    chat("import-file").set_input_files(file)
    expect(chat("toast")).to_be_visible()
    expect(chat("conversation")).to_have_count(0)


def test_a_reload_in_mid_answer_loses_nothing(open_page, serve):
    chat = open_page(serve("qwen-coder", "--no-speculation", "--max-tokens", "300"))
    chat.settings(temperature=0)
    chat.send(LONG)
    before = chat.writes(60)
    chat.page.reload()
    answer = chat.answered()
    after = chat.text_of(answer)
    assert after.startswith(before[:50])
    assert len(after) > len(before), "it went on by itself"
    expect(chat("message")).to_have_count(2)


@pytest.fixture
def keeper(serve, tmp_path):
    return serve("smollm2", "--max-tokens", "20", "--history", tmp_path / "history.db")


def test_the_servers_history_follows_people(open_page, keeper):
    one, two = open_page(keeper), open_page(keeper)
    answer = one.text_of(one.ask("Tell me about the river Elbe."))
    two.page.reload()
    two("conversation-title").first.click()
    expect(two("message")).to_have_count(2)
    assert two.text_of(two("message").last) == answer
    two("search").fill("elbe")
    expect(two("conversation")).to_have_count(1)


def test_two_browsers_that_write_at_once_both_keep_theirs(open_page, keeper):
    one = open_page(keeper)
    one.ask("Tell me about rivers.")
    two = open_page(keeper, expect=["409"])
    two("conversation-title").first.click()
    expect(two("message")).to_have_count(2)
    one.ask("And lakes?")
    two.ask("And seas?")
    kept = lambda: [keeper.get(f"/v1/history/{head['id']}")["data"]
                    for head in keeper.get("/v1/history")["conversations"]]
    two.page.wait_for_timeout(1500)
    texts = json.dumps(kept())
    assert "And lakes?" in texts and "And seas?" in texts
