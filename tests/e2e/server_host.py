"""A running `vivace serve`, and plain HTTP to it: what the server's tests stand on."""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time


class Server:
    """One server process. Use it as a context, or call stop()."""

    def __init__(self, program, *arguments, env=None, port=0):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [program.binary, "serve", *map(str, arguments), "--port", str(port)], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            # As from a terminal or a service: the cores are shared with the client, not its threads.
            env=program.environment(env), start_new_session=True)
        line = self.process.stdout.readline()
        address = re.search(r" on (?:https?://[^ ,]*:(\d+)|unix:(\S+))", line)
        if not address:
            self.process.kill()
            raise AssertionError(f"no address in {line!r}: {self.errors()}")
        self.port = int(address[1] or 0)
        self.url = f"http://127.0.0.1:{self.port}"

    def errors(self):
        """Its standard error so far."""
        self.log.seek(0)
        return self.log.read()

    def stop(self, with_signal=signal.SIGTERM, timeout=60):
        """Ends it; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            return self.process.wait(timeout)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def pid_status(self, field):
        """A number of /proc/PID/status, such as VmRSS (kB) or Threads."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        return int(re.search(rf"^{field}:\s+(\d+)", text, re.M)[1])

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def connect(self, timeout=120):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, timeout=120):
        """Status, headers and bytes of an answer. A dict or list is sent as JSON."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        with contextlib.closing(self.connect(timeout)) as connection:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def post(self, path, body, **options):
        """A 200's JSON."""
        status, _, answer = self.request("POST", path, body, **options)
        assert status == 200, (status, answer)
        return json.loads(answer)

    def get(self, path, **options):
        status, _, answer = self.request("GET", path, **options)
        assert status == 200, (status, answer)
        return json.loads(answer)

    def error(self, path, body, method="POST", **options):
        """Status and JSON of an answer that is no 2xx."""
        status, _, answer = self.request(method, path, body, **options)
        assert status >= 400, (status, answer)
        return status, json.loads(answer)

    @contextlib.contextmanager
    def streaming(self, path, body, content_type, timeout):
        """The answer to a POST that must be a stream of that type."""
        with contextlib.closing(self.connect(timeout)) as connection:
            connection.request("POST", path, json.dumps(body))
            answer = connection.getresponse()
            assert answer.status == 200, (answer.status, answer.read())
            assert answer.getheader("Content-Type").startswith(content_type)
            yield answer

    def events(self, path, body, timeout=120):
        """The data of each event of a stream, as (name, data), as they come."""
        with self.streaming(path, body, "text/event-stream", timeout) as answer:
            name, data = None, []
            for raw in answer:
                line = raw.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    data.append(line[6:])
                elif not line and data:
                    yield name, "\n".join(data)
                    name, data = None, []

    def stream(self, path, body, timeout=120):
        """The JSON of each event of a stream; "[DONE]" stays a string."""
        for _, data in self.events(path, body, timeout):
            yield data if data == "[DONE]" else json.loads(data)

    def lines(self, path, body, timeout=120):
        """The JSON of each line of a stream of lines."""
        with self.streaming(path, body, "application/x-ndjson", timeout) as answer:
            for line in answer:
                yield json.loads(line)


def wait_for(condition, timeout=30, step=0.02):
    """Waits until condition() is true; returns what it said last."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(step)
    return condition()


def ask_all(server, bodies, at_once):
    """The choices of chat requests, so many at a time."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        answers = pool.map(lambda body: server.post("/v1/chat/completions", body, timeout=300), bodies)
        return [answer["choices"] for answer in answers]
