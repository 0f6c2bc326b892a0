#!/usr/bin/env python3
"""Prefill, decode and start-up beside llama.cpp's server, interleaved in one run.

    bench/compare_llama.py MODEL.gguf --llama-server PATH [--rounds 7] [--threads 2]

Prints medians with the range, and the ratio of the medians. Both sides report their own
times for the same work: a 512-token prompt, and 64 tokens after a short one.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request

WORDS = "The quick brown fox jumps over the lazy dog while seven wizards quietly study maps. "


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Llama:
    def __init__(self, binary, model, threads, extra):
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.process = subprocess.Popen(
            [binary, "-m", model, "-t", str(threads), "-c", "4096", *extra, "--port", str(port), "-np", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                with urllib.request.urlopen(self.url + "/health", timeout=1) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("llama-server did not start")

    def run(self, prompt, tokens):
        body = json.dumps({"prompt": prompt, "n_predict": tokens, "temperature": 0,
                           "cache_prompt": False, "ignore_eos": True}).encode()
        request = urllib.request.Request(self.url + "/completion", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)["timings"]

    def close(self):
        self.process.terminate()
        self.process.wait()


def vivace(binary, model, prompt, tokens, threads, kernels):
    command = [binary, "run", model, "--raw", "-p", prompt, "--temperature", "0", "--max-tokens",
               str(tokens), "--threads", str(threads), "--json"]
    if kernels:
        command += ["--kernels", kernels]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    timings = json.loads(done.stdout)["timings"]
    timings["process_ms"] = 1000 * (time.perf_counter() - start)
    return timings


def show(name, ours, theirs):
    def cell(values):
        return f"{statistics.median(values):8.1f} ({min(values):.1f}-{max(values):.1f})"
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"{name:<22} vivace {cell(ours):<26} llama.cpp {cell(theirs):<26} ratio {ratio:.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--llama-server", required=True)
    parser.add_argument("--vivace", default=os.environ.get("VIVACE_BIN", "build/release/vivace"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--kernels", default="")
    parser.add_argument("--llama-flags", default="", help="more flags for llama-server")
    arguments = parser.parse_args()
    long_prompt = WORDS * 32
    short_prompt = "The capital of France is"
    server = Llama(arguments.llama_server, arguments.model, arguments.threads,
                   arguments.llama_flags.split())
    prefill, decode, start = ([], []), ([], []), []
    try:
        for _ in range(arguments.rounds):
            ours = vivace(arguments.vivace, arguments.model, long_prompt, 1, arguments.threads,
                          arguments.kernels)
            theirs = server.run(long_prompt, 1)
            prefill[0].append(ours["prompt_per_second"])
            prefill[1].append(theirs["prompt_per_second"])
            ours = vivace(arguments.vivace, arguments.model, short_prompt, 64, arguments.threads,
                          arguments.kernels)
            theirs = server.run(short_prompt, 64)
            decode[0].append(ours["predicted_per_second"])
            decode[1].append(theirs["predicted_per_second"])
            start.append(vivace(arguments.vivace, arguments.model, short_prompt, 1,
                                arguments.threads, arguments.kernels)["process_ms"])
            print(".", end="", file=sys.stderr, flush=True)
    finally:
        server.close()
    print(file=sys.stderr)
    show("prefill 512, tokens/s", *prefill)
    show("decode 64, tokens/s", *decode)
    print(f"{'process to 1 token, ms':<22} vivace {statistics.median(start):8.1f} "
          f"({min(start):.1f}-{max(start):.1f})")


if __name__ == "__main__":
    main()
