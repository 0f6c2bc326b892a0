"""What a server has computed outlives it, and damaged remains of it reach no answer."""
import pathlib
import shutil
import signal
import threading
import time

import pytest

from conftest import Program
from server_host import Server, wait_for

CHAT = "/v1/chat/completions"
LONG = "Here is a story. " + " ".join(f"Chapter {i} is about a {w}." for i, w in enumerate(
    ["river", "stone", "market", "window", "garden", "letter", "engine", "bridge"] * 6))


@pytest.fixture
def home(tmp_path, warm):
    """A home folder of one's own whose models are packed already."""
    (tmp_path / "home").mkdir()
    packed = warm.home / "packed"
    if packed.exists():
        shutil.copytree(packed, tmp_path / "home/packed")
    return Program(tmp_path / "home")


def ask(text=LONG, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0,
            "max_tokens": 8} | more


def page_files(home):
    return [path for path in pathlib.Path(home.home, "kv").rglob("*") if path.is_file()]


def on_disk(server):
    return server.get("/v1/cache")["models"][0]["disk_tokens"]


def test_a_conversation_outlives_stop_and_kill(home, model):
    with Server(home, model("smollm2")) as server:
        first = server.post(CHAT, ask())
        prompt = first["usage"]["prompt_tokens"]
        assert first["timings"]["cache_n"] < 32
    with Server(home, model("smollm2")) as server:
        again = server.post(CHAT, ask())
        assert again["timings"]["cache_n"] >= prompt - 16
        assert again["choices"] == first["choices"]
        other = server.post(CHAT, ask("Another one. " + LONG))
        assert wait_for(lambda: on_disk(server) > prompt * 1.5)
        server.stop(signal.SIGKILL)
    with Server(home, model("smollm2")) as server:
        again = server.post(CHAT, ask("Another one. " + LONG))
        assert again["timings"]["cache_n"] >= prompt - 16
        assert again["choices"] == other["choices"]


def test_two_servers_share_what_they_know(home, model):
    with Server(home, model("smollm2")) as one, Server(home, model("smollm2")) as other:
        first = one.post(CHAT, ask())
        assert wait_for(lambda: on_disk(one) > 0)
        time.sleep(0.5)  # the other looks for new files now and then
        again = other.post(CHAT, ask())
        assert again["timings"]["cache_n"] >= first["usage"]["prompt_tokens"] - 16
        assert again["choices"] == first["choices"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "zeros", "grown", "foreign"])
def test_damaged_files_reach_no_answer(home, model, damage):
    with Server(home, model("smollm2")) as server:
        first = server.post(CHAT, ask())
    files = page_files(home)
    assert files
    for path in files:
        data = bytearray(path.read_bytes())
        if damage == "cut":
            data = data[:len(data) // 2]
        elif damage == "flipped":
            data[len(data) // 2] ^= 4
            data[-1] ^= 1
        elif damage == "zeros":
            data = bytearray(len(data))
        elif damage == "grown":
            data += b"more"
        else:
            data = bytearray(b"something else entirely")
        path.write_bytes(data)
    with Server(home, model("smollm2")) as server:
        again = server.post(CHAT, ask())
        assert again["choices"] == first["choices"]
        assert again["timings"]["cache_n"] < first["usage"]["prompt_tokens"]
    assert Server(home, model("smollm2")).stop() == 0


def test_killed_while_writing(home, model):
    for number in range(4):
        server = Server(home, model("smollm2"))
        threads = [threading.Thread(target=lambda n=n: _try(server, ask(f"{number} {n} " + LONG)))
                   for n in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.4 + 0.2 * number)
        server.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
    with Server(home, model("smollm2"), "--kv-disk-mb", "0") as server:
        expected = [server.post(CHAT, ask(f"{n} 0 " + LONG))["choices"] for n in range(4)]
    with Server(home, model("smollm2")) as server:
        assert [server.post(CHAT, ask(f"{n} 0 " + LONG))["choices"] for n in range(4)] == expected
    assert not [path for path in page_files(home) if "tmp" in path.name]


def _try(server, body):
    try:
        server.post(CHAT, body)
    except (OSError, AssertionError):
        pass


def test_an_unusable_folder_costs_no_request(home, model):
    pathlib.Path(home.home, "kv").write_text("a file where a folder is wanted")
    server = Server(home, model("smollm2"))
    for number in range(3):
        assert server.post(CHAT, ask(f"{number} " + LONG))["choices"]
    assert server.stop() == 0
    # Reading and writing each say so once.
    warnings = [line for line in server.errors().splitlines() if "warning" in line]
    assert 1 <= len(warnings) <= 2 and all("/kv/" in line for line in warnings)


def test_the_cap_holds(home, model):
    with Server(home, model("smollm2"), "--kv-disk-mb", "20") as server:
        for number in range(6):
            server.post(CHAT, ask(f"{number} " + LONG))
            time.sleep(0.2)
    assert sum(path.stat().st_size for path in page_files(home)) <= 20 << 20


def test_forgetting_forgets_the_disk(home, model):
    with Server(home, model("smollm2")) as server:
        server.post(CHAT, ask())
        assert wait_for(lambda: on_disk(server) > 0)
        assert server.request("DELETE", "/v1/cache")[0] == 200
    assert not page_files(home)
