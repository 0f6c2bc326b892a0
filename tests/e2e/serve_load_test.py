"""Many requests at once and one after the other: the same bytes, and nothing lost or kept."""
import concurrent.futures
import itertools
import random
import threading

import pytest

from server_host import Server, ask_all, wait_for

CHAT = "/v1/chat/completions"
TOPICS = ["a river", "the moon", "bread", "un château", "编译器", "a lighthouse 🌊", "rust", "tea"]


def requests(count):
    """Seeded ones of every kind; a third share a long beginning."""
    rng = random.Random(4711)
    shared = "Here are some notes. " + " ".join(rng.choice(TOPICS) for _ in range(80))
    bodies = []
    for number in range(count):
        text = f"Say something about {rng.choice(TOPICS)} and {number % 7}."
        body = {"messages": [{"role": "user", "content": text}], "seed": number,
                "temperature": rng.choice([0, 0.7, 1.2]), "max_tokens": rng.randrange(1, 16)}
        if number % 3 == 0:
            body["messages"].insert(0, {"role": "system", "content": shared})
        if number % 4 == 0:
            body["stop"] = ["the", "。"]
        if number % 5 == 0:
            body |= {"logprobs": True, "top_logprobs": 3}
        if number % 6 == 0:
            body["repeat_penalty"] = 1.3
        if number % 8 == 0:
            body["n"] = 2
        bodies.append(body)
    return bodies


def test_same_bytes_alone_together_cached_restarted_and_with_other_threads(warm, model):
    bodies = requests(200)
    path = model("smollm2")
    with Server(warm, path) as server:
        alone = ask_all(server, bodies, 1)
        assert ask_all(server, bodies, 16) == alone
        streamed = []
        for body in bodies[:20]:
            texts = {}
            for chunk in server.stream(CHAT, body | {"stream": True}):
                if chunk != "[DONE]":
                    choice = chunk["choices"][0]
                    texts.setdefault(choice["index"], []).append(
                        choice["delta"].get("content") or "")
            streamed.append(["".join(texts[i]) for i in sorted(texts)])
        assert streamed == [[c["message"]["content"] for c in cs] for cs in alone[:20]]
    with Server(warm, path, "--threads", "1", "--prompt-chunk", "48", "--parallel", "24") as server:
        assert ask_all(server, bodies, 24) == alone
    with Server(warm, path, "--threads", "3", "--kernels", "avx2") as server:
        assert ask_all(server, bodies[:60], 8) == alone[:60]


def test_conversations_stay_apart(server):
    """What one client said is never in another's answer or count of cached tokens."""
    secret = "The password of the vault is " + "-".join(f"{n:03}" for n in range(60)) + "."

    def about(text):
        return {"messages": [{"role": "system", "content": text},
                             {"role": "user", "content": "What is the password?"}],
                "temperature": 0, "max_tokens": 12}

    fresh = server.post(CHAT, about("Nothing is known."))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: server.post(
            CHAT, about(secret if n % 2 else "Nothing is known.")), range(16)))
    for number, answer in enumerate(answers):
        if number % 2 == 0:
            assert answer["choices"] == fresh["choices"]
            assert answer["timings"]["cache_n"] <= answer["usage"]["prompt_tokens"]


def test_streams_go_on_while_a_long_prompt_arrives(serve):
    server = serve("smollm2", "--parallel", "40", "--queue", "64", "--ctx", "8192")
    body = {"messages": [{"role": "user", "content": "Tell a story."}], "temperature": 1,
            "max_tokens": 40, "ignore_eos": True, "stream": True}
    started = threading.Semaphore(0)

    def stream(seed):
        tokens = 0
        for chunk in server.stream(CHAT, body | {"seed": seed}, timeout=300):
            if chunk == "[DONE]":
                return tokens
            tokens += bool(chunk["choices"][0]["delta"].get("content"))
            started.release()
        raise AssertionError(f"stream {seed} broke off")

    with concurrent.futures.ThreadPoolExecutor(33) as pool:
        streams = [pool.submit(stream, seed) for seed in range(32)]
        for _ in range(64):
            started.acquire()
        long = pool.submit(server.post, CHAT, {
            "messages": [{"role": "user", "content": "word " * 4000}], "max_tokens": 1},
            timeout=300)
        assert all(future.result() > 20 for future in streams)
        assert long.result()["usage"]["prompt_tokens"] > 4000


def test_nothing_grows(serve):
    """1000 requests one after the other and 200 at once leave memory and descriptors alone.

    What is lost shows in every round; what the first real crowd needs, in one of them."""
    server = serve("smollm2", "--ctx", "512", "--kv-memory-mb", "32", "--queue", "256",
                   "--log-level", "off")
    bodies = [{"messages": [{"role": "user", "content": f"Number {n}"}], "max_tokens": 1,
               "temperature": 0} for n in range(50)]

    def rounds(count, at_once):
        ask_all(server, list(itertools.islice(itertools.cycle(bodies), count)), at_once)

    rounds(200, 1)
    rounds(400, 200)
    descriptors = server.descriptors()
    memory = [server.pid_status("VmRSS")]
    for _ in range(3):
        rounds(1000, 1)
        rounds(200, 200)
        memory.append(server.pid_status("VmRSS"))
    assert min(after - before for before, after in itertools.pairwise(memory)) < 1024  # kB
    assert memory[-1] - memory[0] < 8 * 1024
    assert wait_for(lambda: server.descriptors() <= descriptors)


@pytest.mark.parametrize("at_once", [4])
def test_two_at_once_do_not_disturb_each_other(server, at_once):
    """Long answers with characters of several bytes, streamed side by side."""
    body = {"messages": [{"role": "user", "content": "写一首诗 🌷"}], "temperature": 1.5,
            "top_k": 100, "max_tokens": 100, "ignore_eos": True}

    def both(seed):
        whole = server.post(CHAT, body | {"seed": seed})["choices"][0]["message"]["content"]
        parts = [chunk["choices"][0]["delta"].get("content") or ""
                 for chunk in server.stream(CHAT, body | {"seed": seed, "stream": True})
                 if chunk != "[DONE]"]
        return whole, "".join(parts)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for whole, streamed in pool.map(both, range(at_once)):
            assert whole == streamed
