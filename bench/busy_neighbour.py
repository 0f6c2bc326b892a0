#!/usr/bin/env python3
"""Decoding beside a program that takes a core now and then, in bursts of 2 to 5 ms.

    bench/busy_neighbour.py MODEL.gguf [--vivace PATH,PATH] [--shares 0,20,100] [--rounds 8]

Streams of 80 tokens from each server in turn, while the other program takes so many per cent
of one core: tokens/s, median with the range, and ms between two tokens. Give two builds to
compare them. The other program has a session of its own, as one that somebody else started:
then it gets as large a share of the processors as the servers do.
"""
import argparse
import contextlib
import random
import statistics
import subprocess
import sys
import time

from compare_llama import Server


def neighbour(share):
    """Never returns."""
    rng = random.Random(1)
    while True:
        burst = rng.uniform(0.002, 0.005)
        end = time.process_time() + burst
        while time.process_time() < end:
            pass
        if share < 100:
            time.sleep(burst * (100 / share - 1) * rng.uniform(0.5, 1.5))


@contextlib.contextmanager
def beside(share):
    if share == 0:
        yield
        return
    process = subprocess.Popen([sys.executable, __file__, "", "--neighbour", str(share)],
                               start_new_session=True)
    time.sleep(0.3)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def gaps(server, seed):
    """ms between two tokens of a stream."""
    answer = server.open("/completion", {"prompt": f"Story {seed}:", "n_predict": 80, "seed": seed,
                                         "stream": True, "ignore_eos": True})
    times = [time.perf_counter() for line in answer if line.startswith(b"data: ")]
    # The last event only says that the answer is over.
    return [1000 * (b - a) for a, b in zip(times[:-2], times[1:-1])]


def show(share, name, rounds):
    speeds = [1000 * len(one) / sum(one) for one in rounds]
    pooled = sorted(gap for one in rounds for gap in one)
    p50, p95, p99 = (pooled[len(pooled) * p // 100] for p in (50, 95, 99))
    print(f"| {share} % | {name} | {statistics.median(speeds):.1f} ({min(speeds):.1f}–"
          f"{max(speeds):.1f}) | {p50:.1f} | {p95:.1f} | {p99:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--vivace", default="build/release/vivace")
    parser.add_argument("--shares", default="0,20,100")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--neighbour", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.neighbour:
        neighbour(arguments.neighbour)
    programs = arguments.vivace.split(",")
    servers = [Server(program, [program, "serve", arguments.model, "--log-level", "off",
                                "--no-speculation", "--threads", arguments.threads])
               for program in programs]
    for server in servers:
        gaps(server, 0)
    print("| share | build | tokens/s | ms, median | 95 % | 99 % |\n|---|---|---|---|---|---|")
    for share in map(int, arguments.shares.split(",")):
        measured = [[] for _ in servers]
        with beside(share):
            for number in range(arguments.rounds):
                order = list(zip(servers, measured))
                for server, rounds in order if number % 2 else reversed(order):
                    rounds.append(gaps(server, number))
        for program, rounds in zip(programs, measured):
            show(share, program, rounds)
    for server in servers:
        server.close()


if __name__ == "__main__":
    main()
