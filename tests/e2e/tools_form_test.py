"""Tools together with a form of the answer: it is a call, or an answer in its form."""
import json

import pytest

from tools_test import (ANTHROPIC, OLLAMA, OPENAI, QUESTION, RESPONSES, ask, ask_anthropic,
                        ask_ollama, ask_responses)

PLACE = {"type": "object", "properties": {"place": {"enum": ["north", "south"]}},
         "required": ["place"], "additionalProperties": False}


def with_form(dialect, text, **more):
    """A request with tools whose plain answer must have a form, and how to read its answer:
    its calls' names, and its text."""
    form = {"type": "json_schema", "schema": PLACE}
    if dialect == OPENAI:
        return ask(text, response_format={"type": "json_schema", "json_schema": {"schema": PLACE}},
                   **more), lambda answer: (
            [c["function"]["name"] for c in answer["choices"][0]["message"].get("tool_calls") or []],
            answer["choices"][0]["message"]["content"])
    if dialect == RESPONSES:
        asked = ask_responses(text, **more) | {"text": {"format": form | {"name": "a"}}}
        return asked, lambda answer: (
            [i["name"] for i in answer["output"] if i["type"] == "function_call"],
            "".join(i["content"][0]["text"] for i in answer["output"] if i["type"] == "message"))
    if dialect == OLLAMA:
        return ask_ollama(text, format=PLACE, stream=False, **more), lambda answer: (
            [c["function"]["name"] for c in answer["message"].get("tool_calls") or []],
            answer["message"]["content"])
    return ask_anthropic(text, output_config={"format": form}, **more), lambda answer: (
        [b["name"] for b in answer["content"] if b["type"] == "tool_use"],
        "".join(b["text"] for b in answer["content"] if b["type"] == "text"))


@pytest.mark.parametrize("dialect", [OPENAI, RESPONSES, OLLAMA, ANTHROPIC])
def test_a_call_or_an_answer_in_its_form(coder_server, dialect):
    body, read = with_form(dialect, QUESTION)
    names, text = read(coder_server.post(dialect, body))
    assert names == ["get_weather"] and not text
    body, read = with_form(dialect, "Is the pole star seen in the north or in the south? No tools.")
    names, text = read(coder_server.post(dialect, body))
    assert names or json.loads(text)["place"] in ("north", "south")


def test_a_form_counts_only_where_no_call_must_come(coder_server):
    body, read = with_form(OPENAI, "Hello!")
    assert read(coder_server.post(OPENAI, body | {"tool_choice": "required"}))[0]
    names, text = read(coder_server.post(OPENAI, body | {"tool_choice": "none"}))
    assert not names and json.loads(text)["place"] in ("north", "south")
    for seed in range(6):
        names, text = read(coder_server.post(OPENAI, body | {"temperature": 1, "seed": seed}))
        assert names or json.loads(text)["place"] in ("north", "south")
