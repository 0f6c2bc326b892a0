"""Anthropic's dialect, with plain HTTP and with the real client."""
import anthropic
import pytest

PATH = "/v1/messages"
QUESTION = [{"role": "user", "content": "Name three colours and a flower 🌷."}]


def ask(**more):
    return {"model": "default", "max_tokens": 24, "temperature": 0, "messages": QUESTION} | more


def text_of(answer):
    return "".join(block["text"] for block in answer["content"])


@pytest.fixture
def client(server):
    return anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0)


def test_answer_is_openais(server):
    answer = server.post(PATH, ask())
    openai = server.post("/v1/chat/completions",
                         {"messages": QUESTION, "temperature": 0, "max_tokens": 24})
    assert text_of(answer) == openai["choices"][0]["message"]["content"]
    assert answer["type"] == "message" and answer["role"] == "assistant"
    assert answer["stop_reason"] == "max_tokens" and answer["stop_sequence"] is None
    usage = answer["usage"]
    prompt = usage["input_tokens"] + usage["cache_read_input_tokens"]
    assert prompt == openai["usage"]["prompt_tokens"] and usage["output_tokens"] == 24


def test_events_of_a_stream(server):
    events = list(server.events(PATH, ask(stream=True)))
    names = [name for name, _ in events]
    assert names[:3] == ["message_start", "content_block_start", "ping"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert set(names[3:-3]) == {"content_block_delta"}


def test_real_client(client):
    fields = {"model": "default", "max_tokens": 24, "messages": QUESTION,
              "extra_body": {"temperature": 0},
              "system": [{"type": "text", "text": "Be brief.",
                          "cache_control": {"type": "ephemeral"}}],
              "metadata": {"user_id": "somebody"}}
    answer = client.messages.create(**fields)
    with client.messages.stream(**fields) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == answer.content[0].text == final.content[0].text
    assert final.stop_reason == answer.stop_reason
    assert final.usage.output_tokens == answer.usage.output_tokens
    total = final.usage.input_tokens + final.usage.cache_read_input_tokens
    assert total == answer.usage.input_tokens + answer.usage.cache_read_input_tokens
    assert final.usage.cache_read_input_tokens > 0
    counted = client.messages.count_tokens(
        model="default", messages=QUESTION, system=fields["system"])
    assert counted.input_tokens == total
    with pytest.raises(anthropic.NotFoundError, match="no-such-model"):
        client.messages.create(**fields | {"model": "no-such-model"})
    with pytest.raises(anthropic.BadRequestError, match="messages"):
        client.messages.create(**fields | {"messages": []})


def test_stop_reasons(server):
    talk = [{"role": "user", "content": "What is the capital of France?"}]
    long = server.post(PATH, ask(max_tokens=60, messages=talk))
    word = text_of(long).split()[3]
    stopped = server.post(PATH, ask(max_tokens=60, messages=talk, stop_sequences=["never", word]))
    assert stopped["stop_reason"] == "stop_sequence" and stopped["stop_sequence"] == word
    assert word not in text_of(stopped) and text_of(long).startswith(text_of(stopped))
    ended = server.post(PATH, ask(max_tokens=200, messages=[
        {"role": "user", "content": "Say hi."}]))
    assert ended["stop_reason"] == "end_turn"


def test_blocks_are_the_conversation_that_openai_knows(server):
    blocks = [{"role": "user", "content": [{"type": "text", "text": "Weather"},
                                           {"type": "text", "text": " in Rome?"}]},
              {"role": "assistant", "content": [
                  {"type": "thinking", "thinking": "hm", "signature": "x"},
                  {"type": "text", "text": "I look."},
                  {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Rome"}}]},
              {"role": "user", "content": [
                  {"type": "tool_result", "tool_use_id": "t1", "content": [
                      {"type": "text", "text": "sunny"}]}, {"type": "text", "text": "So?"}]}]
    messages = [{"role": "user", "content": "Weather in Rome?"},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": "t1", "type": "function",
                     "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "sunny"},
                {"role": "user", "content": "So?"}]
    tool = {"name": "weather", "description": "Looks", "input_schema": {"type": "object"}}
    function = {"type": "function", "function": {"name": "weather", "description": "Looks",
                                                 "parameters": {"type": "object"}}}
    answer = server.post(PATH, ask(messages=blocks, tools=[tool],
                                   tool_choice={"type": "auto"}))
    openai = server.post("/v1/chat/completions", {
        "messages": messages, "tools": [function], "temperature": 0, "max_tokens": 24})
    assert text_of(answer) == openai["choices"][0]["message"]["content"]
    counted = server.post(PATH + "/count_tokens", {"messages": blocks, "tools": [tool]})
    assert counted["input_tokens"] == openai["usage"]["prompt_tokens"]


def test_an_answer_that_is_begun_is_continued(server):
    talk = [{"role": "user", "content": "Write a sentence about the sea."}]
    whole = text_of(server.post(PATH, ask(messages=talk)))
    begun = " ".join(whole.split(" ")[:4])
    rest = server.post(PATH, ask(max_tokens=12, messages=talk + [
        {"role": "assistant", "content": begun}]))
    assert text_of(rest) and whole.startswith(begun + text_of(rest)[:10])


@pytest.mark.parametrize("field, value", [
    ("max_tokens", None), ("max_tokens", 0), ("max_tokens", "x"), ("messages", None),
    ("messages", []), ("messages", "hi"), ("messages", [5]),
    ("messages", [{"role": "robot", "content": "x"}]), ("messages", [{"role": "user"}]),
    ("messages", [{"role": "user", "content": [{"type": "image", "source": {}}]}]),
    ("messages", [{"role": "user", "content": [{"type": "tool_result"}]}]),
    ("messages", [{"role": "assistant", "content": [{"type": "tool_use", "input": 5}]}]),
    ("system", 5), ("system", [{"type": "image"}]), ("stop_sequences", 5), ("stream", "yes"),
    ("temperature", "hot"), ("tools", [5]), ("tools", [{"type": "web_search_20250305"}]),
    ("tool_choice", {"type": "maybe"}),
    ("thinking", {"type": "enabled", "budget_tokens": 1024})])
def test_wrong_fields_are_named(server, field, value):
    status, answer = server.error(PATH, ask() | {field: value, "tools": [] if field == "tool_choice"
                                                 else ask().get("tools")} | {field: value})
    assert status == 400 and answer["type"] == "error"
    assert answer["error"]["type"] == "invalid_request_error"
    assert field in answer["error"]["message"]


@pytest.mark.parametrize("more", [
    {"tool_choice": {"type": "any"}}, {"tool_choice": {"type": "tool", "name": "weather"}}])
def test_what_is_bound_is_never_answered_freely(server, more):
    tool = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}
    answer = server.post(PATH, ask(tools=[tool], max_tokens=64) | more)
    assert answer["content"][0]["type"] == "tool_use" and answer["content"][0]["input"] == {}


@pytest.mark.parametrize("more", [
    {"thinking": {"type": "disabled"}}, {"thinking": {"type": "adaptive"}},
    {"tool_choice": {"type": "none"}}, {"output_config": {"effort": "low"}},
    {"service_tier": "auto"}, {"top_k": 5, "top_p": 0.9}])
def test_what_changes_nothing_is_accepted(server, more):
    assert text_of(server.post(PATH, ask() | more)) == text_of(server.post(PATH, ask()))


def test_keys(serve):
    server = serve("smollm2", "--api-key", "secret")
    status, answer = server.error(PATH, ask())
    assert status == 401 and answer["error"]["type"] == "authentication_error"
    client = anthropic.Anthropic(base_url=server.url, api_key="secret", max_retries=0)
    assert client.messages.create(model="default", max_tokens=4, messages=QUESTION).content
