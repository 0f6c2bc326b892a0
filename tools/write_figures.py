#!/usr/bin/env python3
"""Writes the figures of `make bench` as tables into docs/performance.md.

    tools/write_figures.py ENGINE.json [COMPARE.json] PAGE.md

ENGINE.json is what `vivace bench engine --json` prints, COMPARE.json what
bench/compare_llama.py --json does. Only the text between the two marks is replaced.
"""
import json
import pathlib
import statistics
import sys

END = "<!-- to here -->"


def begin(command):
    """The mark before what a command writes."""
    return f"<!-- {command} writes from here -->"


def figure(value, digits=1):
    """Median with the range, of a dict or of samples."""
    if isinstance(value, list):
        value = {"median": statistics.median(value), "min": min(value), "max": max(value)}
    median, low, high = (f"{value[name]:.{digits}f}" for name in ("median", "min", "max"))
    return median if low == high else f"{median} ({low}–{high})"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def engine_tables(engine):
    machine = engine["machine"]
    yield (f"`{engine['model']['name']}`, {machine['cpu']}, {engine['threads']} threads, kernels "
           f"`{engine['kernels']}`, {engine['rounds']} rounds. Measured in the same run: int8 peak "
           f"{figure(engine['int8_peak_gmac_s'], 0)} GMAC/s, reading "
           f"{figure(engine['roofline_gb_s'])} GB/s.")
    yield table(["prompt of", "tokens/s", "% of the int8 peak"],
                [[str(row["tokens"]), figure(row["tok_s"], 0), figure(row["peak_pct"])]
                 for row in engine["prefill"]])
    yield table(["answer after", "tokens/s", "GB/s", "% of the read speed"],
                [[str(row["context"]), figure(row["tok_s"]), figure(row["gb_s"]),
                  figure(row["roofline_pct"])] for row in engine["decode"]])
    yield table(["answers at once", "tokens/s in all", "% of the nearer limit"],
                [[str(row["sequences"]), figure(row["tok_s"], 0), figure(row["limit_pct"])]
                 for row in engine["batch"]])


def compare_table(compare):
    rows = []
    for name, ours in compare["vivace"].items():
        theirs = compare["llama.cpp"][name]
        ratio = statistics.median(ours) / statistics.median(theirs)
        faster = ratio if "tokens/s" in name else 1 / ratio
        rows.append([name, figure(ours), figure(theirs), f"**{faster:.2f}**"])
    return table(["", "vivace", "llama.cpp", "times faster"], rows)


def write(path, command, parts):
    """Replaces what the command has written into the page before."""
    page = path.read_text("utf-8")
    if page.count(begin(command)) != 1:
        sys.exit(f"{path}: the mark {begin(command)} is not there once")
    before, rest = page.split(begin(command))
    if END not in rest:
        sys.exit(f"{path}: the mark {END} is missing after {begin(command)}")
    after = rest.split(END, 1)[1]
    path.write_text(before + begin(command) + "\n" + "\n\n".join(parts) + "\n" + END + after, "utf-8")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[-1])
    parts = list(engine_tables(json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))))
    if len(sys.argv) == 4:
        parts.append(compare_table(json.loads(pathlib.Path(sys.argv[2]).read_text("utf-8"))))
    write(path, "make bench", parts)


if __name__ == "__main__":
    main()
