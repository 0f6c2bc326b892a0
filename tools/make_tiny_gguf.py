#!/usr/bin/env python3
"""Makes a tiny model file with random weights, and the logits it must give.

Same arguments, same bytes. The logits come from a plain float64 forward pass over the
weights as the blocks of the file hold them, independent of the engine. Needs NumPy only.

examples:
  make_tiny_gguf.py tiny.gguf --golden tiny.json
  make_tiny_gguf.py tiny.gguf --arch llama --type Q4_0 --types attn_v=Q8_0,output=F16 --untied
  make_tiny_gguf.py tiny.gguf --hidden 256 --ffn 512 --type Q4_K --types ffn_down=Q6_K

The golden file holds, for every position of `tokens`, `logits` in exact arithmetic and
`logits_rounded`, rounded where the engine rounds: each matrix of a block type sees its input
as int8 with a scale per 32 values, and keys and values are float16. What is left between
those and the engine is the order of float32 sums, and a value here and there that this
order tips over to the other side of a rounding.
"""
import argparse
import json
import pathlib
import re
import struct

import numpy as np

from tiny_blocks import FLOAT_TYPES, TYPE_IDS, encode

ALIGNMENT = 32
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHATML = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
          "message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
# What the merges are learned from.
TEXT = ("The quick answer is the one that is there before the question has ended. A small model "
        "reads the words that it has been given and then it writes the next word, and the next "
        "one after that, until there is nothing more to say. This is all that it does, and it "
        "does this again and again for every one of us, in the same way and with the same care. ")


# --- Tokenizer: byte-level BPE with merges learned from TEXT. ---

def byte_characters():
    """The printable stand-in of each byte, as GPT-2 has it."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in plain]
    table = {byte: chr(byte) for byte in plain}
    table.update({byte: chr(256 + i) for i, byte in enumerate(rest)})
    return table


def learn_merges(count):
    table = byte_characters()
    words = [[table[byte] for byte in word.encode()] for word in re.findall(r" ?\w+|\S", TEXT)]
    merges = []
    while len(merges) < count:
        pairs = {}
        for word in words:
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        if not pairs:
            raise SystemExit(f"the text has only {len(merges)} merges, {count} are wanted")
        best = max(sorted(pairs), key=pairs.get)
        merges.append(best)
        for word in words:
            for i in range(len(word) - 1, 0, -1):
                if tuple(word[i - 1:i + 1]) == best:
                    word[i - 1:i + 1] = ["".join(best)]
    return merges


def vocabulary(size):
    """Tokens, their GGUF types (1 normal, 3 control) and merges."""
    merges = learn_merges(size - 256 - len(SPECIALS))
    tokens = [*byte_characters().values(), *("".join(merge) for merge in merges), *SPECIALS]
    return tokens, [1] * (size - len(SPECIALS)) + [3] * len(SPECIALS), [" ".join(m) for m in merges]


# --- The model. ---

def matrix_types(args, shapes):
    """The format of each matrix, by its name."""
    types = {name: args.type for name, shape in shapes.items() if len(shape) == 2}
    for rule in filter(None, args.types.split(",")):
        part, _, kind = rule.partition("=")
        if kind not in TYPE_IDS:
            raise SystemExit(f"{rule}: the types are {', '.join(TYPE_IDS)}")
        found = [name for name in types if part in name.split(".")]
        if not found:
            raise SystemExit(f"{rule}: no matrix has {part} in its name")
        types.update(dict.fromkeys(found, kind))
    return types


def tensor_shapes(args):
    head_dim = args.hidden // args.heads
    kv = args.kv_heads * head_dim
    shapes = {"token_embd.weight": (args.vocab, args.hidden)}
    for layer in range(args.layers):
        block = {"attn_norm.weight": (args.hidden,), "attn_q.weight": (args.hidden, args.hidden),
                 "attn_k.weight": (kv, args.hidden), "attn_v.weight": (kv, args.hidden),
                 "attn_output.weight": (args.hidden, args.hidden),
                 "ffn_norm.weight": (args.hidden,), "ffn_gate.weight": (args.ffn, args.hidden),
                 "ffn_up.weight": (args.ffn, args.hidden),
                 "ffn_down.weight": (args.hidden, args.ffn)}
        if args.arch == "qwen2":
            block |= {"attn_q.bias": (args.hidden,), "attn_k.bias": (kv,), "attn_v.bias": (kv,)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in block.items()}
    shapes["output_norm.weight"] = (args.hidden,)
    if args.untied:
        shapes["output.weight"] = (args.vocab, args.hidden)
    return shapes


def random_tensor(name, shape, random):
    x = random.standard_normal(shape)
    if name.endswith("norm.weight"):
        return 1 + 0.1 * x
    if name.endswith("bias"):
        return 0.1 * x
    if name == "token_embd.weight":
        return 0.4 * x
    return x * (3 if name == "output.weight" else 1) / np.sqrt(shape[-1])


def metadata(args, tokens, token_types, merges):
    arch = args.arch
    ids = {token: i for i, token in enumerate(tokens)}
    return [
        ("general.architecture", arch),
        ("general.name", f"tiny {arch}"),
        ("general.file_type", np.uint32(TYPE_IDS[args.type])),
        (f"{arch}.block_count", np.uint32(args.layers)),
        (f"{arch}.context_length", np.uint32(args.context)),
        (f"{arch}.embedding_length", np.uint32(args.hidden)),
        (f"{arch}.feed_forward_length", np.uint32(args.ffn)),
        (f"{arch}.attention.head_count", np.uint32(args.heads)),
        (f"{arch}.attention.head_count_kv", np.uint32(args.kv_heads)),
        (f"{arch}.attention.layer_norm_rms_epsilon", np.float32(1e-6)),
        (f"{arch}.rope.freq_base", np.float32(args.rope_base)),
        (f"{arch}.vocab_size", np.uint32(args.vocab)),
        ("tokenizer.ggml.model", "gpt2"),
        ("tokenizer.ggml.pre", "qwen2" if arch == "qwen2" else "smollm"),
        ("tokenizer.ggml.tokens", tokens),
        ("tokenizer.ggml.token_type", np.array(token_types, np.int32)),
        ("tokenizer.ggml.merges", merges),
        ("tokenizer.ggml.bos_token_id", np.uint32(ids["<|endoftext|>"])),
        ("tokenizer.ggml.eos_token_id", np.uint32(ids["<|im_end|>"])),
        ("tokenizer.ggml.padding_token_id", np.uint32(ids["<|endoftext|>"])),
        ("tokenizer.ggml.add_bos_token", False),
        ("tokenizer.chat_template", CHATML),
    ]


def pack_value(value):
    """A metadata value with its GGUF type."""
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + pack_text(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(pack_text, value))
    number = {"uint32": 4, "int32": 5, "float32": 6}[value.dtype.name]
    if isinstance(value, np.ndarray):
        return struct.pack("<IIQ", 9, number, len(value)) + value.tobytes()
    return struct.pack("<I", number) + value.tobytes()


def pack_text(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def padded(data):
    return data + bytes(-len(data) % ALIGNMENT)


def gguf_bytes(pairs, tensors):
    """`tensors`: (name, shape, type, bytes)."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    out += b"".join(pack_text(key) + pack_value(value) for key, value in pairs)
    offset = 0
    for name, shape, kind, data in tensors:
        dims = shape[::-1]
        out += pack_text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
        out += struct.pack("<IQ", TYPE_IDS[kind], offset)
        offset += len(padded(data))
    return padded(out) + b"".join(padded(data) for _, _, _, data in tensors)


# --- The forward pass, in float64. ---

def rms_norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float64(np.float32(1e-6))) * weight


def rope(x, base, halves_apart):
    """x: [tokens, heads, dim]. Rotates value pairs (i, i + dim/2) or (2i, 2i + 1)."""
    tokens, _, dim = x.shape
    angle = np.arange(tokens)[:, None] * base ** (-2 * np.arange(dim // 2) / dim)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    first, second = (slice(0, dim // 2), slice(dim // 2, dim)) if halves_apart else (
        slice(0, dim, 2), slice(1, dim, 2))
    out = np.empty_like(x)
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., second] * cos + x[..., first] * sin
    return out


def round_to_int8(x):
    """x as int8 with a scale per 32 values would hold it; the last block may be short."""
    extra = -x.shape[-1] % 32
    blocks = np.pad(x, ((0, 0), (0, extra))).reshape(len(x), -1, 32)
    scale = np.abs(blocks).max(-1, keepdims=True) / 127
    codes = np.rint(np.divide(blocks, scale, out=np.zeros_like(blocks), where=scale > 0))
    return (codes * scale).reshape(len(x), -1)[:, :x.shape[-1]]


def softmax(x):
    weight = np.exp(x - x.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def attention(q, k, v):
    """[tokens, heads, dim], keys and values with fewer heads; causal."""
    tokens, heads, dim = q.shape
    k, v = (np.repeat(x, heads // x.shape[1], axis=1) for x in (k, v))
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(dim)
    scores = np.where(np.tri(tokens, dtype=bool), scores, -np.inf)
    return np.einsum("hqk,khd->qhd", softmax(scores), v).reshape(tokens, -1)


def forward(args, weights, types, tokens, rounded):
    """Logits [tokens, vocab]."""
    def product(x, name):
        blocks = types[name + ".weight"] not in FLOAT_TYPES
        out = (round_to_int8(x) if rounded and blocks else x) @ weights[name + ".weight"].T
        return out + weights.get(name + ".bias", 0)

    def split(x, heads):
        return x.reshape(len(x), heads, -1)

    base = np.float64(np.float32(args.rope_base))
    neox = args.arch == "qwen2"
    x = weights["token_embd.weight"][tokens]
    for layer in range(args.layers):
        block = f"blk.{layer}."
        h = rms_norm(x, weights[block + "attn_norm.weight"])
        q = rope(split(product(h, block + "attn_q"), args.heads), base, neox)
        k = rope(split(product(h, block + "attn_k"), args.kv_heads), base, neox)
        v = split(product(h, block + "attn_v"), args.kv_heads)
        if rounded:
            k, v = (x.astype(np.float16).astype(np.float64) for x in (k, v))
        x = x + product(attention(q, k, v), block + "attn_output")
        h = rms_norm(x, weights[block + "ffn_norm.weight"])
        gate = product(h, block + "ffn_gate")
        gated = gate / (1 + np.exp(-gate)) * product(h, block + "ffn_up")
        x = x + product(gated, block + "ffn_down")
    return product(rms_norm(x, weights["output_norm.weight"]),
                   "output" if args.untied else "token_embd")


def make(args):
    """The file's bytes, the weights as it holds them and their types."""
    random = np.random.default_rng(args.seed)
    shapes = tensor_shapes(args)
    types = matrix_types(args, shapes)
    tensors = []
    weights = {}
    for name, shape in shapes.items():
        kind = types.get(name, "F32")
        data, weights[name] = encode(random_tensor(name, shape, random), kind)
        tensors.append((name, shape, kind, data))
    return gguf_bytes(metadata(args, *vocabulary(args.vocab)), tensors), weights, types


def golden(args, weights, types):
    tokens = ([int(token) for token in args.tokens.split(",")] if args.tokens else
              np.random.default_rng(args.seed).integers(0, args.vocab, 24).tolist())

    def logits(rounded):
        rows = forward(args, weights, types, tokens, rounded)
        return [[float(f"{value:.7g}") for value in row] for row in rows]

    return {"tokens": tokens, "logits": logits(False), "logits_rounded": logits(True)}


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", type=pathlib.Path, help="the model file to write")
    parser.add_argument("--arch", choices=["qwen2", "llama"], default="qwen2")
    parser.add_argument("--type", choices=list(TYPE_IDS), default="Q8_0", help="of all matrices")
    parser.add_argument("--types", default="", help="exceptions: attn_v=Q6_K,output=F16,...")
    parser.add_argument("--untied", action="store_true", help="an output matrix of its own")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in (("hidden", 64), ("layers", 2), ("heads", 4), ("kv-heads", 2), ("ffn", 128),
                        ("vocab", 320), ("context", 512)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--rope-base", type=float, default=10000.0)
    parser.add_argument("--golden", type=pathlib.Path, help="the JSON file of logits to write")
    parser.add_argument("--tokens", default="", help="ids for the logits; else seeded random ones")
    return parser.parse_args(arguments)


def main():
    args = parse_arguments()
    data, weights, types = make(args)
    args.out.write_bytes(data)
    if args.golden:
        args.golden.write_text(json.dumps(golden(args, weights, types)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
