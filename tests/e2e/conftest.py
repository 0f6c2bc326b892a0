"""What every end-to-end test uses: the built program, a home folder, real models.

VIVACE_BIN is the program (else build/release/vivace), VIVACE_TEST_MODELS a
folder of real models. tools/run_tests.py sets both; a test that asks for a
model is skipped where the folder or the file is missing.
"""
import json
import os
import pathlib
import subprocess

import pytest

from server_host import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("VIVACE_BIN", ROOT / "build/release/vivace"))
MODELS = {
    "smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "qwen-coder": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
}


class Program:
    """Runs the program with a home folder of its own and no terminal."""

    binary = BINARY

    def __init__(self, home):
        self.home = home

    def environment(self, extra=None):
        return os.environ | {"VIVACE_HOME": str(self.home)} | (extra or {})

    def __call__(self, *arguments, stdin="", timeout=120, env=None):
        return subprocess.run([BINARY, *map(str, arguments)], input=stdin, text=True,
                              capture_output=True, timeout=timeout, check=False,
                              env=self.environment(env))

    def json(self, *arguments, **options):
        """Standard output of a successful run, parsed."""
        done = self(*arguments, "--json", **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def vivace(tmp_path):
    """The program in an empty home folder."""
    return Program(tmp_path / "home")


@pytest.fixture(scope="session")
def model():
    """A function from a short name of MODELS to the model's path."""
    folder = os.environ.get("VIVACE_TEST_MODELS")

    def find(name):
        if not folder:
            pytest.skip("VIVACE_TEST_MODELS is not set")
        path = pathlib.Path(folder) / MODELS[name]
        if not path.exists():
            pytest.skip(f"no {path.name} in VIVACE_TEST_MODELS")
        return path

    return find


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    """The program in one home folder for the session, so that packing happens once."""
    return Program(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def server(warm, model):
    """A server of the small chat model; tests must not stop it."""
    with Server(warm, model("smollm2"), "--alias", "gpt-4o-mini") as running:
        yield running


@pytest.fixture(scope="session")
def coder_server(warm, model):
    """A server of the Qwen coder model; tests must not stop it."""
    with Server(warm, model("qwen-coder")) as running:
        yield running


def starter(warm, model):
    """Starts servers of one's own: start("smollm2", "--parallel", "2")."""
    running = []

    def start(name, *arguments, program=warm, **options):
        running.append(Server(program, model(name), *arguments, **options))
        return running[-1]

    yield start
    for one in running:
        one.stop()


serve = pytest.fixture(starter)
serve_module = pytest.fixture(scope="module")(starter)
