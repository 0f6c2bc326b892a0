"""tools/check_text.py: each rule by a line that breaks it and one beside it that does not."""
import subprocess
import sys

import pytest
from conftest import ROOT


def check(root):
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    done = subprocess.run([sys.executable, ROOT / "tools/check_text.py", root],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("path, line, what", [
    ("a.cc", "// TODO: later", "a TODO without a condition"),
    ("a.cc", "// TODO(someone): later", "a TODO without a condition"),
    ("a.py", "x = 1  # FIXME", "unfinished work"),
    ("a.h", "#if 0", "switched off"),
    ("a.cc", "#include <format>", "GCC 12 lacks"),
    ("CMakeLists.txt", "add_compile_options(-ffast-math)", "differs by compiler"),
    ("a.cc", "using namespace std;", "using namespace"),
    ("a.cc", "int x;  // NOLINT", "without a check's name"),
    ("a.md", "see /home/ann/notes", "one person's machine"),
    ("a.cc", "int x; ", "white space"),
    ("a.cc", "\tint x;", "a tab"),
])
def test_a_broken_rule_is_named_with_its_line(tree, path, line, what):
    status, output = check(tree({path: f"\n{line}\n"}))
    assert status == 1
    assert output.startswith(f"{path}:2: ") and what in output


@pytest.mark.parametrize("path, line", [
    ("a.cc", "// TODO(when GCC 13 is the oldest): use <format>"),
    ("a.cc", "int x;  // NOLINT(bugprone-foo): why"),
    ("a.cc", "using namespace std::chrono_literals;"),
    ("a.md", "the folder ~/.cache and /usr/home and a TODO in prose"),
    ("a.cc", "#if 01"),
    ("Makefile", "\techo tabs are make's"),
])
def test_what_looks_alike_is_allowed(tree, path, line):
    status, output = check(tree({path: line + "\n"}))
    assert status == 0, output


def test_bytes_are_checked_too(tree):
    root = tree({"a.txt": "no newline"})
    (root / "b.txt").write_bytes(b"\xff\n")
    (root / "c.txt").write_bytes(b"line\r\n")
    (root / "d.bin").write_bytes(b"\0" * ((1 << 20) + 1))
    status, output = check(root)
    assert status == 1
    assert output.splitlines() == [
        "a.txt: no newline at the end", "b.txt: not UTF-8", "c.txt: lines end in CR LF",
        "d.bin: 1048577 bytes, the limit is 1048576"]


def test_ignored_files_are_not_looked_at(tree):
    status, output = check(tree({".gitignore": "/build/\n", "build/a.cc": "#if 0\n"}))
    assert (status, output) == (0, "text ok: 1 files\n")
