"""The examples of docs/http-api.md, run as they stand there."""
import re
import subprocess

import pytest

from conftest import ROOT

TEXT = (ROOT / "docs/http-api.md").read_text("utf-8")
EXAMPLES = [block for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.S | re.M)
            if "curl" in block]
# The last ones end the server.
EXAMPLES.sort(key=lambda block: "/admin/" in block)


@pytest.fixture(scope="module")
def documented(serve_module):
    return serve_module("qwen-coder")


def test_there_are_examples():
    assert len(EXAMPLES) > 8


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(documented, number):
    script = EXAMPLES[number].replace("http://127.0.0.1:8080", documented.url)
    script = script.replace("curl ", "curl --fail-with-body -sS ")
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, (script, done.stdout[:500], done.stderr)
