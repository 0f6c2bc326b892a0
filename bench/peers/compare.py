#!/usr/bin/env python3
"""vivace beside its peers: every server with its best settings, in one interleaved run.

    bench/peers/compare.py MODEL.gguf --llama-server PATH [--openvino DIR] [--transformers DIR] \
        [--rounds 5] [--out FOLDER]

Starts each server that is there, runs `vivace bench serve` over all of them and leaves
answers.json and answers.html in the folder. llama.cpp needs the path of its llama-server;
OpenVINO's and transformers' models are folders, served by openvino_server.py and
transformers_server.py beside this file; what is not installed is left out, and said so.
Further flags after "--" go to `vivace bench serve`.
"""
import argparse
import contextlib
import http.client
import importlib.util
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# The first start packs or compiles the model.
START_SECONDS = 300


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        connection.request("GET", "/v1/models")
        return connection.getresponse().status == 200
    except OSError:
        return False


@contextlib.contextmanager
def running(name, command):
    """The server's URL, once it answers; ends it at the end."""
    port = free_port()
    process = subprocess.Popen([*map(str, command), "--port", str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_SECONDS
        while not answers(port):
            if process.poll() is not None:
                raise SystemExit(f"{name} ended with status {process.returncode}: {command}")
            if time.monotonic() > end:
                raise SystemExit(f"{name} did not answer within {START_SECONDS} s")
            time.sleep(0.2)
        print(f"{name}: {' '.join(map(str, command))}", file=sys.stderr)
        yield f"{name}=http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_installed(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def commands(arguments):
    """Name -> command of every server that can be started."""
    threads = arguments.threads
    found = {"vivace": [arguments.vivace, "serve", arguments.model, "--log-level", "off",
                        "--kv-disk-mb", "0", "--parallel", arguments.concurrency,
                        "--threads", threads, *arguments.vivace_flags.split()]}
    if arguments.llama_server:
        # As its documentation advises for CPUs: one thread a core, its prompt cache as it is.
        found["llama.cpp"] = [arguments.llama_server, "-m", arguments.model, "-t", threads,
                              "-c", 8192, "-np", arguments.concurrency,
                              *arguments.llama_flags.split()]
    for name, folder, script, modules in (
            ("openvino", arguments.openvino, "openvino_server.py", ["openvino_genai"]),
            ("transformers", arguments.transformers, "transformers_server.py",
             ["torch", "transformers"])):
        if not folder:
            continue
        if is_installed(*modules):
            found[name] = [sys.executable, HERE / script, folder, "--threads", threads]
        else:
            print(f"{name} is left out: {' and '.join(modules)} not installed", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--vivace", default=os.environ.get("VIVACE_BIN", "build/release/vivace"))
    parser.add_argument("--vivace-flags", default="")
    parser.add_argument("--llama-server")
    parser.add_argument("--llama-flags", default="")
    parser.add_argument("--openvino", metavar="FOLDER")
    parser.add_argument("--transformers", metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench/peers"))
    parser.add_argument("more", nargs="*", help="flags of vivace bench serve, after --")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        urls = [stack.enter_context(running(name, command))
                for name, command in commands(arguments).items()]
        page = arguments.out / "answers.html"
        done = subprocess.run(
            [arguments.vivace, "bench", "serve", "--url", ",".join(urls), "--rounds",
             str(arguments.rounds), "--concurrency", str(arguments.concurrency), "--html",
             str(page), "--json", *arguments.more], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    (arguments.out / "answers.json").write_bytes(done.stdout)
    table(json.loads(done.stdout))
    print(f"page: {page}")


def table(servers):
    """Medians side by side; the last column is the first server against the best other."""
    names = [server["name"] for server in servers]
    print(f"{'':<42}" + "".join(f"{name:>14}" for name in names) + f"{'times better':>14}")
    for number, workload in enumerate(servers[0]["workloads"]):
        for key, what in (("ttft_ms", "first text, ms"), ("itl_ms", "between texts, ms"),
                          ("ttlt_ms", "whole answer, ms"), ("tok_s", "tokens/s")):
            values = [server["workloads"][number][key]["p50"] for server in servers]
            row = f"{workload['name'] + ', ' + what:<42}"
            row += "".join(f"{value:>14.1f}" for value in values)
            others = [value for value in values[1:] if value > 0]
            if others and values[0] > 0:
                ratio = (values[0] / max(others) if key == "tok_s" else min(others) / values[0])
                row += f"{ratio:>14.2f}" + ("" if ratio >= 1 else "  slower")
            print(row)


if __name__ == "__main__":
    main()
