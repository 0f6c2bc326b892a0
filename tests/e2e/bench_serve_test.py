"""vivace bench serve against the real server, and against servers that do wrong."""
import contextlib
import http.server
import json
import re
import threading

import pytest

QUICK = ["--rounds", 2, "--max-tokens", 6]


def ordered(quantiles):
    # No time at all lies between tokens that one step has found.
    return (0 <= quantiles["min"] <= quantiles["p50"] <= quantiles["p90"] <= quantiles["p99"]
            <= quantiles["max"] and quantiles["max"] > 0)


@contextlib.contextmanager
def canned(status=200, content_type="text/event-stream", body=b""):
    """A server that gives the same answer to every question."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(status, content_type, body)

        def do_GET(self):
            self.answer(404, "text/plain", b"")

        def answer(self, code, kind, data):
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_every_figure_of_every_workload(vivace, server):
    [result] = vivace.json("bench", "serve", "--url", server.url + "/v1", "--max-tokens",
                           6, "--rounds", 1)
    names = [workload["name"] for workload in result["workloads"]]
    assert names == ["chat-short", "chat-multi-turn", "long-prompt", "code", "json", "rag", "edit",
                     "shared-system-prompt"]
    for figures in [result, *result["workloads"]]:
        assert figures["errors"] == 0, result["problems"]
        for name in ("ttft_ms", "itl_ms", "ttlt_ms", "tok_s"):
            assert ordered(figures[name]), (name, figures[name])
        assert figures["requests"] == figures["ttft_ms"]["count"]
        assert figures["tokens"] >= figures["chunks"] > 0
    long_prompt = result["workloads"][2]
    assert 550 < long_prompt["prompt_tokens"] < 800
    for name in ("ttft_short_ms", "ttft_600_ms", "ttft_follow_ms"):
        assert ordered(result[name])
    assert result["token_counts"] == "usage" and result["client_cpu_pct"] > 0
    assert result["warm_up"]["ttft_ms"]["count"] == result["requests"]
    assert result["machine"]["cpu"] and result["model"] and result["seed"] >= 0


def test_two_servers_side_by_side_with_a_page(vivace, server, tmp_path):
    page = tmp_path / "answers.html"
    done = vivace("bench", "serve", "--url", f"one={server.url},two={server.url}", *QUICK,
                  "--workloads", "chat-short,json", "--concurrency", 2, "--html", page)
    assert done.returncode == 0, done.stderr
    assert "times better" in done.stdout and "closed loop, 2 clients" in done.stdout
    assert re.search(r"two: 8 requests, 0 failed", done.stdout)
    html = page.read_text()
    assert html.count("<svg") == 6 and "<script" not in html and "nan" not in html


def test_an_open_loop(vivace, server):
    [result] = vivace.json("bench", "serve", "--url", server.url, *QUICK, "--rate", 20,
                           "--requests", 3, "--workloads", "chat-short")
    assert result["loop"] == "open" and result["requests"] == 6 and result["errors"] == 0


def test_the_same_seed_asks_the_same(vivace, server):
    ask = ["bench", "serve", "--url", server.url, *QUICK, "--workloads", "chat-short", "--seed", 5]
    first, second = (vivace.json(*ask)[0]["workloads"][0] for _ in range(2))
    assert first["prompt_tokens"] == second["prompt_tokens"]
    assert first["tokens"] == second["tokens"]


@pytest.mark.parametrize("answer, sentence", [
    ({"body": b""}, "the stream ended without any text"),
    ({"body": b"data: [DONE]\n\n"}, "the stream ended without any text"),
    ({"body": b"data: hello\n\n"}, "event 1 of the stream is not a JSON object: hello"),
    ({"body": b'data: {"error": {"message": "out of luck"}}\n\n'}, "out of luck"),
    ({"content_type": "application/json", "body": b'{"choices": []}'}, "no event stream"),
    ({"status": 500, "body": b'{"error": {"message": "oh no"}}'}, "HTTP 500: oh no"),
    ({"status": 400, "body": b"<html>"}, "HTTP 400: <html>"),
])
def test_servers_that_do_wrong(vivace, answer, sentence):
    with canned(**answer) as url:
        done = vivace("bench", "serve", "--url", url, "--workloads", "chat-short")
    assert done.returncode == 1 and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("vivace: ") and url in line and sentence in line


@pytest.mark.parametrize("arguments, status, sentence", [
    ([], 2, "--url"),
    (["--url", "http://127.0.0.1:9"], 1, "nothing answers there"),
    (["--url", "localhost:80"], 1, "http:// or https:// is missing"),
    (["--url", "gopher://x"], 1, "the scheme is gopher"),
    (["--url", "http://x.invalid"], 1, "no machine of that name"),
    (["--url", "http://x", "--workloads", "poetry"], 1, '"poetry" is not known'),
    (["--url", "http://x", "--rounds", 0], 2, "rounds"),
    (["--url", "http://x", "--concurrency", 2, "--rate", 3], 2, "excludes"),
    (["--url", ",".join(["http://x"] * 9)], 1, "9 servers are given, allowed are 1 to 8"),
])
def test_wrong_use(vivace, arguments, status, sentence):
    done = vivace("bench", "serve", *arguments)
    assert done.returncode == status and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert sentence in line


def test_json_is_an_array_of_servers(vivace):
    text = b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n' * 3
    with canned(body=text) as url:
        done = vivace("bench", "serve", "--url", f"{url},{url}", "--workloads", "code", "--json",
                      "--rounds", 1)
    one, two = json.loads(done.stdout)
    assert one["token_counts"] == two["token_counts"] == "chunks" and one["tokens"] == 3
