"""POST /v1/chat/completions, with plain HTTP and with the real client."""
import openai
import pytest

PATH = "/v1/chat/completions"


def ask(text, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0,
            "max_tokens": 24} | more


def test_answer(coder_server):
    answer = coder_server.post(PATH, ask("What is the capital of France?"))
    assert answer["object"] == "chat.completion"
    assert "Paris" in answer["choices"][0]["message"]["content"]
    assert answer["choices"][0]["finish_reason"] in ("stop", "length")
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert answer["timings"]["predicted_n"] == usage["completion_tokens"]


def test_stream_equals_answer(server):
    body = ask("Name three colours and a flower 🌷.", max_tokens=40)
    whole = server.post(PATH, body)["choices"][0]
    chunks = list(server.stream(PATH, body | {"stream": True,
                                              "stream_options": {"include_usage": True}}))
    assert chunks[-1] == "[DONE]"
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    deltas = [c["choices"][0] for c in chunks[:-1] if c["choices"]]
    assert "".join(d["delta"].get("content") or "" for d in deltas) == whole["message"]["content"]
    assert deltas[-1]["finish_reason"] == whole["finish_reason"]
    assert all("finish_reason" in d for d in deltas)
    assert chunks[-2]["usage"]["completion_tokens"] == chunks[-2]["timings"]["predicted_n"]


@pytest.mark.parametrize("cut", [{"tokens": 16, "ms": 50}, {"tokens": 4}, {"tokens": 4096}])
def test_stream_chunk_groups(server, cut):
    body = ask("Count from one to twenty.", max_tokens=48)
    whole = server.post(PATH, body)["choices"][0]["message"]["content"]
    parts = [c["choices"][0]["delta"].get("content") or ""
             for c in server.stream(PATH, body | {"stream": True, "stream_chunk": cut})
             if c != "[DONE]"]
    assert "".join(parts) == whole


def test_official_client(server):
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none")
    answer = client.chat.completions.create(
        model="gpt-4o-mini", messages=[{"role": "user", "content": "Say hello."}], temperature=0,
        max_tokens=8, logprobs=True, top_logprobs=3)
    assert answer.choices[0].message.content
    assert len(answer.choices[0].logprobs.content) == answer.usage.completion_tokens
    assert all(len(t.top_logprobs) == 3 for t in answer.choices[0].logprobs.content)
    text = ""
    with client.chat.completions.create(
            model="default", messages=[{"role": "user", "content": "Say hello."}], temperature=0,
            max_tokens=8, stream=True) as stream:
        for chunk in stream:
            text += chunk.choices[0].delta.content or ""
    assert text == answer.choices[0].message.content
    with pytest.raises(openai.NotFoundError, match="no-such-model"):
        client.chat.completions.create(model="no-such-model", messages=[])


def test_choices_differ_by_seed_only(server):
    body = ask("Invent a name.", temperature=1.0, seed=7, n=3)
    first = server.post(PATH, body)["choices"]
    assert [c["index"] for c in first] == [0, 1, 2]
    assert server.post(PATH, body)["choices"] == first
    alone = server.post(PATH, body | {"seed": 9, "n": 1})["choices"][0]
    assert alone["message"] == first[2]["message"]
    chunks = server.stream(PATH, body | {"stream": True})
    texts = ["", "", ""]
    for chunk in chunks:
        if chunk != "[DONE]":
            choice = chunk["choices"][0]
            texts[choice["index"]] += choice["delta"].get("content") or ""
    assert texts == [c["message"]["content"] for c in first]


@pytest.mark.parametrize("field, value", [
    ("messages", None), ("messages", []), ("messages", "hi"), ("messages", [5]),
    ("temperature", "hot"), ("max_tokens", -2), ("max_tokens", 1.5), ("stop", 5), ("n", 0),
    ("n", 1000), ("stream", "yes"), ("seed", "x"), ("logprobs", 3), ("top_logprobs", 21),
    ("stream_chunk", {"tokens": 0}), ("stream_options", []), ("cache_id", 7),
    ("logit_bias", 5), ("model", 5), ("mirostat", 3), ("stream_chunk", 4)])
def test_wrong_fields_are_named(server, field, value):
    status, answer = server.error(PATH, ask("hi") | {field: value})
    assert status == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert field in answer["error"]["message"]


@pytest.mark.parametrize("body", ["", "{:", "[]", "5", '"text"', "null", "{", '{"messages":'])
def test_broken_bodies(server, body):
    status, answer = server.error(PATH, body)
    assert status == 400 and answer["error"]["message"]


def test_null_content(server):
    """An assistant's call and a tool's answer, as clients send them back."""
    answer = server.post(PATH, {"max_tokens": 4, "messages": [
        {"role": "user", "content": "What is the weather?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function",
             "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "sunny"}]})
    assert answer["choices"]


def test_too_long(serve):
    small = serve("smollm2", "--ctx", "64")
    status, answer = small.error(PATH, ask("word " * 200))
    assert status == 400
    assert answer["error"]["type"] == "exceed_context_size_error"
    assert answer["error"]["n_ctx"] == 64 and answer["error"]["n_prompt_tokens"] > 200


BEGUN = [{"role": "user", "content": "Count from one to twenty, in words."},
         {"role": "assistant", "content": "One, two, three,"}]
GOES_ON = {"continue_final_message": True, "temperature": 0, "max_tokens": 12}


def test_a_last_answer_goes_on(coder_server):
    """As in Anthropic's dialect, and what is shown by /apply-template."""
    body = {"messages": BEGUN} | GOES_ON
    answer = coder_server.post(PATH, body)["choices"][0]["message"]["content"]
    assert "four" in answer and "One" not in answer
    assert coder_server.post(PATH, body | {"add_generation_prompt": False})["choices"][0][
        "message"]["content"] == answer
    same = coder_server.post("/v1/messages", {"messages": BEGUN, "temperature": 0, "max_tokens": 12})
    assert same["content"][0]["text"] == answer
    shown = coder_server.post("/apply-template", body)["prompt"]
    assert shown.endswith("assistant\nOne, two, three,")
    # Without the field the turn is closed and another one is open.
    closed = coder_server.post("/apply-template", {"messages": BEGUN})["prompt"]
    assert closed.endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize("change, word", [
    ({"add_generation_prompt": True}, "add_generation_prompt"),
    ({"messages": BEGUN[:1]}, "user"),
    ({"messages": BEGUN[:1] + [{"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]},
     "tool calls"),
    ({"continue_final_message": "yes"}, "continue_final_message")])
def test_what_cannot_go_on_is_refused(server, change, word):
    status, answer = server.error(PATH, {"messages": BEGUN} | GOES_ON | change)
    assert status == 400 and word in answer["error"]["message"]
