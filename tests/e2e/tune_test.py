"""vivace tune and profiles: what is found is kept, used, and never in the way of flags."""
import json

import pytest

from conftest import Program
from tiny_models_test import make

QUICK = ["--seconds", 1]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    make(path, "--arch", "qwen2", "--type", "Q8_0")
    return path


def run(vivace, tiny, *flags):
    return vivace.json("run", tiny, "--raw", "-p", "abc", "--max-tokens", 4, "--temperature", 0,
                       *flags)


def tuned(vivace):
    return json.loads((vivace.home / "tuning.json").read_text())["tuned"]


def test_finds_explains_and_keeps(vivace, tiny):
    result = vivace.json("tune", tiny, *QUICK)
    names = [finding["name"] for finding in result["findings"]]
    assert names == ["huge_pages", "threads", "prefetch_bytes", "prompt_chunk", "stall_budget_ms"]
    assert all(finding["why"].endswith(".") for finding in result["findings"])
    for finding in result["findings"]:
        for candidate in finding["candidates"]:
            speed = candidate["speed"]
            assert 0 < speed["min"] <= speed["median"] <= speed["max"]
    (key, kept), = tuned(vivace).items()
    assert key == result["key"] and "quota" in key
    for name in ("threads", "prompt_chunk", "stall_budget_ms"):
        assert kept[name] == result[name]


@pytest.fixture(scope="module")
def tuned_once(tmp_path_factory, tiny):
    """A program in a home that was tuned, and the key of its settings."""
    program = Program(tmp_path_factory.mktemp("tuned"))
    return program, program.json("tune", tiny, *QUICK)["key"]


def test_run_uses_it_and_flags_win(tuned_once, vivace, tiny):
    program, key = tuned_once
    file = program.home / "tuning.json"
    known = {"threads": 3, "prompt_chunk": 7, "stall_budget_ms": 30}
    file.write_text(json.dumps({"tuned": {key: known}}))
    kept = run(program, tiny)
    assert kept["timings"]["threads"] == 3
    assert kept["tokens"] == run(vivace, tiny)["tokens"], "no setting changes a result"
    assert run(program, tiny, "--threads", 1)["timings"]["threads"] == 1


@pytest.mark.parametrize("wrong", [7, {}, {"threads": "many"}, {"threads": 0}, {"threads": 1e9},
                                   {"threads": 3, "prompt_chunk": -1}, None])
def test_wrong_settings_are_as_good_as_none(tuned_once, vivace, tiny, wrong):
    program, key = tuned_once
    (program.home / "tuning.json").write_text(json.dumps({"tuned": {key: wrong}}))
    assert run(program, tiny)["timings"]["threads"] == run(vivace, tiny)["timings"]["threads"]


def test_forget(vivace, tiny):
    vivace("tune", tiny, *QUICK)
    assert "forgotten" in vivace("tune", "--forget").stdout
    assert tuned(vivace) == {}
    assert "nothing" in vivace("tune", "--forget").stdout


def test_tune_for_people(vivace, tiny):
    text = vivace("tune", tiny, *QUICK).stdout
    assert "threads = " in text and "kept in" in text and "\033" not in text


def test_profiles_are_listed(vivace):
    profiles = vivace.json("profiles")
    assert [profile["name"] for profile in profiles] == ["chat", "code", "extract", "edge"]
    [edge] = vivace.json("profiles", "edge")
    assert edge["serve"]["--max-models"] == "1"
    text = vivace("profiles").stdout
    assert "vivace serve --ctx 2048" in text
    assert vivace("profiles", "poetry").returncode == 2


@pytest.mark.parametrize("name", ["chat", "code", "extract", "edge"])
def test_every_profile_runs(vivace, tiny, name):
    done = vivace.json("run", tiny, "--raw", "-p", "abc", "--max-tokens", 2, "--profile", name)
    assert len(done["tokens"]) <= 2, "a flag wins over the profile"


def test_a_profile_is_its_flags(vivace, tiny):
    flags = vivace.json("profiles", "code")[0]["run"]
    written = [part for pair in flags.items() for part in pair]
    answers = [vivace.json("run", tiny, "--raw", "-p", "abc", "--max-tokens", 8, "--seed", 3, *how)
               for how in (written, ["--profile", "code"])]
    assert answers[0]["tokens"] == answers[1]["tokens"]


def test_the_server_takes_profiles(vivace, model, serve):
    running = serve("smollm2", "--profile", "edge", "--parallel", "3")
    props = running.get("/props")
    assert props["total_slots"] == 3
    assert props["default_generation_settings"]["n_ctx"] == 2048
    done = vivace("serve", model("smollm2"), "--profile", "poetry")
    assert done.returncode == 2
