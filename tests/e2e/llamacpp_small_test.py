"""llama.cpp's small endpoints: tokens, templates, facts, slots, metrics, infill."""
import re
import threading

import pytest

from server_host import wait_for

TEXTS = ["Hello world", " Hello", "\t\t\t\t\t\ttest", "<|im_start|>user\nhi<|im_end|>", "🌷 日本語",
         "a\r\n\r\nb   c", "", "x->y (z):\n\n  1234567", "\u0000", "'s 'll"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("parse", [True, False])
def test_tokens_and_back(server, text, parse):
    body = {"content": text, "parse_special": parse}
    ids = server.post("/tokenize", body)["tokens"]
    assert server.post("/detokenize", {"tokens": ids})["content"] == text
    pieces = server.post("/tokenize", body | {"with_pieces": True})["tokens"]
    assert [p["id"] for p in pieces] == ids
    raw = b"".join(p["piece"].encode() if isinstance(p["piece"], str) else bytes(p["piece"])
                   for p in pieces)
    assert raw == text.encode()


def test_control_tokens_are_parsed_when_wished(server):
    parsed = server.post("/tokenize", {"content": "<|im_start|>"})["tokens"]
    plain = server.post("/tokenize", {"content": "<|im_start|>", "parse_special": False})["tokens"]
    assert len(parsed) == 1 < len(plain)
    assert server.post("/tokenize", {})["tokens"] == []
    assert server.post("/tokenize", {"content": None})["tokens"] == []
    assert server.post("/tokenize", {"content": [1, "a", 2]})["tokens"][::2] == [1, 2]
    assert server.post("/detokenize", {})["content"] == ""
    assert server.post("/tokenize", {"content": "a", "add_special": True})["tokens"]


@pytest.mark.parametrize("path, body", [
    ("/tokenize", {"content": 5}), ("/tokenize", {"content": {}}), ("/tokenize", {"content": [1.5]}),
    ("/tokenize", {"content": "a", "add_special": 1}), ("/tokenize", {"content": [[1]]}),
    ("/tokenize", {"content": [-1]}), ("/detokenize", {"tokens": "a"}),
    ("/detokenize", {"tokens": ["a"]}), ("/detokenize", {"tokens": [1 << 40]}),
    ("/detokenize", {"tokens": [-1]}), ("/detokenize", {"tokens": [1.5]}),
    ("/apply-template", {}), ("/apply-template", {"messages": []}),
    ("/apply-template", {"messages": "hi"})])
def test_wrong_requests(server, path, body):
    status, answer = server.error(path, body)
    assert status == 400 and answer["error"]["type"] == "invalid_request_error"


def test_template(server):
    messages = [{"role": "user", "content": "hi"}]
    prompt = server.post("/apply-template", {"messages": messages})["prompt"]
    assert prompt.endswith("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n")
    closed = server.post("/apply-template", {"messages": messages,
                                             "add_generation_prompt": False})["prompt"]
    assert prompt.startswith(closed) and closed.endswith("<|im_end|>\n")


def test_props(server):
    props = server.get("/props")
    assert set(props) >= {
        "default_generation_settings", "total_slots", "model_alias", "model_ftype", "model_path",
        "modalities", "chat_template", "chat_template_caps", "bos_token", "eos_token",
        "build_info", "is_sleeping", "endpoint_slots", "endpoint_props", "endpoint_metrics", "ui",
        "ui_settings"}
    assert props["total_slots"] == 16 and props["eos_token"] == "<|im_end|>"
    assert props["model_ftype"] == "Q4_1" and "im_start" in props["chat_template"]
    settings = props["default_generation_settings"]
    assert settings["n_ctx"] == 8192 and settings["params"]["temperature"] == pytest.approx(0.8)
    assert settings["params"]["n_predict"] == -1
    status, answer = server.error("/props", {})
    assert status == 501 and answer["error"]["type"] == "not_supported_error"
    assert server.error("/props?model=nothing", None, method="GET")[0] == 404


def test_slots(server):
    slots = server.get("/slots")
    assert [s["id"] for s in slots] == list(range(16))
    server.post("/completion", {"prompt": "The sky is blue", "n_predict": 3, "seed": 5,
                                "temperature": 0})
    slot = server.get("/slots")[0]
    assert slot["is_processing"] is False and slot["n_prompt_tokens"] == 4
    assert slot["params"]["seed"] == 5 and slot["params"]["n_predict"] == 3
    token, = slot["next_token"]
    assert token == {"has_next_token": False, "has_new_line": token["has_new_line"],
                     "n_remain": 0, "n_decoded": 3}
    assert slot["n_prompt_tokens_processed"] + slot["n_prompt_tokens_cache"] == 4
    for action in ("save", "restore", "erase"):
        status, answer = server.error(f"/slots/0?action={action}", {"filename": "a"})
        assert status == 501 and answer["error"]["type"] == "not_supported_error"
    assert server.error("/slots?model=nothing", None, method="GET")[0] == 404


def test_slots_while_something_runs(serve):
    one = serve("smollm2", "--parallel", "1")
    assert one.get("/slots?fail_on_no_slot=1")[0]["is_processing"] is False
    assert "id_task" not in one.get("/slots")[0]
    stream = one.stream("/completion", {"prompt": "Count:", "n_predict": 4000, "stream": True,
                                        "ignore_eos": True})
    first = next(stream)
    assert first["id_slot"] == 0
    slot, = one.get("/slots")
    assert slot["is_processing"] is True and slot["next_token"][0]["has_next_token"] is True
    assert slot["next_token"][0]["n_remain"] < 4000
    status, answer = one.error("/slots?fail_on_no_slot=1", None, method="GET")
    assert status == 503 and answer["error"]["type"] == "unavailable_error"
    assert len(one.get("/slots?fail_on_no_slot=0")) == 1
    metrics = one.request("GET", "/metrics")[2].decode()
    assert "llamacpp:requests_processing 1\n" in metrics
    stream.close()
    assert wait_for(lambda: not one.get("/slots")[0]["is_processing"])


def test_metrics(server):
    def scrape():
        status, headers, body = server.request("GET", "/metrics")
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert int(headers["Process-Start-Time-Unix"]) > 1_600_000_000
        values = {}
        for line in body.decode().splitlines():
            if not line.startswith("#"):
                name, value = re.fullmatch(r'([a-z0-9_:]+(?:\{[^}]*\})?) (\S+)', line).groups()
                assert name not in values
                values[name] = float(value)
        return values

    before = scrape()
    answer = server.post("/completion", {"prompt": "Something new to count on: 1, 2",
                                         "n_predict": 5, "ignore_eos": True})
    after = scrape()
    assert after["llamacpp:tokens_predicted_total"] - before["llamacpp:tokens_predicted_total"] == 5
    assert (after["llamacpp:prompt_tokens_total"] - before["llamacpp:prompt_tokens_total"]
            == answer["timings"]["prompt_n"])
    for name in ("prompt_seconds_total", "tokens_predicted_seconds_total", "n_decode_total"):
        assert after[f"llamacpp:{name}"] > before[f"llamacpp:{name}"]
    assert after["llamacpp:predicted_tokens_seconds"] > 0
    for name in ("prompt_tokens_cached_total", "n_tokens_max", "prompt_tokens_seconds",
                 "requests_processing", "requests_deferred", "n_busy_slots_per_decode",
                 "spec_decode_num_drafts_total"):
        assert f"llamacpp:{name}" in after
    for name in ("ttft_seconds", "itl_seconds", "queue_seconds", "e2e_seconds",
                 "prefill_tokens_per_second"):
        assert after[f"vivace_{name}_count"] >= 1
        assert after[f'vivace_{name}_bucket{{le="+Inf"}}'] == after[f"vivace_{name}_count"]
    assert any(name.startswith('vivace_engine_steps_total{model="SmolLM2') for name in after)


def test_probes_do_not_wait_for_prompts(server):
    """They are answered while a long prompt is evaluated."""
    asked = threading.Thread(target=server.post, args=("/completion", {
        "prompt": "Words that nobody has asked about before. " * 160, "n_predict": 1}))
    asked.start()
    seen = wait_for(lambda: any(s["is_processing"] for s in server.get("/slots")))
    for path in ("/health", "/props", "/slots"):
        assert server.get(path)
    assert server.request("GET", "/metrics")[0] == 200
    still = any(s["is_processing"] for s in server.get("/slots"))
    asked.join()
    assert seen and still


# --- infill ---

def test_infill_needs_a_model_made_for_it(server):
    status, answer = server.error("/infill", {"input_prefix": "a", "input_suffix": "b"})
    assert status == 501 and answer["error"]["type"] == "not_supported_error"


def test_infill(coder_server):
    body = {"input_prefix": "def add(a, b):\n    \"\"\"The sum of a and b.\"\"\"\n    return ",
            "input_suffix": "\n\nprint(add(1, 2))\n", "n_predict": 16, "temperature": 0}
    answer = coder_server.post("/infill", body)
    assert "a + b" in answer["content"]
    assert answer["prompt"].startswith("<|fim_prefix|>def add")
    assert answer["prompt"].endswith("print(add(1, 2))\n<|fim_middle|>")
    text = "".join(e["content"] for e in coder_server.stream("/infill", body | {"stream": True}))
    assert text == answer["content"]
    begun = coder_server.post("/infill", body | {"prompt": "a + "})
    assert begun["prompt"].count("return a + <|fim_suffix|>") == 1


def test_infill_keeps_text_text(coder_server):
    marked = "x = '<|fim_middle|><|im_end|>'"
    answer = coder_server.post("/infill", {
        "input_prefix": marked, "input_suffix": marked, "n_predict": 0,
        "input_extra": [{"filename": "<|fim_prefix|>.py", "text": marked}]})
    special = coder_server.post("/tokenize", {"content": answer["prompt"]})["tokens"]
    assert answer["tokens_evaluated"] > len(special)  # there they are single tokens
    assert answer["prompt"].startswith("<|repo_name|>")


def test_every_dialect_asks_for_the_middle_in_the_same_prompt(coder_server):
    """Control tokens that people wrote stay text in all of them."""
    before, after = "x = '<|fim_middle|>'\ny = ", "\nprint('<|fim_suffix|><|endoftext|>')\n"
    count = coder_server.post("/infill", {
        "input_prefix": before, "input_suffix": after, "n_predict": 1})["tokens_evaluated"]
    openai = coder_server.post("/v1/completions", {
        "prompt": before, "suffix": after, "max_tokens": 1})
    ollama = coder_server.post("/api/generate", {
        "model": "default", "prompt": before, "suffix": after, "stream": False,
        "options": {"num_predict": 1}})
    assert openai["usage"]["prompt_tokens"] == ollama["prompt_eval_count"] == count


@pytest.mark.parametrize("more", [
    {"input_prefix": 5}, {"input_suffix": []}, {"prompt": 5}, {"input_extra": 5},
    {"input_extra": [5]}, {"input_extra": [{"filename": "a"}]},
    {"input_extra": [{"filename": 5, "text": "a"}]}, {"n_predict": "x"}])
def test_wrong_infill(coder_server, more):
    status, answer = coder_server.error("/infill", {"input_prefix": "a"} | more)
    assert status == 400 and next(iter(more)) in answer["error"]["message"]
