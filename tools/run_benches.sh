#!/usr/bin/env bash
# Runs every benchmark program of build/release, then the engine on a model, then, where
# LLAMA_SERVER names llama.cpp's server, both side by side. Figures also go to
# build/bench/NAME.json with the machine's facts, the engine's to a page as well.
#
#   MODEL         a model of your home folder; else the one that tests use, in theirs
#   BENCH_ARGS    options for the benchmark programs instead of 0.1 s for each, ENGINE_ARGS for
#                 the engine's
#   LLAMA_FLAGS   more flags for llama.cpp's server
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/bench
if [[ -z "${MODEL:-}" ]]; then
  MODEL=qwen2.5-coder-0.5b-instruct
  export VIVACE_HOME="${VIVACE_TEST_HOME:-$PWD/build/test-home}"
fi
build/release/vivace pull "$MODEL"
path="$(build/release/vivace show "$MODEL" --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["path"])')"

for program in build/release/bench/*_bench; do
  [[ -x "$program" ]] || { echo "no benchmarks are built" >&2 && exit 1; }
  name="$(basename "$program" _bench)"
  echo "== $name"
  arguments=()
  [[ "$name" != engine ]] || arguments=("$path")
  # Unquoted on purpose: several options.
  # shellcheck disable=SC2086
  "$program" "${arguments[@]}" --benchmark_out="build/bench/$name.json" --benchmark_out_format=json \
    ${BENCH_ARGS:---benchmark_min_time=0.1}
done

echo "== engine against the limits"
# shellcheck disable=SC2086
build/release/vivace bench engine "$MODEL" --json --html build/bench/engine.html \
  ${ENGINE_ARGS:-} >build/bench/engine.json.new
mv build/bench/engine.json.new build/bench/engine.json
python3 - build/bench/engine.json <<'END'
import json
import sys

result = json.load(open(sys.argv[1], encoding="utf-8"))
figure = lambda name: "{median:g} ({min:g}-{max:g})".format(**result[name])
print(f"{result['model']['name']}, {result['kernels']}, {result['threads']} threads")
print(f"prompt of {result['prompt_tokens']}: {figure('prefill_tok_s')} tokens/s, "
      f"{figure('prefill_peak_pct')} % of the int8 peak")
print(f"answer after {result['gen_context']}: {figure('decode_tok_s')} tokens/s, "
      f"{figure('roofline_pct')} % of the read speed")
END
echo "figures: build/bench/engine.json, page: build/bench/engine.html"

compare=()
if [[ -n "${LLAMA_SERVER:-}" ]]; then
  echo "== beside llama.cpp"
  compare=(build/bench/compare.json)
  python3 bench/compare_llama.py "$path" --llama-server "$LLAMA_SERVER" \
    --llama-flags="${LLAMA_FLAGS:-}" --json >"${compare[0]}"
fi
python3 tools/write_figures.py build/bench/engine.json "${compare[@]}" docs/performance.md
echo "tables: docs/performance.md, \"The last run of make bench\""
