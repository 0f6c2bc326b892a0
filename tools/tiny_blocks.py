"""Encodes float64 arrays in every block format of GGUF, for make_tiny_gguf.py.

Simple rather than good encoders: the largest value of a group fixes its scale. What counts
is that the bytes and the values they stand for belong together.
"""
import numpy as np

TYPE_IDS = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8,
            "Q2_K": 10, "Q3_K": 11, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "IQ4_NL": 20,
            "IQ4_XS": 23, "BF16": 30, "MXFP4": 39}
FLOAT_TYPES = ("F32", "F16", "BF16")
IQ4_BOOK = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])
MXFP4_BOOK = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6])


# Each encoder takes [n, values of a block] and returns the blocks' fields, as bytes
# [n, size], and the values they stand for.

def halves(x):
    """float16 of x as bytes [n, 2], and its exact value."""
    half = x.astype(np.float16)
    return half.view(np.uint8).reshape(-1, 2), half.astype(np.float64)[:, None]


def nibbles(codes):
    """[n, 32] codes below 16 as [n, 16] bytes: values 0-15 low, 16-31 high."""
    return (codes[:, :16] | codes[:, 16:] << 4).astype(np.uint8)


def fifth_bits(codes):
    return np.packbits(codes >> 4, axis=1, bitorder="little")


def inverse(d):
    return np.divide(1, d, out=np.zeros_like(d), where=d != 0)[:, None]


def quotient(x, step):
    return np.divide(x, step, out=np.zeros(x.shape), where=step != 0)


def peak(x):
    """The value of the largest magnitude along the last axis, with its sign."""
    return np.take_along_axis(x, np.abs(x).argmax(-1)[..., None], -1)[..., 0]


def nearest(x, book):
    return np.abs(x[..., None] - book).argmin(-1).astype(np.uint8)


def encode_q8_0(x):
    d = np.abs(x).max(1) / 127
    codes = np.rint(x * inverse(d)).astype(np.int8)
    scale, value = halves(d)
    return [scale, codes.view(np.uint8)], value * codes


def encode_centred(x, middle):
    d = peak(x) / -middle
    codes = np.clip(np.floor(x * inverse(d) + middle + 0.5), 0, 2 * middle - 1).astype(np.uint8)
    scale, value = halves(d)
    high = [fifth_bits(codes)] if middle == 16 else []
    return [scale, *high, nibbles(codes & 15)], value * (codes.astype(np.float64) - middle)


def encode_from_min(x, highest):
    low = x.min(1)
    d = (x.max(1) - low) / highest
    codes = np.clip(np.floor((x - low[:, None]) * inverse(d) + 0.5), 0, highest).astype(np.uint8)
    scale, scale_value = halves(d)
    minimum, minimum_value = halves(low)
    high = [fifth_bits(codes)] if highest == 31 else []
    return [scale, minimum, *high, nibbles(codes & 15)], scale_value * codes + minimum_value


def encode_iq4_nl(x):
    d, value = halves(peak(x) / -127)
    codes = nearest(quotient(x, value), IQ4_BOOK)
    return [d, nibbles(codes)], value * IQ4_BOOK[codes]


def encode_mxfp4(x):
    largest = np.abs(x).max(1)
    exponent = np.floor(np.log2(np.where(largest > 0, largest, 1))) - 2
    scale = 2.0 ** exponent[:, None]
    codes = nearest(x / scale, MXFP4_BOOK)
    return [(exponent + 127).astype(np.uint8)[:, None], nibbles(codes)], scale * MXFP4_BOOK[codes]


# --- Super-blocks of 256 values. ---

def with_minima(x, size, highest_code, highest_scale):
    """Groups of `size` values as d * scale * code - dmin * minimum: the fields d and dmin,
    scales and minima [n, groups], codes [n, 8, 32], values [n, 256]."""
    groups = x.reshape(len(x), -1, size)
    low = np.minimum(groups.min(2), 0)
    scale = (np.maximum(groups.max(2), 0) - low) / highest_code
    d, d_value = halves(scale.max(1) / highest_scale)
    dmin, dmin_value = halves(-low.min(1) / highest_scale)
    scales, minima = (np.clip(np.rint(y * inverse(value[:, 0])), 0, highest_scale).astype(np.uint8)
                      for y, value in ((scale, d_value), (-low, dmin_value)))
    step = (d_value * scales)[:, :, None]
    offset = (dmin_value * minima)[:, :, None]
    codes = np.clip(np.rint(quotient(groups + offset, step)), 0, highest_code).astype(np.uint8)
    values = (step * codes - offset).reshape(-1, 256)
    return d, dmin, scales, minima, codes.reshape(-1, 8, 32), values


def with_scales(x, size, lowest, highest_scale):
    """Groups of `size` values as d * scale * code, codes from `lowest` to -lowest - 1 and
    scales of both signs: d, scales [n, groups], codes - lowest [n, 8, 32], values [n, 256]."""
    groups = x.reshape(len(x), -1, size)
    scale = peak(groups) / lowest
    d, d_value = halves(np.abs(scale).max(1) / highest_scale)
    scales = np.clip(np.rint(scale * inverse(d_value[:, 0])), -highest_scale, highest_scale)
    step = (d_value * scales)[:, :, None]
    codes = np.clip(np.rint(quotient(groups, step)), lowest, -lowest - 1)
    raised = (codes - lowest).astype(np.uint8).reshape(-1, 8, 32)
    return d, scales.astype(np.int8), raised, (step * codes).reshape(-1, 256)


def bit_of_blocks(codes, bit):
    """[n, 32] bytes: bit j of byte i is bit `bit` of value i of block j."""
    return np.packbits(codes >> bit & 1, axis=1, bitorder="little")[:, 0]


def two_bits(codes):
    """[n, 64] bytes: four blocks of 32 values share 32 bytes."""
    parts = codes.reshape(-1, 2, 4, 32) & 3
    shift = np.arange(0, 8, 2, dtype=np.uint8)[:, None]
    return np.bitwise_or.reduce(parts << shift, axis=2).reshape(-1, 64)


def six_bit_pairs(scales, minima):
    return np.concatenate([scales[:, :4] | scales[:, 4:] >> 4 << 6,
                           minima[:, :4] | minima[:, 4:] >> 4 << 6,
                           (scales[:, 4:] & 15) | (minima[:, 4:] & 15) << 4], axis=1)


def encode_q2_k(x):
    d, dmin, scales, minima, codes, values = with_minima(x, 16, 3, 15)
    return [scales | minima << 4, two_bits(codes), d, dmin], values


def encode_q3_k(x):
    d, scales, codes, values = with_scales(x, 16, -4, 31)
    scales = (scales + 32).astype(np.uint8)
    low = (scales[:, :8] & 15) | (scales[:, 8:] & 15) << 4
    shift = np.arange(0, 8, 2, dtype=np.uint8)[:, None]
    high = np.bitwise_or.reduce((scales.reshape(-1, 4, 4) >> 4) << shift, axis=1)
    return [bit_of_blocks(codes, 2), two_bits(codes), low, high, d], values


def encode_q45_k(x, highest):
    d, dmin, scales, minima, codes, values = with_minima(x, 32, highest, 63)
    high = [bit_of_blocks(codes, 4)] if highest == 31 else []
    low = codes & 15
    pairs = (low[:, 0::2] | low[:, 1::2] << 4).reshape(-1, 128)
    return [d, dmin, six_bit_pairs(scales, minima), *high, pairs], values


def encode_q6_k(x):
    d, scales, codes, values = with_scales(x, 16, -32, 127)
    quarters = codes.reshape(-1, 2, 4, 32)  # [half, quarter, value]
    low = (quarters[:, :, :2] & 15) | (quarters[:, :, 2:] & 15) << 4
    shift = np.arange(0, 8, 2, dtype=np.uint8)[:, None]
    high = np.bitwise_or.reduce((quarters >> 4) << shift, axis=2)
    return [low.reshape(-1, 128), high.reshape(-1, 64), scales.view(np.uint8), d], values


def encode_iq4_xs(x):
    groups = x.reshape(-1, 8, 32)
    scale = peak(groups) / -127
    d, d_value = halves(np.abs(scale).max(1) / 31)
    scales = np.clip(np.rint(scale * inverse(d_value[:, 0])), -31, 31)
    step = (d_value * scales)[:, :, None]
    codes = nearest(quotient(groups, step), IQ4_BOOK)
    raised = (scales + 32).astype(np.uint16)
    high = np.bitwise_or.reduce((raised >> 4) << np.arange(0, 16, 2, dtype=np.uint16), axis=1)
    low = ((raised[:, 0::2] & 15) | (raised[:, 1::2] & 15) << 4).astype(np.uint8)
    quants = (codes[:, :, :16] | codes[:, :, 16:] << 4).reshape(-1, 128)
    return ([d, high.view(np.uint8).reshape(-1, 2), low, quants],
            (step * IQ4_BOOK[codes]).reshape(-1, 256))


BLOCKS = {"Q8_0": (32, encode_q8_0),
          "Q4_0": (32, lambda x: encode_centred(x, 8)),
          "Q5_0": (32, lambda x: encode_centred(x, 16)),
          "Q4_1": (32, lambda x: encode_from_min(x, 15)),
          "Q5_1": (32, lambda x: encode_from_min(x, 31)),
          "IQ4_NL": (32, encode_iq4_nl),
          "MXFP4": (32, encode_mxfp4),
          "Q2_K": (256, encode_q2_k),
          "Q3_K": (256, encode_q3_k),
          "Q4_K": (256, lambda x: encode_q45_k(x, 15)),
          "Q5_K": (256, lambda x: encode_q45_k(x, 31)),
          "Q6_K": (256, encode_q6_k),
          "IQ4_XS": (256, encode_iq4_xs)}


def encode(x, name):
    """The bytes of x in a format, and x as the format holds it, in float64."""
    if name == "F32":
        return x.astype(np.float32).tobytes(), x.astype(np.float32).astype(np.float64)
    if name == "F16":
        return x.astype(np.float16).tobytes(), x.astype(np.float16).astype(np.float64)
    if name == "BF16":
        bits = x.astype(np.float32).view(np.uint32)
        bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
        return bits.astype(np.uint16).tobytes(), (bits << 16).view(np.float32).astype(np.float64)
    block, encoder = BLOCKS[name]
    if x.shape[-1] % block:
        raise SystemExit(f"{name} needs rows of a multiple of {block} values, not {x.shape[-1]}")
    fields, values = encoder(x.reshape(-1, block))
    return np.concatenate(fields, axis=1).tobytes(), values.reshape(x.shape)
