"""Calls of tools in every dialect, with plain HTTP and with the real clients."""
import json

import anthropic
import ollama
import openai
import pytest

OPENAI, RESPONSES, ANTHROPIC, OLLAMA = (
    "/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat")
WEATHER = {"name": "get_weather", "description": "The current weather of a city.",
           "parameters": {"type": "object",
                          "properties": {"city": {"type": "string"},
                                         "unit": {"type": "string", "enum": ["celsius", "kelvin"]}},
                          "required": ["city"]}}
CLOCK = {"name": "get_time", "description": "The time of day in a city.",
         "parameters": {"type": "object", "properties": {"city": {"type": "string"}},
                        "required": ["city"]}}
TOOLS = [WEATHER, CLOCK]
QUESTION = "What is the weather in Rome?"


def chat_tools(tools=None):
    return [{"type": "function", "function": tool} for tool in tools or TOOLS]


def flat_tools():
    return [{"type": "function"} | tool for tool in TOOLS]


def anthropic_tools():
    return [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]}
            for t in TOOLS]


def ask(text=QUESTION, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 64,
            "tools": chat_tools()} | more


def ask_anthropic(text=QUESTION, **more):
    return {"model": "default", "messages": [{"role": "user", "content": text}], "temperature": 0,
            "max_tokens": 64, "tools": anthropic_tools()} | more


def ask_ollama(text=QUESTION, **more):
    return {"model": "default", "messages": [{"role": "user", "content": text}],
            "options": {"temperature": 0, "num_predict": 64}, "tools": chat_tools()} | more


def ask_responses(text=QUESTION, **more):
    return {"input": text, "temperature": 0, "max_output_tokens": 64, "tools": flat_tools()} | more


def merged(chunks):
    """The messages that the deltas of a stream add up to, by index, with their reasons."""
    choices = {}
    for chunk in chunks:
        if chunk == "[DONE]":
            continue
        for choice in chunk["choices"]:
            message = choices.setdefault(choice["index"], {"content": "", "calls": [],
                                                           "finish_reason": None})
            message["content"] += choice["delta"].get("content") or ""
            for delta in choice["delta"].get("tool_calls", []):
                if "id" in delta:
                    assert delta["index"] == len(message["calls"])
                    message["calls"].append([delta["function"]["name"], ""])
                message["calls"][delta["index"]][1] += delta["function"]["arguments"]
            message["finish_reason"] = choice["finish_reason"] or message["finish_reason"]
    return [choices[i] for i in sorted(choices)]


def plain(choice):
    """A whole answer's choice in the same form."""
    calls = choice["message"].get("tool_calls", [])
    assert all(call["id"] and call["type"] == "function" for call in calls)
    return {"content": choice["message"]["content"] or "",
            "calls": [[c["function"]["name"], c["function"]["arguments"]] for c in calls],
            "finish_reason": choice["finish_reason"]}


def arguments(call):
    return call[0], json.loads(call[1])


def test_a_call(coder_server):
    choice = coder_server.post(OPENAI, ask())["choices"][0]
    assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] is None
    name, given = arguments(plain(choice)["calls"][0])
    assert name == "get_weather" and given["city"] == "Rome"


@pytest.mark.parametrize("more", [
    {}, {"max_tokens": 20}, {"stop": ["Rome"]}, {"n": 3, "temperature": 1.2, "seed": 5},
    {"stream_chunk": {"tokens": 7}}, {"parallel_tool_calls": False}, {"logprobs": True}])
def test_streams_equal_answers(coder_server, more):
    whole = coder_server.post(OPENAI, ask(**more))
    chunks = list(coder_server.stream(OPENAI, ask(stream=True, **more)))
    assert merged(chunks) == [plain(choice) for choice in whole["choices"]]
    if "max_tokens" in more:
        assert whole["choices"][0]["finish_reason"] == "length"
    if "logprobs" in more:
        tokens = [entry["token"] for chunk in chunks[:-1] for choice in chunk["choices"]
                  for entry in (choice.get("logprobs") or {"content": []})["content"]]
        assert tokens == [e["token"] for e in whole["choices"][0]["logprobs"]["content"]]


def called(result="sunny, 21 degrees"):
    """A question, a call of the model's and its result."""
    return [{"role": "user", "content": QUESTION},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "1", "type": "function", "function": {
                    "name": "get_weather", "arguments": "{\"city\": \"Rome\"}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": result}]


def test_several_calls(coder_server):
    whole = plain(coder_server.post(OPENAI, ask(messages=called()))["choices"][0])
    assert [arguments(call)[0] for call in whole["calls"]] == ["get_weather", "get_time"]
    assert merged(coder_server.stream(OPENAI, ask(messages=called(), stream=True))) == [whole]
    alone = coder_server.post(OPENAI, ask(messages=called(), parallel_tool_calls=False))
    assert plain(alone["choices"][0])["calls"] == whole["calls"][:1]


def test_plain_answers_stay_plain(coder_server):
    answer = coder_server.post(OPENAI, ask("Say hello in French. Use no tool."))["choices"][0]
    assert answer["message"]["content"] and "tool_calls" not in answer["message"]
    assert answer["finish_reason"] in ("stop", "length")
    none = coder_server.post(OPENAI, ask(tool_choice="none"))
    bare = coder_server.post(OPENAI, ask(tools=[]))
    assert none["choices"] == bare["choices"]
    assert none["usage"]["prompt_tokens"] == bare["usage"]["prompt_tokens"]


# --- calls that must come ---

CITY = {"name": "go", "parameters": {
    "type": "object", "required": ["city", "by"],
    "properties": {"city": {"enum": ["Rome", "Paris"]}, "by": {"type": "string", "maxLength": 8}}}}


@pytest.mark.parametrize("name", ["server", "coder_server"])
def test_a_call_that_must_come_follows_its_schema(name, request):
    """Also from a model that was never trained for it, and where words would fit better."""
    running = request.getfixturevalue(name)
    body = ask("Tell me a joke.", tools=chat_tools([CITY, CLOCK]), temperature=1.5, n=4, seed=3,
               parallel_tool_calls=False)
    for choice, names in (("required", {"go", "get_time"}),
                          ({"type": "function", "function": {"name": "go"}}, {"go"})):
        for answer in running.post(OPENAI, body | {"tool_choice": choice})["choices"]:
            message = plain(answer)
            assert message["content"] == "" and len(message["calls"]) == 1
            assert message["calls"][0][0] in names
            if message["finish_reason"] == "length":
                continue
            assert message["finish_reason"] == "tool_calls"
            called_name, given = arguments(message["calls"][0])
            if called_name == "go":
                assert given["city"] in ("Rome", "Paris") and len(given["by"]) <= 8
            assert set(given) == ({"city", "by"} if called_name == "go" else {"city"})


def test_must_in_every_dialect(server):
    """The tool that is named, from the smallest model."""
    text = "Tell me a joke."
    whole = plain(server.post(OPENAI, ask(text, tools=chat_tools([CITY]), tool_choice={
        "type": "function", "function": {"name": "go"}}, parallel_tool_calls=False))["choices"][0])
    block = server.post(ANTHROPIC, ask_anthropic(text, tools=[{
        "name": "go", "input_schema": CITY["parameters"]}], tool_choice={
            "type": "any", "disable_parallel_tool_use": True}))["content"][0]
    assert block["name"] == "go" and block["input"]["city"] in ("Rome", "Paris")
    item = server.post(RESPONSES, ask_responses(
        text, tools=[{"type": "function"} | CITY], parallel_tool_calls=False,
        tool_choice={"type": "function", "name": "go"}))["output"][0]
    assert [item["name"], item["arguments"]] == whole["calls"][0]


def test_schemas_that_cannot_be_followed_are_named(server):
    bad = CLOCK | {"parameters": {"type": "object", "properties": {"a": {"contains": {}}}}}
    for path, body in ((OPENAI, ask()), (OLLAMA, ask_ollama())):
        status, answer = server.error(path, body | {"tools": chat_tools([WEATHER, bad])})
        assert status == 400 and "get_time" in json.dumps(answer["error"])
    status, answer = server.error(OPENAI, ask(regex="a"))
    assert status == 400 and "tools" in answer["error"]["message"]


# --- the other dialects ---

def test_every_dialect_says_the_same(coder_server):
    call = plain(coder_server.post(OPENAI, ask())["choices"][0])["calls"][0]
    message = coder_server.post(ANTHROPIC, ask_anthropic())
    block = message["content"][0]
    assert message["stop_reason"] == "tool_use" and message["stop_sequence"] is None
    assert block["type"] == "tool_use" and block["id"].startswith("toolu_")
    assert (block["name"], block["input"]) == arguments(call)
    answer = coder_server.post(OLLAMA, ask_ollama(stream=False))
    assert answer["message"]["content"] == "" and answer["done_reason"] == "stop"
    function = answer["message"]["tool_calls"][0]["function"]
    assert (function["name"], function["arguments"]) == arguments(call)
    item = coder_server.post(RESPONSES, ask_responses())["output"][0]
    assert item["type"] == "function_call" and item["status"] == "completed"
    assert [item["name"], item["arguments"]] == call and item["call_id"] != item["id"]


def test_ollama_stream(coder_server):
    """Calls come in a line before the last one, where clients look for them."""
    lines = list(coder_server.lines(OLLAMA, ask_ollama()))
    assert lines[-1]["done"] and "tool_calls" not in lines[-1]["message"]
    calls = [c for line in lines for c in line["message"].get("tool_calls", [])]
    whole = coder_server.post(OLLAMA, ask_ollama(stream=False))
    assert calls == whole["message"]["tool_calls"]
    cut = ask_ollama(options={"temperature": 0, "num_predict": 20})
    whole = coder_server.post(OLLAMA, cut | {"stream": False})
    assert "tool_calls" not in whole["message"] and whole["done_reason"] == "length"
    assert "get_weather" in whole["message"]["content"]  # half a call is no call
    lines = list(coder_server.lines(OLLAMA, cut))
    assert "".join(line["message"]["content"] for line in lines) == whole["message"]["content"]


def test_anthropic_stream(coder_server):
    whole = coder_server.post(ANTHROPIC, ask_anthropic())
    events = [json.loads(data) for _, data in coder_server.events(
        ANTHROPIC, ask_anthropic(stream=True))]
    starts = [e for e in events if e["type"] == "content_block_start"]
    stops = [e for e in events if e["type"] == "content_block_stop"]
    assert [e["index"] for e in starts] == [e["index"] for e in stops] == list(range(len(starts)))
    given = "".join(e["delta"]["partial_json"] for e in events
                    if e["type"] == "content_block_delta")
    assert starts[0]["content_block"]["type"] == "tool_use"
    assert json.loads(given) == whole["content"][0]["input"]
    cut = coder_server.post(ANTHROPIC, ask_anthropic(max_tokens=20))
    assert cut["stop_reason"] == "max_tokens"
    assert cut["content"][0]["name"] == "get_weather" and cut["content"][0]["input"] == {}


def test_responses_stream(coder_server):
    whole = coder_server.post(RESPONSES, ask_responses())
    events = [json.loads(data) for _, data in coder_server.events(
        RESPONSES, ask_responses(stream=True))]
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    given = "".join(e["delta"] for e in events
                    if e["type"] == "response.function_call_arguments.delta")
    done = [e for e in events if e["type"] == "response.function_call_arguments.done"]
    items = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    assert given == done[0]["arguments"] == items[0]["arguments"] == whole["output"][0]["arguments"]
    assert events[-1]["response"]["output"] == items
    assert events[-1]["response"]["tools"] == flat_tools()


def test_histories_are_the_same_prompt(coder_server):
    """What was called and what came back, in every dialect's form."""
    given = {"city": "Rome"}
    messages = called("21 degrees")
    count = coder_server.post(OPENAI, ask(messages=messages, max_tokens=1))["usage"]["prompt_tokens"]
    blocks = [messages[0],
              {"role": "assistant", "content": [
                  {"type": "tool_use", "id": "1", "name": "get_weather", "input": given}]},
              {"role": "user", "content": [
                  {"type": "tool_result", "tool_use_id": "1", "content": "21 degrees"}]}]
    assert coder_server.post(ANTHROPIC + "/count_tokens", {
        "messages": blocks, "tools": anthropic_tools()})["input_tokens"] == count
    items = [messages[0],
             {"type": "function_call", "call_id": "1", "name": "get_weather",
              "arguments": json.dumps(given)},
             {"type": "function_call_output", "call_id": "1", "output": "21 degrees"}]
    assert coder_server.post(RESPONSES, ask_responses(items, max_output_tokens=1))[
        "usage"]["input_tokens"] == count
    turns = [messages[0],
             {"role": "assistant", "content": "", "tool_calls": [
                 {"function": {"name": "get_weather", "arguments": given}}]},
             {"role": "tool", "tool_name": "get_weather", "content": "21 degrees"}]
    assert coder_server.post(OLLAMA, ask_ollama(messages=turns, stream=False, options={
        "num_predict": 1}))["prompt_eval_count"] == count


# --- the real clients ---

def test_openai_client(coder_server):
    client = openai.OpenAI(base_url=coder_server.url + "/v1", api_key="none")
    fields = {"model": "default", "temperature": 0, "max_tokens": 64, "tools": chat_tools()}
    messages = [{"role": "user", "content": QUESTION}]
    message = client.chat.completions.create(messages=messages, **fields).choices[0].message
    with client.chat.completions.stream(messages=messages, **fields) as stream:
        final = stream.get_final_completion().choices[0]
    assert final.finish_reason == "tool_calls"
    assert final.message.tool_calls[0].function.arguments == message.tool_calls[
        0].function.arguments
    messages += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id,
                           "content": "sunny, 21 degrees"}]
    answer = client.chat.completions.create(messages=messages, tool_choice="none", **fields)
    assert answer.choices[0].message.content and not answer.choices[0].message.tool_calls
    with client.responses.stream(model="default", input=QUESTION, tools=flat_tools(),
                                 temperature=0, max_output_tokens=64) as stream:
        response = stream.get_final_response()
    assert response.output[0].arguments == message.tool_calls[0].function.arguments


def test_anthropic_client(coder_server):
    client = anthropic.Anthropic(base_url=coder_server.url, api_key="none", max_retries=0)
    fields = ask_anthropic()
    fields["extra_body"] = {"temperature": fields.pop("temperature")}
    answer = client.messages.create(**fields)
    with client.messages.stream(**fields) as stream:
        final = stream.get_final_message()
    assert answer.content[0].input == final.content[0].input
    assert final.stop_reason == answer.stop_reason == "tool_use"
    fields["messages"] = fields["messages"] + [
        {"role": "assistant", "content": final.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": final.content[0].id,
                                      "content": "sunny, 21 degrees"}]}]
    said = client.messages.create(tool_choice={"type": "none"}, **fields)
    assert said.content[0].text and said.stop_reason == "end_turn"


def test_ollama_client(coder_server):
    client = ollama.Client(host=coder_server.url)
    fields = {"model": "default", "tools": chat_tools(),
              "options": {"temperature": 0, "num_predict": 64}}
    messages = [{"role": "user", "content": QUESTION}]
    message = client.chat(messages=messages, **fields).message
    streamed = [call for part in client.chat(messages=messages, stream=True, **fields)
                for call in part.message.tool_calls or []]
    assert streamed == message.tool_calls
    messages += [message, {"role": "tool", "tool_name": "get_weather",
                           "content": "sunny, 21 degrees"}]
    answer = client.chat(messages=messages, **fields).message
    assert answer.content or answer.tool_calls


def test_langchain(coder_server):
    langchain = pytest.importorskip("langchain_openai")
    chat = langchain.ChatOpenAI(base_url=coder_server.url + "/v1", api_key="none", model="default",
                                temperature=0, max_tokens=64).bind_tools(chat_tools())
    whole = chat.invoke(QUESTION)
    assert whole.tool_calls[0]["name"] == "get_weather" and not whole.invalid_tool_calls
    parts = list(chat.stream(QUESTION))
    total = parts[0]
    for part in parts[1:]:
        total += part
    assert total.tool_calls[0]["args"] == whole.tool_calls[0]["args"]


# --- models without tools of their own; wrong requests ---

def test_a_model_that_knows_no_tools_is_told(server):
    prompt = server.post("/apply-template", ask())["prompt"]
    assert "get_weather" in prompt and "<tool_call>" in prompt and QUESTION in prompt
    counted = server.post(OPENAI, ask(max_tokens=1))["usage"]["prompt_tokens"]
    assert counted > server.post(OPENAI, ask(tools=[], max_tokens=1))["usage"]["prompt_tokens"]


WRONG_TOOLS = [
    ([5], "tools[0]"), ([{"type": "function"}], "tools[0]"),
    (chat_tools([WEATHER, WEATHER]), "get_weather"),
    (chat_tools([WEATHER, CLOCK | {"parameters": 5}]), "get_time"),
    (chat_tools([CLOCK | {"parameters": {"type": "array"}}]), "get_time"),
    (chat_tools([CLOCK | {"parameters": {"properties": []}}]), "get_time")]


@pytest.mark.parametrize("tools, named", WRONG_TOOLS)
def test_wrong_tools_are_named(server, tools, named):
    for path, body in ((OPENAI, ask()), (OLLAMA, ask_ollama())):
        status, answer = server.error(path, body | {"tools": tools})
        assert status == 400 and named in json.dumps(answer["error"])


@pytest.mark.parametrize("path, body, choice", [
    (OPENAI, ask(), {"type": "function", "function": {"name": "nothing"}}),
    (OPENAI, ask(), "sometimes"), (OPENAI, ask(tools=[]), "required"), (OPENAI, ask(), 5),
    (RESPONSES, ask_responses(), {"type": "function", "name": "nothing"}),
    (ANTHROPIC, ask_anthropic(), {"type": "tool", "name": "nothing"}),
    (ANTHROPIC, ask_anthropic(), {"type": "tool"}),
    (ANTHROPIC, ask_anthropic(tools=[]), {"type": "any"})])
def test_wrong_choices(server, path, body, choice):
    status, answer = server.error(path, body | {"tool_choice": choice})
    assert status == 400 and "tool_choice" in answer["error"]["message"]


def test_a_tool_without_arguments(coder_server):
    """Beside others it is no reason to refuse any of them."""
    empty = {"name": "list_cities", "parameters": {"type": "object", "properties": {}}}
    answer = coder_server.post(OPENAI, ask(tools=chat_tools([WEATHER, empty])))["choices"][0]
    assert plain(answer)["calls"][0][0] == "get_weather"
