"""tools/write_figures.py: tables from results, between the marks and nowhere else."""
import json
import subprocess
import sys

from conftest import ROOT

TOOL = ROOT / "tools/write_figures.py"
ONE = {"median": 2.0, "min": 2.0, "max": 2.0}
SPREAD = {"median": 50.04, "min": 40.0, "max": 60.0}
ENGINE = {
    "machine": {"cpu": "A processor"}, "model": {"name": "tiny"}, "threads": 2, "rounds": 3,
    "kernels": "avx2", "int8_peak_gmac_s": SPREAD, "roofline_gb_s": ONE,
    "prefill": [{"tokens": 512, "tok_s": SPREAD, "peak_pct": ONE}],
    "decode": [{"context": 128, "tok_s": ONE, "gb_s": ONE, "roofline_pct": SPREAD}],
    "batch": [{"sequences": 16, "tok_s": ONE, "limit_pct": ONE}]}
COMPARE = {"vivace": {"prefill, tokens/s": [300.0, 290.0, 310.0], "first token, ms": [10.0]},
           "llama.cpp": {"prefill, tokens/s": [100.0], "first token, ms": [40.0]}}
PAGE = "before\n<!-- make bench writes from here -->\nold\n<!-- to here -->\nafter\n"


def run(tmp_path, page, compare=None):
    names = {"engine.json": json.dumps(ENGINE), "page.md": page}
    if compare is not None:
        names["compare.json"] = json.dumps(compare)
    for name, text in names.items():
        (tmp_path / name).write_text(text, "utf-8")
    files = [tmp_path / name for name in ("engine.json", "compare.json", "page.md")
             if name in names]
    done = subprocess.run([sys.executable, TOOL, *files], capture_output=True, text=True,
                          check=False)
    return done, (tmp_path / "page.md").read_text("utf-8")


def test_tables_replace_the_old_ones(tmp_path):
    done, page = run(tmp_path, PAGE, COMPARE)
    assert done.returncode == 0, done.stderr
    assert page.startswith("before\n") and page.endswith("<!-- to here -->\nafter\n")
    assert "old" not in page
    assert "| 512 | 50 (40–60) | 2.0 |" in page
    assert "| 128 | 2.0 | 2.0 | 50.0 (40.0–60.0) |" in page
    assert "| prefill, tokens/s | 300.0 (290.0–310.0) | 100.0 | **3.00** |" in page
    assert "| first token, ms | 10.0 | 40.0 | **4.00** |" in page
    assert run(tmp_path, page, COMPARE)[1] == page


def test_without_the_comparison(tmp_path):
    done, page = run(tmp_path, PAGE)
    assert done.returncode == 0 and "llama.cpp" not in page


def test_a_page_without_marks_stays_as_it_is(tmp_path):
    done, page = run(tmp_path, "nothing here\n")
    assert done.returncode == 1 and "marks" in done.stderr
    assert page == "nothing here\n"
