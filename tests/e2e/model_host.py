"""A host of model files that misbehaves on request, for the tests of downloads."""
import hashlib
import http.server
import threading
import urllib.parse


class ModelHost:
    """Serves `content` under /NAME; /NAME?what=value,... says how it misbehaves.

    announce=1   redirects first and names size and hash there, as hosts of models do
    cut=N        the first N requests for the file break off half-way
    ranges=0     sends the whole file whatever is asked for
    corrupt=1    one byte is wrong
    status=N     answers with this status only
    hang=1       takes the connection and never answers
    slow=1       sends until it is told to go on (see `go_on`)
    extra=N      goes on sending N bytes more than the file has, without a length
    size=N       says that the file has N bytes
    """

    def __init__(self, content):
        self.content = content
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.go_on = threading.Event()
        self.requests = []  # (method, path, Range header or None)
        self._broken = {}
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                host.answer(self, body=False)

            def do_GET(self):
                host.answer(self, body=True)

            def log_message(self, *arguments):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()

    def url(self, **how):
        query = urllib.parse.urlencode(how)
        return f"http://127.0.0.1:{self._server.server_port}/model?{query}"

    def ranges(self):
        """The Range headers of the requests for the file itself."""
        return [asked for method, path, asked in self.requests
                if method == "GET" and "announce" not in path]

    def answer(self, request, body):
        self.requests.append((request.command, request.path, request.headers["Range"]))
        request.close_connection = True
        how = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(request.path).query))
        if how.pop("hang", None):
            self.go_on.wait()
        elif "status" in how:
            request.send_response(int(how["status"]))
            request.send_header("Content-Length", "0")
            request.end_headers()
        elif how.pop("announce", None):
            request.send_response(302)
            request.send_header("X-Linked-Size", str(len(self.content)))
            request.send_header("X-Linked-ETag", f'"{self.sha256}"')
            request.send_header("Location", self.url(**how))
            request.send_header("Content-Length", "0")
            request.end_headers()
        else:
            self.send_file(request, how, body)

    def send_file(self, request, how, body):
        content = bytearray(self.content)
        if how.get("corrupt"):
            content[len(content) // 2] ^= 1
        asked = request.headers["Range"]
        start = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
        if asked and how.get("ranges") != "0":
            if start >= len(content):
                request.send_response(416)
                request.send_header("Content-Range", f"bytes */{len(content)}")
                request.send_header("Content-Length", "0")
                request.end_headers()
                return
            request.send_response(206)
            total = how.get("size", len(content))
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{total}")
            content = content[start:]
        else:
            request.send_response(200)
        if "extra" not in how:
            request.send_header("Content-Length", how.get("size", str(len(content))))
        request.end_headers()
        if body:
            self.send_body(request, how, bytes(content) + bytes(int(how.get("extra", 0))))

    def send_body(self, request, how, content):
        path = request.path
        if self._broken.get(path, 0) < int(how.get("cut", 0)):
            self._broken[path] = self._broken.get(path, 0) + 1
            content = content[:len(content) // 2]
        try:
            if how.get("slow"):
                request.wfile.write(content[:len(content) // 2])
                request.wfile.flush()
                self.go_on.wait()
                content = content[len(content) // 2:]
            request.wfile.write(content)
        except OSError:
            pass  # the client left
