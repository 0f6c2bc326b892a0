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

BEGIN = "<!-- make bench writes from here -->"
END = "<!-- to here -->"


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


def write(page, parts):
    """The page with the parts between its marks."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + "\n" + "\n\n".join(parts) + "\n" + END + after


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[-1])
    parts = list(engine_tables(json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))))
    if len(sys.argv) == 4:
        parts.append(compare_table(json.loads(pathlib.Path(sys.argv[2]).read_text("utf-8"))))
    page = path.read_text("utf-8")
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit(f"{path}: the marks {BEGIN} and {END} are not there once each")
    path.write_text(write(page, parts), "utf-8")


if __name__ == "__main__":
    main()
