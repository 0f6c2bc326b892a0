"""Responses and embeddings, with plain HTTP and the real client."""
import base64
import math
import struct

import openai
import pytest

ASK = {"input": "Name a colour.", "temperature": 0, "max_output_tokens": 12}


@pytest.fixture(scope="module")
def client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none")


def test_response_equals_chat(server):
    answer = server.post("/v1/responses", ASK | {"instructions": "Be brief."})
    chat = server.post("/v1/chat/completions", {
        "messages": [{"role": "system", "content": "Be brief."},
                     {"role": "user", "content": "Name a colour."}],
        "temperature": 0, "max_tokens": 12})
    text = answer["output"][0]["content"][0]["text"]
    assert text == chat["choices"][0]["message"]["content"]
    assert answer["usage"]["output_tokens"] == chat["usage"]["completion_tokens"]
    assert answer["instructions"] == "Be brief."


def test_responses_client(client):
    whole = client.responses.create(model="default", **ASK)
    assert whole.status in ("completed", "incomplete")
    assert whole.output_text
    text, last = "", None
    for event in client.responses.create(model="default", stream=True, **ASK):
        if event.type == "response.output_text.delta":
            text += event.delta
        last = event
    assert text == whole.output_text
    assert last.type == "response." + whole.status
    assert last.response.output_text == text


def test_items_of_a_conversation(server):
    items = [{"role": "developer", "content": "Be brief."},
             {"role": "user", "content": [{"type": "input_text", "text": "Name a colour."}]},
             {"type": "message", "role": "assistant",
              "content": [{"type": "output_text", "text": "Red."}]},
             {"type": "reasoning", "summary": []},
             {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
             {"type": "function_call_output", "call_id": "1", "output": "5"},
             {"role": "user", "content": "Another."}]
    assert server.post("/v1/responses", ASK | {"input": items})["output"]


@pytest.mark.parametrize("more, status", [
    ({"input": None}, 400), ({"input": []}, 400), ({"input": 5}, 400), ({"input": [5]}, 400),
    ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, 501),
    ({"input": [{"type": 7}]}, 501), ({"input": [{"role": 7, "content": "x"}]}, 400),
    ({"previous_response_id": "resp_1"}, 501), ({"background": True}, 501),
    ({"text": {"format": {"type": "yaml"}}}, 400), ({"tools": [{"type": "web_search"}]}, 501),
    ({"tools": [7]}, 501), ({"max_output_tokens": 0}, 400), ({"stream": 1}, 400)])
def test_wrong_responses(server, more, status):
    assert server.error("/v1/responses", ASK | more)[0] == status


def test_embeddings(server, client):
    texts = ["A cat sat on a mat.", "A kitten sat on a rug.", "Interest rates rose in May."]
    answer = server.post("/v1/embeddings", {"input": texts})
    vectors = [item["embedding"] for item in answer["data"]]
    assert [item["index"] for item in answer["data"]] == [0, 1, 2]

    def dot(a, b):
        return math.fsum(x * y for x, y in zip(a, b))

    assert all(abs(dot(v, v) - 1) < 1e-5 for v in vectors)
    assert dot(vectors[0], vectors[1]) > dot(vectors[0], vectors[2])
    assert server.post("/v1/embeddings", {"input": texts[1]})["data"][0]["embedding"] == vectors[1]
    raw = server.post("/v1/embeddings", {"input": texts[0], "encoding_format": "base64"})
    data = base64.b64decode(raw["data"][0]["embedding"])
    assert list(struct.unpack(f"<{len(data) // 4}f", data)) == pytest.approx(vectors[0], abs=1e-7)
    ours = client.embeddings.create(model="default", input=texts)
    assert ours.data[2].embedding == pytest.approx(vectors[2], abs=1e-6)
    short = server.post("/v1/embeddings", {"input": texts[0], "dimensions": 32})["data"][0]
    assert len(short["embedding"]) == 32 and abs(dot(*[short["embedding"]] * 2) - 1) < 1e-5
    ollama = server.post("/api/embed", {"model": "default", "input": texts})
    assert ollama["embeddings"] == vectors
    assert server.post("/api/embeddings", {"model": "default", "prompt": texts[0]})[
        "embedding"] == vectors[0]


@pytest.mark.parametrize("more", [
    {"input": None}, {"input": 5}, {"input": ""}, {"input": [""]}, {"input": [[5], 5]},
    {"input": [-1]}, {"input": [1.5]}, {"input": [10**12]}, {"input": "x", "dimensions": 0},
    {"input": "x", "dimensions": 10**6}, {"input": "x", "encoding_format": "int8"},
    {"input": "word " * 9000}, {"input": ["x"] * 3000}])
def test_wrong_embeddings(server, more):
    assert server.error("/v1/embeddings", more)[0] == 400


COMPLETION = {"prompt": "Once upon a time", "temperature": 0, "max_tokens": 8}


def test_completions(server, client):
    whole = server.post("/v1/completions", COMPLETION)
    assert whole["object"] == "text_completion"
    text = whole["choices"][0]["text"]
    assert text == server.post("/completion", COMPLETION)["content"]
    assert client.completions.create(model="default", **COMPLETION).choices[0].text == text
    streamed = "".join(chunk.choices[0].text for chunk in client.completions.create(
        model="default", stream=True, **COMPLETION))
    assert streamed == text
    assert server.post("/v1/completions", COMPLETION | {"echo": True})["choices"][0][
        "text"] == COMPLETION["prompt"] + text
    default = server.post("/v1/completions", {"prompt": "Once", "ignore_eos": True})
    assert default["usage"]["completion_tokens"] == 16


def test_several_prompts(server):
    prompts = ["Once upon a time", "The capital of France is"]
    both = server.post("/v1/completions", COMPLETION | {"prompt": prompts, "n": 2})
    assert [c["index"] for c in both["choices"]] == [0, 1, 2, 3]
    alone = [server.post("/v1/completions", COMPLETION | {"prompt": p}) for p in prompts]
    assert both["choices"][0]["text"] == alone[0]["choices"][0]["text"]
    assert both["choices"][2]["text"] == alone[1]["choices"][0]["text"]
    assert both["usage"]["prompt_tokens"] == sum(a["usage"]["prompt_tokens"] for a in alone)


def test_completion_logprobs(server):
    choice = server.post("/v1/completions", COMPLETION | {"logprobs": 3})["choices"][0]
    probabilities = choice["logprobs"]
    assert "".join(probabilities["tokens"]) == choice["text"]
    assert all(len(top) == 3 for top in probabilities["top_logprobs"])
    for token, logprob, top in zip(probabilities["tokens"], probabilities["token_logprobs"],
                                   probabilities["top_logprobs"]):
        assert top[token] == logprob == max(top.values())


def test_an_echoed_prompt_is_scored(server):
    """As evaluation programs ask for it; what an answer's own tokens got, they get as a prompt."""
    answer = server.post("/v1/completions", COMPLETION | {"logprobs": 1})["choices"][0]
    whole = server.post("/tokenize", {"content": COMPLETION["prompt"] + answer["text"]})["tokens"]
    body = {"prompt": whole, "echo": True, "logprobs": 1, "max_tokens": 0}
    echoed = server.post("/v1/completions", body)["choices"][0]
    scored = echoed["logprobs"]
    assert echoed["text"] == "".join(scored["tokens"]) == COMPLETION["prompt"] + answer["text"]
    assert scored["token_logprobs"][0] is None and scored["top_logprobs"][0] is None
    assert scored["text_offset"][0] == 0 and len(scored["tokens"]) == len(whole)
    count = len(answer["logprobs"]["tokens"])
    assert scored["token_logprobs"][-count:] == answer["logprobs"]["token_logprobs"]
    streamed = server.stream("/v1/completions", body | {"max_tokens": 1, "stream": True})
    lists = [c["logprobs"] for event in streamed if event != "[DONE]"
             for c in event["choices"] if c["logprobs"]]
    assert [t for one in lists for t in one["tokens"]][:-1] == scored["tokens"]


@pytest.mark.parametrize("more, status", [
    ({"prompt": None}, 400), ({"prompt": 5}, 400), ({"logprobs": 21}, 400), ({"echo": 1}, 400),
    ({"best_of": 3}, 501), ({"suffix": "x"}, 501), ({"max_tokens": "5"}, 400)])
def test_wrong_completions(server, more, status):
    assert server.error("/v1/completions", COMPLETION | more)[0] == status


def test_a_suffix_asks_for_the_middle(coder_server):
    parts = {"prompt": "def add(a, b):\n    ", "suffix": "\n\nprint(add(1, 2))\n"}
    body = {"temperature": 0, "max_tokens": 12}
    ours = coder_server.post("/v1/completions", body | parts)["choices"][0]["text"]
    infill = coder_server.post("/infill", body | {"input_prefix": parts["prompt"],
                                                  "input_suffix": parts["suffix"]})
    assert ours == infill["content"] and "return a + b" in ours


def test_langchain(server):
    langchain = pytest.importorskip("langchain_openai")
    chat = langchain.ChatOpenAI(base_url=server.url + "/v1", api_key="none", model="gpt-4o-mini",
                                temperature=0, max_tokens=8)
    whole = chat.invoke("Name a colour.")
    assert whole.content and whole.usage_metadata["output_tokens"] > 0
    assert "".join(part.content for part in chat.stream("Name a colour.")) == whole.content
