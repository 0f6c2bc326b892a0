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

# The tests of the web page need a browser. Where the distribution has none (Ubuntu's is a
# snap), Playwright's own is fetched once; without it those tests are skipped.
browsers="${PLAYWRIGHT_BROWSERS_PATH:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/ms-playwright}"
if [[ "$1" == test ]] && ! command -v chromium google-chrome google-chrome-stable >/dev/null &&
  ! compgen -G "$browsers/chromium*" >/dev/null; then
  echo "fetching a browser for the tests of the web page"
  .venv/bin/python -m playwright install --with-deps chromium-headless-shell >/dev/null 2>&1 ||
    echo "it could not be fetched: those tests will be skipped"
fi
