"""`vivace serve --history FILE`: conversations that follow people from browser to browser."""
import json
import signal
import threading

import pytest

PATH = "/v1/history"
MESSAGES = {"messages": {"m1": {"role": "user", "text": "Where is the Louvre?"},
                         "m2": {"role": "assistant", "text": "In Paris."}}}


def put(server, name, title, data=None, revision=0, **options):
    body = {"title": title, "data": MESSAGES if data is None else data, "revision": revision}
    status, _, answer = server.request("PUT", f"{PATH}/{name}", body, **options)
    return status, json.loads(answer)


def ids(server, query="", **options):
    return [one["id"] for one in server.get(PATH + query, **options)["conversations"]]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("history") / "history.db"


@pytest.fixture(scope="module")
def keeper(serve_module, file):
    return serve_module("smollm2", "--history", file, "--max-body-mb", "1")


def test_without_the_flag_there_is_none(server):
    for method, path, body in (("GET", PATH, None), ("GET", PATH + "/a", None),
                               ("PUT", PATH + "/a", {"data": {}}), ("DELETE", PATH + "/a", None)):
        status, error = server.error(path, body, method)
        assert status == 404
        assert "--history" in error["error"]["message"]


def test_what_was_put_is_there(keeper):
    status, stored = put(keeper, "first", "Museums")
    assert status == 200
    found = keeper.get(f"{PATH}/first")
    assert (found["id"], found["title"], found["data"]) == ("first", "Museums", MESSAGES)
    assert found["revision"] == stored["revision"]
    head = next(one for one in keeper.get(PATH)["conversations"] if one["id"] == "first")
    assert head == {key: found[key] for key in ("id", "title", "updated_ms", "revision")}


def test_any_value_is_kept(keeper):
    data = {"text": 5, "content": None, "a": [1, 2.5, True, None, [], {}, "x", ["content"]],
            "n": -2**63, "big": 2**64 - 1, "small": 1e-300, "": "\0😀\"\\"}
    assert put(keeper, "values", "", data)[0] == 200
    assert keeper.get(f"{PATH}/values")["data"] == data


def test_a_stale_page_is_told(keeper):
    first = put(keeper, "stale", "one")[1]["revision"]
    second = put(keeper, "stale", "two", revision=first)[1]["revision"]
    for revision in (first, 0, second + 1):
        status, error = put(keeper, "stale", "three", revision=revision)
        assert status == 409
        assert error["error"]["current"]["revision"] == second
    assert keeper.get(f"{PATH}/stale")["title"] == "two"


def test_what_is_deleted_is_gone_and_can_be_put_back(keeper):
    revision = put(keeper, "gone", "x")[1]["revision"]
    assert keeper.request("DELETE", f"{PATH}/gone")[0] == 200
    assert keeper.error(f"{PATH}/gone", None, "GET")[0] == 404
    assert keeper.error(f"{PATH}/gone", None, "DELETE")[0] == 404
    status, error = put(keeper, "gone", "x", revision=revision)
    assert (status, error["error"]["current"]) == (409, None)
    assert put(keeper, "gone", "x")[0] == 200
    keeper.request("DELETE", f"{PATH}/gone")


def test_search_in_any_script(keeper):
    data = {"messages": {"a": {"text": "明天北京的天气怎么样？"}, "b": {"text": "晴天。"}}}
    assert put(keeper, "zh", "旅行计划", data)[0] == 200
    put(keeper, "en", "Walks in PARIS", {"messages": [{"content": [{"text": "Café de Flore"}]}]})
    assert ids(keeper, "?q=%E5%8C%97%E4%BA%AC") == ["zh"]  # 北京, in a text
    assert ids(keeper, "?q=%E6%97%85%E8%A1%8C%E3%80%80%E5%A4%A9%E6%B0%94") == ["zh"]  # 旅行　天气
    assert ids(keeper, "?q=paris+CAF%C3%89") == ["en"]
    assert ids(keeper, "?q=assistant") == [], "what nobody reads is not searched"
    assert ids(keeper, "?q=%25") == []


def test_large_conversations(keeper):
    messages = {f"m{i:05}": {"id": f"m{i:05}", "text": f"message {i} 你好"} for i in range(5000)}
    assert put(keeper, "large", "Large", {"messages": messages})[0] == 200
    assert keeper.get(f"{PATH}/large")["data"] == {"messages": messages}
    assert ids(keeper, "?q=4999") == ["large"]
    keeper.request("DELETE", f"{PATH}/large")


@pytest.mark.parametrize("name, body, named", [
    ("a", {"title": 5, "data": {}}, "title"),
    ("a", {"title": "x" * 5000, "data": {}}, "title"),
    ("a", {"title": "x"}, "data"),
    ("a", {"title": "x", "data": []}, "data"),
    ("a", {"title": "x", "data": None}, "data"),
    ("a", {"title": "x", "data": {}, "revision": -1}, "revision"),
    ("a", {"title": "x", "data": {}, "revision": "1"}, "revision"),
    ("a", [], "object"),
    ("a", "{", "JSON"),
    ("a", '{"data": ' + '{"a":' * 70 + "1" + "}" * 71, "deep"),
    ("x" * 65, {"data": {}}, "id"),
    ("a%20b", {"data": {}}, "id"),
    ("..%2f..%2fetc", {"data": {}}, "id")])
def test_wrong_requests_are_named(keeper, name, body, named):
    status, error = keeper.error(f"{PATH}/{name}", body, "PUT")
    assert status == 400
    assert named in error["error"]["message"]


def test_the_limit_of_bodies_holds(keeper):
    status, _ = keeper.error(f"{PATH}/big", {"data": {"text": "x" * 1_100_000}}, "PUT")
    assert status == 413


def test_too_many_words_are_refused(keeper):
    assert keeper.error(PATH + "?q=" + "a+" * 20, None, "GET")[0] == 400


def test_two_servers_on_one_file(serve_module, keeper, file):
    other = serve_module("smollm2", "--history", file)
    before = set(ids(keeper))
    failures = []

    def write(server, letter):
        for i in range(20):
            status, answer = put(server, f"{letter}{i}", f"{letter} {i}")
            if status != 200:
                failures.append(answer)

    threads = [threading.Thread(target=write, args=pair)
               for pair in ((keeper, "k"), (other, "o"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert set(ids(keeper)) == set(ids(other)) == before | {f"{a}{i}" for a in "ko"
                                                            for i in range(20)}
    # Whoever writes second is told, on whichever server.
    revision = keeper.get(f"{PATH}/k1")["revision"]
    assert put(other, "k1", "mine", revision=revision)[0] == 200
    assert put(keeper, "k1", "no, mine", revision=revision)[0] == 409


def test_each_key_sees_its_own_and_all_outlive_kill_9(serve, tmp_path):
    file = tmp_path / "history.db"
    arguments = ("smollm2", "--history", file, "--api-key", "anna-key", "--api-key", "bert-key")
    anna = {"headers": {"Authorization": "Bearer anna-key"}}
    bert = {"headers": {"X-Api-Key": "bert-key"}}
    server = serve(*arguments)
    assert server.error(PATH, None, "GET")[0] == 401
    put(server, "one", "Anna's", **anna)
    put(server, "one", "Bert's", **bert)
    put(server, "two", "Bert's second", **bert)
    server.stop(signal.SIGKILL)
    server = serve(*arguments)
    assert ids(server, **anna) == ["one"]
    assert server.get(f"{PATH}/one", **anna)["title"] == "Anna's"
    assert sorted(ids(server, **bert)) == ["one", "two"]
    # A wrong key beside a right one changes nothing.
    both = {"headers": {"X-Api-Key": "junk", "Authorization": "Bearer anna-key"}}
    assert ids(server, **both) == ["one"]
    server.stop()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"anna-key" not in content and b"bert-key" not in content


@pytest.mark.parametrize("content, words", [
    (b"these are notes of mine, not a database\n" * 50, "not an SQLite file"),
    (b"SQLite format 3\0" + b"\x55" * 8000, "vivace:")])
def test_a_file_that_is_none_of_ours_is_left_alone(vivace, model, tmp_path, content, words):
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    done = vivace("serve", model("smollm2"), "--history", file, "--port", "0")
    assert done.returncode == 1
    assert words in done.stderr and str(file) in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert file.read_bytes() == content


def test_a_file_that_cannot_be_made_is_an_error(vivace, model, tmp_path):
    done = vivace("serve", model("smollm2"), "--history", tmp_path / "no/such/folder/h.db")
    assert done.returncode == 1
    assert "No such file" in done.stderr
