#!/usr/bin/env python3
"""Makes the pictures of the web page in docs/images, from a real server with a real model.

Needs a browser, fonts for Chinese (fonts-noto-cjk or fonts-wqy-microhei), .venv
(tools/venv.sh test) and a built program with its page. Colours are reduced so
that each picture stays below LIMIT bytes.

usage: screenshots.py [--model MODEL] [--out FOLDER]
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from real_page import ROOT, browsing
from visit import Visit

LIMIT = 250_000
QUESTION = ("Write a Python function that says whether a text is a palindrome, and explain its "
            "running time with a formula.")
CHINESE = "用一个表格比较冒泡排序和快速排序。"


def save(visit, folder, name):
    """One picture. Playwright writes PNG with all colours; 256 are enough for a page."""
    path = folder / f"{name}.png"
    visit.page.wait_for_timeout(400)  # transitions
    visit.page.screenshot(path=path, scale="css")
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--output", path, "256", path], check=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}: {size} bytes")
    if size > LIMIT:
        sys.exit(f"{path} is larger than {LIMIT} bytes; is pngquant installed?")


def take(browser, url, folder):
    wide = {"viewport": {"width": 1200, "height": 780}}
    light = Visit(browser, url, color_scheme="light", **wide)
    save(light, folder, "page-empty")
    light.settings(temperature=0)
    light.ask(QUESTION)
    save(light, folder, "page-light")
    light.type("And how much memory does it need?")
    light("prefill-ready").wait_for()
    save(light, folder, "page-ready")
    light("timing").last.scroll_into_view_if_needed()
    light("timing").last.screenshot(path=folder / "page-timing.png")
    light("open-settings").click()
    save(light, folder, "page-controls")
    light("settings-close").click()
    light("open-metrics").click()
    light("metric-running").wait_for()
    light.page.wait_for_timeout(9000)  # until the limit was measured
    save(light, folder, "page-metrics")
    light.close()
    dark = Visit(browser, url, color_scheme="dark", **wide)
    dark("conversation-title").first.click()
    dark("timing").last.wait_for()
    save(dark, folder, "page-dark")
    dark.close()
    chinese = Visit(browser, url, locale="zh-CN", color_scheme="light", **wide)
    chinese.settings(temperature=0)
    chinese.ask(CHINESE)
    save(chinese, folder, "page-chinese")
    chinese.close()
    phone = Visit(browser, url, color_scheme="dark", viewport={"width": 390, "height": 780},
                  has_touch=True, is_mobile=True)
    phone.ask("Name three rivers in a list.")
    save(phone, folder, "page-phone")
    phone.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="qwen2.5-coder-0.5b-instruct")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/images")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        history = pathlib.Path(folder) / "history.db"
        with browsing(options.model, "--history", history, "--max-tokens", 400) as (browser, url):
            take(browser, url, options.out)


if __name__ == "__main__":
    main()
