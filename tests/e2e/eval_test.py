"""vivace eval: tasks, long texts and comparisons; every kind goes on after an interruption.

The tiny models know nothing: what is tested is that results are counted right, not good.
"""
import json
import re
import signal
import subprocess
import time

import pytest

from conftest import Program
from tiny_models_test import make

QUESTIONS = "".join(f"Which letter is number {i}?,a,b,c,d,{'ABCD'[i % 4]}\n" for i in range(12))
# The model's answer does not matter: one test always passes, one never does.
PROGRAMS = [{"task_id": f"T/{i}", "prompt": f"def f{i}(x):\n    return x\n\n", "entry_point": f"f{i}",
             "test": f"def check(f):\n    assert {passes}\n"} for i, passes in enumerate((1, 0))]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A program and two tiny models of one tokenizer."""
    folder = tmp_path_factory.mktemp("tiny")
    for name, kind in (("a", "Q8_0"), ("b", "Q4_0")):
        make(folder / f"{name}.gguf", "--arch", "qwen2", "--type", kind)
    return Program(folder / "home"), folder / "a.gguf", folder / "b.gguf"


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text(QUESTIONS)
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_divergence_from_a_kept_run(tiny, tmp_path):
    vivace, one, other = tiny
    text = tmp_path / "text"
    text.write_text("the cat sat on the mat " * 20)
    kept = tmp_path / "kept"
    ask = ["--text", text, "--tokens", 64, "--window", 32]
    plain = vivace.json("eval", one, *ask, "--save-run", kept)
    assert plain["low"] <= plain["mean_nll"] <= plain["high"] and "kl" not in plain
    same = vivace.json("eval", one, *ask, "--against", kept)
    assert same["kl"]["max"] < 1e-5 and same["kl"]["same_top"] == 1
    assert same["mean_nll"] == plain["mean_nll"]
    for _ in range(2):  # the second one finds all windows in the file
        kept_items = vivace.json("eval", one, *ask, "--out", tmp_path / "windows.jsonl")
        assert kept_items["mean_nll"] == pytest.approx(plain["mean_nll"], abs=1e-12)
    differs = vivace.json("eval", other, *ask, "--against", kept)["kl"]
    assert 0 < differs["mean"] and differs["p50"] <= differs["p99"] <= differs["max"]
    assert differs["against"] == one.name
    shorter = vivace("eval", one, "--text", text, "--window", 16, "--tokens", 64, "--against", kept)
    assert shorter.returncode == 1 and "another text or tokenizer" in shorter.stderr
    kept.write_bytes(kept.read_bytes()[:-100])
    cut = vivace("eval", one, *ask, "--against", kept)
    assert cut.returncode == 1 and "ends before the text does" in cut.stderr


def test_examples_before_questions(tiny, questions, tmp_path):
    vivace, model, _ = tiny
    ask = ["--tasks", questions, "--out", tmp_path / "run.jsonl"]
    shown = vivace.json("eval", model, *ask, "--shots", 2, "--dev", questions)
    assert shown["items"] == 12
    assert lines(tmp_path / "run.jsonl")[0]["settings"]["shots"] == 2
    plain = vivace("eval", model, *ask)
    assert plain.returncode == 1 and "is another evaluation" in plain.stderr
    many = vivace("eval", model, *ask, "--shots", 13, "--dev", questions)
    assert many.returncode == 1 and "--shots is 13" in many.stderr and "12 questions" in many.stderr
    alone = vivace("eval", model, *ask, "--shots", 2)
    assert alone.returncode != 0 and "--dev" in alone.stderr


def test_multiple_choice(tiny, questions, tmp_path):
    vivace, model, _ = tiny
    out = tmp_path / "run.jsonl"
    result = vivace.json("eval", model, "--tasks", questions, "--out", out)
    head, *items = lines(out)
    assert head["kind"] == "choice" and len(items) == result["items"] == 12
    right = [item["chosen"] == item["right"] for item in items]
    assert [item["value"] for item in items] == right
    assert result["accuracy"] == pytest.approx(sum(right) / 12)
    assert result["low"] <= result["accuracy"] <= result["high"]
    for item in items:
        best = max(range(4), key=lambda i: item["logprobs"][i])
        assert item["chosen"] == "ABCD"[best]


def test_the_log_likelihoods_are_the_models(tiny, questions, tmp_path):
    vivace, model, _ = tiny
    out = tmp_path / "run.jsonl"
    vivace.json("eval", model, "--tasks", questions, "--out", out, "--limit", 1)
    # This tokenizer has no " A", so that the space belongs to the prompt.
    prompt = ("The following are multiple choice questions (with answers).\n\n"
              "Which letter is number 0?\nA. a\nB. b\nC. c\nD. d\nAnswer: ")
    vocab = vivace.json("run", model, "--raw", "-p", prompt, "--max-tokens", 1, "--logprobs", 4096,
                        "--temperature", 0)
    known = dict(vocab["logprobs"][0])
    for letter, logprob in zip("ABCD", lines(out)[1]["logprobs"]):
        token = vivace.json("tokenize", model, prompt + letter)["tokens"][-1]
        assert logprob == pytest.approx(known[token], abs=1e-9)


def test_an_interrupted_run_goes_on(tiny, questions, tmp_path):
    vivace, model, _ = tiny
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    vivace.json("eval", model, "--tasks", questions, "--out", whole)
    vivace.json("eval", model, "--tasks", questions, "--out", parts, "--limit", 5)
    with parts.open("a") as file:
        file.write('{"item": "6", "val')  # as after a power failure
    result = vivace.json("eval", model, "--tasks", questions, "--out", parts)
    assert result["resumed"] == 5 and result["items"] == 12
    assert lines(parts) == lines(whole)
    again = vivace.json("eval", model, "--tasks", questions, "--out", parts)
    assert again["resumed"] == 12 and again["accuracy"] == result["accuracy"]


def test_ctrl_c_keeps_what_there_is(tiny, tmp_path):
    vivace, model, _ = tiny
    many = tmp_path / "many.csv"
    many.write_text("".join(f"Question {i}?,a,b,c,d,A\n" for i in range(100_000)))
    out = tmp_path / "run.jsonl"
    process = subprocess.Popen([vivace.binary, "eval", model, "--tasks", many, "--out", out],
                               env=vivace.environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while not out.exists() or len(out.read_bytes().splitlines()) < 4:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "of 100000 items" in text
    assert len(lines(out)) >= 4


def test_code_is_run_against_its_tests(tiny, tmp_path):
    vivace, model, _ = tiny
    tasks, out = tmp_path / "tasks.jsonl", tmp_path / "run.jsonl"
    tasks.write_text("\n".join(map(json.dumps, PROGRAMS)))
    result = vivace.json("eval", model, "--tasks", tasks, "--raw", "--max-tokens", 1, "--out", out)
    assert result["kind"] == "code" and result["items"] == 2
    failed = lines(out)[2]
    assert failed["end"] == "failed" and failed["value"] == 0


def test_needles_and_json_answers(vivace, model, tmp_path):
    path = model("smollm2")
    out = tmp_path / "needle.jsonl"
    needle = vivace.json("eval", path, "--needle", "128,256", "--out", out)
    assert needle["items"] == 10 and 0 <= needle["found"] <= 1
    for item in lines(out)[1:]:
        assert re.fullmatch(r"\d{7} tokens, at [ \d]{3} %, 0", item["item"])
    answers = vivace.json("eval", path, "--json-answers", 2)
    assert answers["items"] == 2 and 0 <= answers["json_valid"] <= 1
    too_long = vivace("eval", path, "--needle", 1 << 20)
    assert too_long.returncode == 1 and "by the model's context" in too_long.stderr


def test_runs_are_compared(tiny, questions, tmp_path):
    vivace, one, other = tiny
    first, second, better = (tmp_path / f"{name}.jsonl" for name in "abc")
    vivace.json("eval", one, "--tasks", questions, "--out", first)
    vivace.json("eval", other, "--tasks", questions, "--out", second)
    head, *items = lines(first)
    rows = [head] + [item | {"value": 1} for item in items]
    better.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = vivace.json("eval", "compare", first, second, better)
    assert [row["items"] for row in table["runs"]] == [12, 12, 12]
    assert table["runs"][0]["difference"] == 0 and not table["runs"][0]["beyond_noise"]
    assert table["runs"][2]["mean"] == 1 and table["runs"][2]["beyond_noise"]
    assert "beyond noise" in vivace("eval", "compare", first, better).stdout


@pytest.mark.parametrize("name, content, sentence", [
    ("x.csv", "q,a,b,c,d,A\nq,a,b\n", "x.csv:2: 3 columns, 6 are needed"),
    ("x.csv", "q,a,b,c,d,F\n", "x.csv:1: the answer is \"F\", allowed is A to D"),
    ("x.jsonl", "{}\n", "x.jsonl:1: neither"),
    ("x.jsonl", '{"question": "q", "choices": ["a", "b"], "answer": 0}\n{"que\n',
     "x.jsonl:2: this is not one JSON object"),
    ("x.txt", "q", "allowed are .csv and .jsonl"),
    ("x.csv", "", "no task in it"),
])
def test_wrong_files_are_named_with_their_line(tiny, tmp_path, name, content, sentence):
    vivace, model, _ = tiny
    path = tmp_path / name
    path.write_text(content)
    done = vivace("eval", model, "--tasks", path)
    assert done.returncode == 1 and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("vivace: ") and sentence in line


def test_wrong_use(tiny, questions, tmp_path):
    vivace, model, _ = tiny
    assert "0 of --text, --tasks" in vivace("eval", model).stderr
    both = vivace("eval", model, "--tasks", questions, "--json-answers", 3)
    assert both.returncode == 1 and "2 of --text, --tasks" in both.stderr
    run = tmp_path / "run.jsonl"
    vivace("eval", model, "--tasks", questions, "--out", run, "--limit", 1)
    other = vivace("eval", model, "--json-answers", 1, "--out", run)
    assert other.returncode == 1 and "another evaluation: the kind was choice" in other.stderr
    assert vivace("eval", "compare").returncode == 2
    missing = vivace("eval", "compare", tmp_path / "none")
    assert missing.returncode == 1 and "cannot be read" in missing.stderr
