#!/usr/bin/env python3
"""Runs every test of the project and ends with one line: `N passed, N failed`.

Each runner runs even when an earlier one failed, but nothing runs after a program
that cannot be built. That one, and a runner that exits with an error without naming a
failed test or that ran no test at all, count as one failure each. Skipped tests are named,
never counted as passed. Logs and JUnit files are left in build/test-results.

usage: run_tests.py [--only NAME[,NAME...]] [--fuzz-seconds N]
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build/test-results"
# Fetched once per checkout; VIVACE_TEST_HOME lets several checkouts share them.
HOME = pathlib.Path(os.environ.get("VIVACE_TEST_HOME", ROOT / "build/test-home")).resolve()
MODELS = ["smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct"]
JOBS = str(os.cpu_count() or 1)
HEARTBEAT_S = 20


@dataclasses.dataclass
class Tally:
    """What one runner reported: test names by outcome."""

    passed: list = dataclasses.field(default_factory=list)
    failed: list = dataclasses.field(default_factory=list)
    skipped: list = dataclasses.field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def total(self):
        return len(self.passed) + len(self.failed) + len(self.skipped)


def run(name, command, environment=None):
    """Runs a command with its output in a log; returns the exit status.

    While it works, its newest line is shown: in place on a terminal, else
    every HEARTBEAT_S seconds. When it fails the end of the log is printed.
    """
    log_path = RESULTS / f"{name}.log"
    try:
        with open(log_path, "w", encoding="utf-8") as log:
            status = follow(name, command, environment or {}, log)
    except OSError as error:  # the program is not there
        log_path.write_text(f"{error}\n", encoding="utf-8")
        status = 127
    if status:
        lines = log_path.read_text(encoding="utf-8").splitlines()
        print(f"{name}: exit status {status}; the end of {log_path.relative_to(ROOT)}:")
        print("\n".join("    " + line for line in lines[-25:]), flush=True)
    return status


def follow(name, command, environment, log):
    terminal = sys.stdout.isatty()
    shown = time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=os.environ | environment) as process:
        for line in process.stdout:
            log.write(line)
            if terminal:
                print(f"\r\033[K{name}: {line.strip()[:90]}", end="", flush=True)
            elif time.monotonic() - shown > HEARTBEAT_S:
                shown = time.monotonic()
                print(f"{name}: {line.strip()[:90]}", flush=True)
    if terminal:
        print("\r\033[K", end="")
    return process.returncode


def read_junit(path, tally):
    """Adds the test cases of a JUnit file written by ctest or pytest."""
    for case in ElementTree.parse(path).iter("testcase"):
        group = case.get("classname") or ""
        name = case.get("name")
        if group and group != name:
            name = f"{group}.{name}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append(name)
        elif skipped is not None and "Unable to find executable" in (skipped.get("message") or ""):
            tally.failed.append(name + " (not built)")
        elif skipped is not None or case.get("status") == "disabled":
            tally.skipped.append(name)
        else:
            tally.passed.append(name)


def junit_runner(name, command, path, environment=None):
    """Runs a command that writes a JUnit file; returns its tally."""
    path.unlink(missing_ok=True)
    status = run(name, command, environment)
    tally = Tally()
    if path.exists():
        read_junit(path, tally)
    if status and not tally.failed:
        tally.failed.append(f"{name}: exit status {status}")
    if not tally.total():
        tally.failed.append(f"{name}: ran no test")
    return tally


def single(name, status):
    """The tally of a runner that is one test."""
    return Tally(failed=[name]) if status else Tally(passed=[name])


class BuildFailed(Exception):
    """Its text is the preset with the first error."""


def build(preset, *targets):
    name = f"build-{preset}"
    if not run(name, ["tools/build.sh", preset, *targets]):
        return
    log = (RESULTS / f"{name}.log").read_text(encoding="utf-8", errors="replace")
    errors = [line for line in log.splitlines() if re.search(r"\berror\b", line, re.IGNORECASE)]
    raise BuildFailed(f"{name}: {errors[0][:300] if errors else 'see above'}")


def ctest(name, preset, *arguments):
    path = RESULTS / f"{name}.xml"
    command = ["ctest", "--preset", preset, "-j", JOBS, "--output-junit", str(path), *arguments]
    return junit_runner(name, command, path, {"VIVACE_TEST_MODELS": str(HOME / "models")})


def pytest(name, folder, *arguments):
    path = RESULTS / f"{name}.xml"
    command = [".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
               f"--junitxml={path}", *arguments, folder]
    environment = {"VIVACE_HOME": str(HOME), "VIVACE_BIN": str(ROOT / "build/release/vivace"),
                   "VIVACE_TEST_MODELS": str(HOME / "models"), "PYTHONDONTWRITEBYTECODE": "1"}
    return junit_runner(name, command, path, environment)


def run_checks(_options):
    """What needs no build: layout, words, format, function length."""
    tally = Tally()
    tally.add(single("layout", run("layout", ["python3", "tools/check_layout.py"])))
    tally.add(single("text", run("text", ["python3", "tools/check_text.py"])))
    tally.add(single("format", run("format", ["tools/lint.sh", "--format"])))
    tally.add(single("length", run("length", ["tools/lint.sh", "--length"])))
    return tally


def run_tools(_options):
    """The scripts of tools/ themselves."""
    return pytest("tools", "tests/tools")


def run_unit(_options):
    """Unit and golden tests, in the build that people run, with real models."""
    build("release")
    tally = Tally()
    for model in MODELS:
        name = f"pull-{model}"
        command = ["build/release/vivace", "pull", model]
        tally.add(single(name, run(name, command, {"VIVACE_HOME": str(HOME)})))
    tally.add(ctest("unit", "release", "-LE", "hygiene"))
    return tally


def run_hygiene(_options):
    """ISA objects hold no foreign symbols. Only -O0 shows a stray template: at -O3 it is inlined."""
    build("hygiene", "isa_objects")
    return ctest("hygiene", "hygiene", "-L", "hygiene")


def run_fuzz(options):
    """Each fuzzer for a short time, from its corpus. Needs clang."""
    if not shutil.which("clang++"):
        return Tally(skipped=["fuzz (no clang++ here)"])
    build("fuzz", "fuzzers")
    fuzzers = sorted((ROOT / "build/fuzz/tests/fuzz").glob("*_fuzz"))
    tally = Tally() if fuzzers else Tally(failed=["fuzz: ran no test"])
    with concurrent.futures.ThreadPoolExecutor(int(JOBS)) as pool:
        statuses = pool.map(lambda fuzzer: fuzz_one(fuzzer, options.fuzz_seconds), fuzzers)
        for fuzzer, status in zip(fuzzers, statuses):
            tally.add(single(fuzzer.name, status))
    return tally


def fuzz_one(fuzzer, seconds):
    corpus = ROOT / "tests/fuzz/corpus" / fuzzer.name.removesuffix("_fuzz")
    with tempfile.TemporaryDirectory() as grown:
        # The first folder receives new inputs, so that the checkout stays clean.
        folders = [grown] + ([str(corpus)] if corpus.is_dir() else [])
        return run(fuzzer.name, [str(fuzzer), f"-max_total_time={seconds}", "-timeout=10",
                                 "-rss_limit_mb=2048", f"-artifact_prefix={RESULTS}/", *folders])


def run_e2e(_options):
    """The real program with real models, from the outside."""
    # Two files at a time: much of it is waiting for clients and time-outs.
    return pytest("e2e", "tests/e2e", "-n", "2", "--dist", "loadfile")


def run_web(_options):
    """The web page in a real browser, and what of it needs none."""
    tally = Tally()
    if (ROOT / "web/node_modules/vitest").is_dir():
        tally.add(single("page-types", run("page-types", ["npm", "--prefix", "web", "run", "check"])))
        tally.add(single("page-unit", run("page-unit", ["npm", "--prefix", "web", "test"])))
        tally.add(single("page-size", run("page-size", ["npm", "--prefix", "web", "run", "size"])))
    tally.add(pytest("web", "tests/web"))
    return tally


RUNNERS = {"checks": run_checks, "tools": run_tools, "unit": run_unit, "e2e": run_e2e,
           "web": run_web, "hygiene": run_hygiene, "fuzz": run_fuzz}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="comma-separated names of " + ", ".join(RUNNERS))
    parser.add_argument("--fuzz-seconds", type=int, default=30)
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(RUNNERS)
    unknown = [name for name in names if name not in RUNNERS]
    if unknown:
        parser.error(f"unknown runner {unknown[0]!r}, expected one of {', '.join(RUNNERS)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    HOME.mkdir(parents=True, exist_ok=True)

    total = Tally()
    for name in names:
        started = time.monotonic()
        print(f"{name}: started", flush=True)
        try:
            tally = RUNNERS[name](options)
        except BuildFailed as failure:
            total.failed.append(str(failure))
            break
        total.add(tally)
        print(f"{name}: {len(tally.passed)} passed, {len(tally.failed)} failed, "
              f"{len(tally.skipped)} skipped in {time.monotonic() - started:.0f} s", flush=True)
    for title, tests in (("skipped", total.skipped), ("failed", total.failed)):
        for test in tests:
            print(f"{title}: {test}")
    print(f"{len(total.passed)} passed, {len(total.failed)} failed", flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
