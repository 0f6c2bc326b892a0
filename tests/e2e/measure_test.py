"""vivace doctor and vivace bench engine: every field, and that figures agree with each other.

No figure is judged: what a machine reaches is not a test's business.
"""
import json
import os
import re
import subprocess

import pytest

from conftest import BINARY
from tiny_models_test import make

FIGURES = ["prefill_tok_s", "decode_tok_s", "decode_gb_s", "roofline_gb_s", "roofline_pct",
           "int8_peak_gmac_s", "prefill_peak_pct", "prefill_gmac_s"]
QUICK = ["--rounds", 2, "--prompt", 48, "--gen", 8, "--batch", "1,3"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    make(path, "--arch", "qwen2", "--type", "Q8_0")
    return path


@pytest.fixture(scope="module")
def context(tiny):
    """Positions that the tiny model was made for."""
    shown = subprocess.run([BINARY, "show", tiny, "--json"], capture_output=True, check=True)
    return json.loads(shown.stdout)["context"]


def ordered(spread):
    return 0 < spread["min"] <= spread["median"] <= spread["max"]


def test_doctor_knows_the_machine(vivace):
    report = vivace.json("doctor")
    assert report["cpu"] and report["system"].startswith("Linux")
    cpus = os.sched_getaffinity(0)
    assert report["affinity"] == sorted(cpus)
    assert set(report["threads"]["cpus"]) <= cpus
    assert 1 <= report["threads"]["decode"] <= len(cpus)
    assert report["memory"]["total"] > report["memory"]["available"] > 0
    available = [tier["name"] for tier in report["tiers"] if tier["available"]]
    assert available[0] == "portable" and report["kernels"] == available[-1]
    limits = report["limits"]
    assert set(limits["int8"]) == set(available)
    for peak in limits["int8"].values():
        assert ordered(peak["one_thread_gmac_s"]) and ordered(peak["all_threads_gmac_s"])
    for pages in ("huge_pages", "small_pages"):
        assert ordered(limits["read"][pages]["one_thread_gb_s"])
        assert 0 <= limits["read"][pages]["huge_share"] <= 1
    assert report["home"]["folder"] == str(vivace.home) and report["home"]["disk_free"] > 0
    for advice in report["advice"]:
        assert advice["id"] and advice["text"] and advice["level"] in ("warning", "note")
    assert not vivace.home.exists(), "looking makes no folder"


def test_doctor_for_people(vivace):
    text = vivace("doctor").stdout
    for section in ("Processor", "Kernels", "Threads", "Memory", "Reading", "Products", "Advice"):
        assert re.search(f"^{section} ", text, re.MULTILINE), section
    assert "\033" not in text, "no colours without a terminal"


def test_doctor_page(vivace, tmp_path):
    page = tmp_path / "doctor.html"
    report = vivace.json("doctor", "--html", page)
    html = page.read_text()
    assert "http" not in html and "<script" not in html and "Advice" in html
    for tier in report["limits"]["int8"]:
        assert tier in html


def test_doctor_says_that_the_wished_kernels_are_not_there(vivace):
    report = vivace.json("doctor", env={"VIVACE_KERNELS": "abacus"})
    assert report["kernels"] == ""
    assert report["advice"][0]["level"] == "warning"
    assert "kernels_refused" in [advice["id"] for advice in report["advice"]]
    forced = vivace.json("doctor", env={"VIVACE_KERNELS": "portable"})
    assert forced["kernels"] == "portable"


def test_bench_engine_has_every_figure(vivace, tiny):
    result = vivace.json("bench", "engine", tiny, *QUICK, "--threads", 2)
    for name in FIGURES:
        assert ordered(result[name]), (name, result[name])
    assert result["threads"] == 2 and result["rounds"] == 2
    assert result["machine"]["kernels"] == result["kernels"]
    assert result["model"]["name"] == tiny.name
    assert [point["tokens"] for point in result["prefill"]][:2] == [16, 48]
    assert [point["sequences"] for point in result["batch"]] == [1, 3]
    assert result["decode"][0]["context"] == result["gen_context"]
    main = next(point for point in result["prefill"] if point["tokens"] == 48)
    assert main["tok_s"] == result["prefill_tok_s"]
    assert result["decode"][0]["tok_s"] == result["decode_tok_s"]


def test_bench_engine_agrees_with_itself(vivace, tiny):
    result = vivace.json("bench", "engine", tiny, *QUICK)
    model = result["model"]
    for point in result["decode"]:
        # A step reads the layers, the context, which grows by one each step, and some of
        # the output matrix.
        steps = 8
        read = steps * (model["layer_bytes"] + model["kv_bytes_per_position"] * (
            point["context"] + (steps - 1) / 2))
        assert point["bytes"] == pytest.approx(read + point["output_bytes"], abs=1)
        assert 0 < point["output_bytes"] < 3 * steps * model["output_bytes"]
        assert point["ms"]["min"] == pytest.approx(1000 * steps / point["tok_s"]["max"], rel=2e-3)
    for point in result["prefill"] + result["decode"] + result["batch"]:
        assert point["limit_pct"]["median"] <= 1.001 * (
            point["roofline_pct"]["max"] + point["peak_pct"]["max"])
        assert point["samples"] in (1, 2)


def test_bench_engine_page(vivace, tiny, tmp_path):
    page = tmp_path / "speed.html"
    done = vivace("bench", "engine", tiny, *QUICK, "--html", page)
    assert done.returncode == 0, done.stderr
    assert f"page: {page}" in done.stdout and "answer after" in done.stdout
    html = page.read_text()
    assert html.count("<svg") == 4 and "http" not in html and "<script" not in html
    gone = tmp_path / "none" / "speed.html"
    refused = vivace("bench", "engine", tiny, *QUICK, "--html", gone)
    assert refused.returncode == 1 and str(gone) in refused.stderr


def test_bench_engine_is_measured_with_what_fits(vivace, tiny, context):
    result = vivace.json("bench", "engine", tiny, "--rounds", 1, "--batch", 1)
    assert result["prompt_tokens"] == min(512, context)
    assert result["gen_context"] + result["gen_tokens"] <= context


@pytest.mark.parametrize("arguments, status, parts", [
    (["--rounds", 0], 2, ["rounds", "1"]),
    (["--batch", "1,0"], 2, ["batch", "1"]),
    (["--batch", "x"], 2, ["batch"]),
    (["--threads", 1000], 2, ["threads", "256"]),
    (["--prompt", 0], 2, ["prompt", "1"]),
    (["--kernels", "abacus"], 1, ["abacus", "portable"]),
    (["--prompt", 1000000], 1, ["--prompt is 1000000, allowed is 1 to"]),
    (["--gen", 1000000], 1, ["--gen is 1000000, allowed is 1 to"]),
])
def test_bench_engine_refuses(vivace, tiny, arguments, status, parts):
    done = vivace("bench", "engine", tiny, *arguments)
    assert done.returncode == status
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("vivace: ")
    for part in parts:
        assert part in line


def test_bench_needs_a_part(vivace):
    assert vivace("bench").returncode == 2
    assert vivace("bench", "nothing").returncode == 2


def test_completion_offers_the_parts(vivace):
    script = vivace("completion", "bash").stdout
    assert "'2 bench') words='engine serve'" in script
    assert re.search(r"bench\) words='[^']*--rounds", script)
    checked = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
    assert checked.returncode == 0
