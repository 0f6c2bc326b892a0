#!/usr/bin/env bash
# setup.sh [run|test|lint]: installs what this machine lacks to build vivace.
#
# Looks for the tools and headers themselves, so it is right on any distribution
# and needs no stamp; touches neither network nor packages when all is there.
# Debian 12 (tried), Debian 13 and Ubuntu 24.04 are installed for; elsewhere the
# missing things are printed and the exit status is 1.
#
# VIVACE_OS_RELEASE names another os-release file (used by the tests).
set -euo pipefail

readonly kind="${1:-run}"
readonly os_release="${VIVACE_OS_RELEASE:-/etc/os-release}"
readonly min_gcc=12 min_cmake=3.25 min_rust=1.87 min_boost=1.81 min_node=18

# What must be there, and after the colon the Debian package that brings it.
tools=(
  g++:g++ cmake:cmake ninja:ninja-build ccache:ccache pkg-config:pkg-config git:git python3:python3
)
# What only the tests use: clients of the server.
test_tools=(curl:curl openssl:openssl wrk:wrk)
headers=(
  tl/expected.hpp:libexpected-dev
  nlohmann/json.hpp:nlohmann-json3-dev
  CLI/CLI.hpp:libcli11-dev
  spdlog/spdlog.h:libspdlog-dev
  fmt/core.h:libfmt-dev
  utf8proc.h:libutf8proc-dev
  xxhash.h:libxxhash-dev
  zstd.h:libzstd-dev
  curl/curl.h:libcurl4-openssl-dev
  openssl/ssl.h:libssl-dev
  histedit.h:libedit-dev
  sqlite3.h:libsqlite3-dev
  gtest/gtest.h:libgtest-dev
  rapidcheck.h:librapidcheck-dev
  benchmark/benchmark.h:libbenchmark-dev
)
case "$kind" in
  run | test | lint) ;;
  *)
    echo "setup: unknown kind '$kind', expected run, test or lint" >&2
    exit 2
    ;;
esac

say() { echo "setup: $*" >&2; }

# at_least HAVE WANT: compares dotted version numbers of up to two parts.
at_least() {
  local have_major="${1%%.*}" want_major="${2%%.*}" have_minor=0 want_minor=0
  [[ "$1" == *.* ]] && have_minor="${1#*.}" && have_minor="${have_minor%%[!0-9]*}"
  [[ "$2" == *.* ]] && want_minor="${2#*.}"
  ((have_major > want_major || (have_major == want_major && ${have_minor:-0} >= want_minor)))
}

# Debian 12 has an older Boost under the plain name, and both cannot be installed.
boost_package() {
  local ID="" VERSION_ID=""
  # shellcheck disable=SC1090
  [[ -r "$os_release" ]] && . "$os_release"
  if [[ "$ID" == debian && "$VERSION_ID" == 12 ]]; then
    echo libboost1.81-dev
  else
    echo libboost-dev
  fi
}

# Sets `packages` (Debian names) and `missing` (words for people).
find_missing() {
  packages=() missing=()
  local entry version
  for entry in "${tools[@]}"; do
    command -v "${entry%:*}" >/dev/null || lacks "${entry#*:}" "the program ${entry%:*}"
  done
  if [[ "$kind" == test ]]; then
    for entry in "${test_tools[@]}"; do
      command -v "${entry%:*}" >/dev/null || lacks "${entry#*:}" "the program ${entry%:*}"
    done
  fi
  if command -v g++ >/dev/null; then
    version="$(g++ -dumpversion)"
    at_least "$version" "$min_gcc" || lacks g++ "g++ $min_gcc or newer (here: $version)"
  fi
  while read -r entry; do
    lacks "${entry#*:}" "the header <${entry%:*}>"
  done < <(missing_headers)
  if command -v cmake >/dev/null; then
    version="$(cmake --version)" && version="${version#cmake version }"
    at_least "$version" "$min_cmake" ||
      lacks cmake "cmake $min_cmake or newer (here: ${version%%$'\n'*})"
  fi
  has_boost || lacks "$(boost_package)" "Boost $min_boost or newer with Beast"
  while read -r entry; do
    lacks "python3-${entry/ensurepip/venv}" "the Python module $entry"
  done < <(missing_python_modules)
  # The fuzzers; what they link is a package of its own.
  [[ "$kind" != test ]] || has_fuzzer_library ||
    lacks "clang libclang-rt-dev" "clang++ with its runtime libraries"
  [[ -e /etc/ssl/certs/ca-certificates.crt || -d /etc/pki/tls/certs ]] ||
    lacks ca-certificates "the certificates of the certificate authorities"
  find_missing_node
  [[ "$kind" != test ]] || has_chromium || lacks chromium "a browser for the tests: chromium"
  has_rust || missing+=("Rust $min_rust or newer: cargo and rustc")
}

# Builds the web page.
find_missing_node() {
  local version=""
  if command -v node >/dev/null; then
    version="$(node --version)" && version="${version#v}"
    at_least "$version" "$min_node" ||
      lacks nodejs "Node.js $min_node or newer (here: $version)"
  else
    lacks nodejs "the program node"
  fi
  command -v npm >/dev/null || lacks npm "the program npm"
}

# Ubuntu has it as a snap only, which a container cannot run: there the tests use the one
# that Playwright fetches (tools/venv.sh), or are skipped.
has_chromium() {
  local ID="" name
  # shellcheck disable=SC1090
  [[ -r "$os_release" ]] && . "$os_release"
  [[ "$ID" == ubuntu ]] && return 0
  for name in chromium google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null && return 0
  done
  return 1
}

lacks() {
  # shellcheck disable=SC2206  # several names in one
  packages+=($1)
  missing+=("$2 (Debian: $1)")
}

# One preprocessor run for all headers: ten times faster than one each.
missing_headers() {
  local entry
  if ! command -v g++ >/dev/null; then
    printf '%s\n' "${headers[@]}"
    return
  fi
  for entry in "${headers[@]}"; do
    printf '#if !__has_include(<%s>)\nMISSING %s\n#endif\n' "${entry%:*}" "$entry"
  done | g++ -E -P -x c++ - | sed -n 's/^MISSING //p'
}

has_boost() {
  local version
  command -v g++ >/dev/null || return 1
  version="$(printf '#include <boost/version.hpp>\n#include <boost/beast/version.hpp>\nHAVE BOOST_LIB_VERSION\n' |
    g++ -E -P -x c++ - 2>/dev/null | sed -n 's/^HAVE "\(.*\)"$/\1/p')"
  [[ -n "$version" ]] && at_least "${version/_/.}" "$min_boost"
}

missing_python_modules() {
  if ! command -v python3 >/dev/null; then
    printf '%s\n' ensurepip pip
    return
  fi
  python3 -c 'from importlib.util import find_spec
for name in ("ensurepip", "pip"):
    if not find_spec(name): print(name)'
}

# Asks clang for its link command and looks whether the library in it is there.
has_fuzzer_library() {
  local library
  library="$(clang++ -### -fsanitize=fuzzer -x c++ /dev/null 2>&1 |
    sed -n 's/.*"\([^"]*libclang_rt\.fuzzer[^"]*\.a\)".*/\1/p')" || return 1
  [[ -e "$library" ]]
}

has_rust() {
  local cargo version
  # An old one earlier on the PATH does not hide the distribution's.
  for cargo in cargo /usr/bin/cargo "${HOME:-}/.cargo/bin/cargo"; do
    version="$("$cargo" --version 2>/dev/null)" || continue
    version="${version#cargo }"
    at_least "${version%% *}" "$min_rust" && return 0
  done
  return 1
}

# Sets `rust_packages` to those of this distribution that are new enough; fails
# when it has none.
choose_rust() {
  rust_packages=()
  local name version
  for name in cargo-web cargo; do
    version="$(apt-cache policy "$name" | sed -n 's/^ *Candidate: //p')"
    if [[ "$version" =~ ^[0-9] ]] && at_least "$version" "$min_rust"; then
      rust_packages=("$name" "${name/cargo/rustc}")
      return 0
    fi
  done
  return 1
}

rust_hint() {
  say "Rust $min_rust or newer is missing, and this distribution's packages are older."
  say "Install it with rustup (https://rustup.rs), then run the same command again:"
  say "  rustup toolchain install stable"
}

print_missing() {
  local item
  say "missing on this machine:"
  for item in "${missing[@]}"; do say "  $item"; done
}

# Debian and Ubuntu releases whose package names are the ones above.
is_known_distribution() {
  local ID="" VERSION_ID=""
  # shellcheck disable=SC1090
  [[ -r "$os_release" ]] && . "$os_release"
  command -v apt-get >/dev/null || return 1
  distribution="$ID"
  case "$ID" in
    debian) [[ -z "$VERSION_ID" ]] || at_least "$VERSION_ID" 12 ;;
    ubuntu) at_least "${VERSION_ID:-0}" 24.04 ;;
    *) return 1 ;;
  esac
}

# Sets `as_root`: the words that make a command run as root.
find_root() {
  as_root=()
  [[ "$(id -u)" == 0 ]] && return 0
  command -v sudo >/dev/null || return 1
  # Without a terminal sudo cannot ask for a password.
  sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; } || return 1
  as_root=(sudo)
}

# shellcheck disable=SC2317  # called through quietly
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 \
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@"
}

# Runs a command with its output in the log; shows a running count of its steps.
quietly() {
  local title="$1" status=0
  shift
  "$@" 2>&1 </dev/null | tee -a "$log" | awk -v title="setup: $title" -v tty="$([[ -t 2 ]] && echo 1)" '
    /^(Get:|Setting up|Unpacking)/ { n++; if (tty) printf "\r%s: %d steps ", title, n; else if (n % 50 == 0) print title ": " n " steps"; fflush() }
    END { if (tty && n) print "" }' >&2 || status=$?
  return "$status"
}

apt_update() {
  say "reading the package lists"
  quietly "package lists" apt update
}

# The lists are missing (a fresh image) or more than a day old.
lists_are_old() {
  [[ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mtime -1 -print -quit 2>/dev/null)" ]]
}

install_packages() {
  if lists_are_old; then apt_update || true; fi
  if ! has_rust && ! choose_rust; then
    apt_update || true
    choose_rust || true
  fi
  local -a wanted=("${packages[@]}" "${rust_packages[@]}")
  ((${#wanted[@]})) || return 0
  say "installing ${#wanted[@]} packages: ${wanted[*]}"
  local attempt
  for attempt in 1 2 3; do
    quietly "installing" apt install --no-install-recommends "${wanted[@]}" && return 0
    say "attempt $attempt failed; trying again with fresh package lists"
    sleep 2
    apt_update || true
  done
  tail -n 15 "$log" >&2
  say "apt-get could not install the packages; its whole output is in $log"
  return 1
}

main() {
  find_missing
  ((${#missing[@]})) || exit 0
  rust_packages=()
  if ! is_known_distribution; then
    print_missing
    say "this distribution's package names are not known here; install the above, then try again"
    exit 1
  fi
  if ! find_root; then
    print_missing
    # Debian's security archive has a new Rust, which old package lists do not show.
    if [[ "$distribution" == debian ]]; then
      has_rust || rust_packages=(cargo-web rustc-web)
    else
      has_rust || choose_rust || rust_hint
    fi
    say "installing needs root. Run this once as root, then try again:"
    say "  apt-get update && apt-get install --no-install-recommends ${packages[*]} ${rust_packages[*]}"
    exit 1
  fi
  log="$(cd "$(dirname "$0")/.." && pwd)/build/setup.log"
  mkdir -p "$(dirname "$log")"
  : >"$log"
  install_packages
  hash -r
  find_missing
  ((${#missing[@]})) || { say "done" && exit 0; }
  has_rust || rust_hint
  print_missing
  exit 1
}

main
