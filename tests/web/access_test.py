"""Line 6: two languages, two themes, keyboard only, screen readers, a phone's width."""
import pytest
from conftest import ROOT
from playwright.sync_api import expect
from scripted import answering
from rendering_test import RICH

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"


def axe_faults(chat):
    """Serious and critical ones, as 'rule: element'."""
    if not AXE.exists():
        pytest.skip("web/node_modules has no axe-core")
    chat.page.evaluate(AXE.read_text("utf-8"))
    violations = chat.page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
            for one in violations if one["impact"] in ("serious", "critical")
            for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(open_page, chat_server, scheme):
    chat = open_page(chat_server, color_scheme=scheme, before=answering(RICH))
    expect(chat("app")).to_have_attribute("data-theme", scheme)
    assert axe_faults(chat) == [], "the empty page"
    chat.ask("Show me everything.")
    expect(chat("math")).to_have_count(2)
    assert axe_faults(chat) == [], "a conversation"
    chat("open-settings").click()
    expect(chat("settings")).to_be_visible()
    assert axe_faults(chat) == [], "the controls"
    chat("settings-close").click()
    chat("open-metrics").click()
    chat("metrics").wait_for()
    chat("metric-running").wait_for()
    assert axe_faults(chat) == [], "the metrics"


def test_the_browsers_language_is_used(open_page, chat_server):
    chat = open_page(chat_server, locale="zh-CN")
    expect(chat("app")).to_have_attribute("data-lang", "zh-CN")
    assert chat.page.locator("html").get_attribute("lang") == "zh-CN"
    assert any("\u4e00" <= c <= "\u9fff" for c in chat("new-chat").inner_text()
               + (chat("new-chat").get_attribute("aria-label") or ""))
    answer = chat.ask("你好！你叫什么名字？")
    assert any("\u4e00" <= c <= "\u9fff"
               for c in answer.locator('[data-testid="timing"]').inner_text())


def test_language_and_theme_can_be_switched(open_page, chat_server):
    chat = open_page(chat_server, color_scheme="light")
    expect(chat("app")).to_have_attribute("data-lang", "en")
    chat("open-settings").click()
    chat("setting-language").select_option("zh-CN")
    expect(chat("app")).to_have_attribute("data-lang", "zh-CN")
    chat("setting-theme").select_option("dark")
    expect(chat("app")).to_have_attribute("data-theme", "dark")
    chat.page.reload()
    expect(chat("app")).to_have_attribute("data-lang", "zh-CN")
    expect(chat("app")).to_have_attribute("data-theme", "dark")


def focused(chat):
    return chat.page.evaluate("document.activeElement?.dataset?.testid ?? ''")


def test_everything_by_keyboard(open_page, serve):
    chat = open_page(serve("qwen-coder", "--max-tokens", "400", "--no-speculation"))
    keys = chat.page.keyboard
    assert focused(chat) == "composer-input", "one can type at once"
    keys.type("First line")
    keys.press("Shift+Enter")
    keys.type("Write a long story about a dragon who lives in a mountain.")
    keys.press("Enter")
    chat.writes(10)
    assert "First line\nWrite" in chat("message-text").first.inner_text()
    keys.press("Escape")
    assert chat.answered().get_attribute("data-state") == "stopped"
    keys.press("Control+k")
    assert focused(chat) == "search"
    keys.press("Control+Shift+O")
    expect(chat("message")).to_have_count(0)
    assert focused(chat) == "composer-input"
    seen = set()
    for _ in range(60):
        keys.press("Tab")
        seen.add(focused(chat))
    for name in ("new-chat", "search", "conversation-title", "open-settings", "open-metrics",
                 "model", "composer-input", "attach"):
        assert name in seen, f"{name} cannot be reached: {sorted(seen)}"


def test_dialogs_keep_and_give_back_the_focus(chat):
    chat("open-help").focus()
    chat.page.keyboard.press("Enter")
    expect(chat("help")).to_be_visible()
    assert chat("help").evaluate("element => element.contains(document.activeElement)")
    chat.page.keyboard.press("Escape")
    expect(chat("help")).to_have_count(0)
    assert focused(chat) == "open-help"


def test_screen_readers_hear_the_answer(open_page, chat_server):
    chat = open_page(chat_server, before=answering("The answer is forty-two."))
    assert chat("live").get_attribute("aria-live") in ("polite", "assertive")
    chat.ask("What is the answer?")
    expect(chat("live")).to_contain_text("forty-two")


def test_a_phone(open_page, chat_server):
    chat = open_page(chat_server, before=answering(RICH), viewport={"width": 360, "height": 700},
                     has_touch=True, is_mobile=True)
    expect(chat("sidebar")).not_to_be_in_viewport()
    chat.ask("Show me everything.")
    width = chat.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360, "nothing is wider than the screen"
    expect(chat("composer-input")).to_be_in_viewport()
    chat("sidebar-open").click()
    expect(chat("conversation").first).to_be_in_viewport()
    chat("sidebar-close").click()
    expect(chat("sidebar")).not_to_be_in_viewport()
    for name in ("sidebar-open", "attach", "send"):
        box = chat(name).bounding_box()
        assert min(box["width"], box["height"]) >= 32, f"{name} is too small for a finger"
