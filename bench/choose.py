#!/usr/bin/env python3
"""Measures what docs/choosing.md tells: models, quantizations of one of them, profiles.

    bench/choose.py [--models NAME,NAME] [--quantize PATH] [--rounds 5] [--out FOLDER] \
        [--publish docs/choosing.md]

Models are names of the catalogue or .gguf files. --quantize is llama.cpp's llama-quantize: with
it the first model is written in other types, and each is compared with it by divergence. The
text that is scored is this repository's documentation and some of its sources, which no model
has seen. Needs about a quarter of an hour; close other programs first.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "peers")]
import servers  # noqa: E402
from write_figures import figure, table, write  # noqa: E402

MARK = "choose.py"
MODELS = "qwen2.5-coder-0.5b-instruct:q4_k_m,smollm2-135m-instruct:q4_1"
TYPES = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_0", "Q3_K_M", "Q2_K")
PROFILES = ("", "chat", "code", "extract", "edge")
# What is measured changes these files, so they are no part of the text.
WRITTEN = {"performance.md", "peers.md", "choosing.md", "measuring.md"}
CLIENTS = 4


def run_json(arguments, *command):
    print("vivace", *command, file=sys.stderr)
    done = subprocess.run([arguments.vivace, *map(str, command), "--json"],
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def text_file(arguments):
    path = arguments.out / "text.txt"
    files = [file for file in sorted((ROOT / "docs").glob("*.md")) if file.name not in WRITTEN]
    files += sorted((ROOT / "src" / "engine").glob("c*.cc"))
    # The middle of each: beginnings are alike.
    path.write_text("\n\n".join(file.read_text("utf-8")[1000:5000] for file in files), "utf-8")
    return path


def score(arguments, model, *more):
    return run_json(arguments, "eval", model, "--text", text_file(arguments), "--tokens",
                    arguments.tokens, "--threads", arguments.threads, *more)


def speed(arguments, model):
    return run_json(arguments, "bench", "engine", model, "--rounds", arguments.rounds,
                    "--batch", "1,4", "--threads", arguments.threads)


def measure_models(arguments):
    for name in arguments.models.split(","):
        shown = run_json(arguments, "show", name)
        kept = ["--save-run", arguments.out / "kept.run"] if name == arguments.first else []
        yield {"name": name, "bytes": pathlib.Path(shown["path"]).stat().st_size,
               "path": shown["path"], "speed": speed(arguments, name),
               "score": score(arguments, name, *kept)}


def packs_of(path):
    """What vivace has made of a model's file, in its home folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    home = pathlib.Path(os.environ.get("VIVACE_HOME") or pathlib.Path(cache) / "vivace")
    return (home / "packed").glob(f"{path.stem}-*.vpk")


def measure_types(arguments, first):
    """The first model in other types. Each file is deleted again: they are large."""
    if not arguments.quantize:
        return
    for kind in TYPES:
        target = arguments.out / f"choose-{kind}.gguf"
        done = subprocess.run([arguments.quantize, "--allow-requantize", first["path"], target,
                               kind], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{kind} is left out: {done.stderr.strip()[-300:]}", file=sys.stderr)
            continue
        yield {"name": kind, "bytes": target.stat().st_size,
               "speed": speed(arguments, f"{target}"),
               "score": score(arguments, target, "--against", arguments.out / "kept.run")}
        for path in (target, *packs_of(target)):
            path.unlink()


def memory_mb(process_id):
    """What the server has for itself, and what it maps of the weights."""
    text = pathlib.Path(f"/proc/{process_id}/smaps_rollup").read_text("utf-8")
    kb = {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines() if "kB" in line}
    return {"own": kb.get("Anonymous", 0) / 1024, "all": kb["Rss"] / 1024}


def measure_profiles(arguments):
    for profile in PROFILES:
        command = [arguments.vivace, "serve", arguments.first, "--log-level", "off",
                   "--kv-disk-mb", 0, "--threads", arguments.threads]
        command += ["--profile", profile] if profile else []
        log = arguments.out / "server.log"
        with servers.running("server", command, log) as server:
            result = run_json(arguments, "bench", "serve", "--url", server.address, "--rounds",
                              arguments.rounds, "--concurrency", CLIENTS, "--workloads",
                              "chat-short,long-prompt")[0]
            yield {"name": profile or "none", "memory": memory_mb(server.process_id),
                   "answers": result}


def model_rows(models):
    for one in models:
        answer = one["speed"]["decode_tok_s"]
        yield [f"`{one['name']}`", f"{one['bytes'] / 1e6:.0f}",
               figure(one["speed"]["prefill_tok_s"], 0), figure(answer, 0),
               f"{one['score']['perplexity']:.2f}"]


def type_rows(first, types):
    whole = {"kl": {"mean": 0, "low": 0, "high": 0, "p99": 0, "same_top": 1}, **first["score"]}
    for one in [{**first, "name": "as fetched", "score": whole}, *types]:
        kl = one["score"]["kl"]
        yield [one["name"], f"{one['bytes'] / 1e6:.0f}", figure(one["speed"]["prefill_tok_s"], 0),
               figure(one["speed"]["decode_tok_s"], 0), f"{one['score']['perplexity']:.2f}",
               f"{kl['mean']:.4f} ({kl['low']:.4f}–{kl['high']:.4f})", f"{kl['p99']:.3f}",
               f"{100 * kl['same_top']:.1f}"]


def profile_rows(profiles):
    for one in profiles:
        short, long = one["answers"]["workloads"]
        yield [one["name"], f"{one['memory']['own']:.0f}", f"{one['memory']['all']:.0f}",
               f"{short['ttft_ms']['p50']:.0f}", f"{long['ttft_ms']['p50']:.0f}",
               f"{one['answers']['itl_ms']['p99']:.0f}",
               f"{one['answers']['throughput_tok_s']:.0f}"]


def parts(result):
    first = result["models"][0]
    machine = first["speed"]["machine"]
    yield (f"{machine['cpu']}, {first['speed']['threads']} threads, kernels "
           f"`{first['speed']['kernels']}`, {first['speed']['rounds']} rounds, medians with the "
           f"range; perplexity over {first['score']['scored']} tokens.")
    yield "### Models"
    yield table(["model", "MB", "prompt of 512, tokens/s", "answer, tokens/s", "perplexity"],
                list(model_rows(result["models"])))
    if result["types"]:
        yield f"### Types of `{first['name']}`"
        yield table(["type", "MB", "prompt of 512, tokens/s", "answer, tokens/s", "perplexity",
                     "divergence, nats", "99 % below", "same token, %"],
                    list(type_rows(first, result["types"])))
    yield f"### Profiles, {CLIENTS} clients at once"
    yield table(["profile", "own memory, MB", "with weights, MB", "short question, first text, ms",
                 "600 tokens, first text, ms", "99 % of gaps below, ms", "tokens/s in all"],
                list(profile_rows(result["profiles"])))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vivace", default=os.environ.get("VIVACE_BIN", "build/release/vivace"))
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--quantize", metavar="PATH")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench/choose"))
    parser.add_argument("--publish", type=pathlib.Path, metavar="PAGE.md")
    arguments = parser.parse_args()
    arguments.first = arguments.models.split(",")[0]
    arguments.out.mkdir(parents=True, exist_ok=True)
    result = {"models": list(measure_models(arguments))}
    result["types"] = list(measure_types(arguments, result["models"][0]))
    result["profiles"] = list(measure_profiles(arguments))
    (arguments.out / "choose.json").write_text(json.dumps(result), "utf-8")
    written = list(parts(result))
    print("\n\n".join(written))
    if arguments.publish:
        write(arguments.publish, MARK, written)


if __name__ == "__main__":
    main()
