"""Several models in one server: loaded on demand, side by side, and let go when idle."""
import concurrent.futures
import shutil

import pytest

from conftest import Program
from server_host import Server, wait_for

CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def stocked(tmp_path_factory, model):
    """A home folder whose models folder holds both models."""
    home = tmp_path_factory.mktemp("stocked")
    program = Program(home)
    folder = home / "models"
    folder.mkdir(parents=True)
    for name in ("smollm2", "qwen-coder"):
        shutil.copyfile(model(name), folder / model(name).name)
    return program


def ask(model, text="Name a colour.", **more):
    return {"model": model, "messages": [{"role": "user", "content": text}], "temperature": 0,
            "max_tokens": 12} | more


def names(server):
    return [entry["id"] for entry in server.get("/v1/models")["data"] if "meta" in entry]


def test_on_demand_and_side_by_side(stocked, model, server, coder_server):
    expected = {"smollm2-135m-instruct": server.post(CHAT, ask("default"))["choices"],
                "qwen2.5-coder-0.5b-instruct": coder_server.post(CHAT, ask("default"))["choices"]}
    with Server(stocked, model("smollm2"), "--alias", "small") as both:
        assert len(names(both)) == 1
        assert len(both.get("/v1/models")["data"]) == 2
        for name, choices in expected.items():
            assert both.post(CHAT, ask(name))["choices"] == choices
        assert both.post(CHAT, ask("small"))["choices"] == expected["smollm2-135m-instruct"]
        assert both.error(CHAT, ask("../../etc/passwd"))[0] == 404
        assert both.error(CHAT, ask(str(model("qwen-coder"))))[0] == 404
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            jobs = [(name, pool.submit(both.post, CHAT, ask(name))) for name in expected
                    for _ in range(3)]
            for name, job in jobs:
                assert job.result()["choices"] == expected[name]


def test_loading_tells_how_far_it_is(tmp_path, model):
    """The first time a model is packed, which takes a while."""
    program = Program(tmp_path)
    (tmp_path / "models").mkdir()
    name = "qwen2.5-coder-0.5b-instruct"
    shutil.copyfile(model("qwen-coder"), tmp_path / "models" / model("qwen-coder").name)
    with Server(program, model("smollm2")) as server:
        def status():
            return server.get(f"/v1/models/{name}")["status"]

        assert status() == {"value": "unloaded"}
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            job = pool.submit(server.post, "/api/generate", {"model": name, "prompt": ""})
            seen = []
            while not job.done():
                seen.append(status())
            job.result()
        loading = [each["progress"] for each in seen if each["value"] == "loading"]
        assert loading == sorted(loading)
        assert loading[0] < 0.5 < loading[-1] <= 1
        assert len(set(loading)) > 5
        assert status() == {"value": "loaded"}


def test_idle_models_go(stocked, model):
    with Server(stocked, model("smollm2"), "--keep-alive", "0.2") as server:
        assert server.post(CHAT, ask("qwen2.5-coder-0.5b-instruct"))["choices"]
        assert wait_for(lambda: len(names(server)) == 1)
        assert server.post(CHAT, ask("qwen2.5-coder-0.5b-instruct"))["choices"]


def test_no_place_for_another(stocked, model):
    with Server(stocked, model("smollm2"), "--max-models", "1") as server:
        status, answer = server.error(CHAT, ask("qwen2.5-coder-0.5b-instruct"))
        assert status == 503 and "1" in answer["error"]["message"]
        assert server.post(CHAT, ask("default"))["choices"]
