#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures when needed, then builds; quiet unless
# something is wrong. VIVACE_WERROR=ON makes warnings errors.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly preset="$1"
shift

options=()
[[ -z "${VIVACE_WERROR:-}" ]] || options+=("-DVIVACE_WERROR=$VIVACE_WERROR")
# Ninja configures again when a CMakeLists.txt changes, but not for the presets.
if ((${#options[@]})) || [[ CMakePresets.json -nt "build/$preset/build.ninja" ]]; then
  echo "configuring build/$preset"
  mkdir -p "build/$preset"
  cmake --preset "$preset" "${options[@]}" >"build/$preset/configure.log" 2>&1 || {
    cat "build/$preset/configure.log" >&2
    exit 1
  }
fi

targets=()
for target in "$@"; do targets+=(--target "$target"); done
export NINJA_STATUS='[%f/%t, %es] '
exec cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
