#!/usr/bin/env python3
"""What a server keeps and promises: the next turn after a restart, and streams under load.

    bench/serve_load.py MODEL.gguf [--rounds 5] [--streams 32] [--prompt 4000]

Restart: the first token of a conversation's next turn while the server runs, and after it
was stopped, or killed, and started again. Load: the longest pause of any stream while a
long prompt is evaluated beside all of them.
"""
import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time

from compare_llama import SYSTEM, WORDS, Server


def vivace(arguments, *flags):
    return Server("vivace", [arguments.vivace, "serve", arguments.model, "--log-level", "off",
                             *flags], {"VIVACE_HOME": arguments.home})


def conversation(rng):
    text = " ".join(rng.choice(WORDS) for _ in range(570))
    return [SYSTEM, {"role": "user", "content": f"{rng.randrange(10**6)}: {text}. Summarize this."}]


def next_turns(arguments):
    """(warm, after a stop, after kill -9): ms to the first token of the next turn."""
    figures = [], [], []
    for number in range(arguments.rounds):
        rng = random.Random(f"restart {number}")
        server = vivace(arguments)
        chat = conversation(rng)
        _, _, text = server.chat(chat, 24)
        chat.append({"role": "assistant", "content": text})

        def turn(question):
            return server.chat(chat + [{"role": "user", "content": question}], 2)[0]

        figures[0].append(turn("Now name its first word."))
        for figure, how in ((figures[1], signal.SIGTERM), (figures[2], signal.SIGKILL)):
            time.sleep(1)  # what a person takes to see that something is wrong
            server.process.send_signal(how)
            server.process.wait()
            server = vivace(arguments)
            figure.append(turn(f"Now name its {'second' if how == signal.SIGTERM else 'third'} word."))
        server.close()
        print(".", end="", file=sys.stderr, flush=True)
    return figures


def pauses(arguments):
    """ms between two texts of each stream, before and while the long prompt is evaluated."""
    server = vivace(arguments, "--parallel", str(arguments.streams + 1), "--ctx", "8192",
                    "--kv-memory-mb", "2048", "--stall-budget-ms", str(arguments.stall_budget_ms))
    calm, loaded, lost = [], [], []
    busy = threading.Event()
    started = threading.Semaphore(0)

    def stream(seed):
        try:
            answer = server.open("/completion", {"prompt": f"Story {seed}:", "n_predict": 400,
                                                 "stream": True, "ignore_eos": True, "seed": seed})
            last = None
            for line in answer:
                if not line.startswith(b"data: "):
                    continue
                now = time.perf_counter()
                if last is not None:
                    (loaded if busy.is_set() else calm).append(1000 * (now - last))
                else:
                    started.release()
                last = now
        except OSError:
            lost.append(seed)

    threads = [threading.Thread(target=stream, args=(seed,)) for seed in range(arguments.streams)]
    for thread in threads:
        thread.start()
    for _ in threads:
        started.acquire()
    time.sleep(2)
    rng = random.Random("load")
    busy.set()
    start = time.perf_counter()
    server.complete([rng.randrange(1000, 20000) for _ in range(arguments.prompt)], 1)
    seconds = time.perf_counter() - start
    busy.clear()
    for thread in threads:
        thread.join()
    server.close()
    return calm, loaded, lost, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--vivace", default=os.environ.get("VIVACE_BIN", "build/release/vivace"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--prompt", type=int, default=4000)
    parser.add_argument("--stall-budget-ms", type=float, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        arguments.home = home
        warm, stopped, killed = next_turns(arguments)
        print(file=sys.stderr)
        for name, values in (("next turn, warm", warm), ("after a stop", stopped),
                             ("after kill -9", killed)):
            print(f"{name:<18} {statistics.median(values):6.1f} ms ({min(values):.1f}-{max(values):.1f})")
        calm, loaded, lost, seconds = pauses(arguments)
        loaded.sort()
        print(f"{arguments.streams} streams: {statistics.median(calm):.1f} ms between texts alone; while a "
              f"prompt of {arguments.prompt} came ({seconds:.1f} s): {statistics.median(loaded):.1f} ms, "
              f"99 % below {loaded[int(len(loaded) * 0.99)]:.1f} ms, longest {loaded[-1]:.1f} ms; "
              f"stall budget {arguments.stall_budget_ms:g} ms; {len(lost)} lost")


if __name__ == "__main__":
    main()
