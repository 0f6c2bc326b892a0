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
