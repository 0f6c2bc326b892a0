"""Seeded requests whose fields have the wrong types, on every endpoint that takes a body."""
import copy
import json
import random

import pytest

MESSAGES = [{"role": "user", "content": "hi"}]
VALUES = [None, True, False, 0, -1, 1.5, 1e308, 2**63, -2**63, "", "x", "😀\0", [], [1], ["a"],
          [[1, 2]], [None], {}, {"a": 1}, {"type": "text"}, MESSAGES, [{"role": 5}]]
BODIES = {"/v1/chat/completions": {"messages": MESSAGES,
                          "max_tokens": 2,
                          "temperature": 0,
                          "top_p": 1,
                          "n": 1,
                          "stop": ["a"],
                          "stream": False,
                          "seed": 1,
                          "logprobs": True,
                          "top_logprobs": 1,
                          "logit_bias": {"5": 1},
                          "tools": [],
                          "tool_choice": "auto",
                          "stream_options": {"include_usage": True},
                          "response_format": {"type": "text"},
                          "chat_template_kwargs": {},
                          "cache_id": "a",
                          "stream_chunk": {"tokens": 2, "ms": 1},
                          "context_policy": "error",
                          "n_keep": 1,
                          "options": {"num_ctx": 99},
                          "model": "default"},
 "/completion": {"prompt": "a",
                 "n_predict": 2,
                 "temperature": 0,
                 "samplers": ["top_k"],
                 "n_probs": 1,
                 "response_fields": ["content"],
                 "grammar": "",
                 "stop": "x",
                 "t_max_predict_ms": 5,
                 "logit_bias": [[1, 2]],
                 "dry_sequence_breakers": ["a"],
                 "id_slot": 0,
                 "lora": [],
                 "n_indent": 0,
                 "post_sampling_probs": True,
                 "stream": False},
 "/v1/completions": {"prompt": "a",
                     "max_tokens": 2,
                     "echo": True,
                     "suffix": "",
                     "best_of": 1,
                     "logprobs": 1},
 "/v1/responses": {"input": "a",
                   "max_output_tokens": 2,
                   "instructions": "b",
                   "tools": [],
                   "text": {"format": {"type": "text"}},
                   "previous_response_id": None,
                   "stream": False},
 "/v1/embeddings": {"input": "a", "encoding_format": "float", "dimensions": 3},
 "/v1/prefill": {"messages": MESSAGES, "partial": True, "cache_id": "q"},
 "/v1/messages": {"messages": MESSAGES,
                  "max_tokens": 2,
                  "system": "a",
                  "stop_sequences": ["x"],
                  "tools": [],
                  "tool_choice": {"type": "auto"},
                  "thinking": {"type": "disabled"},
                  "metadata": {},
                  "stream": False},
 "/v1/messages/count_tokens": {"messages": MESSAGES,
                               "system": [{"type": "text", "text": "a"}]},
 "/api/chat": {"model": "default",
               "messages": MESSAGES,
               "stream": False,
               "options": {"num_predict": 2},
               "keep_alive": "5m",
               "format": "",
               "think": False,
               "tools": [],
               "logprobs": True,
               "top_logprobs": 1},
 "/api/generate": {"model": "default",
                   "prompt": "a",
                   "stream": False,
                   "options": {"num_predict": 2},
                   "system": "a",
                   "template": "",
                   "context": [1],
                   "raw": False,
                   "suffix": "",
                   "images": [],
                   "keep_alive": 1},
 "/api/show": {"model": "default", "verbose": True},
 "/api/create": {"model": "a",
                 "from": "default",
                 "parameters": {},
                 "messages": MESSAGES,
                 "system": "a",
                 "template": "chatml",
                 "license": "x",
                 "modelfile": "",
                 "stream": False},
 "/api/copy": {"source": "a", "destination": "b"},
 "/api/embed": {"model": "default", "input": "a", "truncate": True},
 "/api/embeddings": {"model": "default", "prompt": "a"},
 "/tokenize": {"content": "a", "add_special": True, "parse_special": True, "with_pieces": True},
 "/detokenize": {"tokens": [1]},
 "/apply-template": {"messages": MESSAGES},
 "/infill": {"input_prefix": "a",
             "input_suffix": "b",
             "input_extra": [],
             "prompt": "c",
             "n_predict": 2}}


def spoiled(rng, body):
    """A copy with up to three values, at any depth of two, replaced."""
    body = copy.deepcopy(body)
    for _ in range(rng.choice([1, 1, 2, 3])):
        holder, key = body, rng.choice(list(body))
        inner = body[key][0] if isinstance(body[key], list) and body[key] else body[key]
        if isinstance(inner, dict) and inner and rng.random() < 0.5:
            holder, key = inner, rng.choice([*inner, "tool_calls", "name"])
        holder[key] = copy.deepcopy(rng.choice(VALUES))
    for limit in ("max_tokens", "n_predict", "max_output_tokens"):
        if limit in body and (body[limit] is None or body[limit] == -1):
            body[limit] = 2  # else a right answer would be a long one
    return body


@pytest.fixture(scope="module")
def target(serve_module):
    return serve_module("smollm2", "--ctx", "256", "--log-level", "off")


@pytest.mark.parametrize("path", BODIES)
def test_wrong_types_are_answered(target, path):
    rng = random.Random(path)
    for _ in range(150):
        body = spoiled(rng, BODIES[path])
        status, _, answer = target.request("POST", path, body)
        assert status < 500 or status == 501, (status, answer, json.dumps(body))
        if status >= 400:
            assert json.loads(answer)["error"], body
    assert target.get("/health") == {"status": "ok"}
