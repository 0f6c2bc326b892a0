#!/usr/bin/env python3
"""Writes tests/data/chat/golden.json: what chat templates have to render to.

The truth is Python's jinja2, set up as Hugging Face transformers does. The templates
are the *.jinja files in tests/data/chat; `--from-gguf FILE NAME` first stores the
template of a model file there. Needs jinja2, and gguf for --from-gguf.
"""
import argparse
import copy
import datetime
import json
import pathlib

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "chat"
NOW = datetime.datetime(2024, 2, 29, 7, 5, 9)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


class Generation(Extension):
    """{% generation %}, which transformers uses to find the assistant's text."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_body")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


def normalized(messages):
    """What vivace documents to do before it renders."""
    messages = copy.deepcopy(messages)
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(part["text"] for part in content)
        message["content"] = content or ""
        for call in message.get("tool_calls") or []:
            arguments = call["function"]["arguments"]
            if isinstance(arguments, str):
                call["function"]["arguments"] = json.loads(arguments)
    return messages


def tool(name, description, properties):
    return {"type": "function", "function": {
        "name": name, "description": description,
        "parameters": {"type": "object", "properties": properties, "required": list(properties)}}}


def call(name, arguments):
    return {"id": "call_1", "type": "function",
            "function": {"name": name, "arguments": arguments}}


# Keys in no sorted order, a key that is also the name of a dict method, text that
# HTML escaping or ASCII output would change.
TOOLS = [
    tool("weather", "Wetter & \"Wind\" für <Ort>, 天気 ☂", {
        "unit": {"type": "string", "enum": ["°C", "°F"]},
        "city": {"type": "string", "default": None},
        "items": {"type": "array", "items": {"type": "number", "minimum": 0.5}}}),
    tool("now", "", {}),
]

CONVERSATIONS = {
    "question": [{"role": "user", "content": "Hello"}],
    "system": [{"role": "system", "content": "Be brief."},
               {"role": "user", "content": " Grüße, 世界 😀 \n"}],
    "turns": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
              {"role": "user", "content": [{"type": "text", "text": "c"},
                                           {"type": "text", "text": "d"}]}],
    "system in the middle": [{"role": "user", "content": "a"},
                             {"role": "assistant", "content": "b"},
                             {"role": "system", "content": "c"}, {"role": "user", "content": "d"}],
    "tool use": [{"role": "system", "content": "Use tools."},
                 {"role": "user", "content": "Weather in Köln?"},
                 {"role": "assistant", "content": None, "tool_calls": [
                     call("weather", '{"unit": "°C", "city": "Köln", "n": [1, 2.0, 1e-7]}'),
                     call("now", "{}")]},
                 {"role": "tool", "tool_call_id": "call_1", "content": '{"t": 3}'},
                 {"role": "tool", "tool_call_id": "call_2", "content": "noon"},
                 {"role": "assistant", "content": "3 degrees"},
                 {"role": "user", "content": "Thanks"}],
    "answer without content": [{"role": "user", "content": "w?"},
                               {"role": "assistant", "tool_calls": [call("now", "{}")]},
                               {"role": "tool", "content": "noon"}],
    "no messages": [],
}


def cases():
    for path in sorted(FOLDER.glob("*.jinja")):
        for name, messages in CONVERSATIONS.items():
            for tools in (None, TOOLS):
                for prompt in (True, False):
                    yield path.name, name, messages, tools, prompt


def render(source, messages, tools, prompt):
    try:
        text = environment().from_string(source).render(
            messages=normalized(messages), tools=tools, documents=None,
            add_generation_prompt=prompt, **TOKENS)
        return {"text": text}
    except jinja2.exceptions.UndefinedError:
        return {"fails": True}
    except jinja2.exceptions.TemplateError as error:
        return {"raises": str(error)}


def store_template(gguf_path, name):
    from gguf import GGUFReader

    field = GGUFReader(gguf_path).fields["tokenizer.chat_template"]
    (FOLDER / f"{name}.jinja").write_text(field.contents(), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from-gguf", nargs=2, metavar=("FILE", "NAME"))
    arguments = parser.parse_args()
    if arguments.from_gguf:
        store_template(*arguments.from_gguf)
    seconds = int((NOW - datetime.datetime(1970, 1, 1)).total_seconds())
    rendered = []
    for file, name, messages, tools, prompt in cases():
        result = render((FOLDER / file).read_text(encoding="utf-8"), messages, tools, prompt)
        rendered.append({"template": file, "conversation": name, "tools": tools is not None,
                         "add_generation_prompt": prompt, **result})
    golden = {"local_seconds": seconds, **TOKENS, "tools": TOOLS,
              "conversations": CONVERSATIONS, "cases": rendered}
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    (FOLDER / "golden.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(rendered)} cases")


if __name__ == "__main__":
    main()
