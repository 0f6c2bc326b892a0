"""Line 5: the controls, their presets, the context gauge and each answer's times."""
import json

import pytest
from playwright.sync_api import expect

SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'


def last_body(chat):
    return json.loads(chat.posted("/v1/chat/completions")[-1])


def test_what_is_set_is_sent(chat):
    chat.settings(system="Answer in one word.", temperature=0.5, top_p=0.9, top_k=20, min_p=0.02,
                  repeat_penalty=1.1, presence_penalty=0.1, frequency_penalty=0.2, max_tokens=5,
                  seed=7, stop="END")
    chat.ask("Name a colour.")
    body = last_body(chat)
    expected = {"temperature": 0.5, "top_p": 0.9, "top_k": 20, "min_p": 0.02,
                "repeat_penalty": 1.1, "presence_penalty": 0.1, "frequency_penalty": 0.2,
                "seed": 7}
    assert {name: body.get(name) for name in expected} == expected
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 5
    assert body["stop"] in ("END", ["END"])
    assert body["messages"][0] == {"role": "system", "content": "Answer in one word."}


def test_what_is_not_set_is_the_servers(chat, chat_server):
    chat.ask("Name a colour.")
    assert not {"temperature", "top_p", "top_k", "min_p", "seed", "stop"} & set(last_body(chat))
    defaults = chat_server.get("/props")["default_generation_settings"]["params"]
    chat("open-settings").click()
    shown = chat("setting-temperature").get_attribute("placeholder")
    assert float(shown) == pytest.approx(defaults["temperature"], abs=1e-6)
    assert float(chat("setting-top_k").get_attribute("placeholder")) == defaults["top_k"]


def test_presets_fill_the_fields(chat):
    chat("open-settings").click()
    seen = set()
    for name in ("chat", "code", "extraction", "edge"):
        chat(f"preset-{name}").click()
        seen.add(chat("setting-temperature").input_value() + chat("setting-top_k").input_value()
                 + chat("setting-max_tokens").input_value())
    assert len(seen) >= 3
    chat("preset-default").click()
    assert chat("setting-temperature").input_value() == ""


def test_a_wrong_value_is_said(chat):
    chat("open-settings").click()
    chat("setting-temperature").fill("-1")
    chat("setting-temperature").blur()
    expect(chat("setting-error").first).to_be_visible()


def test_a_schema_is_sent(open_page, chat_server):
    chat = open_page(chat_server, expect=["501"])
    chat.settings(schema=SCHEMA, max_tokens=30)
    chat.send("Name a city.")
    # Servers that cannot enforce a schema say so; the page shows their sentence.
    chat("error").or_(chat("timing")).first.wait_for()
    form = last_body(chat)["response_format"]
    assert form["type"] == "json_schema"
    assert json.loads(SCHEMA) in (form["json_schema"].get("schema"), form.get("schema"))


def test_settings_outlive_a_reload(chat):
    chat.settings(temperature=0.25)
    chat.page.reload()
    chat("open-settings").click()
    expect(chat("setting-temperature")).to_have_value("0.25")


def test_the_model_can_be_chosen(chat, chat_server):
    options = chat("model").locator("option").all_inner_texts()
    names = [model["id"] for model in chat_server.get("/v1/models")["data"]]
    assert options and any(names[0] in option or option in names[0] for option in options)


def test_times_and_gauge(chat):
    answer = chat.ask("Tell me about rivers.")
    timing = answer.locator('[data-testid="timing"]')
    expect(timing).to_be_visible()
    predicted = int(timing.get_attribute("data-predicted"))
    assert 0 < predicted <= 40
    assert "token" in timing.inner_text() and "ms" in timing.inner_text()
    gauge = chat("context-gauge").first
    assert int(gauge.get_attribute("data-total")) == 8192
    assert int(gauge.get_attribute("data-used")) > predicted
    expect(answer.locator('[data-testid="timing-plot"]')).to_have_count(1)
    chat.ask("And about lakes?")
    last = chat("timing").last
    assert int(last.get_attribute("data-cached")) > 0, "the conversation so far is remembered"


def test_loading_a_model_shows_how_far_it_is(open_page, chat_server):
    """The server's first packing of a model, told by a server that stands still in it."""
    held = []

    def before(page):
        def models(route):
            answer = route.fetch().json()
            status = {"value": "loading", "progress": 0.42} if held else {"value": "unloaded"}
            other = {"id": "another:q8_0", "object": "model", "status": status}
            route.fulfill(json=answer | {"data": answer["data"] + [other]})

        page.route("**/v1/models", models)
        page.route("**/api/generate", lambda route: held.append(route))
    chat = open_page(chat_server, before=before, expect=["404"])
    chat("model").select_option("another:q8_0")
    bar = chat("model-loading")
    expect(bar).to_have_attribute("data-percent", "42")
    expect(bar).to_contain_text("42 %")
    expect(bar.get_by_role("progressbar")).to_have_attribute("value", "42")
    held[0].fulfill(status=404, json={"error": {"code": 404, "message": "it is gone"}})
    expect(bar).to_contain_text("it is gone")
