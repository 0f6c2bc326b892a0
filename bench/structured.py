#!/usr/bin/env python3
"""What binding an answer to a form costs, and what it saves.

Starts a server of MODEL and measures, one request at a time and in turns:
  masks       decoding where everything is allowed and nothing forced, against free decoding
  first use   of a schema of 200 lines
  extraction  of 8 fields from a paragraph; every answer is validated (needs jsonschema), and
              every fifth compared with as many tokens decoded freely
Nothing is drafted (docs/speculation.md): answers to the same question would be guessed from the
one before. Prints one JSON object.

usage: structured.py BINARY MODEL [--rounds N] [--threads N] [--runs N]
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import urllib.request

PARAGRAPH = ("Invoice 4711 was issued on 12 March 2026 by Miller and Sons, 5 Harbour Street, Bristol, to "
             "Anna Schmidt. She ordered three oak tables for 249.50 pounds each, paid by card, and asked "
             "for delivery before Easter. The invoice is still open.")
FIELDS = {"invoice_number": {"type": "integer", "minimum": 1, "maximum": 99999},
          "issued_on": {"type": "string", "format": "date"},
          "seller": {"type": "string", "maxLength": 30},
          "city": {"type": "string", "maxLength": 20},
          "customer": {"type": "string", "maxLength": 30},
          "quantity": {"type": "integer", "minimum": 0, "maximum": 999},
          "payment_method": {"enum": ["card", "cash", "transfer"]},
          "is_paid": {"type": "boolean"}}
INVOICE = {"type": "object", "properties": FIELDS, "required": list(FIELDS),
           "additionalProperties": False}


FREE_EVERY = 5  # runs of the extraction


class Server:
    def __init__(self, binary, model, threads):
        arguments = [binary, "serve", model, "--port", "0", "--log-level", "off"]
        arguments += ["--threads", str(threads)] if threads else []
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=os.environ)
        self.url = re.search(r"http://[^ ,]+", self.process.stdout.readline())[0]

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.loads(answer.read())


def spread(values):
    return {"median": round(statistics.median(values), 3), "min": round(min(values), 3),
            "max": round(max(values), 3)}


def masks(server, rounds):
    """Milliseconds per token, free and with a mask that allows all text."""
    body = {"prompt": "Once upon a time", "n_predict": 128, "temperature": 0, "ignore_eos": True,
            "speculation": False}
    free, bound = [], []
    for _ in range(rounds):
        for more, times in (({}, free), ({"regex": "(?s:.)*"}, bound)):
            timings = server.post("/completion", body | more)["timings"]
            assert timings["predicted_n"] == 128 and timings["forced_n"] == 0
            times.append(timings["predicted_per_token_ms"])
    return {"free_ms": spread(free), "bound_ms": spread(bound),
            "speed_of_free_pct": round(100 * statistics.median(free) / statistics.median(bound), 1)}


def large_schema(seed):
    """200 lines when written with an indent of 2."""
    properties = {}
    for i in range(32):
        kind = [{"type": "string", "maxLength": 40 + i}, {"type": "integer", "minimum": i},
                {"enum": [f"a{i}", f"b{seed}"]}, {"type": "array", "items": {"type": "number"}}][i % 4]
        properties[f"field_{seed}_{i}"] = kind
    return {"type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False}


def first_use(server, rounds):
    server.post("/v1/schema/check", {"schema": {"type": "null"}})  # what is done once
    lines = len(json.dumps(large_schema(0), indent=2).splitlines())
    times = [server.post("/v1/schema/check", {"schema": large_schema(i)})["ms"]
             for i in range(3 * rounds)]
    return {"lines": lines, "ms": spread(times)}


def extraction(server, runs):
    import jsonschema
    validator = jsonschema.Draft202012Validator(INVOICE)
    names = ", ".join(FIELDS)
    ask = {"messages": [{"role": "user", "content": f"{PARAGRAPH}\n\nGive {names} as JSON."}],
           "temperature": 0, "max_tokens": 300, "speculation": False}
    form = {"response_format": {"type": "json_schema",
                                "json_schema": {"name": "invoice", "schema": INVOICE}}}
    free, bound, valid, forced = [], [], 0, 0
    for seed in range(runs):
        answer = server.post("/v1/chat/completions",
                             ask | form | {"temperature": 0 if seed == 0 else 1, "seed": seed})
        timings = answer["timings"]
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        valid += choice["finish_reason"] == "stop" and validator.is_valid(json.loads(text))
        forced += timings["forced_n"]
        if seed % FREE_EVERY != 0:
            continue
        # The same number of tokens, one by one.
        bound.append(timings["predicted_ms"])
        timings = server.post("/v1/chat/completions", ask | {
            "max_tokens": timings["predicted_n"], "ignore_eos": True, "seed": seed,
            "temperature": 0 if seed == 0 else 1})["timings"]
        free.append(timings["predicted_ms"])
    saved = 100 * (1 - statistics.median(bound) / statistics.median(free))
    return {"runs": runs, "valid": valid, "forced_per_run": round(forced / runs, 1),
            "free_ms": spread(free), "bound_ms": spread(bound), "saved_pct": round(saved, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    server = Server(options.binary, options.model, options.threads)
    try:
        result = {"masks": masks(server, options.rounds),
                  "first_use": first_use(server, options.rounds),
                  "extraction": extraction(server, options.runs)}
        json.dump({"model": options.model.name} | result, sys.stdout, indent=2)
        print()
    finally:
        server.process.terminate()
        server.process.wait()


if __name__ == "__main__":
    main()
