#!/usr/bin/env python3
"""Builds the web page in web/ and packs its files for the program.

Runs `npm ci` when package-lock.json is another one than last time and
`npm run build` when any source is, under a lock, because several build folders
share web/. Then writes into OUT:

  page.bin       the files one after another, text compressed with gzip
  page_table.cc  where each of them lies, and its type

usage: build_page.py OUT [--npm NPM]
"""
import argparse
import contextlib
import fcntl
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILT_FOLDERS = {"dist", "node_modules"}
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".woff": "font/woff",
    ".ttf": "font/ttf",
    ".txt": "text/plain; charset=utf-8",
}
# A name with Vite's hash in it: another content has another name.
HASHED = re.compile(r"^assets/.+-[\w-]{8}\.\w+$")


def digest(paths):
    """One hash of names and contents."""
    sums = hashlib.sha256()
    for path in paths:
        sums.update(f"{path.relative_to(WEB)}\0{path.stat().st_size}\0".encode())
        sums.update(path.read_bytes())
    return sums.hexdigest()


def sources():
    """What the page is made of, without what is installed or built."""
    found = []
    for folder, folders, files in os.walk(WEB):
        folders[:] = sorted(set(folders) - BUILT_FOLDERS)
        found += [pathlib.Path(folder) / name for name in sorted(files)]
    return found


def run_npm(npm, *arguments):
    """Quiet unless it fails."""
    done = subprocess.run([npm, *arguments], cwd=WEB, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        print(done.stdout)
        sys.exit(f"npm {' '.join(arguments)} failed; -DVIVACE_WEB=OFF builds without the page")


@contextlib.contextmanager
def folder_lock(folder):
    """Held on the folder itself, since npm removes what it does not know."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_current(stamp, value):
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == value


def build(npm):
    """Leaves web/dist as the sources say."""
    modules = WEB / "node_modules"
    with folder_lock(WEB):
        packages = digest([WEB / "package-lock.json"])
        # npm removes what else is in the folder, stamps included.
        if not is_current(modules / ".installed", packages):
            run_npm(npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
            (modules / ".installed").write_text(packages, encoding="utf-8")
        inputs = digest(sources())
        if not is_current(modules / ".built", inputs) or not (WEB / "dist/index.html").is_file():
            run_npm(npm, "run", "build")
            (modules / ".built").write_text(inputs, encoding="utf-8")


def packed(path):
    """A file's bytes as they are stored, and whether that is gzip."""
    raw = path.read_bytes()
    # The same bytes for the same content: no name and no time.
    small = gzip.compress(raw, 9, mtime=0)
    return (small, True) if len(small) < 0.9 * len(raw) else (raw, False)


def rows(dist):
    """(path, type, bytes, is_gzip, is_immutable) of each file."""
    for path in sorted(dist.rglob("*")):
        name = path.relative_to(dist).as_posix()
        if not path.is_file() or path.suffix == ".map":
            continue
        if path.suffix not in TYPES:
            sys.exit(f"web/dist/{name}: no content type is known for {path.suffix!r}")
        yield (name, TYPES[path.suffix], *packed(path), bool(HASHED.match(name)))


def write_if_new(path, content):
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


def pack(dist, out):
    blob, lines = b"", []
    for name, content_type, content, is_gzip, immutable in rows(dist):
        flags = f"{str(is_gzip).lower()}, {str(immutable).lower()}"
        lines.append(f"    {{{json.dumps('/' + name)}, {json.dumps(content_type)}, "
                     f"{len(blob)}, {len(content)}, {flags}}},\n")
        blob += content
    table = ('// Made by tools/build_page.py.\n#include "app/page_files.h"\n\n'
             "namespace vivace {\n\nconst PageFile kPageFiles[] = {\n" + "".join(lines) +
             "};\nconst std::size_t kPageFileCount = sizeof kPageFiles / sizeof *kPageFiles;\n\n"
             "}  // namespace vivace\n")
    out.mkdir(parents=True, exist_ok=True)
    write_if_new(out / "page.bin", blob)
    write_if_new(out / "page_table.cc", table.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--npm", default="npm")
    options = parser.parse_args()
    build(options.npm)
    pack(WEB / "dist", options.out)


if __name__ == "__main__":
    main()
