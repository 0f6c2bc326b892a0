"""Evaluating prompts ahead of time, conversations in the cache, and full contexts."""
import threading

CHAT = "/v1/chat/completions"
DRAFT = ("Explain to me, step by step and with an example for each step, how a compiler turns "
         "the source text of a program into machine code that a processor can run")


def chat(*texts, **more):
    roles = ["user", "assistant"] * len(texts)
    return {"messages": [{"role": r, "content": t} for r, t in zip(roles, texts)],
            "temperature": 0, "max_tokens": 8} | more


def test_typing_ahead(serve):
    server = serve("smollm2")
    first = server.post("/v1/prefill", chat(DRAFT[:60], partial=True, cache_id="tab 1"))
    assert first["complete"] and first["prompt_tokens"] > 10
    second = server.post("/v1/prefill", chat(DRAFT, partial=True, cache_id="tab 1"))
    assert second["cached_tokens"] >= first["prompt_tokens"] - 4
    answer = server.post(CHAT, chat(DRAFT + "?", cache_id="tab 1"))
    timings = answer["timings"]
    assert timings["cache_n"] >= second["prompt_tokens"] - 4
    assert timings["prompt_n"] <= 12
    fresh = serve("smollm2").post(CHAT, chat(DRAFT + "?"))
    assert fresh["choices"] == answer["choices"]


def test_a_long_question_is_read_while_it_is_typed(serve):
    """With the larger model: what a page sends in two seconds, and what Enter leaves to do."""
    server = serve("qwen-coder", "--kv-disk-mb", "0")
    report = "".join(f"The river rose by {i} metres in the night. " for i in range(45))
    typed = " What did the river do?"
    for end in range(0, len(typed), 4):
        draft = server.post("/v1/prefill", chat(report + typed[:end], partial=True, cache_id="a"))
        assert draft["complete"]
    body = chat(report + typed, cache_id="a")
    first = server.post(CHAT, body)["timings"]
    again = server.post(CHAT, body)["timings"]
    print(f"{first['cache_n']} of {first['prompt_n'] + first['cache_n']} tokens were there, "
          f"{first['first_token_ms']:.0f} ms; fully cached {again['first_token_ms']:.0f} ms")
    assert first["cache_n"] + first["prompt_n"] > 500
    assert first["prompt_n"] <= 12
    assert first["cache_n"] >= again["cache_n"] - 12


def test_reading_ahead_gives_way(serve):
    """A request that comes meanwhile is answered before the reading ends."""
    server = serve("qwen-coder", "--kv-disk-mb", "0")
    order = []

    def read():
        answer = server.post("/v1/prefill", chat("word " * 1500, partial=True, cache_id="a"))
        order.append(("read", answer["complete"]))

    reader = threading.Thread(target=read)
    reader.start()
    while not server.get("/v1/cache")["models"][0]["pages_in_use"]:
        pass
    server.post(CHAT, chat("Say hello.", max_tokens=2))
    order.append(("answered", True))
    reader.join()
    assert order == [("answered", True), ("read", True)]


def test_nothing_typed_yet(server):
    assert server.post("/v1/prefill", chat("  ", partial=True)) == {
        "prompt_tokens": 0, "cached_tokens": 0, "complete": True}


def test_a_newer_draft_replaces_an_older_one(serve):
    server = serve("smollm2", "--ctx", "8192")
    answers = []

    def prefill(text):
        answers.append((text, server.post("/v1/prefill", chat(text, partial=True, cache_id="a"))))

    long_draft = "word " * 6000
    older = threading.Thread(target=prefill, args=(long_draft,))
    older.start()
    while not server.get("/v1/cache")["models"][0]["pages_in_use"]:
        pass
    prefill("something else")
    older.join()
    by_text = dict(answers)
    assert not by_text[long_draft]["complete"]
    assert by_text["something else"]["complete"]


def test_conversations_are_listed_and_forgotten(serve):
    server = serve("smollm2")
    for name in ("a", "b"):
        server.post(CHAT, chat(f"My name is {name}. " + DRAFT, cache_id=name))
    cache = server.get("/v1/cache")["models"][0]
    assert {c["cache_id"] for c in cache["conversations"]} == {"a", "b"}
    assert all(c["tokens"] > 20 for c in cache["conversations"])
    assert server.request("DELETE", "/v1/cache?cache_id=a")[0] == 200
    cache = server.get("/v1/cache")["models"][0]
    assert {c["cache_id"] for c in cache["conversations"]} == {"b"}
    assert server.request("DELETE", "/v1/cache")[0] == 200
    assert server.get("/v1/cache")["models"][0]["pages_cached"] == 0
    assert server.request("GET", "/v1/cache?model=nobody")[0] == 404


def test_followups_edits_and_side_requests_use_the_cache(serve):
    """Only what is new is evaluated: after an answer, after an edit, and after others."""
    server = serve("smollm2")
    first = server.post(CHAT, chat(DRAFT))
    told = first["choices"][0]["message"]["content"]
    follow = chat(DRAFT, told, "Shorter, please.")
    second = server.post(CHAT, follow)
    assert second["timings"]["cache_n"] >= first["usage"]["total_tokens"] - 4
    # A helper's short request between two turns.
    server.post(CHAT, chat("Give this chat a title."))
    assert server.post(CHAT, follow)["timings"]["prompt_n"] <= 4
    edited = server.post(CHAT, chat(DRAFT, told, "Longer, please."))
    assert edited["timings"]["cache_n"] >= first["usage"]["total_tokens"] - 4
    assert server.post(CHAT, chat(DRAFT))["choices"] == first["choices"]


def test_policies_for_a_full_context(serve):
    server = serve("smollm2", "--ctx", "128")
    turns = [f"Sentence number {i} of this long conversation." for i in range(20)]
    body = chat(*turns, max_tokens=6)
    assert server.error(CHAT, body)[1]["error"]["type"] == "exceed_context_size_error"
    kept = server.post(CHAT, body | {"context_policy": "keep-system-last-2"})
    assert kept["timings"]["truncated"] and kept["timings"]["dropped_tokens"] > 100
    assert kept["choices"] == server.post(CHAT, chat(*turns) | {
        "messages": body["messages"][-2:], "max_tokens": 6})["choices"]
    long = server.post(CHAT, chat("Tell me a very long story.", max_tokens=300, ignore_eos=True,
                                  context_policy="shift"))
    assert long["usage"]["completion_tokens"] == 300
    assert long["timings"]["truncated"]
    status, answer = server.error(CHAT, body | {"context_policy": "guess"})
    assert status == 400 and "context_policy" in answer["error"]["message"]
    # Without a limit a shifted answer ends all the same.
    endless = server.post(CHAT, chat("Count.", ignore_eos=True, context_policy="shift",
                                     max_tokens=-1))
    assert endless["usage"]["completion_tokens"] == 128
    assert endless["choices"][0]["finish_reason"] == "length"


def test_draining(serve):
    server = serve("smollm2")
    stream = server.stream(CHAT, chat("Count to fifty.", max_tokens=60, stream=True,
                                      ignore_eos=True))
    next(stream)
    assert server.request("POST", "/admin/drain")[0] == 202
    assert list(stream)[-1] == "[DONE]"
    assert server.process.wait(30) == 0
