"""The tiny models and their golden logits."""
import json
import pathlib
import struct
import subprocess
import sys

import make_tiny_gguf as tiny
import numpy as np
import pytest
from tiny_blocks import encode

SCRIPT = pathlib.Path(tiny.__file__)


def arguments(*extra):
    return tiny.parse_arguments(["unused.gguf", *extra])


def logits(args, tokens, rounded=False):
    _, weights, types = tiny.make(args)
    return tiny.forward(args, weights, types, tokens, rounded)


def test_same_arguments_same_bytes_other_seed_other_bytes():
    first = tiny.make(arguments())[0]
    assert first == tiny.make(arguments())[0]
    assert first != tiny.make(arguments("--seed", "2"))[0]


def test_command_writes_the_model_and_its_logits(tmp_path):
    model, golden = tmp_path / "m.gguf", tmp_path / "m.json"
    subprocess.run([sys.executable, SCRIPT, model, "--golden", golden,
                    "--tokens", "5,6,7"], check=True)
    assert model.read_bytes()[:8] == b"GGUF" + struct.pack("<I", 3)
    content = json.loads(golden.read_text(encoding="utf-8"))
    assert content["tokens"] == [5, 6, 7]
    for kind in ("logits", "logits_rounded"):
        assert np.shape(content[kind]) == (3, 320)
        assert np.isfinite(content[kind]).all()


@pytest.mark.parametrize("kind, bits, error", [
    ("F32", 32, 1e-7), ("F16", 16, 3e-4), ("BF16", 16, 2e-3), ("Q8_0", 8.5, 0.007),
    ("Q6_K", 6.5625, 0.022), ("Q5_1", 6, 0.045), ("Q5_0", 5.5, 0.05), ("Q4_1", 5, 0.09),
    ("Q4_K", 4.5, 0.09), ("Q4_0", 4.5, 0.1), ("Q5_K", 5.5, 0.045), ("Q3_K", 3.4375, 0.17),
    ("Q2_K", 2.625, 0.35), ("IQ4_NL", 4.5, 0.09), ("IQ4_XS", 4.25, 0.09), ("MXFP4", 4.25, 0.13)])
def test_values_stay_close_to_what_was_encoded(kind, bits, error):
    x = np.random.default_rng(3).standard_normal((4, 512))
    data, values = encode(x, kind)
    assert len(data) == x.size * bits / 8
    assert np.sqrt(((values - x) ** 2).mean()) < error


def test_rows_that_are_no_whole_blocks_are_refused():
    with pytest.raises(SystemExit, match="Q4_K needs rows of a multiple of 256"):
        tiny.make(arguments("--type", "Q4_K"))


def test_types_of_single_matrices():
    args = arguments("--untied", "--types", "attn_v=F16,output=Q4_0")
    types = tiny.matrix_types(args, tiny.tensor_shapes(args))
    assert types["blk.1.attn_v.weight"] == "F16"
    assert types["output.weight"] == "Q4_0"
    assert types["blk.0.attn_output.weight"] == "Q8_0"
    with pytest.raises(SystemExit, match="no matrix has nothing"):
        tiny.matrix_types(arguments("--types", "nothing=F16"), tiny.tensor_shapes(args))


@pytest.mark.parametrize("arch", ["qwen2", "llama"])
def test_later_tokens_do_not_change_earlier_logits(arch):
    args = arguments("--arch", arch)
    long = logits(args, [9, 8, 7, 6, 5])
    short = logits(args, [9, 8, 7])
    np.testing.assert_allclose(long[:3], short, rtol=1e-12)
    assert np.abs(logits(args, [8, 9, 7])[2] - short[2]).max() > 0.01  # order counts


@pytest.mark.parametrize("halves_apart", [True, False])
def test_rope_keeps_lengths_and_depends_on_distance_only(halves_apart):
    random = np.random.default_rng(4)
    q, k = (np.repeat(random.standard_normal((1, 1, 16)), 10, axis=0) for _ in range(2))
    q, k = (tiny.rope(x, 10000.0, halves_apart)[:, 0] for x in (q, k))
    np.testing.assert_allclose((q ** 2).sum(1), (q[0] ** 2).sum())
    np.testing.assert_allclose(q[5] @ k[2], q[9] @ k[6])
    assert abs(q[5] @ k[2] - q[5] @ k[3]) > 1e-6


@pytest.mark.parametrize("kind, difference", [("Q8_0", 1), ("F16", 0.02)])
def test_rounding_is_small_but_there(kind, difference):
    args = arguments("--type", kind)
    exact, rounded = logits(args, [1, 2, 3]), logits(args, [1, 2, 3], rounded=True)
    assert 0 < np.abs(exact - rounded).max() < difference


def test_vocabulary_is_bytes_merges_and_specials():
    tokens, types, merges = tiny.vocabulary(320)
    assert len(tokens) == len(set(tokens)) == len(types) == 320
    assert tokens[-3:] == tiny.SPECIALS and types[-3:] == [3, 3, 3]
    assert [merge.replace(" ", "") for merge in merges] == tokens[256:-3]
