"""The examples of docs/http-api.md and docs/structured-output.md, run as they stand there."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, Program
from server_host import Server

TEXT = "".join((ROOT / "docs" / name).read_text("utf-8")
               for name in ("http-api.md", "structured-output.md"))
EXAMPLES = [block for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.S | re.M)
            if "curl" in block]
# The last ones end the server.
EXAMPLES.sort(key=lambda block: "/admin/" in block)


@pytest.fixture(scope="module")
def documented(tmp_path_factory, model):
    """The server of the examples, in a home folder that has both models."""
    home = tmp_path_factory.mktemp("documented")
    (home / "models").mkdir()
    for name in ("smollm2", "qwen-coder"):
        shutil.copyfile(model(name), home / "models" / model(name).name)
    with Server(Program(home), "qwen2.5-coder-0.5b-instruct", "--history",
                home / "history.db") as server:
        yield server


def test_there_are_examples():
    assert len(EXAMPLES) > 24


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(documented, number):
    script = EXAMPLES[number].replace("http://127.0.0.1:8080", documented.url)
    refused = "\"hot\"" in script  # the one that shows an error
    script = script.replace("curl ", "curl -sS " if refused else "curl --fail-with-body -sS ")
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, (script, done.stdout[:500], done.stderr)
