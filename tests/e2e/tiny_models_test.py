"""Tiny seeded models of every architecture and weight type against a NumPy forward pass."""
import json
import math
import pathlib
import subprocess
import sys

import pytest

MAKE = pathlib.Path(__file__).resolve().parents[2] / "tools/make_tiny_gguf.py"
TEXT = "The quick answer is that the words come next, one after that."
SMALL = [("qwen2", kind) for kind in ("F32", "F16", "Q8_0", "Q4_0", "Q4_1", "Q5_0")]
SMALL += [("llama", kind) for kind in ("F32", "Q8_0", "Q4_0")]
WIDE = [("qwen2", "Q4_K"), ("llama", "Q6_K")]


def make(path, *arguments):
    subprocess.run([sys.executable, MAKE, path, *map(str, arguments)], check=True,
                   capture_output=True)


@pytest.mark.parametrize("arch, kind", SMALL + WIDE)
@pytest.mark.parametrize("untied", [False, True], ids=["tied", "untied"])
def test_logits_equal_an_independent_forward_pass(vivace, tmp_path, arch, kind, untied):
    path = tmp_path / "tiny.gguf"
    shape = ("--hidden", 256, "--ffn", 512) if (arch, kind) in WIDE else ()
    arguments = ("--arch", arch, "--type", kind, *shape, *(("--untied",) if untied else ()))
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
