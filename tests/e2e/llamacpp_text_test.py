"""The text of /completion: bytes, stop strings, likelihoods, penalties, biases, seeds."""
import concurrent.futures
import math

import pytest

PATH = "/completion"


def ask(prompt="Once upon a time", **more):
    return {"prompt": prompt, "n_predict": 16, "temperature": 0} | more


def both(server, body):
    """The whole answer, after a check that the stream says the same."""
    whole = server.post(PATH, body)
    events = list(server.stream(PATH, body | {"stream": True}))
    assert "".join(e["content"] for e in events) == whole["content"]
    for name in ("stop_type", "stopping_word", "tokens_predicted", "has_new_line"):
        assert events[-1][name] == whole[name]
    return whole


@pytest.mark.parametrize("prompt", ["Some emoji: 🌷🌊😀", "Привет, как", "日本語の文章を", "\u00e9\u00e8"])
def test_characters_are_never_cut(server, prompt):
    for n_predict in range(1, 8):
        both(server, ask(prompt, n_predict=n_predict))


def test_broken_bytes(server):
    """Tokens that are parts of characters only, at any place and at the end."""
    pieces = server.post("/tokenize", {"content": "🌷", "with_pieces": True})["tokens"]
    parts = [t["id"] for t in pieces if isinstance(t["piece"], list)]
    assert parts
    for token in parts:
        bias = [[token, 100]]
        answer = both(server, ask(logit_bias=bias, n_predict=3, n_probs=2, return_tokens=True))
        assert answer["tokens"] == [token] * 3 and "\ufffd" in answer["content"]
        entry = answer["completion_probabilities"][0]
        assert bytes(entry["bytes"]).decode(errors="replace") == entry["token"]
        both(server, ask([parts[0], token, 5], n_predict=3))


def test_wild_sampling_never_fails(server):
    bodies = [ask(p, temperature=1.5, top_k=100, n_predict=60, seed=i, n_probs=3)
              for i, p in enumerate(["日本", "def f(x):", "🌷", "\u0416"])]
    alone = [both(server, body)["content"] for body in bodies]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda body: server.post(PATH, body)["content"], bodies))
    assert together == alone


def test_seeds(server):
    body = ask("A name:", temperature=1, seed=11)
    first = server.post(PATH, body)["content"]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        many = list(pool.map(lambda _: server.post(PATH, body)["content"], range(4)))
    assert many == [first] * 4
    assert any(server.post(PATH, body | {"seed": seed})["content"] != first for seed in range(3))


def test_text_is_never_unescaped(server):
    ids = [server.post("/tokenize", {"content": text})["tokens"] for text in ("a\\nb", "a\nb")]
    assert ids[0] != ids[1]
    assert server.post(PATH, ask("a\\nb", n_predict=0))["prompt"] == "a\\nb"


@pytest.fixture(scope="module")
def story(server):
    return server.post(PATH, ask(n_predict=40))["content"]


def test_stop_strings_of_several_tokens(server, story):
    for begin, size in ((3, 9), (10, 14), (17, 5), (0, 4), (30, 1)):
        stop = story[begin:begin + size]
        expected = story[:story.index(stop)]
        answer = both(server, ask(n_predict=40, stop=[stop]))
        assert answer["content"] == expected
        assert answer["stop_type"] == "word" and answer["stopping_word"] == stop
        one = both(server, ask(n_predict=40, stop=stop))
        assert one["content"] == expected


def test_the_stop_string_that_comes_first(server, story):
    early, late = story[8:14], story[20:26]
    answer = both(server, ask(n_predict=40, stop=[late, "nowhere", early]))
    assert answer["stopping_word"] == early
    assert answer["content"] == story[:story.index(early)]


def test_what_was_held_back_comes_at_the_end(server, story):
    """The end looks like the start of a stop string until the limit is reached."""
    for cut in range(1, 6):
        text = server.post(PATH, ask(n_predict=cut))["content"]
        answer = both(server, ask(n_predict=cut, stop=[text[-2:] + "\x01never"]))
        assert answer["content"] == text and answer["stop_type"] == "limit"


def test_letters_of_the_alphabet_stop(server):
    prompt = "A B C D E F G H I J K"
    free = server.post(PATH, ask(prompt, n_predict=24))["content"]
    assert "P Q R" in free
    answer = both(server, ask(prompt, n_predict=24, stop=["P Q R"]))
    assert answer["content"] == free[:free.index("P Q R")]


def test_control_tokens_stop_and_are_not_printed(server):
    end = server.post("/tokenize", {"content": "<|im_end|>"})["tokens"]
    start = server.post("/tokenize", {"content": "<|im_start|>"})["tokens"]
    assert len(end) == len(start) == 1
    ended = both(server, ask(logit_bias=[[end[0], 100]]))
    assert ended["content"] == "" and ended["stop_type"] == "eos"
    stopped = both(server, ask(logit_bias=[[start[0], 100]], stop=["<|im_start|>"]))
    assert stopped["content"] == "" and stopped["stop_type"] == "word"
    assert stopped["stopping_word"] == "<|im_start|>"
    shown = both(server, ask(logit_bias=[[start[0], 100]], n_predict=3))
    assert shown["content"] == "" and shown["tokens_predicted"] == 3


def test_ignore_eos(server):
    end = server.post("/tokenize", {"content": "<|im_end|>"})["tokens"][0]
    answer = server.post(PATH, ask(ignore_eos=True, logit_bias=[[end, 100]], return_tokens=True))
    assert end not in answer["tokens"] and answer["stop_type"] == "limit"


def test_time_limit(server):
    """It counts from the first line break on."""
    newline = server.post("/tokenize", {"content": "\n"})["tokens"][0]
    body = ask(n_predict=60, t_max_predict_ms=1e-6)
    broken = server.post(PATH, body | {"logit_bias": [[newline, 100]]})
    assert broken["tokens_predicted"] <= 2 and broken["stop_type"] == "limit"
    assert broken["has_new_line"] is True
    assert server.post(PATH, body | {"logit_bias": [["\n", False]], "n_predict": 8,
                                     "ignore_eos": True})["tokens_predicted"] == 8


# --- likelihoods ---

@pytest.mark.parametrize("temperature", [0, 0.8, 2])
def test_likelihoods_are_of_a_plain_softmax(server, temperature):
    answer = server.post(PATH, ask(n_probs=5, temperature=temperature, seed=1, n_predict=4))
    entries = answer["completion_probabilities"]
    assert len(entries) == 4
    for entry in entries:
        assert set(entry) == {"id", "token", "bytes", "logprob", "top_logprobs"}
        logprobs = [top["logprob"] for top in entry["top_logprobs"]]
        assert len(logprobs) == 5 and logprobs == sorted(logprobs, reverse=True)
        assert all(set(top) == {"id", "token", "bytes", "logprob"}
                   for top in entry["top_logprobs"])
        assert sum(map(math.exp, logprobs)) <= 1.000001 and entry["logprob"] <= logprobs[0]
        if temperature == 0:
            assert entry["id"] == entry["top_logprobs"][0]["id"]
    # The first step saw the same text, so its likelihoods do not depend on the temperature.
    plain = server.post(PATH, ask(logprobs=5, n_predict=1))["completion_probabilities"][0]
    assert entries[0]["top_logprobs"] == plain["top_logprobs"]


def test_likelihoods_in_streams(server):
    body = ask(n_probs=3, n_predict=6, prompt="Flowers 🌷🌷🌷")
    whole = server.post(PATH, body)["completion_probabilities"]
    events = list(server.stream(PATH, body | {"stream": True}))
    assert sum((e["completion_probabilities"] for e in events[:-1]), []) == whole
    assert "completion_probabilities" not in events[-1]


def test_likelihoods_of_what_was_drawn_from(server):
    body = ask(n_probs=50, post_sampling_probs=True, temperature=0.7, top_k=6, top_p=1, min_p=0,
               seed=2, n_predict=4)
    for entry in server.post(PATH, body)["completion_probabilities"]:
        assert set(entry) == {"id", "token", "bytes", "prob", "top_probs"}
        probs = [top["prob"] for top in entry["top_probs"]]
        assert len(probs) == 6 and probs == sorted(probs, reverse=True)
        assert sum(probs) == pytest.approx(1, abs=1e-5)
        assert entry["prob"] == next(t["prob"] for t in entry["top_probs"]
                                     if t["id"] == entry["id"])
    few = server.post(PATH, body | {"n_probs": 2})["completion_probabilities"]
    assert all(len(entry["top_probs"]) == 2 and entry["prob"] > 0 for entry in few)
    greedy = server.post(PATH, body | {"temperature": 0})["completion_probabilities"]
    assert all(entry["prob"] == 1 and len(entry["top_probs"]) == 1 for entry in greedy)


def test_likelihoods_do_not_change_the_text(server):
    for more in ({"temperature": 0}, {"temperature": 0.9, "seed": 4}):
        plain = server.post(PATH, ask(**more))["content"]
        assert server.post(PATH, ask(**more, n_probs=4))["content"] == plain
        assert server.post(PATH, ask(**more, n_probs=4, post_sampling_probs=True))[
            "content"] == plain


def test_impossible_is_a_finite_number(server):
    answer = server.post(PATH, ask(n_probs=1, logit_bias=[[5, False]], n_predict=1))
    for entry in answer["completion_probabilities"]:
        assert isinstance(entry["logprob"], float) and math.isfinite(entry["logprob"])


def test_steps_of_a_stop_string_are_left_out(server, story):
    answer = server.post(PATH, ask(n_predict=40, stop=[story[10:24]], n_probs=1))
    text = "".join(entry["token"] for entry in answer["completion_probabilities"])
    assert answer["content"].startswith(text)


# --- penalties and biases ---

@pytest.mark.parametrize("penalty", [{"presence_penalty": 50}, {"frequency_penalty": 50},
                                     {"repeat_penalty": 3}])
def test_penalties_have_an_effect(server, penalty):
    prompt = "BANANA" + " BANANA" * 7
    plain = server.post(PATH, ask(prompt))["content"]
    assert "BANANA" in plain
    punished = server.post(PATH, ask(prompt, **penalty))
    assert punished["content"] != plain
    name, value = next(iter(penalty.items()))
    assert punished["generation_settings"][name] == value
    assert server.post(PATH, ask(prompt, repeat_last_n=0, **penalty))["content"] == plain


@pytest.mark.parametrize("settings", [
    {"mirostat": 1}, {"mirostat": 2, "mirostat_tau": 2}, {"top_n_sigma": 0.5},
    {"xtc_probability": 1, "xtc_threshold": 0.05}, {"dynatemp_range": 0.75},
    {"dry_multiplier": 8, "dry_allowed_length": 1, "dry_sequence_breakers": ["|"]},
    {"adaptive_target": 0.05}, {"samplers": ["temperature", "top_k", "top_p"], "top_p": 0.3}])
def test_rare_samplers(server, settings):
    body = ask("One two three. One two three. One two", temperature=1.5, seed=5, n_predict=24)
    plain = server.post(PATH, body)["content"]
    answer = both(server, body | settings)
    assert answer["content"] != plain
    for name in set(settings) - {"dry_sequence_breakers"}:
        assert answer["generation_settings"][name] == pytest.approx(settings[name])
    kept = server.post(PATH, body | settings | {"n_probs": 5, "post_sampling_probs": True})
    assert kept["content"] == answer["content"]
    assert all(0 < entry["prob"] <= 1 for entry in kept["completion_probabilities"])


def test_every_form_of_bias(server):
    first = server.post(PATH, ask(n_predict=1, return_tokens=True))
    token, text = first["tokens"][0], first["content"]
    for bias in ({str(token): -100}, [[token, False]], [[token, -100]], [[text, -100]],
                 {text: False}, {str(token): False}):
        other = server.post(PATH, ask(n_predict=1, return_tokens=True, logit_bias=bias))
        assert other["tokens"][0] != token, bias
    for odd in ([], {}, [5], [[token]], [["x", "y"]], [[1 << 30, 5]], {"99999999": -5}):
        same = server.post(PATH, ask(n_predict=1, return_tokens=True, logit_bias=odd))
        assert same["tokens"] == [token], odd
