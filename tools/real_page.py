"""The web page for scripts: a server of a real model, and a real browser.

Needs a browser, .venv (tools/venv.sh test) and a built program with its page.
"""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/web"))
from visit import launch  # noqa: E402  (needs the path above)

BINARY = pathlib.Path(os.environ.get("VIVACE_BIN", ROOT / "build/release/vivace"))


@contextlib.contextmanager
def browsing(model, *arguments):
    """(browser, url) of `vivace serve MODEL ARGUMENTS`. Both end with the context."""
    command = [BINARY, "serve", model, "--port", "0", *map(str, arguments)]
    # In a session of its own, as from a terminal or as a service: the system then shares the cores
    # between server and browser, not among all their threads.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               start_new_session=True)
    try:
        address = re.search(r" on (\S+)", process.stdout.readline())
        if not address:
            sys.exit("the server did not start")
        with sync_playwright() as driver:
            browser = launch(driver)
            yield browser, address[1].rstrip(",")
            browser.close()
    finally:
        process.terminate()
        process.wait()
