"""What compare.py has measured, as Markdown: tables, and by rule where vivace loses.

The rule: a figure is lost to the best other server where its median is more than NOISE worse.
Figures that are better are in the tables; the list has the lost ones, all of them.
"""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from write_figures import table, write  # noqa: E402

NOISE = 0.03
MARK = "compare.py"
OURS = "vivace"
# JSON name, what it is, and whether more is better.
FIGURES = (("ttft_ms", "first text, ms", False), ("itl_ms", "between texts, ms", False),
           ("ttlt_ms", "whole answer, ms", False), ("tok_s", "tokens/s", True))


def times_better(ours, other, more_is_better):
    return ours / other if more_is_better else other / ours


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def cell(quantiles):
    """The median, and the value below which 90 % lie."""
    if quantiles["count"] == 0:
        return "-"
    return f"{number(quantiles['p50'])} ({number(quantiles['p90'])})"


def rows_of(result):
    """(workload, figure, {server: quantiles}, {server: times better}) of each figure."""
    figures = result["figures"]
    for place, workload in enumerate(figures[0]["workloads"]):
        for key, what, more in FIGURES:
            values = {one["name"]: one["workloads"][place][key] for one in figures}
            medians = {name: value["p50"] for name, value in values.items() if value["p50"] > 0}
            ours = medians.pop(OURS, 0)
            better = {name: times_better(ours, median, more)
                      for name, median in medians.items()} if ours > 0 else {}
            yield workload["name"], what, values, better


def intro(result):
    one = result["figures"][0]
    machine = one["machine"]
    loop = (f"{one['concurrency']} client{'' if one['concurrency'] == 1 else 's'}"
            if one["loop"] == "closed" else f"{one['rate']} requests/s")
    return (f"`{result['model']}`, {machine['cpu']}, {one['rounds']} rounds, {loop}, "
            f"{one['seconds']:.0f} s. Medians, with the value below which 90 % lie; the last column "
            f"is vivace beside the best of the others.")


def started(result):
    rows = []
    failed = {one["name"]: one["errors"] for one in result["figures"]}
    asked = {one["name"]: one["requests"] for one in result["figures"]}
    for server in result["servers"]:
        name = server["name"]
        if "left_out" in server:
            rows.append([name, "", "left out: " + server["left_out"].replace("|", "/")])
            continue
        words = [pathlib.Path(word).name if "/" in word else word for word in server["command"]]
        rows.append([name, server["version"],
                     f"`{' '.join(words)}`; {asked[name]} requests, {failed[name]} failed"])
    return table(["server", "version", "started as"], rows)


def figures_table(result):
    names = [one["name"] for one in result["figures"]]
    rows = []
    for workload, what, values, better in rows_of(result):
        worst = f"**{min(better.values()):.2f}**" if better else ""
        rows.append([f"{workload}, {what}", *(cell(values[name]) for name in names), worst])
    return table(["", *names, "times better"], rows)


def losses(result):
    rows, compared = [], 0
    for workload, what, values, better in rows_of(result):
        compared += len(better)
        for name, times in sorted(better.items()):
            if times < 1 - NOISE:
                rows.append([f"{workload}, {what}", name, cell(values[OURS]), cell(values[name]),
                             f"{1 / times:.2f}"])
    head = "### Where vivace loses\n\n"
    if not rows:
        return head + (f"In none of {compared} comparisons is the median of vivace more than "
                       f"{100 * NOISE:.0f} % worse.")
    return head + (f"In {len(rows)} of {compared} comparisons the median of vivace is more than "
                   f"{100 * NOISE:.0f} % worse:\n\n") + table(
                       ["", "than", "vivace", "the other", "times worse"], rows)


def parts(result):
    return [intro(result), started(result), figures_table(result), losses(result)]


def publish(result, html, page):
    """Into the page, with the plots beside it."""
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    target = folder / f"{pathlib.Path(result['model']).stem}.html"
    shutil.copyfile(html, target)
    link = f"[Distributions, rounds and all figures]({folder.name}/{target.name})."
    write(page, MARK, [*parts(result), link])
    print(f"written: {page}, {target}")
