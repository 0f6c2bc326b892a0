#!/usr/bin/env bash
# venv.sh test|lint: makes .venv hold the pinned Python tools; instant when it
# already does. `lint` adds clang-tidy, which is large.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  test) lists=(tools/requirements.txt) ;;
  lint) lists=(tools/requirements.txt tools/requirements-lint.txt) ;;
  *)
    echo "usage: tools/venv.sh test|lint" >&2
    exit 2
    ;;
esac

for list in "${lists[@]}"; do
  stamp=".venv/$(basename "$list").sha256"
  sum="$(sha256sum <"$list")"
  [[ -r "$stamp" && "$(<"$stamp")" == "$sum" ]] && continue
  [[ -x .venv/bin/python ]] || python3 -m venv .venv
  echo "installing $list into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 -r "$list"
  echo "$sum" >"$stamp"
done
