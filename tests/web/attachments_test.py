"""Line 8: text files come along, counted before they are sent."""
import json

from playwright.sync_api import expect

NOTES = "The code word is elephant.\n" * 30


def test_a_file_is_counted_and_sent(chat, chat_server):
    chat("attach-file").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": NOTES.encode()})
    chip = chat("attachment", name="notes.txt")
    expect(chip).to_be_visible()
    tokens = chip.locator('[data-testid="attachment-tokens"]')
    expect(tokens).to_contain_text(r"1")
    counted = len(chat_server.post("/tokenize", {"content": NOTES})["tokens"])
    shown = int("".join(c for c in tokens.inner_text() if c.isdigit()))
    assert abs(shown - counted) <= 0.1 * counted + 20
    chat.ask("What is the code word?")
    content = json.loads(chat.posted("/v1/chat/completions")[-1])["messages"][-1]["content"]
    assert "notes.txt" in content and NOTES.strip() in content
    assert "What is the code word?" in content
    expect(chat("attachment", name="notes.txt")).to_have_count(1)  # at the message now


def test_files_can_be_dropped_and_taken_away(chat):
    data = chat.page.evaluate_handle("""() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["# 标题\\n内容"], "说明.md", {type: "text/markdown"}));
      return transfer;
    }""")
    for event in ("dragenter", "dragover", "drop"):
        chat("composer").dispatch_event(event, {"dataTransfer": data})
    expect(chat("attachment", name="说明.md")).to_be_visible()
    chat("attachment-remove").click()
    expect(chat("attachment")).to_have_count(0)


def test_what_does_not_fit_is_held_back(chat):
    chat("attach-file").set_input_files(
        {"name": "long.txt", "mimeType": "text/plain", "buffer": b"many words here " * 9000})
    expect(chat("fit-warning")).to_be_visible()
    chat.type("What is it about?")
    expect(chat("send")).to_be_disabled()
    chat("composer-input").press("Enter")
    assert not chat.posted("/v1/chat/completions")
    chat("attachment-remove").click()
    expect(chat("fit-warning")).to_have_count(0)
    expect(chat("send")).to_be_enabled()


def test_a_file_that_is_no_text_is_refused(chat):
    chat("attach-file").set_input_files(
        {"name": "picture.png", "mimeType": "image/png",
         "buffer": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20})
    expect(chat("attachment", name="picture.png")).to_have_count(0)
    expect(chat("toast")).to_be_visible()
