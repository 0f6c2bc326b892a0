#!/usr/bin/env python3
"""Writes tests/data/quant: blocks of every format with the values they stand for.

The values come from the PyPI package `gguf`, an implementation independent of ours
(pip install gguf==0.19.0 numpy).

usage: make_quant_golden.py [FOLDER]

decode_TYPE.bin  512 values' worth of blocks with random bits, then the 512 float32.
encode_input.bin 512 float32; encode_TYPE.bin is the blocks that they must become, for
                 the formats whose encoding is fixed byte for byte.
"""
import pathlib
import sys

import gguf
import numpy as np

VALUES = 512
# Where the float16 scales of a block lie: random bits there would be NaN or huge.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82],
          "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0],
          "IQ4_XS": [0], "MXFP4": []}
FIXED = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "MXFP4"]


def random_blocks(name, random):
    block_values, block_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    blocks = random.integers(0, 256, (VALUES // block_values, block_bytes), dtype=np.uint8)
    for offset in HALVES[name]:
        scale = random.uniform(-0.05, 0.05, len(blocks)).astype(np.float16)
        blocks[:, offset:offset + 2] = scale.view(np.uint8).reshape(-1, 2)
    if name == "MXFP4":  # both ends of the exponent's range, and the usual middle
        blocks[:, 0] = np.resize([0, 1, 2, 120, 127, 130, 250, 117], len(blocks))
    return blocks.reshape(-1)


def encode_input(random):
    x = random.standard_normal(VALUES).astype(np.float32)
    x[32:64] *= np.float32(1e-3)
    x[64:96] = 0
    x[96:128] = np.abs(x[96:128])
    x[128:160] = np.arange(32, dtype=np.float32) - 16
    return x


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                          pathlib.Path(__file__).resolve().parents[1] / "tests/data/quant")
    random = np.random.default_rng(20)
    for name in HALVES:
        blocks = random_blocks(name, random)
        values = gguf.dequantize(blocks, gguf.GGMLQuantizationType[name]).astype(np.float32)
        (folder / f"decode_{name}.bin").write_bytes(blocks.tobytes() + values.tobytes())
    x = encode_input(random)
    (folder / "encode_input.bin").write_bytes(x.tobytes())
    for name in FIXED:
        encoded = gguf.quantize(x, gguf.GGMLQuantizationType[name])
        (folder / f"encode_{name}.bin").write_bytes(encoded.tobytes())


if __name__ == "__main__":
    main()
