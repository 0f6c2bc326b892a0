"""tools/check_layout.py: each rule by one file that keeps it and one that breaks it."""
import subprocess
import sys

import pytest
from conftest import ROOT

HEADER = "// What: one thing.\n#pragma once\n"


def check(root):
    done = subprocess.run([sys.executable, ROOT / "tools/check_layout.py", root],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("path, include", [
    ("src/model/a.cc", "kv/b.h"),
    ("src/model/a.cc", "model/b.h"),
    ("src/app/a.cc", "base/b.h"),
    ("src/hub/a.cc", "gguf/b.h"),
    ("src/base/a_test.cc", "gtest/gtest.h"),
    ("src/tokenizer/a_test.cc", "gguf/b.h"),
    ("src/http/a.cc", "base/b.h"),
])
def test_includes_from_below_are_allowed(tree, path, include):
    status, output = check(tree({path: f'#include "{include}"\n'}))
    assert status == 0, output


@pytest.mark.parametrize("path, include, reason", [
    ("src/base/a.cc", "model/b.h", "base may not include model, which stands above it"),
    ("src/gguf/a.h", "tokenizer/b.h", "gguf may not include its sibling tokenizer"),
    ("src/hub/a.cc", "chat/b.h", "hub may not include its sibling chat"),
    ("src/base/a_test.cc", "engine/b.h", "base may not include engine"),
    ("src/http/a.cc", "model/b.h", "http may include only base"),
    ("src/http/a.cc", "api/b.h", "http may not include api"),
])
def test_includes_from_above_and_of_siblings_are_named(tree, path, include, reason):
    status, output = check(tree({path: f'{HEADER}#include "{include}"\n'}))
    assert status == 1
    assert f"{path.removeprefix('src/')}:3: {reason}" in output


def test_a_long_file_is_named_with_its_length(tree):
    status, output = check(tree({"src/base/a.cc": "\n" * 401, "src/base/b.cc": "\n" * 400}))
    assert status == 1
    assert output == "base/a.cc: 401 lines, the limit is 400\n"


@pytest.mark.parametrize("text", ["#pragma once\n", "// What.\n\nint x;\n", "int x;\n"])
def test_a_header_opens_with_a_comment_and_the_pragma(tree, text):
    assert check(tree({"src/base/a.h": text}))[0] == 1
    assert check(tree({"src/base/a.h": HEADER}))[0] == 0


def test_a_folder_that_is_no_module_is_named(tree):
    status, output = check(tree({"src/misc/a.cc": "\n"}))
    assert status == 1
    assert output.startswith("misc/a.cc: not in a module's folder")


def test_an_empty_tree_is_no_success(tree):
    assert check(tree({"README.md": ""}))[0] == 1
