"""Answers in a form that was asked for: every dialect, schemas, grammars, and what is refused."""
import json
import re
import threading

import jsonschema
import openai
import pytest

CHAT = "/v1/chat/completions"
PERSON = {"type": "object", "additionalProperties": False, "required": ["name", "age", "tags"],
          "properties": {"name": {"type": "string", "maxLength": 20},
                         "age": {"type": "integer", "minimum": 0, "maximum": 130},
                         "tags": {"type": "array", "maxItems": 3,
                                  "items": {"enum": ["kind", "tall", "old"]}}}}
QUESTION = "Describe a person."


def chat(text=QUESTION, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "seed": 1,
            "max_tokens": 80} | more


def form(schema):
    return {"response_format": {"type": "json_schema",
                                "json_schema": {"name": "answer", "schema": schema}}}


def content(answer):
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "stop", choice
    return choice["message"]["content"]


def check(schema, text):
    value = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


def in_dialect(server, dialect, schema, **more):
    """The answer to one question in the schema's form, as each dialect asks for it."""
    ask = {"temperature": 0, "seed": 1, "stream": False} | more
    messages = [{"role": "user", "content": QUESTION}]
    plain = {"type": "json_schema", "schema": schema}
    if dialect == "chat":
        return content(server.post(CHAT, chat(**form(schema), **more)))
    if dialect == "responses":
        answer = server.post("/v1/responses", {"input": QUESTION, "max_output_tokens": 80,
                                               "text": {"format": plain | {"name": "a"}}} | ask)
        return answer["output"][0]["content"][0]["text"]
    if dialect == "llama.cpp":
        return server.post("/completion", ask | {"prompt": QUESTION, "n_predict": 80,
                                                 "json_schema": schema})["content"]
    if dialect == "ollama":
        answer = server.post("/api/chat", {"model": "default", "messages": messages,
                                           "format": schema, "stream": False,
                                           "options": {"temperature": 0, "num_predict": 80}})
        assert answer["done_reason"] == "stop"
        return answer["message"]["content"]
    assert dialect == "anthropic"
    answer = server.post("/v1/messages", ask | {"messages": messages, "max_tokens": 80,
                                                "output_config": {"format": plain}})
    assert answer["stop_reason"] == "end_turn"
    return answer["content"][0]["text"]


DIALECTS = ["chat", "responses", "llama.cpp", "ollama", "anthropic"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects(server, dialect):
    check(PERSON, in_dialect(server, dialect, PERSON))


@pytest.mark.parametrize("temperature", [0, 1])
def test_always_valid(server, temperature):
    for seed in range(10):
        answer = server.post(CHAT, chat(**form(PERSON), temperature=temperature, seed=seed))
        check(PERSON, content(answer))
        assert answer["timings"]["forced_n"] > 5


def test_json_mode_ends_with_its_value(server):
    """Cut answers are `length`; those that are not cut are a whole object and nothing else."""
    whole = 0
    for path, body in ((CHAT, chat(response_format={"type": "json_object"})),
                       ("/api/chat", None)):
        for seed in range(3):
            if path == CHAT:
                choice = server.post(path, body | {"seed": seed, "temperature": 1})["choices"][0]
                text, reason = choice["message"]["content"], choice["finish_reason"]
            else:
                answer = server.post(path, {
                    "model": "default", "format": "json", "stream": False,
                    "messages": [{"role": "user", "content": QUESTION}],
                    "options": {"temperature": 1, "seed": seed, "num_predict": 80}})
                text, reason = answer["message"]["content"], answer["done_reason"]
            assert text.startswith("{") and "\n" not in text
            if reason == "stop":
                assert isinstance(json.loads(text), dict)
                whole += 1
            else:
                assert reason == "length"
    assert whole >= 0


def test_official_client_with_a_model_of_the_answer(server):
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none")
    answer = client.chat.completions.create(
        model="gpt-4o-mini", messages=[{"role": "user", "content": QUESTION}], temperature=0,
        max_tokens=80, response_format=form(PERSON)["response_format"])
    check(PERSON, answer.choices[0].message.content)


def test_streams_say_the_same(server):
    body = chat(**form(PERSON))
    whole = content(server.post(CHAT, body))
    parts = [c["choices"][0]["delta"].get("content") or ""
             for c in server.stream(CHAT, body | {"stream": True}) if c != "[DONE]"]
    assert "".join(parts) == whole
    assert sum(1 for part in parts if part) > 5


def test_same_bytes_in_company_and_from_the_cache(serve):
    one = serve("smollm2")
    bodies = [chat(**form(PERSON), temperature=1, seed=seed) for seed in range(5)]
    bodies += [chat(temperature=1, seed=9), chat(regex="[a-f]{5,30}", temperature=1)]
    alone = [content_or_cut(one.post(CHAT, body)) for body in bodies]
    again = [None] * len(bodies)

    def run(index):
        again[index] = content_or_cut(one.post(CHAT, bodies[index]))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(bodies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert again == alone
    assert [content_or_cut(serve("smollm2").post(CHAT, body)) for body in bodies[:2]] == alone[:2]


def content_or_cut(answer):
    return answer["choices"][0]["message"]["content"], answer["choices"][0]["finish_reason"]


def test_probabilities_do_not_change_an_answer(server):
    body = chat(**form(PERSON))
    plain = server.post(CHAT, body)
    told = server.post(CHAT, body | {"logprobs": True, "top_logprobs": 2})
    assert content(told) == content(plain)
    entries = told["choices"][0]["logprobs"]["content"]
    assert "".join(e["token"] for e in entries) == content(plain)
    assert all(len(e["top_logprobs"]) == 2 for e in entries)
    assert told["timings"]["forced_n"] == 0 and plain["timings"]["forced_n"] > 0


def test_choices_and_stop_strings(server):
    answer = server.post(CHAT, chat(**form(PERSON), temperature=1, n=3))
    assert len({c["message"]["content"] for c in answer["choices"]}) > 1
    for choice in answer["choices"]:
        check(PERSON, choice["message"]["content"])
    cut = server.post(CHAT, chat(**form(PERSON), stop=['"age"']))["choices"][0]
    assert cut["message"]["content"].endswith('", ') and cut["finish_reason"] == "stop"


def test_limits_cut(server):
    answer = server.post(CHAT, chat(**form(PERSON), max_tokens=7))
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 7
    assert answer["choices"][0]["message"]["content"].startswith('{"name": "')


# --- grammars ---

def complete(server, **more):
    return server.post("/completion", {"prompt": "Answer: ", "n_predict": 60, "temperature": 0,
                                       "seed": 1} | more)["content"]


@pytest.mark.parametrize("more, pattern", [
    ({"regex": "[0-9]{3}-[0-9]{4}"}, r"\d{3}-\d{4}"),
    ({"grammar": 'root ::= ("yes" | "no") "!"{2}'}, r"(yes|no)!!"),
    ({"grammar": "root ::= list\nlist ::= \"[\" (item (\", \" item){1,3}) \"]\"\n"
                 "item ::= [0-9]{1,2} | \"x\" [a-z]{2}"}, r"\[(\d{1,2}|x[a-z]{2})(, (\d{1,2}|x[a-z]{2})){1,3}\]"),
    ({"grammar": "root ::= [\\u4e00-\\u4e1f]{3} \"\\U0001F337\""}, "[\u4e00-\u4e1f]{3}\U0001F337"),
    ({"lark": 'start: "a" B+ "c"\nB: /[xy]{2}/\n'}, r"a([xy]{2})+c"),
    ({"json_schema": {"enum": [{"a": 1}, ["#", "\u00e4\n"]]}}, r'\{"a": 1\}|\["#", ".*"\]')])
def test_grammars(server, more, pattern):
    for temperature in (0, 1):
        text = complete(server, temperature=temperature, **more)
        assert re.fullmatch(pattern, text) or len(text) > 50, text


def test_left_out_is_absent(server):
    plain = complete(server)
    for more in ({"grammar": ""}, {"json_schema": None}, {"grammar": None, "regex": ""}):
        assert complete(server, **more) == plain
    assert content_or_cut(server.post(CHAT, chat(response_format={"type": "text"}))) == \
        content_or_cut(server.post(CHAT, chat()))


def test_lazy_grammars(server):
    body = {"grammar": 'root ::= " a" [0-9]{2} "."', "grammar_lazy": True}
    free = complete(server, n_predict=30)
    word = free[8:12]
    assert word and free.index(word) > 0
    bound = complete(server, n_predict=30, grammar=f'root ::= {json.dumps(word)} " " [0-9]{{2}} "."',
                     grammar_lazy=True, grammar_triggers=[{"type": "word", "value": word}])
    at = free.index(word)
    assert bound[:at] == free[:at]
    assert re.fullmatch(re.escape(word) + r" \d\d\.", bound[at:]), (free, bound)
    never = complete(server, n_predict=30, **body,
                     grammar_triggers=[{"type": 1, "value": "never said"}])
    assert never == free
    status, answer = server.error("/completion", {"prompt": "a", **body})
    assert status == 400 and "grammar_triggers" in answer["error"]["message"]
    for number, trigger, place in ((1, {"type": "pattern", "value": "(x"}, "value"),
                                   (0, {"type": "words", "value": "x"}, "type")):
        status, answer = server.error("/completion", {
            "prompt": "a", **body, "grammar_triggers": [{"type": "word", "value": "x"}][:number] + [trigger]})
        assert status == 400 and f"grammar_triggers[{number}].{place}" in answer["error"]["message"]
    for kind, pattern in (("pattern", f"(?:{re.escape(free[at - 1])})({re.escape(word)})"),
                          ("pattern_full", f"[\\s\\S]{{{at}}}({re.escape(word)})[\\s\\S]*"), (2, re.escape(word))):
        assert complete(server, n_predict=30, grammar=f'root ::= {json.dumps(word)} " " [0-9]{{2}} "."',
                        grammar_lazy=True, grammar_triggers=[{"type": kind, "value": pattern}]) == bound


# --- what is refused ---

@pytest.mark.parametrize("more, words", [
    ({"grammar": "root ::= \"a\"{2000000000,2147483647}"}, ["grammar", "line 1, column 13"]),
    ({"grammar": "root ::= a"}, ["grammar", "\"a\" is not defined"]),
    ({"grammar": "root ::= root \"a\" | \"b\""}, ["\"root\" begins with itself"]),
    ({"grammar": 5}, ["grammar"]),
    ({"regex": "(a"}, ["regex", "position 0"]),
    ({"lark": "start: \"a\nb: c"}, ["lark", "line"]),
    ({"json_schema": 5}, ["json_schema"]),
    ({"json_schema": {"type": "objekt"}}, ["json_schema", "#"]),
    ({"json_schema": {"properties": {"a": {"not": {"pattern": "a"}}}}}, ["#/properties/a/not"]),
    ({"json_schema": {"items": {"pattern": "(?<=a)b"}}}, ["#/items"]),
    ({"json_schema": {"$ref": "https://example.com/a.json"}}, ["json_schema"]),
    ({"json_schema": {"type": "object"}, "grammar": "root ::= \"a\""}, ["grammar", "only one"]),
    ({"grammar_lazy": True}, ["grammar_lazy"]),
    ({"response_format": {"type": "yaml"}}, ["response_format.type", "yaml"]),
    ({"response_format": {"type": "json_schema"}}, ["response_format.json_schema"]),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}},
     ["response_format.json_schema.schema"]),
    ({"response_format": "json"}, ["response_format"])])
def test_refused(server, more, words):
    status, answer = server.error(CHAT, chat() | more)
    assert status == 400 and answer["error"]["type"] == "invalid_request_error", answer
    assert all(word in answer["error"]["message"] for word in words), answer


def test_hostile_texts_are_answered_soon(server):
    for more in ({"json_schema": json.loads('{"items":' * 90 + "{}" + "}" * 90)},
                 {"regex": "((a{1,1000}){1,1000}){1,1000}"},
                 {"regex": "(" * 5000},
                 {"grammar": "root ::= " + "(" * 5000},
                 {"grammar": "root ::= r0\n" + "".join(f"r{i} ::= r{i + 1} r{i + 1}\n"
                                                       for i in range(60)) + "r60 ::= \"a\"\n"},
                 {"json_schema": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}},
                 {"json_schema": {"allOf": [{"anyOf": [{"minimum": i + j} for j in range(20)]}
                                            for i in range(20)]}},
                 {"json_schema": {"type": "array", "minItems": 10, "maxItems": 1000,
                                  "items": {"type": "number"}}},
                 {"json_schema": {"type": "string", "maxLength": 2000}},
                 {"lark": "start: start"}):
        status, _, answer = server.request("POST", CHAT, chat(max_tokens=4) | more, timeout=60)
        assert status in (200, 400), (more, status, answer)
    assert server.get("/health") == {"status": "ok"}


def test_size_limit(serve):
    small = serve("smollm2", "--max-schema-bytes", "200")
    status, answer = small.error(CHAT, chat(regex="a" * 300))
    assert status == 400 and "300 bytes, allowed is up to 200" in answer["error"]["message"]
    assert small.post(CHAT, chat(regex="abc"))["choices"][0]["message"]["content"] == "abc"


def test_check_endpoint(server):
    path = "/v1/schema/check"
    done = server.post(path, {"schema": PERSON | {"x-order": 1}})
    assert done["ok"] and done["kind"] == "json_schema"
    assert done["warnings"] == ["#/x-order: has no effect"] and done["compile_ms"] > 0
    for body, kind in (({"grammar": 'root ::= "a"'}, "gbnf"), ({"regex": "a"}, "regex"),
                       ({"lark": "start: \"a\""}, "lark")):
        assert server.post(path, body)["kind"] == kind
    for body, word in (({}, "needed"), ({"schema": 5}, "schema"), ({"regex": "("}, "position 0"),
                       ({"schema": {"contains": {}}}, "#/contains"),
                       ({"regex": "a", "lark": "b"}, "one at a time")):
        status, answer = server.error(path, body)
        assert status == 400 and word in answer["error"]["message"], answer


# --- cases that servers of this kind were reported to get wrong ---

@pytest.mark.parametrize("schema", [
    {"type": "string", "pattern": "^hello there indeed\\!$"},
    {"$ref": "#/$defs/Color", "$defs": {"Color": {"enum": ["red", "green"]}}},
    {"type": "object", "properties": {}, "additionalProperties": False},
    {"type": "object", "required": ["a"], "properties": {"a": {
        "type": "object", "required": ["b"], "properties": {"b": {"type": "string", "minLength": 1,
                                                                  "maxLength": 8}},
        "additionalProperties": False}}, "additionalProperties": False},
    {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 4},
    {"type": "array", "prefixItems": [{"const": "#"}, {"type": "boolean"}], "minItems": 2,
     "items": False},
    {"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {
        "a": {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"],
              "additionalProperties": False},
        "b": {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"],
              "additionalProperties": False}}},
    {"type": "string", "format": "date"}, {"type": "string", "format": "uuid"},
    {"type": "number", "minimum": 1.5, "maximum": 2}, {"type": "integer", "multipleOf": 7,
                                                       "minimum": 10, "maximum": 30},
    {"type": ["string", "null"], "maxLength": 6}, {"const": {"a": [1, "\u00e4\"\\\n"]}},
    {"type": "object", "patternProperties": {"^x[0-9]$": {"type": "boolean"}},
     "additionalProperties": False, "minProperties": 1, "maxProperties": 2}])
def test_schemas(server, schema):
    for temperature in (0, 1):
        answer = server.post(CHAT, chat(**form(schema), temperature=temperature, max_tokens=60))
        choice = answer["choices"][0]
        if choice["finish_reason"] == "stop":
            check(schema, choice["message"]["content"])
        else:
            assert choice["finish_reason"] == "length"
