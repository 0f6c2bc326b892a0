#!/usr/bin/env python3
"""Writes tests/data/tokenizer/FAMILY.json: a small vocabulary of each family, trained on a
few sentences, and what `tokenizers` makes of the edge cases with it.

Needs PyPI's `tokenizers`. Run again only when a family is added.
"""
import json
import pathlib

from tokenizers import (AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers,
                        trainers)

from check_tokenizer import EDGES, ROOT

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, and the dog doesn't mind; it's asleep.",
    "for (int i = 0; i < 100; ++i) {\n    total += values[i] * 3.14159;\n}\n\n\treturn total;\n",
    "They've said we'll go there in 2024, haven't they? I'M SURE YOU'RE RIGHT!!!",
    "你好，世界。今天天气很好，我们去公园散步吧。世界很大，我们很小。",
    "안녕하세요 세계  สวัสดีครับ مُحَمَّد Привет, мир! Γειά σου Κόσμε",
    "e\u0301te\u0301 a\u0323\u0302 \U0001F600\U0001F600 \U0001F468\u200d\U0001F469\u200d\U0001F467",
    "  indented\n    more\n\n\n        text   with    runs\r\n\r\n-> => != == :: // ... ---",
]
GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
USER_DEFINED = ["<tool_call>", "</tool_call>"]
TEXTS = [text for text in EDGES if len(text) < 120 and not (len(text) == 3 and text[0] == "'")]
TEXTS += SENTENCES + ["'\u017fx it'\u017f", "<|im_start|>user\nHi<|im_end|>\n<tool_call>x</tool_call>"]


def byte_level(rules):
    return pre_tokenizers.Sequence(
        rules + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def gpt2_rules(digits_alone):
    digits = [pre_tokenizers.Digits(individual_digits=True)] if digits_alone else []
    return pre_tokenizers.Sequence(
        digits + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])


def split(digits):
    return byte_level([pre_tokenizers.Split(Regex(GPT4 % digits), "isolated")])


def train_byte_level(reference):
    reference.train_from_iterator(SENTENCES, trainers.BpeTrainer(
        vocab_size=700, min_frequency=1, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return reference


def train_sentence_piece(reference):
    """Trained with a pre-split, else whole sentences would become tokens; used without."""
    reference.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    reference.train_from_iterator(SENTENCES, trainers.BpeTrainer(
        vocab_size=800, min_frequency=1, special_tokens=special, limit_alphabet=150,
        show_progress=False))
    content = json.loads(reference.to_str())
    content["pre_tokenizer"] = None
    content["added_tokens"] = [token for token in content["added_tokens"]
                               if not token["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(content))


def write(family, reference, spec):
    reference.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in CONTROL])
    reference.add_tokens([AddedToken(t, normalized=False, special=False) for t in USER_DEFINED])
    model = json.loads(reference.to_str())["model"]
    count = reference.get_vocab_size(with_added_tokens=True)
    spec["tokens"] = [reference.id_to_token(number) for number in range(count)]
    spec["types"] = [1] * count
    for number, text in enumerate(spec["tokens"]):
        if text in CONTROL or text in ("<s>", "</s>"):
            spec["types"][number] = 3
        elif text in USER_DEFINED:
            spec["types"][number] = 4
        elif text == "<unk>":
            spec["types"][number] = 2
        elif spec["model"] == "llama" and len(text) == 6 and text.startswith("<0x"):
            spec["types"][number] = 6
    if spec["model"] == "llama":
        spec["scores"] = [-1e9] * count
        for rank, (left, right) in reversed(list(enumerate(model["merges"]))):
            spec["scores"][model["vocab"][left + right]] = -float(rank)
    else:
        spec["merges"] = [" ".join(merge) for merge in model["merges"]]
    cases = []
    for text in TEXTS:
        case = {"text": text}
        for mode, as_text in (("parsed", False), ("plain", True)):
            reference.encode_special_tokens = as_text
            case[mode] = reference.encode(text, add_special_tokens=False).ids
        if case["plain"] == case["parsed"]:
            del case["plain"]
        cases.append(case)
    spec["cases"] = cases
    path = ROOT / "tests/data/tokenizer" / f"{family}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(spec, ensure_ascii=True, separators=(",", ":")) + "\n", "utf-8")


def main():
    for family, rules, normalizer, ignore in (
            ("qwen2", split(""), normalizers.NFC(), False),
            ("llama-bpe", split("{1,3}"), None, True),
            ("gpt-2", gpt2_rules(False), None, False),
            ("smollm", gpt2_rules(True), None, False)):
        reference = Tokenizer(models.BPE(ignore_merges=ignore))
        reference.pre_tokenizer = rules
        if normalizer:
            reference.normalizer = normalizer
        write(family, train_byte_level(reference), {"model": "gpt2", "pre": family})
    for family, prefix in (("sentencepiece", True), ("gemma", False)):
        reference = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
        space = [normalizers.Prepend("\u2581")] if prefix else []
        reference.normalizer = normalizers.Sequence(space + [normalizers.Replace(" ", "\u2581")])
        write(family, train_sentence_piece(reference),
              {"model": "llama", "pre": "default", "add_space_prefix": prefix})


if __name__ == "__main__":
    main()
