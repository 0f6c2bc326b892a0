#!/usr/bin/env bash
# lint.sh [--all | --format | --length | --fix]: what the compiler does not check.
#
# Without an option: format, lengths, layout, words, scripts, Rust, and clang-tidy
# on the files that differ from origin/main (or from the last commit but one).
# --all: clang-tidy on every file. --format, --length: only that check.
# --fix: formats in place.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH="$PWD/.venv/bin:$PATH"
failed=()

# check TITLE COMMAND...: runs it, remembers a failure, goes on.
check() {
  local title="$1"
  shift
  if "$@"; then echo "ok: $title"; else failed+=("$title") && echo "FAILED: $title"; fi
}

# Tracked files and new ones that git does not ignore, by pattern; only existing ones.
files() {
  git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' file; do
    [[ -e "$file" ]] && printf '%s\0' "$file"
  done
}

# Names each file that tools/lint.sh --fix would change.
cpp_format() {
  local output
  output="$(files '*.cc' '*.h' ':!ffi' | xargs -0 -r clang-format --dry-run 2>&1)" || {
    echo "$output"
    return 1
  }
  ! sed -n 's/^\([^:]*\):.*\[-Wclang-format-violations\]$/would be reformatted: \1/p' \
    <<<"$output" | sort -u | grep .
}

cmake_format() { files 'CMakeLists.txt' '*/CMakeLists.txt' '*.cmake' | xargs -0 -r gersemi --check -q; }

# Kernels may be longer: an unrolled tile is one idea.
lengths() {
  local status=0
  lizard -l cpp -w -L 80 -C 15 -x '*/kernels/*' src bench tests || status=1
  lizard -l cpp -w -L 120 -C 15 src/kernels || status=1
  return "$status"
}

scripts() {
  local status=0
  while IFS= read -r -d '' file; do
    bash -n "$file" || status=1
  done < <(files '*.sh' '.ci/run')
  if command -v shellcheck >/dev/null; then
    files '*.sh' '.ci/run' | xargs -0 -r shellcheck || status=1
  fi
  return "$status"
}

rust() {
  if cargo fmt --version >/dev/null 2>&1; then
    cargo fmt --manifest-path ffi/Cargo.toml --check || return 1
  fi
  if cargo clippy --version >/dev/null 2>&1; then
    cargo clippy -q --locked --manifest-path ffi/Cargo.toml --target-dir build/cargo-clippy -- \
      -D warnings || return 1
  fi
}

# The sources to look at, one a line: all, or those changed with their headers' twins.
tidy_files() {
  if [[ "$1" == all ]]; then
    git ls-files 'src/*.cc'
    return
  fi
  local base
  base="$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse -q --verify HEAD~1)"
  { git diff --name-only "$base" -- src; git ls-files --others --exclude-standard -- src; } |
    sed -n 's/\.\(h\|cc\)$/.cc/p' | sort -u | while read -r file; do
      [[ -e "$file" ]] && echo "$file"
    done
}

tidy() {
  cmake --preset dev >build/lint-configure.log 2>&1 || {
    cat build/lint-configure.log
    return 1
  }
  local known
  known="$(tidy_files "$1" | grep -F -x -f <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\",*\$|\1|p" \
    build/dev/compile_commands.json))" || return 0 # nothing to look at
  xargs -r -P "$(nproc)" -n 1 clang-tidy -p build/dev --quiet \
      --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated' >&2) <<<"$known"
}

fix() {
  files '*.cc' '*.h' ':!ffi' | xargs -0 -r clang-format -i
  files 'CMakeLists.txt' '*/CMakeLists.txt' '*.cmake' | xargs -0 -r gersemi -i
}

mkdir -p build
case "${1:-}" in
  --format)
    check "C++ format" cpp_format
    check "CMake format" cmake_format
    ;;
  --length) check "function length and complexity" lengths ;;
  --fix) fix ;;
  "" | --all)
    check "C++ format" cpp_format
    check "CMake format" cmake_format
    check "function length and complexity" lengths
    check "layout" python3 tools/check_layout.py
    check "text" python3 tools/check_text.py
    check "scripts" scripts
    check "Rust" rust
    check "clang-tidy" tidy "${1:+all}"
    ;;
  *)
    echo "lint: unknown option '$1', expected --all, --format, --length or --fix" >&2
    exit 2
    ;;
esac
((${#failed[@]} == 0))
