"""Models made from others by a Modelfile, and those that are fetched: Ollama's endpoints."""
import contextlib
import json

import ollama
import pytest

from conftest import MODELS, Program
from model_host import ModelHost
from server_host import wait_for

NAME = MODELS["smollm2"]
QUESTION = [{"role": "user", "content": "Name three colours and a flower."}]
GREEDY = {"temperature": 0, "num_predict": 12}


def ask(server, **more):
    """A greedy answer, not streamed."""
    return server.post("/api/chat", {"model": NAME, "messages": QUESTION, "options": GREEDY,
                                     "stream": False} | more)


@pytest.fixture
def client(server):
    return ollama.Client(server.url)


@pytest.fixture
def derived(client):
    """Creates models that are gone after the test."""
    names = []

    def create(name, **fields):
        client.create(model=name, **fields)
        names.append(name)
        return name

    yield create
    for name in names:
        client.delete(name)


MODELFILE = f'''# Mario
system """You are Mario.
You say "it's-a me".
"""
parameter temperature 0
PARAMETER stop "<|eot_id|>"
Message user "Who are you?"
MESSAGE assistant It's-a me.
from {NAME}
PARAMETER num_predict 12
PARAMETER stop "\\"quoted\\""'''


def test_create_from_a_modelfile(server, client):
    done = list(server.lines("/api/create", {"model": "mario", "modelfile": MODELFILE}))
    assert done[-1] == {"status": "success"}
    shown = server.post("/api/show", {"model": "mario"})
    assert shown["system"] == 'You are Mario.\nYou say "it\'s-a me".\n'
    assert shown["parameters"].splitlines()[1].split(None, 1) == ["stop", '"<|eot_id|>"']
    assert shown["details"]["parent_model"] == NAME
    # What is shown makes the same model again.
    server.post("/api/create", {"model": "luigi", "modelfile": shown["modelfile"],
                                "stream": False})
    again = server.post("/api/show", {"model": "luigi:latest"})
    for field in ("modelfile", "parameters", "system", "template", "messages"):
        assert again[field] == shown[field]
    names = [model.model for model in client.list().models]
    assert "mario:latest" in names and "luigi:latest" in names
    assert "mario:latest" in [model["id"] for model in server.get("/v1/models")["data"]]
    assert server.get("/v1/models/mario")["id"] == "mario:latest"
    client.delete("luigi")
    client.delete("mario")
    assert server.error("/api/show", {"model": "mario"})[0] == 404


def test_a_derived_model_answers_in_every_dialect(server, derived):
    name = derived("pirate", from_=NAME, system="You are a pirate.",
                   parameters={"temperature": 0, "num_predict": 12, "stop": ["zzz"]},
                   messages=[{"role": "user", "content": "Ahoy!"},
                             {"role": "assistant", "content": "Arr!"}])
    talk = [{"role": "system", "content": "You are a pirate."},
            {"role": "user", "content": "Ahoy!"}, {"role": "assistant", "content": "Arr!"}]
    question = [{"role": "user", "content": "Who are you?"}]
    expected = ask(server, messages=talk + question)
    text = expected["message"]["content"]
    body = {"model": name, "messages": question}
    chatted = ask(server, **body, options={})
    assert chatted["message"]["content"] == text and chatted["model"] == name
    generated = server.post("/api/generate", {"model": name, "prompt": "Who are you?",
                                              "stream": False})
    assert generated["response"] == text
    openai = server.post("/v1/chat/completions", body)
    assert openai["choices"][0]["message"]["content"] == text
    assert openai["model"] == "pirate:latest"
    anthropic = server.post("/v1/messages", body | {"max_tokens": 12})
    assert anthropic["content"][0]["text"] == text
    # What the request says itself wins.
    own = ask(server, **body, options={"num_predict": 3})
    assert own["eval_count"] == 3


def test_derived_from_derived_copy_and_template(server, client, derived):
    derived("one", from_=NAME, system="One.", parameters={"top_k": 5, "seed": 1})
    derived("two", from_="one", parameters={"seed": 2}, template="chatml", license=["MIT"])
    client.copy("two", "three:v1")
    client.copy(NAME, "four")
    shown = server.post("/api/show", {"model": "three:v1"})
    assert shown["system"] == "One." and shown["template"] == "chatml"
    assert shown["license"] == "MIT" and shown["details"]["parent_model"] == NAME
    assert sorted(line.split()[1] for line in shown["parameters"].splitlines()) == ["2", "5"]
    assert ask(server, model="three:v1")["eval_count"] > 0
    client.delete("three:v1")
    client.delete("four")
    status, error = server.error("/api/copy", {"source": "nobody", "destination": "x"})
    assert status == 404 and "nobody" in error["error"]


@pytest.mark.parametrize("fields, word", [
    ({}, "from"), ({"from": "/etc/passwd"}, "passwd"), ({"from": "../x.gguf"}, "x.gguf"),
    ({"from": "no-such-model"}, "no-such-model"), ({"from": NAME, "model": "../evil"}, "evil"),
    ({"from": NAME, "model": NAME}, "cannot be given"),
    ({"from": NAME, "model": NAME.removesuffix(".gguf").lower()}, "another model"),
    ({"from": NAME, "model": "gemma-3-270m"}, "another model"), ({"from": NAME, "model": 5}, "model"),
    ({"from": NAME, "parameters": {"temprature": 1}}, "temprature"),
    ({"from": NAME, "parameters": {"top_k": "x"}}, "top_k"),
    ({"from": NAME, "template": "{{ .Tools }}"}, ".Tools"),
    ({"from": NAME, "template": "{% if %}"}, "template"),
    ({"from": NAME, "adapters": {"a": "b"}}, "adapters"),
    ({"from": NAME, "files": {"a": "b"}}, "files"), ({"from": NAME, "quantize": "q4"}, "quantize"),
    ({"modelfile": "FROM a\nPARAMETERS x 1"}, "line 2"),
    ({"modelfile": f"FROM {NAME}\nADAPTER x"}, "ADAPTER"),
    ({"modelfile": f"FROM {NAME}\nPARAMETER num_thread many"}, "num_thread"),
    ({"from": NAME, "messages": [{"role": "tool", "content": "x"}]}, "tool"),
    ({"from": NAME, "template": "{{ messages }}\"\"\"\n"}, "Modelfile")])
def test_create_says_what_is_wrong(server, fields, word):
    status, _, body = server.request("POST", "/api/create",
                                     {"model": "wrong", "stream": False} | fields)
    assert status in (400, 404, 501) and word in json.loads(body)["error"], body


def test_num_thread_in_a_modelfile(server, derived):
    """It is kept and shown; how many threads a server has is its own flag's business."""
    derived("threads", from_=NAME, parameters={"num_thread": 2})
    assert "num_thread" in server.post("/api/show", {"model": "threads"})["parameters"]
    ask(server, model="threads")


@pytest.fixture
def host():
    host = ModelHost(b"x" * 100_000)
    yield host
    host.close()


@pytest.fixture
def hub(host, tmp_path, serve):
    """A server that can fetch tiny, broken and slow; and its models folder."""
    entry = {"name": "tiny", "quant": "q8_0", "file": "tiny-e2e.gguf", "sha256": host.sha256,
             "size": 100_000, "sources": [{"url": host.url()}]}
    broken = entry | {"name": "broken", "file": "broken.gguf", "sha256": "0" * 64}
    slow = entry | {"name": "slow", "file": "slow.gguf", "sources": [{"url": host.url(slow=1)}]}
    catalogue = tmp_path / "models.json"
    catalogue.write_text(json.dumps([entry, broken, slow]), encoding="utf-8")
    server = serve("smollm2", program=Program(tmp_path / "home"),
                   env={"VIVACE_CATALOGUE": str(catalogue)})
    return server, tmp_path / "home/models"


def test_pull(hub):
    server, folder = hub
    lines = list(server.lines("/api/pull", {"model": "tiny"}))
    assert lines[0] == {"status": "pulling manifest"} and lines[-1] == {"status": "success"}
    assert any(line.get("completed") == line.get("total") == 100_000 for line in lines)
    assert (folder / "tiny-e2e.gguf").stat().st_size == 100_000
    assert server.post("/api/pull", {"model": "tiny:q8_0", "stream": False}) == {
        "status": "success"}
    lines = list(server.lines("/api/pull", {"model": "broken"}))
    assert "SHA-256" in lines[-1]["error"]
    status, error = server.error("/api/pull", {"model": "broken", "stream": False})
    assert status >= 500 and "SHA-256" in error["error"]
    assert server.error("/api/pull", {"model": "no-such-model"})[0] == 404


def test_what_a_model_starts_from_is_fetched(hub):
    server, folder = hub
    lines = list(server.lines("/api/create", {"model": "mine", "from": "tiny", "system": "Hi."}))
    assert lines[-1] == {"status": "success"} and (folder / "tiny-e2e.gguf").exists()
    shown = server.post("/api/show", {"model": "mine"})
    assert shown["modelfile"] == 'FROM tiny:q8_0\nSYSTEM "Hi."\n'
    lines = list(server.lines("/api/create", {"model": "bad", "from": "broken"}))
    assert "SHA-256" in lines[-1]["error"]
    assert server.error("/api/show", {"model": "bad"})[0] == 404


def test_a_client_that_leaves_ends_its_pull(hub):
    """What is there stays as a partial file, and a later pull goes on from it."""
    server, folder = hub
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", "/api/pull", json.dumps({"model": "slow"}))
        answer = connection.getresponse()
        assert json.loads(answer.readline()) == {"status": "pulling manifest"}
        assert wait_for((folder / "slow.gguf.lock").exists)
    assert wait_for(lambda: not (folder / "slow.gguf.lock").exists())
    assert not (folder / "slow.gguf").exists()


def test_downloads_can_be_forbidden(serve, tmp_path):
    server = serve("smollm2", "--no-downloads", program=Program(tmp_path / "home"))
    for path, body in (("/api/pull", {"model": "gemma-3-270m"}),
                       ("/api/create", {"model": "a", "from": "gemma-3-270m"})):
        assert server.error(path, body)[0] == 403
