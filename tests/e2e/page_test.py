"""The web page as the server sends it, without a browser: see tests/web for what it does."""
import gzip
import re

import pytest

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def get(server, path="/", headers=HTML, method="GET"):
    return server.request(method, path, headers=headers)


@pytest.fixture(scope="module")
def page(server):
    status, headers, body = get(server)
    if status == 404:
        pytest.skip("this build has no web page")
    assert status == 200
    return headers, body.decode()


def assets(text):
    return re.findall(r'(?:src|href)="\./(assets/[^"]+)"', text)


def test_clients_that_ask_for_no_page_get_a_word(server):
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
        status, answer, body = get(server, headers=headers)
        assert (status, body) == (200, b"vivace is running\n")
        assert answer["Content-Type"].startswith("text/plain")
        assert get(server, headers=headers, method="HEAD")[::2] == (200, b"")


def test_the_page_has_a_strict_policy(page):
    headers, text = page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-cache"
    assert "Accept" in headers["Vary"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|style=|https?://", text)


def test_its_files_are_kept_for_ever_and_compressed(server, page):
    names = assets(page[1])
    assert names
    for name in names:
        status, plain_headers, plain = get(server, "/" + name, {})
        assert status == 200
        assert "immutable" in plain_headers["Cache-Control"]
        assert "Content-Encoding" not in plain_headers
        status, headers, body = get(server, "/" + name, {"Accept-Encoding": "gzip, br"})
        assert headers.get("Content-Encoding") == "gzip"
        assert gzip.decompress(body) == plain
        assert headers["ETag"] != plain_headers["ETag"]
        assert not headers["ETag"].startswith("W/")
        assert get(server, "/" + name, {"If-None-Match": plain_headers["ETag"]})[::2] == (304, b"")


def test_the_first_load_is_small(server, page):
    zipped = {"Accept-Encoding": "gzip"}
    sizes = [len(get(server, "/" + name, zipped)[2]) for name in assets(page[1])]
    sizes.append(len(get(server, "/", HTML | zipped)[2]))
    print(f"first load: {sum(sizes)} bytes")
    assert sum(sizes) < 250_000


def test_only_its_own_files_are_there(server, page):
    for path in ("/assets/", "/assets/none.js", "/page.bin", "/assets/..%2findex.html"):
        assert get(server, path)[0] == 404


def test_it_needs_no_key_but_everything_else_does(serve, page):
    server = serve("smollm2", "--api-key", "k", "--max-tokens", "4")
    assert get(server)[0] == 200
    for name in assets(page[1]):
        assert get(server, "/" + name)[0] == 200
    for path in ("/props", "/v1/models", "/metrics", "/v1/history", "/slots"):
        assert get(server, path)[0] == 401


def test_it_can_be_turned_off(serve):
    server = serve("smollm2", "--no-webui")
    status, headers, body = get(server)
    assert status == 404
    assert headers["Content-Type"].startswith("text/plain")
    assert b"--no-webui" in body
    assert get(server, headers={})[::2] == (200, b"vivace is running\n")
    assert server.get("/props")["ui"] is False
