#!/usr/bin/env python3
"""A GGUF file without Q5_0, for readers that lack it: each such matrix becomes Q8_0.

    bench/peers/widen_gguf.py IN.gguf OUT.gguf

A value of Q5_0 is scale * q with q from -16 to 15, and Q8_0 has room for the same scale and
the same q: not one weight changes. Needs the package gguf.
"""
import pathlib
import sys

import gguf
import numpy

BLOCK = 32


def q8_of_q5(blocks):
    """[rows, bytes] of Q5_0 as those of Q8_0: the scale stays, the fifth bits move in."""
    rows = blocks.shape[0]
    # Scale of 2 bytes, 32 high bits in 4, low bits in 16: the first half of the values is in
    # the lower halves of the bytes.
    parts = blocks.reshape(-1, 2 + 4 + BLOCK // 2)
    high = parts[:, 2:6].copy().view("<u4") >> numpy.arange(BLOCK, dtype=numpy.uint32) & 1
    low = numpy.concatenate([parts[:, 6:] & 15, parts[:, 6:] >> 4], axis=1)
    values = (low | (high << 4).astype(numpy.uint8)).astype(numpy.int8) - numpy.int8(16)
    out = numpy.concatenate([parts[:, :2], values.view(numpy.uint8)], axis=1)
    return numpy.ascontiguousarray(out).reshape(rows, -1)


def copy_fields(reader, writer):
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=inner)


def widen(source, target):
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    copy_fields(reader, writer)
    widened = 0
    for tensor in reader.tensors:
        data, kind = tensor.data, tensor.tensor_type
        if kind == gguf.GGMLQuantizationType.Q5_0:
            data, kind = q8_of_q5(data), gguf.GGMLQuantizationType.Q8_0
            widened += 1
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return widened


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    widened = widen(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    print(f"{sys.argv[2]}: {widened} matrices of Q5_0 are now Q8_0, with the same values")


if __name__ == "__main__":
    main()
