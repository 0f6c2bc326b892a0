#!/usr/bin/env bash
# Runs every benchmark program of build/release; figures also go to
# build/bench/NAME.json with the machine's facts. BENCH_ARGS adds options.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/bench
for program in build/release/bench/*_bench; do
  [[ -x "$program" ]] || { echo "no benchmarks are built" >&2 && exit 1; }
  name="$(basename "$program" _bench)"
  echo "== $name"
  # Unquoted on purpose: several options.
  # shellcheck disable=SC2086
  "$program" --benchmark_out="build/bench/$name.json" --benchmark_out_format=json ${BENCH_ARGS:-}
done
