"""POST /completion and its answers: forms of prompts, choices, streams, fields, errors."""
import pytest

PATH = "/completion"
FINAL = {"index", "content", "tokens", "id_slot", "stop", "model", "tokens_predicted",
         "tokens_evaluated", "generation_settings", "prompt", "has_new_line", "truncated",
         "stop_type", "stopping_word", "tokens_cached", "timings"}
CHUNK = {"index", "content", "tokens", "stop", "id_slot", "tokens_predicted", "tokens_evaluated"}


def ask(prompt="Once upon a time", **more):
    return {"prompt": prompt, "n_predict": 8, "temperature": 0} | more


def tokenize(server, text):
    return server.post("/tokenize", {"content": text})["tokens"]


@pytest.fixture(scope="module")
def story(server):
    """What the model says by itself, with its tokens."""
    return server.post(PATH, ask(n_predict=32, return_tokens=True))


def test_answer(server, story):
    assert set(story) == FINAL
    assert story["stop"] is True and story["stop_type"] == "limit"
    assert story["content"] and story["prompt"] == "Once upon a time"
    assert story["tokens_predicted"] == 32 == len(story["tokens"])
    assert story["tokens_evaluated"] == len(tokenize(server, "Once upon a time"))
    assert story["tokens_cached"] == story["tokens_evaluated"] + 31
    assert story["timings"]["predicted_n"] == 32
    assert server.post("/detokenize", {"tokens": story["tokens"]})["content"] == story["content"]
    alias = server.post("/completions", ask(n_predict=32))
    assert alias["content"] == story["content"] and alias["tokens"] == []


def test_stream_is_the_answer(server, story):
    events = list(server.stream(PATH, ask(n_predict=32, stream=True)))
    assert all(set(e) == CHUNK and e["stop"] is False for e in events[:-1])
    assert set(events[-1]) == FINAL and events[-1]["stop"] is True
    assert events[-1]["content"] == "" and events[-1]["tokens"] == []
    assert "".join(e["content"] for e in events) == story["content"]
    assert sum((e["tokens"] for e in events), []) == story["tokens"]
    assert events[-1]["stop_type"] == story["stop_type"]
    assert events[-1]["has_new_line"] == story["has_new_line"]


def test_every_form_of_prompt(server):
    ids = tokenize(server, "Once upon a time")
    whole = server.post(PATH, ask())["content"]
    for same in (ids, [ids[0], *ids[1:]], {"prompt_string": "Once upon a time"},
                 {"prompt_string": "Once upon a time", "multimodal_data": []},
                 [ids[0], " upon a time"], ["Once", *ids[1:]]):
        assert server.post(PATH, ask(same))["content"] == whole, same


def test_several_prompts(server):
    prompts = ["Once upon a time", [1, 2, 3], ["Hello", 5], {"prompt_string": "The sky is"}, []]
    answers = server.post(PATH, ask(prompts))
    assert [a["index"] for a in answers] == [0, 1, 2, 3, 4]
    for prompt, answer in zip(prompts, answers):
        assert answer["content"] == server.post(PATH, ask(prompt))["content"]
    texts, ends = [""] * 5, 0
    for event in server.stream(PATH, ask(prompts, stream=True)):
        texts[event["index"]] += event["content"]
        ends += event["stop"]
    assert ends == 5 and texts == [a["content"] for a in answers]
    assert server.post(PATH, ask(["Hello"]))["index"] == 0  # one answer is no array
    assert [a["content"] for a in server.post(PATH, ask(["A B", "A B"], n=2))] == [
        server.post(PATH, ask("A B"))["content"]] * 4


def test_choices(server):
    body = ask("My name is", temperature=1, seed=3, n_cmpl=3)
    answers = server.post(PATH, body)
    assert [a["index"] for a in answers] == [0, 1, 2]
    alone = server.post(PATH, body | {"seed": 5, "n_cmpl": 1})
    assert alone["content"] == answers[2]["content"]
    assert len({a["content"] for a in answers}) > 1


@pytest.mark.parametrize("prompt", [[], "", [""], {"prompt_string": ""}])
def test_a_prompt_without_tokens_has_an_empty_answer(server, prompt):
    answer = server.post(PATH, ask(prompt))
    assert answer["content"] == "" and answer["tokens_predicted"] == 0
    assert answer["stop_type"] == "none" and set(answer) == FINAL
    events = list(server.stream(PATH, ask(prompt, stream=True)))
    assert len(events) == 1 and events[0]["stop"] is True


def test_nothing_to_predict_fills_the_cache(server):
    prompt = "This sentence is evaluated ahead of the question that will come. " * 4
    first = server.post(PATH, ask(prompt, n_predict=0))
    assert first["content"] == "" and first["tokens_predicted"] == 0
    assert first["timings"]["prompt_n"] > 40
    second = server.post(PATH, ask(prompt))
    assert second["timings"]["cache_n"] >= first["timings"]["prompt_n"] - 16


def test_the_cache_changes_no_byte(server):
    body = ask("Tell me about the sea: 海 and 🌊.", n_predict=24)
    cold = server.post(PATH, body | {"cache_prompt": False})
    again = [server.post(PATH, body | {"cache_prompt": flag}) for flag in (True, False, True)]
    assert all(a["content"] == cold["content"] for a in again)


def test_response_fields(server):
    fields = ["content", "timings/predicted_n", "generation_settings/n_predict", "none", "index/x"]
    answer = server.post(PATH, ask(response_fields=fields))
    assert list(answer) == fields[:3]
    assert answer["timings/predicted_n"] == answer["generation_settings/n_predict"] == 8
    events = list(server.stream(PATH, ask(stream=True, response_fields=["stop_type"])))
    assert events[-1] == {"stop_type": "limit"} and set(events[0]) == CHUNK


def test_progress_and_timings_in_streams(server):
    prompt = "Never seen before, so that there is something to do. " * 40
    events = list(server.stream(PATH, ask(prompt, stream=True, return_progress=True,
                                          timings_per_token=True)))
    progress = [e["prompt_progress"] for e in events if "prompt_progress" in e]
    assert progress and set(progress[0]) == {"total", "cache", "processed", "time_ms"}
    assert progress[-1]["processed"] == progress[-1]["total"] == events[-1]["tokens_evaluated"]
    assert [p["processed"] for p in progress] == sorted(p["processed"] for p in progress)
    words = [e for e in events[:-1] if e["content"]]
    assert [e["timings"]["predicted_n"] for e in words] == list(range(1, len(words) + 1))


def test_settings_are_echoed(server):
    sent = {"temperature": 0.5, "top_k": 7, "top_p": 0.5, "min_p": 0.25, "typical_p": 0.75,
            "repeat_penalty": 1.5, "repeat_last_n": 12, "presence_penalty": 0.25,
            "frequency_penalty": 0.5, "seed": 42, "min_keep": 2, "n_predict": 2, "stop": ["zzz"],
            "ignore_eos": True, "n_probs": 1, "n_keep": 3, "dry_base": 2.0,
            "timings_per_token": True, "samplers": ["penalties", "top_k", "temperature"]}
    answer = server.post(PATH, ask(**sent))["generation_settings"]
    for name in set(sent) - {"samplers", "top_p", "min_p", "typical_p"}:
        assert answer[name] == sent[name], name
    assert answer["samplers"] == sent["samplers"]
    assert answer["top_p"] == 1 and answer["min_p"] == 0  # not listed, so not run
    unseeded = server.post(PATH, ask())["generation_settings"]
    assert unseeded["seed"] == 4294967295 and unseeded["max_tokens"] == unseeded["n_predict"] == 8


def test_null_is_absent(server):
    names = ("stop", "seed", "n_predict", "stream", "grammar", "json_schema", "logit_bias", "n",
             "samplers", "response_fields", "n_probs", "lora", "t_max_predict_ms", "id_slot")
    body = ask(n_predict=4)
    assert server.post(PATH, body | {n: None for n in names if n != "n_predict"})["content"] == \
        server.post(PATH, body)["content"]


def test_what_clients_always_send_is_accepted(server):
    whole = server.post(PATH, ask())["content"]
    more = {"id_slot": 0, "cache_prompt": True, "n_cache_reuse": 0, "n_keep": 0, "n_discard": 0,
            "lora": [], "speculative.n_max": 4, "verbose": False, "n_indent": 0, "user": "me",
            "sse_ping_interval": 5, "grammar": "", "mirostat": 0, "xtc_probability": 0,
            "dry_multiplier": 0, "dry_sequence_breakers": ["\n"], "top_n_sigma": -1, "unknown": 1}
    assert server.post(PATH, ask(**more))["content"] == whole


@pytest.mark.parametrize("field, value", [
    ("prompt", 5), ("prompt", True), ("prompt", [1.5]), ("prompt", [-1]), ("prompt", [1 << 40]),
    ("prompt", [10**30]), ("prompt", [None]), ("prompt", [[["a"]]]), ("prompt", ["a", {}]),
    ("prompt", {"text": "a"}), ("prompt", [["a", "b"], "c"]), ("prompt", {"prompt_string": 5}),
    ("n_predict", -2), ("n_predict", 1.5), ("n_predict", "many"), ("max_tokens", []),
    ("temperature", "hot"), ("top_k", 1.5), ("top_p", []), ("seed", "x"), ("stop", 5),
    ("stop", [1]), ("stream", "yes"), ("n_probs", -1), ("n_probs", "x"), ("logprobs", True),
    ("post_sampling_probs", 1), ("return_tokens", 1), ("timings_per_token", "x"),
    ("return_progress", 5), ("response_fields", 5), ("response_fields", [5]),
    ("t_max_predict_ms", "x"), ("t_max_predict_ms", -7), ("n_indent", "x"), ("n_indent", -1), ("id_slot", "x"),
    ("cache_prompt", 1), ("n_cmpl", 0), ("n", 1000), ("samplers", 5), ("samplers", ["magic"]),
    ("samplers", "?"), ("dry_sequence_breakers", []), ("dry_sequence_breakers", [5]),
    ("lora", "x"), ("sse_ping_interval", "x"),
    ("logit_bias", 5), ("mirostat", 3), ("ignore_eos", 1), ("model", 5), ("cache_id", 5),
    ("n_keep", "x"), ("dry_base", "x"), ("repeat_last_n", "x"), ("stream_chunk", {"tokens": 0})])
def test_wrong_fields_are_named(server, field, value):
    status, answer = server.error(PATH, ask() | {field: value})
    assert status == 400 and answer["error"]["code"] == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert field in answer["error"]["message"]


def test_lines_that_are_indented_too_little_end_an_answer(server):
    body = ask(n_predict=40, prompt="def f(x):\n    if x:\n", grammar='root ::= "  a\\n    b\\n  c\\nd\\n"')
    whole = server.post(PATH, body)["content"]
    assert whole == "  a\n    b\n  c\nd\n"
    cut = server.post(PATH, body | {"n_indent": 2})
    assert cut["content"] == "  a\n    b\n  c\n" and cut["stop_type"] == "limit"
    stream = server.stream(PATH, body | {"n_indent": 4, "stream": True})
    assert "".join(part["content"] for part in stream) == "  a\n    b\n  "


@pytest.mark.parametrize("more", [
    {"lora": [{"id": 0, "scale": 1}]},
    {"prompt": {"prompt_string": "a", "multimodal_data": ["aGk="]}}])
def test_what_we_cannot_do_is_refused(server, more):
    status, answer = server.error(PATH, ask() | more)
    assert status == 501 and answer["error"]["type"] == "not_supported_error"


@pytest.mark.parametrize("path", [PATH, "/completions", "/tokenize", "/detokenize",
                                  "/apply-template", "/infill"])
@pytest.mark.parametrize("body", [
    "", " ", "{", "{:", "{\"prompt\":", "[]", "5", "\"text\"", "null", "true", "{'prompt': 'a'}",
    "{\"prompt\": \"a\",}", "{\"prompt\": \"\\ud800\"}", b"{\"prompt\": \"\xff\"}", "{} {}",
    "[" * 5000, "{\"prompt\": NaN}", "{\"prompt\": \"a\nb\"}", b"\x00", "{\"a\":" * 100 + "1" +
    "}" * 100])
def test_broken_bodies(server, path, body):
    status, answer = server.error(path, body)
    assert status == 400
    assert answer["error"]["message"] and answer["error"]["type"] == "invalid_request_error"


def test_a_prompt_is_needed(server):
    status, answer = server.error(PATH, {"n_predict": 1})
    assert status == 400 and answer["error"]["message"].startswith("prompt: needed")


def test_limits(serve):
    small = serve("smollm2", "--ctx", "64")
    for prompt in ("word " * 200, ["a", "word " * 200], [5] * 64):
        for stream in (False, True):
            status, answer = small.error(PATH, ask(prompt, stream=stream))
            assert status == 400
            assert answer["error"]["type"] == "exceed_context_size_error"
            assert answer["error"]["n_ctx"] == 64 and answer["error"]["n_prompt_tokens"] >= 64
    status, answer = small.error(PATH, ask(["a"] * 500))
    assert status == 400 and "500 answers" in answer["error"]["message"]
    full = small.post(PATH, ask("word", n_predict=-1, ignore_eos=True))
    assert full["stop_type"] == "limit"
    assert full["tokens_evaluated"] + full["tokens_predicted"] == 64
