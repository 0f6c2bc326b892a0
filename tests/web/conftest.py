"""The web page in a real Chromium, from a real server with a real model.

Whatever a test does, the page must ask no other host, break no rule of its content
security policy and throw no error: each visit is looked through at its end.
"""
import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

# Servers and models are those of the end-to-end tests, whose conftest has our own name.
spec = importlib.util.spec_from_file_location("e2e_fixtures", ROOT / "tests/e2e/conftest.py")
e2e = importlib.util.module_from_spec(spec)
spec.loader.exec_module(e2e)
model, warm, serve, serve_module = e2e.model, e2e.warm, e2e.serve, e2e.serve_module

from visit import Visit, launch  # noqa: E402  (needs the path above)


@pytest.fixture(scope="session")
def browser():
    """One for all tests."""
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=20_000)  # machines may be slow or shared
    with playwright.sync_playwright() as driver:
        try:
            browser = launch(driver)
        except playwright.Error as error:
            pytest.skip(f"no browser here: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chat_server(warm, model):
    """A server of the small model whose answers are short; tests must not stop it."""
    with e2e.Server(warm, model("smollm2"), "--max-tokens", "40") as running:
        status, _, _ = running.request("GET", "/", headers={"Accept": "text/html"})
        if status == 404:
            pytest.skip("this build has no web page")
        yield running


@pytest.fixture
def open_page(browser):
    """Opens the page of a server: open_page(server, "#/metrics", locale="zh-CN")."""
    visits = []

    def start(server, address="#/", **options):
        visits.append(Visit(browser, server.url, address, **options))
        return visits[-1]

    yield start
    problems = [problem for visit in visits for problem in visit.close()]
    assert not problems


@pytest.fixture
def chat(open_page, chat_server):
    """A visit to the page of the common server."""
    return open_page(chat_server)
