"""The servers that are measured: how each is started, and what it is.

Every one gets the settings that its documentation advises for a CPU, the same threads and the
same weights. What is not there, or does not start, is left out with the reason.
"""
import contextlib
import dataclasses
import http.client
import pathlib
import re
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# The first start packs, decodes or compiles the model.
START_SECONDS = 600
OUTPUT_LINES = 4


class LeftOut(Exception):
    """A server that is not there or does not start."""


@dataclasses.dataclass
class Server:
    address: str
    process_id: int


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        connection.request("GET", "/v1/models")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False


@contextlib.contextmanager
def running(name, command, log):
    """The server, once it answers; ends it at the end. What it says goes to the log."""
    port = free_port()
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen([*map(str, command), "--port", str(port)],
                                   stdout=output, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + START_SECONDS
        while not answers(port):
            if process.poll() is not None:
                said = log.read_text("utf-8", "replace").strip().splitlines()[-OUTPUT_LINES:]
                raise LeftOut(f"ended with status {process.returncode}: {' / '.join(said)}")
            if time.monotonic() > end:
                raise LeftOut(f"did not answer within {START_SECONDS} s")
            time.sleep(0.2)
        print(f"{name}: {' '.join(map(str, command))}", file=sys.stderr)
        yield Server(f"{name}=http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def version_of(python, package):
    """Of an installed package; LeftOut where there is none."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LeftOut(f"{package} is not installed for {python}")
    return done.stdout.strip()


def version_by_flag(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version:? *(\S+)|(\d+\.\d+\S*)", done.stdout + done.stderr)
    return next(filter(None, found.groups()), "") if found else ""


def widened(arguments):
    """The model as OpenVINO can read it: without Q5_0, the weights being the same."""
    target = arguments.out / f"{arguments.model.stem}-without-q5_0.gguf"
    if not target.exists():
        done = subprocess.run([arguments.python, HERE / "widen_gguf.py", arguments.model, target],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            target.unlink(missing_ok=True)
            raise LeftOut(f"widen_gguf.py: {done.stderr.strip().splitlines()[-1:]}")
    return target


def vivace(arguments):
    return version_by_flag(arguments.vivace), [
        arguments.vivace, "serve", arguments.model, "--log-level", "off", "--kv-disk-mb", 0,
        "--parallel", arguments.concurrency, "--threads", arguments.threads,
        *arguments.vivace_flags.split()]


def llama_cpp(arguments):
    if not arguments.llama_server:
        raise LeftOut("--llama-server does not say where it is")
    # One thread a core and its prompt cache as it is.
    return version_by_flag(arguments.llama_server), [
        arguments.llama_server, "-m", arguments.model, "-t", arguments.threads, "-c", 8192,
        "-np", arguments.concurrency, *arguments.llama_flags.split()]


def openvino(arguments):
    version = version_of(arguments.python, "openvino-genai")
    return version, [arguments.python, HERE / "openvino_server.py", widened(arguments),
                     "--threads", arguments.threads]


def transformers(arguments):
    version = version_of(arguments.python, "transformers")
    return f"{version}, torch {version_of(arguments.python, 'torch')}", [
        arguments.python, HERE / "transformers_server.py", arguments.model, "--threads",
        arguments.threads]


ALL = {"vivace": vivace, "llama.cpp": llama_cpp, "openvino": openvino,
       "transformers": transformers}
