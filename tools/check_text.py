#!/usr/bin/env python3
"""Checks the text of every tracked or new file: marks of unfinished work, tools
that this project does without, traces of one machine, untidy white space.

A TODO must name when it becomes due: `TODO(when X): ...`.

usage: check_text.py [ROOT]
"""
import pathlib
import re
import subprocess
import sys

CODE = {".cc", ".h", ".rs", ".py", ".sh", ".cmake", ".ts", ".txt"}
CPP = {".cc", ".h"}
# (what, pattern, suffixes or None for every text file)
RULES = [
    ("a TODO without a condition", r"\bTODO\b(?!\((when|if|once|after) )", CODE),
    ("unfinished work", r"\b(FIXME|XXX|HACK)\b", CODE),
    ("code that is switched off", r"^\s*#\s*if\s+0\b", CPP),
    ("<format> and <print>, which GCC 12 lacks", r"#\s*include <(format|print)>", CPP),
    ("arithmetic that differs by compiler", r"-f(fast-math|associative-math|unsafe-math)", None),
    ("using namespace", r"^\s*using namespace (?!.*_literals)", CPP),
    ("a NOLINT without a check's name", r"NOLINT(NEXTLINE|BEGIN|END)?(?!\w|\()", CPP),
    ("a folder of one person's machine", r"(?<![\w.])/(root|home/\w+)/", CODE - CPP | {".md"}),
    ("a merge mark", r"^(<<<<<<<|>>>>>>>) ", None),
    ("white space at the line's end", r"[ \t]+$", CODE),
    ("a tab", r"\t", CPP | {".py", ".sh", ".cmake"}),
]
# Files whose text is given from outside, and this list itself.
EXEMPT = [r"^LICENSE$", r"^docs/images/", r"^tests/data/", r"^tests/fuzz/corpus/", r"\.lock$",
          r"^tools/check_text\.py$", r"^tests/tools/check_text_test\.py$"]
MAX_BYTES = 1 << 20


def listed_files(root):
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         cwd=root, capture_output=True, check=True).stdout
    return sorted(set(name for name in out.decode().split("\0") if name))


def check_file(root, name):
    path = root / name
    if not path.is_file():
        return  # removed in the working tree, or a link to nothing
    data = path.read_bytes()
    if len(data) > MAX_BYTES:
        yield f"{name}: {len(data)} bytes, the limit is {MAX_BYTES}"
        return
    if any(re.search(pattern, name) for pattern in EXEMPT):
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        yield f"{name}: not UTF-8"
        return
    if "\r\n" in text:
        yield f"{name}: lines end in CR LF"
    if text and not text.endswith("\n"):
        yield f"{name}: no newline at the end"
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern, suffixes in RULES:
            if (suffixes is None or path.suffix in suffixes) and re.search(pattern, line):
                yield f"{name}:{number}: {what}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).resolve().parent.parent)
    names = listed_files(root)
    problems = [problem for name in names for problem in check_file(root, name)]
    print("\n".join(problems) or f"text ok: {len(names)} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
