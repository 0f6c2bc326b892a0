"""What clients, networks and proxies do to a server, which has to go on answering."""
import contextlib
import json
import os
import resource
import socket
import ssl
import subprocess
import threading
import time

import pytest

from server_host import Server, wait_for

CHAT = "/v1/chat/completions"


def ask(text="Say hello.", **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0,
            "max_tokens": 8} | more


def long_prompt(words):
    return ask("word " * words, max_tokens=1)


def raw_request(server, body, path=CHAT):
    data = json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: localhost:{server.port}\r\n"
            f"Content-Length: {len(data)}\r\n\r\n").encode() + data


def busy_pages(server):
    return server.get("/v1/cache")["models"][0]["pages_in_use"]


@pytest.fixture(scope="module")
def target(warm, model):
    """One server for all that must not hurt it; at the end it is as it was."""
    with Server(warm, model("smollm2"), "--parallel", "2", "--queue", "4") as server:
        # Long enough to be written to disk, by a thread that starts with the first such prompt.
        server.post(CHAT, ask("word " * 200))
        assert wait_for(lambda: server.get("/v1/cache")["models"][0]["disk_tokens"] > 0)
        threads, descriptors = server.pid_status("Threads"), server.descriptors()
        yield server
        assert wait_for(lambda: busy_pages(server) == 0) is True
        assert server.post(CHAT, ask())["choices"]
        assert server.pid_status("Threads") <= threads
        assert wait_for(lambda: server.descriptors() <= descriptors + 2)


@pytest.mark.parametrize("bytes_", [
    b"", b"\r\n", b"GET", b"GET / HTTP/9.9\r\n\r\n", b"\x00\x01\x02\x03\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n", b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /completion HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    b"POST /completion HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n",
    b"POST /completion HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
    b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET http:// HTTP/1.1\r\n\r\n"])
def test_malformed_http(target, bytes_):
    with socket.create_connection(("127.0.0.1", target.port), timeout=30) as client:
        client.sendall(bytes_)
        client.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while client.recv(65536):
                pass
    assert target.get("/health") == {"status": "ok"}


@pytest.mark.parametrize("stage", [
    "connected", "half a head", "half a body", "sent", "reading nothing", "first bytes read"])
def test_clients_that_leave(target, stage):
    data = raw_request(target, ask(max_tokens=400, stream=True, ignore_eos=True))
    cut = {"connected": 0, "half a head": 20, "half a body": len(data) - 30}.get(stage, len(data))
    for _ in range(10):
        client = socket.create_connection(("127.0.0.1", target.port), timeout=30)
        client.sendall(data[:cut])
        if stage == "first bytes read":
            assert client.recv(10)
        if stage == "reading nothing":
            time.sleep(0.05)
        client.close()
    assert wait_for(lambda: busy_pages(target) == 0) is True


def test_leaving_while_queued_and_in_prefill(target):
    """Three long prompts for two places: one runs, one waits; all leave."""
    clients = [socket.create_connection(("127.0.0.1", target.port), timeout=30) for _ in range(4)]
    for number, client in enumerate(clients):
        client.sendall(raw_request(target, ask(f"{number} " + "word " * 6000)))
    assert wait_for(lambda: busy_pages(target) > 0)
    for client in clients:
        client.close()
    assert wait_for(lambda: busy_pages(target) == 0) is True


def test_slow_readers_do_not_stop_others(target):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", target.port))
    client.sendall(raw_request(target, ask(max_tokens=1000, stream=True, ignore_eos=True,
                                           logprobs=True, top_logprobs=20)))
    assert client.recv(100)
    for number in range(5):
        assert target.post(CHAT, ask(f"{number}"))["choices"]
    client.close()


def test_large_bodies(target):
    status, answer = target.error(CHAT, ask("x" * 10_000_000))
    assert status == 400 and answer["error"]["type"] == "exceed_context_size_error"
    status, answer = target.error(CHAT, ask("a b " * 50_000))  # 100 000 tokens
    assert status == 400 and answer["error"]["n_prompt_tokens"] > 99_000
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        status, answer = target.error(CHAT, ask("x" * 40_000_000))
        assert status == 413 and answer["error"]["message"]
    deep = "[" * 100_000 + "]" * 100_000
    assert target.error(CHAT, deep)[0] == 400
    assert target.error(CHAT, '{"messages":' * 2000)[0] == 400


def test_unknown_paths_and_methods(target):
    for dialect, shape in [("/v1/nothing", "error"), ("/api/nothing", "error")]:
        status, _, body = target.request("GET", dialect)
        assert status == 404 and shape in json.loads(body)
    assert isinstance(json.loads(target.request("GET", "/api/nothing")[2])["error"], str)
    status, headers, _ = target.request("GET", CHAT)
    assert status == 405 and "POST" in headers["Allow"]
    assert target.request("HEAD", "/health")[0] == 200


def test_connections_opened_and_left(target):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2500:
        pytest.skip("not enough descriptors for the clients")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2500), hard))
    clients = []
    try:
        for _ in range(2000):
            clients.append(socket.create_connection(("127.0.0.1", target.port), timeout=30))
        assert target.get("/health") == {"status": "ok"}
        assert target.post(CHAT, ask())["choices"]
    finally:
        for client in clients:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_full_queue_says_so(serve):
    server = serve("smollm2", "--parallel", "1", "--queue", "1")
    clients = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(2)]
    for number, client in enumerate(clients):
        client.sendall(raw_request(server, ask(f"{number}", max_tokens=3000, ignore_eos=True)))
        time.sleep(0.3)
    status, headers, body = server.request("POST", CHAT, ask("third"))
    assert status == 503 and headers["Retry-After"]
    assert json.loads(body)["error"]["type"] == "unavailable_error"
    for client in clients:
        client.close()
    assert wait_for(lambda: busy_pages(server) == 0) is True
    assert server.post(CHAT, ask("fourth"))["choices"]


def test_health_answers_during_prefill(serve):
    server = serve("smollm2", "--ctx", "8192")
    done = []
    worker = threading.Thread(target=lambda: done.append(server.post(CHAT, long_prompt(2500))))
    worker.start()
    assert wait_for(lambda: busy_pages(server) > 0)
    answers = 0
    while not done and answers < 50:
        assert server.get("/health") == {"status": "ok"}
        answers += 1
    assert answers > 3
    worker.join()


def test_idle_costs_nothing(target):
    def ticks():
        fields = open(f"/proc/{target.process.pid}/stat", encoding="utf-8").read().split()
        return int(fields[13]) + int(fields[14])

    target.post(CHAT, ask())
    time.sleep(1)
    before = ticks()
    time.sleep(3)
    assert ticks() - before <= 3  # of 300


def test_keys(serve):
    server = serve("smollm2", "--api-key", "secret", "--api-key", "other")
    assert server.get("/health") == {"status": "ok"}
    status, answer = server.error(CHAT, ask())
    assert (status, answer["error"]["type"]) == (401, "authentication_error")
    assert server.error("/v1/models", None, method="GET")[0] == 401
    assert server.error(CHAT, ask(), headers={"Authorization": "Bearer wrong"})[0] == 401
    for headers in ({"Authorization": "Bearer secret"}, {"X-Api-Key": "other"}):
        assert server.post(CHAT, ask(), headers=headers)["choices"]
    status, headers, _ = server.request("OPTIONS", CHAT, headers={
        "Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization"})
    assert status < 300
    assert "authorization" in headers["Access-Control-Allow-Headers"].lower()


def test_other_origins(serve):
    server = serve("smollm2")
    evil = {"Origin": "https://evil.example"}
    assert server.request("POST", CHAT, ask(), headers=evil)[0] == 403
    ours = {"Origin": f"http://127.0.0.1:{server.port}"}
    status, headers, _ = server.request("POST", CHAT, ask(), headers=ours)
    assert status == 200 and headers["Access-Control-Allow-Origin"] == ours["Origin"]
    open_server = serve("smollm2", "--allow-origin", "*")
    status, headers, _ = open_server.request("POST", CHAT, ask(stream=True), headers=evil)
    assert status == 200 and "Access-Control-Allow-Origin" in headers


def test_stream_headers(target):
    status, headers, _ = target.request("POST", CHAT, ask(stream=True))
    assert status == 200
    assert headers["X-Accel-Buffering"] == "no"
    assert "no-cache" in headers["Cache-Control"]
    assert "Content-Encoding" not in headers


def test_tls(serve, tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
                    "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    server = serve("smollm2", "--tls-cert", certificate, "--tls-key", key)
    context = ssl.create_default_context(cafile=certificate)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as client:
            client.sendall(raw_request(server, ask()))
            assert client.recv(4096).startswith(b"HTTP/1.1 200")


def test_unix_socket(warm, model, tmp_path):
    path = tmp_path / "s"
    with Server(warm, model("smollm2"), "--unix", path) as server:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(raw_request(server, ask()))
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
    assert not path.exists()


def test_ipv6(warm, model):
    if not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("no IPv6 here")
    with Server(warm, model("smollm2"), "--host", "::1") as server:
        with socket.create_connection(("::1", server.port), timeout=60) as client:
            client.sendall(raw_request(server, ask()))
            assert client.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("arguments, word", [
    (["--ctx", "7"], "7"), (["--threads", "9999"], "9999"), (["--kernels", "mmx"], "mmx"),
    (["--port", "70000"], "70000"), (["--host", "no.such.host.invalid"], "no.such.host.invalid"),
    (["--tls-cert", "x"], "tls-key"), (["--log-format", "xml"], "xml"),
    (["--warm", "/no/such/file"], "/no/such/file"), (["--kv-memory-mb", "1"], "1048576"),
    (["--api-key", ""], "API key"), (["--chat-template", "nothing"], "nothing"),
    (["no-such-model"], "no-such-model")])
def test_wrong_flags(vivace, model, arguments, word):
    done = vivace("serve", model("smollm2"), "--no-pack", *arguments, timeout=60)
    assert done.returncode in (1, 2)
    assert word in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_taken_port(server, vivace, model):
    done = vivace("serve", model("smollm2"), "--no-pack", "--port", server.port, timeout=60)
    assert done.returncode == 1 and str(server.port) in done.stderr


def test_log_lines(serve):
    server = serve("smollm2", "--log-format", "json")
    server.request("POST", CHAT, ask(), headers={"X-Request-Id": "abc-123"})
    server.request("GET", "/health%0aforged")
    assert server.stop() == 0
    lines = [json.loads(line) for line in server.errors().splitlines()]
    requests = [line for line in lines if line.get("event") == "request"]
    assert requests[0]["id"] == "abc-123" and requests[0]["status"] == 200
    assert requests[1]["status"] == 404
