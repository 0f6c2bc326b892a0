#!/usr/bin/env python3
"""vivace serve beside llama.cpp's server on the same file, interleaved in one run.

    bench/compare_llama.py MODEL.gguf --llama-server PATH [--rounds 7] [--threads 2]

Prints medians with the range, and the ratio of the medians (how many times faster). Raw
speed is each server's own report for the same work: a 512-token prompt, and 64 tokens after
a short one. First tokens of chats and the time between tokens are what a client sees.
Prompts are new in each round, so that no cache has them, but for the turn that follows.
"""
import argparse
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time

WORDS = ("river stone market window garden letter silver engine morning paper bridge cloud forest "
         "music number school doctor travel winter summer picture station island mountain").split()
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server process, ready for requests."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.port = free_port()
        self.process = subprocess.Popen([*map(str, command), "--port", str(self.port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=os.environ | (environment or {}))
        for _ in range(1200):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit(f"{name} did not start")

    def open(self, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise SystemExit(f"{self.name}: {answer.status} {answer.read()[:300]}")
        return answer

    def complete(self, prompt, tokens):
        """llama.cpp's timings of a completion that no cache helps."""
        return json.load(self.open("/completion", {
            "prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": False,
            "ignore_eos": True}))["timings"]

    def chat(self, messages, tokens):
        """(ms to the first text, ms between two texts, the text) of a streamed answer."""
        start = time.perf_counter()
        answer = self.open("/v1/chat/completions", {
            "model": "default", "messages": messages, "max_tokens": tokens, "temperature": 0,
            "stream": True})
        times, text = [], ""
        for line in answer:
            if not line.startswith(b"data: {"):
                continue
            for choice in json.loads(line[6:])["choices"]:
                piece = choice["delta"].get("content")
                if piece:
                    times.append(1000 * (time.perf_counter() - start))
                    text += piece
        gap = (times[-1] - times[0]) / max(len(times) - 1, 1)
        return times[0], gap, text

    def close(self):
        self.process.terminate()
        self.process.wait()


def measure(server, rng):
    """One round of everything: name -> value."""
    ids = [rng.randrange(1000, 20000) for _ in range(512)]
    figures = {"prefill 512, tokens/s": server.complete(ids, 1)["prompt_per_second"]}
    figures["decode 64, tokens/s"] = server.complete(ids[:5], 64)["predicted_per_second"]

    def user(text):
        return {"role": "user", "content": f"Note {rng.randrange(10**6)}. {text}"}

    figures["short prompt, first token, ms"], _, _ = server.chat(
        [SYSTEM, user("What is a binary search tree?")], 2)
    chat = [SYSTEM, user(" ".join(rng.choice(WORDS) for _ in range(570)) + ". Summarize this.")]
    figures["600 tokens, first token, ms"], _, text = server.chat(chat, 24)
    chat += [{"role": "assistant", "content": text},
             {"role": "user", "content": "Now name its first word."}]
    figures["next turn, first token, ms"], _, _ = server.chat(chat, 2)
    _, figures["between tokens, ms"], _ = server.chat(
        [SYSTEM, user("Write a long story about a lighthouse keeper.")], 129)
    return figures


def start_ms(arguments):
    """From the start of a process to the end of a one-token answer."""
    command = [arguments.vivace, "run", arguments.model, "--raw", "-p", "The capital of France is",
               "--max-tokens", "1", "--temperature", "0", "--threads", str(arguments.threads)]
    if arguments.kernels:
        command += ["--kernels", arguments.kernels]
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return 1000 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--llama-server", required=True)
    parser.add_argument("--vivace", default=os.environ.get("VIVACE_BIN", "build/release/vivace"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--kernels", default="")
    parser.add_argument("--llama-flags", default="", help="more flags for llama-server")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    # The rounds ask the same: an answer would be drafted from the round before.
    ours = [arguments.vivace, "serve", arguments.model, "--threads", arguments.threads,
            "--log-level", "off", "--kv-disk-mb", "0", "--no-speculation"]
    if arguments.kernels:
        ours += ["--kernels", arguments.kernels]
    theirs = [arguments.llama_server, "-m", arguments.model, "-t", arguments.threads, "-c", "8192",
              "-np", "1", *arguments.llama_flags.split()]
    servers = [Server("vivace", ours), Server("llama.cpp", theirs)]
    figures = {server.name: {} for server in servers}
    starts = []
    try:
        for round_number in range(-1, arguments.rounds):  # the first one only warms up
            for server in servers:
                for name, value in measure(server, random.Random(f"round {round_number}")).items():
                    if round_number >= 0:
                        figures[server.name].setdefault(name, []).append(value)
            starts.append(start_ms(arguments))
            print(".", end="", file=sys.stderr, flush=True)
    finally:
        for server in servers:
            server.close()
    print(file=sys.stderr)
    if arguments.json:
        print(json.dumps(figures | {"process to one token, ms": starts[1:]}))
        return
    print(f"{'':<30} {'vivace':<24} {'llama.cpp':<24} times faster")
    for name, values in figures["vivace"].items():
        others = figures["llama.cpp"][name]
        ratio = statistics.median(values) / statistics.median(others)
        cells = [f"{statistics.median(v):.1f} ({min(v):.1f}-{max(v):.1f})" for v in (values, others)]
        faster = ratio if "tokens/s" in name else 1 / ratio
        print(f"{name:<30} {cells[0]:<24} {cells[1]:<24} {faster:.2f}")
    print(f"process start to one token: {statistics.median(starts[1:]):.1f} ms "
          f"({min(starts[1:]):.1f}-{max(starts[1:]):.1f})")


if __name__ == "__main__":
    main()
