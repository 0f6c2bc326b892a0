"""The pack file: made once, never trusted blindly, never half there."""
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import BINARY

MAKE = pathlib.Path(__file__).resolve().parents[2] / "tools/make_tiny_gguf.py"


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.gguf"
    subprocess.run([sys.executable, MAKE, path], check=True, capture_output=True)
    return path


def answer(vivace, tiny, *flags):
    result = vivace.json("run", tiny, "--raw", "-p", "The quick", "--temperature", 0,
                         "--max-tokens", 8, *flags)
    return result["tokens"]


def packs(vivace):
    return sorted((vivace.home / "packed").glob("*.vpk"))


def test_the_second_start_maps_what_the_first_made(vivace, tiny):
    first = answer(vivace, tiny)
    (pack,) = packs(vivace)
    before = pack.stat()
    assert answer(vivace, tiny) == first
    after = pack.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_no_pack_writes_nothing(vivace, tiny):
    assert answer(vivace, tiny, "--no-pack")
    assert not (vivace.home / "packed").exists()


@pytest.mark.parametrize("damage", ["empty", "cut", "header", "meta", "foreign"])
def test_a_damaged_pack_is_made_anew(vivace, tiny, damage):
    first = answer(vivace, tiny)
    (pack,) = packs(vivace)
    good = pack.read_bytes()
    bad = {
        "empty": b"",
        "cut": good[:len(good) // 2],
        "header": good[:20] + b"\xff" + good[21:],
        "meta": good.replace(b'"layers"', b'"lalers"', 1),
        "foreign": b"not a pack" * 1000,
    }[damage]
    assert bad != good
    pack.write_bytes(bad)
    assert answer(vivace, tiny) == first
    assert pack.read_bytes() == good


def test_a_changed_model_gets_its_own_pack(vivace, tiny):
    first = answer(vivace, tiny)
    subprocess.run([sys.executable, MAKE, tiny, "--seed", "2"], check=True, capture_output=True)
    assert answer(vivace, tiny) != first
    assert len(packs(vivace)) == 2


def test_a_home_that_cannot_be_written_still_answers(vivace, tiny):
    vivace.home.mkdir()
    (vivace.home / "packed").write_text("a file where the folder should be")
    done = vivace("run", tiny, "--raw", "-p", "The quick", "--max-tokens", "2")
    assert done.returncode == 0
    assert "packing in memory" in done.stderr


def test_processes_that_pack_at_once_leave_one_good_pack(vivace, tiny):
    command = [BINARY, "run", tiny, "--raw", "-p",
               "The quick", "--temperature", "0", "--max-tokens", "8"]
    environment = os.environ | {"VIVACE_HOME": str(vivace.home)}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(4)]
    texts = {process.communicate(timeout=60)[0] for process in running}
    assert len(texts) == 1
    assert [process.returncode for process in running] == [0] * 4
    assert len(packs(vivace)) == 1
    assert not list((vivace.home / "packed").glob("*.tmp"))
