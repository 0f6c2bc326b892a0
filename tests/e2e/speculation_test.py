"""Drafts change no answer: greedy and sampled, with stop strings, alone and together, after a
client has left in the middle, and after a restart. The server verifies every draft here, however
bad, so that the tests do not depend on how fast the machine is."""
import contextlib
import json
import pathlib
import random
import signal

import pytest

from conftest import Program
from server_host import Server, ask_all, wait_for

COMPLETION = "/completion"
PASSAGE = ("The harbour was opened in 1874 after nine years of work. Its breakwater is 640 metres "
           "long. Until 1931 the herring fleet used it, 114 boats at its height.")
COUNT = 150
CODE = "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return a - b\n"
TASKS = ["Explain why bread rises.", "Answer with JSON only: an array of three cities.",
         f"{PASSAGE}\nRepeat the text word for word.", f"{CODE}\nAdd a comment to each function.",
         "Write a Python function that reverses a list.", "Count from 1 to 30.",
         "Ein Satz über Käse, 奶酪 und 🧀, bitte."]
FORM = {"type": "json_schema", "json_schema": {"name": "cities", "schema": {
    "type": "object", "additionalProperties": False, "required": ["cities", "count"],
    "properties": {"cities": {"type": "array", "items": {"enum": ["Paris", "Parma", "Pisa"]},
                              "minItems": 1, "maxItems": 3},
                   "count": {"type": "integer"}}}}}


def bodies(count):
    """Seeded requests of every kind."""
    rng = random.Random(99)
    made = []
    for number in range(count):
        body = {"messages": [{"role": "user", "content": TASKS[number % len(TASKS)]}],
                "seed": number, "temperature": rng.choice([0, 0, 0.8]),
                "max_tokens": rng.randrange(8, 24)}
        if number % 4 == 0:
            body["stop"] = ["the", ",", "\n\n"]
        if number % 5 == 0:
            body |= {"logprobs": True, "top_logprobs": 2}
        if number % 6 == 0:
            body["repeat_penalty"] = 1.2
        if number % 7 == 1:
            body["response_format"] = FORM
        made.append(body)
    return made


def home_of_its_own(tmp_path, warm):
    """A home folder whose models are packed already."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/packed").symlink_to(warm.home / "packed")
    return Program(tmp_path / "home")


def metric(server, name):
    """The sum of a metric over its labels."""
    text = server.request("GET", "/metrics")[2].decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith(name))


def by_source(server, name, source):
    text = server.request("GET", "/metrics")[2].decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith(name) and f'source="{source}"' in line)


@pytest.fixture(scope="module")
def drafting(warm, model, tmp_path_factory):
    """A server that verifies every draft, with no answers of earlier tests."""
    program = home_of_its_own(tmp_path_factory.mktemp("drafts"), warm)
    with Server(program, model("smollm2"), "--always-speculate") as server:
        yield server


@pytest.fixture(scope="module")
def expected(warm, model):
    """What a server without drafts answers to bodies(COUNT)."""
    with Server(warm, model("smollm2"), "--no-speculation") as server:
        answers = ask_all(server, bodies(COUNT), 8)
        assert metric(server, "vivace_engine_drafted_tokens_total") == 0
        assert server.get("/slots")[0]["speculative"] is False
        return answers


def test_the_same_answers_with_and_without_drafts(drafting, expected):
    assert ask_all(drafting, bodies(COUNT), 1) == expected
    before = metric(drafting, "vivace_engine_accepted_tokens_total")
    # Now earlier answers tell it all.
    assert ask_all(drafting, bodies(COUNT), 8) == expected
    assert metric(drafting, "vivace_engine_accepted_tokens_total") > before + 100
    assert drafting.get("/slots")[0]["speculative"] is True


def test_a_request_may_refuse_drafts(drafting):
    body = {"prompt": "one two three four one two three", "n_predict": 24, "temperature": 0,
            "ignore_eos": True}
    for _ in range(2):
        with_drafts = drafting.post(COMPLETION, body)
    without = drafting.post(COMPLETION, body | {"speculation": False})
    assert without["content"] == with_drafts["content"]
    assert without["timings"]["draft_n"] == without["timings"]["draft_n_accepted"] == 0
    assert 0 < with_drafts["timings"]["draft_n_accepted"] <= with_drafts["timings"]["draft_n"]
    assert with_drafts["tokens_predicted"] == 24
    status, error = drafting.error(COMPLETION, body | {"speculation": "no"})
    assert status == 400 and "speculation" in error["error"]["message"]


def test_another_model_may_guess(warm, model, drafting):
    body = {"prompt": "Once upon a time", "n_predict": 40, "temperature": 0, "ignore_eos": True}
    with Server(warm, model("smollm2"), "--always-speculate",
                "--draft-model", model("smollm2")) as server:
        answer = server.post(COMPLETION, body)
        assert answer["content"] == drafting.post(COMPLETION, body)["content"]
        assert by_source(server, "vivace_engine_accepted_tokens_total", "model") > 10


def test_a_draft_model_of_another_vocabulary_is_refused(warm, model):
    for command in (["run", model("qwen-coder"), "--prompt", "Hi"],
                    ["serve", model("qwen-coder"), "--port", "0"]):
        result = warm(*command, "--draft-model", model("smollm2"))
        assert result.returncode == 1
        assert "the draft model has 49152 tokens and the model 151936" in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_stream_has_the_same_pieces(drafting):
    body = {"prompt": "a b c a b c a b", "n_predict": 20, "temperature": 0, "stream": True}
    drafting.post(COMPLETION, body | {"stream": False})
    pieces = [[event["content"] for event in drafting.stream(COMPLETION, body | more)]
              for more in ({}, {"speculation": False})]
    assert pieces[0] == pieces[1]


def test_a_client_that_leaves_in_the_middle_disturbs_nobody(drafting):
    body = {"prompt": "x y z x y z", "n_predict": 120, "temperature": 0, "ignore_eos": True}
    whole = drafting.post(COMPLETION, body)["content"]
    for events in (1, 3, 9):
        with contextlib.closing(drafting.connect()) as connection:
            connection.request("POST", COMPLETION, json.dumps(body | {"stream": True}))
            answer = connection.getresponse()
            for _ in range(events):
                answer.readline()
        assert drafting.post(COMPLETION, body)["content"] == whole
    wait_for(lambda: not any(slot["is_processing"] for slot in drafting.get("/slots")))


def test_answers_are_known_after_a_restart_and_to_nobody_else(warm, model, tmp_path):
    program = home_of_its_own(tmp_path, warm)
    body = {"prompt": "Tell me something about", "n_predict": 40, "temperature": 1, "seed": 3}

    def accepted(server, key):
        answer = server.post(COMPLETION, body, headers={"X-Api-Key": key})
        return answer["content"], answer["timings"]["draft_n_accepted"]

    def files():
        return [path for path in pathlib.Path(program.home, "answers").rglob("*")
                if path.is_file()]

    arguments = (model("smollm2"), "--always-speculate", "--kv-disk-mb", "0",
                 "--api-key", "key-a", "--api-key", "key-b")
    with Server(program, *arguments) as server:
        text, first = accepted(server, "key-a")
        wait_for(lambda: len(files()) == 1)  # soon after the last answer
        server.stop(signal.SIGKILL)
    assert "key-a" not in files()[0].read_bytes().decode("latin-1") + str(files()[0])
    with Server(program, *arguments) as server:
        assert accepted(server, "key-b") == (text, first)
        again, more = accepted(server, "key-a")
        assert again == text and more > first + 10
        server.request("DELETE", "/v1/cache", headers={"X-Api-Key": "key-b"})
        assert not files()
        assert accepted(server, "key-a") == (text, first)
    for path in files():
        path.write_bytes(path.read_bytes()[:-3] + b"???")
    with Server(program, *arguments) as server:
        assert accepted(server, "key-a") == (text, first)
