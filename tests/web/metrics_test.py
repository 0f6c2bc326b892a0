"""Line 7: the metrics page shows what the server does, as it does it."""
import re
import threading

from playwright.sync_api import expect


def number(tile):
    found = re.search(r"[\d.]+", tile.inner_text().replace(",", ""))
    return float(found[0]) if found else None


def test_it_shows_what_requests_leave(open_page, serve):
    server = serve("smollm2", "--max-tokens", "60", "--parallel", "2")
    chat = open_page(server, "#/metrics")
    chat("metrics").wait_for()
    question = {"messages": [{"role": "user", "content": "Tell me about rivers. " * 20}]}
    for _ in range(3):
        server.post("/v1/chat/completions", question | {"max_tokens": 8})
    for name in ("plot-ttft", "plot-itl"):
        chat.wait(
            "name => Number(document.querySelector(`[data-testid=${name}]`)?.dataset.count) >= 3",
            arg=name)
    assert float(chat("plot-ttft").get_attribute("data-p50-ms")) > 0
    assert number(chat("metric-cache-hit")) > 30, "two of three prompts were remembered"
    assert number(chat("metric-memory")) > 10
    expect(chat("slot")).to_have_count(2)


def test_running_and_waiting_are_live(open_page, serve):
    server = serve("smollm2", "--max-tokens", "400", "--parallel", "1")
    chat = open_page(server, "#/metrics")
    question = {"messages": [{"role": "user", "content": "Write a long story about a dragon who lives in a mountain."}]}
    threads = [threading.Thread(target=server.post, args=("/v1/chat/completions", question))
               for _ in range(2)]
    for thread in threads:
        thread.start()
    expect(chat("metric-running")).to_contain_text("1")
    expect(chat("metric-waiting")).to_contain_text("1")
    for thread in threads:
        thread.join()
    expect(chat("metric-running")).to_contain_text("0")


def test_the_share_of_the_limit_comes_once_the_server_was_idle(open_page, serve):
    server = serve("smollm2", "--max-tokens", "400")
    limit = r"^vivace_read_limit_bytes_per_second (\d\S*)"
    scrape = lambda: server.request("GET", "/metrics")[2].decode()
    chat = open_page(server, "#/metrics")
    expect(chat("metric-limit")).to_be_visible()
    for _ in range(80):
        if re.search(limit, scrape(), re.M):
            break
        chat.page.wait_for_timeout(250)
    assert float(re.search(limit, scrape(), re.M)[1]) > 1e8
    server.post("/v1/chat/completions",
                {"messages": [{"role": "user", "content": "Count to fifty."}], "max_tokens": 150})
    assert float(re.search(r"^vivace_read_bytes_per_second (\S+)", scrape(), re.M)[1]) > 0
    expect(chat("metric-limit")).to_contain_text("%")
