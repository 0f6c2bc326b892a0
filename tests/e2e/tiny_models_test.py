"""Tiny seeded models of every architecture and weight type against a NumPy forward pass."""
import json
import math
import pathlib
import struct
import subprocess
import sys

import pytest

MAKE = pathlib.Path(__file__).resolve().parents[2] / "tools/make_tiny_gguf.py"
TEXT = "The quick answer is that the words come next, one after that."
SMALL = [("qwen2", kind) for kind in ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1",
                                      "IQ4_NL", "MXFP4")]
SMALL += [("llama", kind) for kind in ("F32", "Q8_0", "Q4_0")]
WIDE = [("qwen2", kind) for kind in ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "IQ4_XS")] + [("llama", "Q6_K")]


def make(path, *arguments):
    subprocess.run([sys.executable, MAKE, path, *map(str, arguments)], check=True,
                   capture_output=True)


def shape(arch, kind):
    """Super-blocks need rows of a multiple of 256 values."""
    return ("--hidden", 256, "--ffn", 512) if (arch, kind) in WIDE else ()


@pytest.mark.parametrize("arch, kind", SMALL + WIDE)
@pytest.mark.parametrize("untied", [False, True], ids=["tied", "untied"])
def test_logits_equal_an_independent_forward_pass(vivace, tmp_path, arch, kind, untied):
    path = tmp_path / "tiny.gguf"
    arguments = ("--arch", arch, "--type", kind, *shape(arch, kind),
                 *(("--untied",) if untied else ()))
    make(path, *arguments)
    ids = vivace.json("tokenize", path, TEXT)["tokens"]
    golden = tmp_path / "golden.json"
    make(path, *arguments, "--golden", golden, "--tokens", ",".join(map(str, ids)))
    expected = json.loads(golden.read_text())["logits_rounded"][-1]
    answer = vivace.json("run", path, "--raw", "-p", TEXT, "--temperature", 0, "--max-tokens", 1,
                         "--logprobs", 4096)
    assert answer["prompt_tokens"] == ids
    ours = dict(answer["logprobs"][0])
    assert len(ours) == len(expected)
    top = max(expected)
    logsumexp = top + math.log(sum(math.exp(logit - top) for logit in expected))
    spread = max(expected) - min(expected)
    worst = max(abs(ours[token] - (logit - logsumexp)) for token, logit in enumerate(expected))
    # A value that tips over a rounding moves a logit by far less than this.
    assert worst < 0.02 * spread + 1e-4, (worst, spread)


@pytest.mark.parametrize("arch, kind", SMALL + WIDE)
def test_every_instruction_set_gives_the_same_logits(vivace, tmp_path, arch, kind):
    path = tmp_path / "tiny.gguf"
    make(path, "--arch", arch, "--type", kind, *shape(arch, kind))
    refusal = vivace("run", path, "-p", "x", "--kernels", "none").stderr
    tiers = refusal.strip().rpartition("this CPU has ")[2].split(", ")
    assert "portable" in tiers

    def answer(tier):
        done = vivace.json("run", path, "--raw", "-p", TEXT, "--temperature", 0, "--max-tokens", 8,
                           "--logprobs", 20, "--kernels", tier)
        assert done["timings"]["kernels"] == tier
        return done["tokens"], done["logprobs"]

    first = answer(tiers[0])
    assert all(answer(tier) == first for tier in tiers[1:])


def test_a_type_without_a_name_is_refused_by_its_number(vivace, tmp_path):
    path = tmp_path / "tiny.gguf"
    make(path, "--type", "Q8_0")
    data = path.read_bytes()
    field = b"attn_q.weight" + struct.pack("<IQQI", 2, 64, 64, 8)
    assert field in data
    path.write_bytes(data.replace(field, field[:-4] + struct.pack("<I", 16)))
    done = vivace("run", path, "-p", "x")
    assert done.returncode != 0
    assert "quant type 16 is unknown, known are F32" in done.stderr
