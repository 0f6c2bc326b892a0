"""The smallest server with OpenAI's streamed chats, around a function that generates.

For libraries that come without a server: generate(messages, max_tokens) yields pieces of
text, and at the end the number of tokens that they were, so that nothing is counted by how a
library cuts its texts. One request at a time; the others wait, as they would for the library.
"""
import argparse
import http.server
import json
import threading


def arguments():
    """What compare.py gives to each of these servers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


def serve(generate, model, port):
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            body = json.dumps({"data": [{"id": model, "object": "model"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with lock:
                for piece in generate(request["messages"], request.get("max_tokens", 256)):
                    if isinstance(piece, int):
                        self.event({"choices": [], "usage": {"completion_tokens": piece}})
                    elif piece:
                        self.event({"choices": [{"index": 0, "delta": {"content": piece},
                                                 "finish_reason": None}]})
            self.event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")

        def event(self, data):
            text = data if isinstance(data, str) else json.dumps(data)
            chunk = f"data: {text}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
