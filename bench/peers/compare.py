#!/usr/bin/env python3
"""vivace beside its peers: every server with its best settings, in one interleaved run.

    bench/peers/compare.py MODEL.gguf --llama-server PATH --python PEERS/bin/python \
        [--rounds 5] [--only NAME,NAME] [--out FOLDER] [--publish docs/peers.md]

Starts each server that is there, runs `vivace bench serve` over all of them and leaves
answers.json, answers.html and what the servers said in the folder. llama.cpp needs the path of
its llama-server; OpenVINO's and transformers' packages are those of --python (a virtual
environment with requirements.txt beside this file). What is not installed or does not start is
left out, and said so. --publish writes the tables into that page and puts answers.html beside
it, in a folder with the page's name. Further flags after "--" go to `vivace bench serve`.
"""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys

import result_page
import servers


def arguments_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--vivace", default=os.environ.get("VIVACE_BIN", "build/release/vivace"))
    parser.add_argument("--vivace-flags", default="")
    parser.add_argument("--llama-server")
    parser.add_argument("--llama-flags", default="")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=",".join(servers.ALL))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench/peers"))
    parser.add_argument("--publish", type=pathlib.Path, metavar="PAGE.md")
    # argparse would take what follows "--" for further models.
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:end])
    arguments.more = sys.argv[end + 1:]
    arguments.names = arguments.only.split(",")
    for name in arguments.names:
        if name not in servers.ALL:
            parser.error(f'--only: "{name}" is unknown, allowed are {", ".join(servers.ALL)}')
    if not arguments.model.is_file():
        parser.error(f"{arguments.model} is no file")
    return arguments


def start(arguments, stack):
    """Starts what can be started: addresses, and what is to be told about each server."""
    urls, told = [], []
    for name in arguments.names:
        try:
            version, command = servers.ALL[name](arguments)
            log = arguments.out / f"{name}.log"
            urls.append(stack.enter_context(servers.running(name, command, log)).address)
            told.append({"name": name, "version": version, "command": [*map(str, command)]})
        except servers.LeftOut as reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)
            told.append({"name": name, "left_out": str(reason)})
    return urls, told


def main():
    arguments = arguments_of_command_line()
    arguments.out.mkdir(parents=True, exist_ok=True)
    page = arguments.out / "answers.html"
    with contextlib.ExitStack() as stack:
        urls, told = start(arguments, stack)
        if not urls:
            sys.exit("no server is left to be asked")
        done = subprocess.run(
            [arguments.vivace, "bench", "serve", "--url", ",".join(urls), "--rounds",
             str(arguments.rounds), "--concurrency", str(arguments.concurrency), "--html",
             str(page), "--json", *arguments.more], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    result = {"model": arguments.model.name, "servers": told, "figures": json.loads(done.stdout)}
    (arguments.out / "answers.json").write_text(json.dumps(result), "utf-8")
    print("\n\n".join(result_page.parts(result)))
    print(f"\npage: {page}")
    if arguments.publish:
        result_page.publish(result, page, arguments.publish)


if __name__ == "__main__":
    main()
