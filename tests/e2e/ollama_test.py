"""Ollama's dialect, with plain HTTP and with the real client."""
import json
import shutil

import ollama
import pytest

from conftest import MODELS, Program
from server_host import wait_for

NAME = MODELS["smollm2"]
QUESTION = [{"role": "user", "content": "Name three colours and a flower 🌷."}]
GREEDY = {"temperature": 0, "num_predict": 24}
TIMES = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")


def chat(**more):
    return {"model": NAME, "messages": QUESTION, "options": GREEDY} | more


def generate(**more):
    return {"model": NAME, "prompt": QUESTION[0]["content"], "options": GREEDY} | more


def text_of(lines):
    return "".join(line.get("response", line.get("message", {}).get("content")) for line in lines)


def whole(server, path, body):
    return server.post(path, body | {"stream": False})


@pytest.fixture
def client(server):
    return ollama.Client(server.url)


@pytest.mark.parametrize("path, body", [("/api/chat", chat()), ("/api/generate", generate())])
def test_stream_is_the_default_and_equals_the_answer(server, path, body):
    lines = list(server.lines(path, body))
    answer = whole(server, path, body)
    assert text_of(lines) == text_of([answer]) != ""
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    assert text_of(lines[-1:]) == ""
    for last in (lines[-1], answer):
        assert last["model"] == NAME and last["done_reason"] == "length"
        assert last["eval_count"] == 24 and last["prompt_eval_count"] > 8
        assert all(isinstance(last[field], int) and last[field] >= 0 for field in TIMES)
        assert last["timings"]["predicted_n"] == 24
    assert ("context" in answer) == (path == "/api/generate")


def test_same_text_as_openai(server):
    openai = server.post("/v1/chat/completions",
                         {"messages": QUESTION, "temperature": 0, "max_tokens": 24})
    expected = openai["choices"][0]["message"]["content"]
    assert text_of([whole(server, "/api/chat", chat())]) == expected
    assert text_of([whole(server, "/api/generate", generate())]) == expected


def test_load_duration_is_zero_once_loaded(server):
    for _ in range(2):
        assert whole(server, "/api/chat", chat())["load_duration"] == 0


def test_real_client(client):
    answer = client.chat(NAME, QUESTION, options=GREEDY)
    assert answer.done and answer.message.role == "assistant"
    parts = list(client.chat(NAME, QUESTION, options=GREEDY, stream=True))
    assert "".join(part.message.content for part in parts) == answer.message.content
    one = client.generate(NAME, "Say hello.", options={"num_predict": 4, "num_thread": 3,
                                                        "num_gpu": 0, "temperature": 0.0})
    assert one.eval_count <= 4 and one.context
    assert NAME in [model.model for model in client.list().models]
    assert client.show(NAME).modelinfo["general.architecture"] == "llama"
    running = client.ps().models[0]
    assert running.model == NAME and running.context_length == 8192
    with pytest.raises(ollama.ResponseError, match="no-such-model") as error:
        client.chat("no-such-model", QUESTION)
    assert error.value.status_code == 404


def test_context_goes_on_like_a_conversation(server):
    options = {"temperature": 0, "num_predict": 60}
    first = whole(server, "/api/generate", generate(prompt="Say hi.", options=options))
    assert first["done_reason"] == "stop"
    second = whole(server, "/api/generate", generate(prompt="And now bye.", options=options,
                                                     context=first["context"]))
    talk = [{"role": "user", "content": "Say hi."},
            {"role": "assistant", "content": first["response"]},
            {"role": "user", "content": "And now bye."}]
    expected = whole(server, "/api/chat", chat(messages=talk, options=options))
    assert second["response"] == expected["message"]["content"]
    assert second["prompt_eval_count"] == expected["prompt_eval_count"]
    again = whole(server, "/api/generate", generate(prompt="And now bye.", options=options,
                                                    context=first["context"], template="chatml"))
    assert again["context"] == second["context"]
    for context in ([1, -1], [1, 10**9], ["x"], [1.5], "text"):
        status, error = server.error("/api/generate", generate(context=context))
        assert status == 400 and "context" in error["error"]


def test_system_template_and_raw(server):
    system = whole(server, "/api/generate", generate(system="Answer in French."))
    talk = [{"role": "system", "content": "Answer in French."}] + QUESTION
    assert system["response"] == text_of([whole(server, "/api/chat", chat(messages=talk))])
    go = ("{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n{{ end }}"
          "<|im_start|>user\n{{ .Prompt }}<|im_end|>\n<|im_start|>assistant\n{{ .Response }}")
    same = [whole(server, "/api/generate", generate(system="Be kind.", template=template))
            for template in ("chatml", go)]
    raw = whole(server, "/api/generate", generate(raw=True, prompt=(
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n"
        f"{QUESTION[0]['content']}<|im_end|>\n<|im_start|>assistant\n")))
    assert same[0]["context"] == same[1]["context"] == raw["context"]
    status, error = server.error("/api/generate", generate(raw=True, system="x"))
    assert status == 400 and "system" in error["error"]


def test_suffix(server, coder_server):
    """Code between two texts where the model has tokens for it, a clear no elsewhere."""
    code = {"model": "", "prompt": "def add(a, b):\n    return ",
            "suffix": "\n\n\ndef main():\n    print(add(1, 2))\n",
            "options": {"temperature": 0, "num_predict": 8}}
    name = MODELS["qwen-coder"]
    assert "a + b" in whole(coder_server, "/api/generate", code | {"model": name})["response"]
    if "insert" not in server.post("/api/show", {"model": NAME})["capabilities"]:
        status, error = server.error("/api/generate", code | {"model": NAME})
        assert status == 400 and "insert" in error["error"]


def test_logprobs(server):
    answer = whole(server, "/api/chat", chat(logprobs=True, top_logprobs=3))
    assert len(answer["logprobs"]) == answer["eval_count"]
    assert all(len(token["top_logprobs"]) == 3 for token in answer["logprobs"])
    lines = list(server.lines("/api/chat", chat(logprobs=True)))
    tokens = [token for line in lines for token in line.get("logprobs", [])]
    assert [t["token"] for t in tokens] == [t["token"] for t in answer["logprobs"]]
    assert "top_logprobs" not in tokens[0]


def test_tools_reach_the_template(coder_server):
    body = {"model": "default", "messages": QUESTION, "options": GREEDY | {"num_predict": 1}}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}}}}
    called = [{"role": "assistant", "content": "", "tool_calls": [
                  {"function": {"name": "get_weather", "arguments": {"city": "Rome"}}}]},
              {"role": "tool", "tool_name": "get_weather", "content": "sunny"}]
    plain = whole(coder_server, "/api/chat", body)["prompt_eval_count"]
    tools = whole(coder_server, "/api/chat", body | {"tools": [tool]})["prompt_eval_count"]
    answered = whole(coder_server, "/api/chat",
                     body | {"tools": [tool], "messages": QUESTION + called})
    assert plain < tools < answered["prompt_eval_count"]


def test_load_and_unload(server):
    for path, empty in (("/api/generate", {"prompt": ""}), ("/api/chat", {"messages": []})):
        loaded = server.post(path, {"model": NAME} | empty)
        assert loaded["done"] and loaded["done_reason"] == "load" and text_of([loaded]) == ""
        unloaded = server.post(path, {"model": NAME, "keep_alive": 0} | empty)
        assert unloaded["done_reason"] == "unload"
    # What the server was started with stays.
    assert server.get("/api/ps")["models"]
    for body in ({"model": "no-such-model"}, {"model": "no-such-model", "keep_alive": 0}):
        assert server.error("/api/generate", body)[0] == 404


@pytest.fixture
def two_models(tmp_path, model, serve):
    """A server of one model with another one in its models folder."""
    home = Program(tmp_path / "home")
    (tmp_path / "home/models").mkdir(parents=True)
    shutil.copy(model("smollm2"), tmp_path / "home/models/other.gguf")
    return serve("smollm2", program=home)


def test_models_on_demand(two_models):
    """Loaded when asked for, gone at once, later or never, and deleted."""
    def running():
        return [m["name"] for m in two_models.get("/api/ps")["models"]]

    names = [m["name"] for m in two_models.get("/api/tags")["models"]]
    assert sorted(names) == sorted([NAME, "other.gguf"])
    loaded = two_models.post("/api/generate", {"model": "other", "keep_alive": -1})
    assert loaded["load_duration"] > 0 and "other.gguf" in running()
    answer = whole(two_models, "/api/chat", chat(model="other", keep_alive="1h"))
    assert answer["load_duration"] == 0 and answer["model"] == "other"
    two_models.post("/api/generate", {"model": "other", "keep_alive": 0})
    assert wait_for(lambda: running() == [NAME])
    status, _, _ = two_models.request("DELETE", "/api/delete", {"model": "other.gguf"})
    assert status == 200
    assert two_models.error("/api/show", {"model": "other"})[0] == 404
    status, error = two_models.error("/api/delete", {"model": NAME}, method="DELETE")
    assert status == 400 and "started with" in error["error"]


@pytest.mark.parametrize("field, value", [
    ("model", None), ("model", 5), ("model", ""), ("messages", "hi"), ("messages", [5]),
    ("stream", "yes"), ("keep_alive", "soon"), ("keep_alive", True), ("top_logprobs", 21),
    ("think", True), ("think", "high"), ("options", []), ("cache_id", 7), ("images", ["aGk="])])
def test_wrong_fields_are_named(server, field, value):
    status, answer = server.error("/api/chat", chat() | {field: value})
    assert status == 400 and field in answer["error"]


@pytest.mark.parametrize("name, value", [
    ("num_ctx", 2**40), ("num_ctx", 0), ("num_ctx", "4096"), ("temperature", "hot"),
    ("top_k", 1.5), ("stop", 5), ("stop", [5]), ("seed", "x"), ("num_thread", "8"),
    ("mirostat", 3), ("num_predict", -3), ("use_mmap", 1)])
def test_wrong_options_are_named(server, name, value):
    status, answer = server.error("/api/generate", generate(options={name: value}))
    assert status == 400 and f"options.{name}" in answer["error"]


@pytest.mark.parametrize("more", [{"format": "yaml"}, {"format": {"not": {}}}, {"format": [1]}])
def test_format_is_never_ignored(server, more):
    for path, body in (("/api/chat", chat()), ("/api/generate", generate())):
        status, answer = server.error(path, body | more)
        assert status == 400 and "format" in answer["error"]


def test_what_clients_always_send_is_accepted(server):
    whole(server, "/api/chat", chat(think=False, format="", tools=[], keep_alive=None, options={
        "num_predict": 2.0, "num_thread": 4, "num_batch": 512, "use_mmap": True, "mirostat": 0,
        "somebodys_own": {"x": 1}, "repeat_last_n": -1, "stop": None}))


@pytest.mark.parametrize("dialect", ["/api/chat", "/api/generate", "/v1/chat/completions",
                                     "/v1/messages"])
def test_num_ctx_limits_every_dialect(server, dialect):
    """Never a silent cut: the answer ends with the context, a longer prompt is refused."""
    long = "word " * 100
    options = {"num_ctx": 64, "temperature": 0}
    body = {"model": NAME, "options": options, "max_tokens": 500, "stream": False, "temperature": 0,
            "messages": [{"role": "user", "content": "Count up to a thousand."}],
            "prompt": "Count up to a thousand."}
    answer = server.post(dialect, body)
    used = {"/v1/chat/completions": lambda: answer["usage"]["total_tokens"],
            "/v1/messages": lambda: (answer["usage"]["input_tokens"] +
                                     answer["usage"]["cache_read_input_tokens"] +
                                     answer["usage"]["output_tokens"])}.get(
        dialect, lambda: answer["prompt_eval_count"] + answer["eval_count"])()
    assert used == 64
    body |= {"messages": [{"role": "user", "content": long}], "prompt": long}
    status, error = server.error(dialect, body)
    assert status == 400 and "64" in json.dumps(error) and "prompt has" in json.dumps(error)


def test_a_large_num_ctx_is_the_servers(server):
    """Clients ask for 32768 by habit; a prompt that does not fit is told so."""
    options = {"num_ctx": 32768, "num_batch": 512, "stop": ["zzz"], "num_predict": 2}
    assert whole(server, "/api/chat", chat(options=options))["eval_count"] == 2
    status, answer = server.error("/api/generate", generate(prompt="word " * 9000, options=options))
    assert status == 400 and "8191" in answer["error"]


def test_errors_are_texts(server):
    for body in ("", "{", "[]"):
        status, answer = server.error("/api/chat", body)
        assert status == 400 and isinstance(answer["error"], str)
    status, answer = server.error("/api/nothing", {})
    assert status == 404 and isinstance(answer["error"], str)
    for path in ("/api/push", "/api/blobs/sha256:00"):
        assert server.error(path, {})[0] == 501
    assert server.request("HEAD", "/api/blobs/sha256:00")[0] == 404


def test_small_ones(server):
    assert server.get("/api/version")["version"]
    status, _, body = server.request("HEAD", "/")
    assert status == 200 and body == b""
    entry = server.get("/api/tags")["models"][0]
    assert entry["name"] == entry["model"] == NAME and entry["size"] > 1e7
    assert entry["details"]["family"] == "llama" and entry["details"]["format"] == "gguf"
    assert entry["details"]["parameter_size"] == "134.5M"
    shown = server.post("/api/show", {"name": NAME, "verbose": True})
    assert shown["model_info"]["llama.context_length"] == 8192
    assert "completion" in shown["capabilities"] and "im_start" in shown["template"]
