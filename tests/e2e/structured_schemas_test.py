"""Real schemas: each compiles or is refused with the path of what cannot be enforced, and
what is answered is valid by an independent validator. VIVACE_ALL_SCHEMAS=1 takes all of them."""
import concurrent.futures
import json
import os

import jsonschema
import pytest

from real_schemas import real_schemas

ALL = os.environ.get("VIVACE_ALL_SCHEMAS") == "1"
TAKEN, ANSWERED, MOST_TOKENS = (10**6, 10**6, 400) if ALL else (480, 220, 128)
AT_ONCE = 16


@pytest.fixture(scope="module")
def schemas():
    found = real_schemas()
    if not found:
        pytest.skip("no package index to fetch schemas from")
    return found[:TAKEN]


@pytest.fixture(scope="module")
def compiled(server, schemas):
    """Those that can be enforced."""
    good, errors = [], []
    for name, schema in schemas:
        status, _, body = server.request("POST", "/v1/schema/check", {"schema": schema})
        assert status in (200, 400), (name, status, body)
        if status == 200:
            good.append((name, schema))
        else:
            errors.append((name, json.loads(body)["error"]["message"]))
    print(f"{len(good)} of {len(schemas)} schemas can be enforced")
    for name, message in errors:
        assert message.startswith("schema: #"), (name, message)
    return good


def test_most_can_be_enforced_and_others_are_refused_with_a_path(schemas, compiled):
    assert len(schemas) >= 200
    assert len(compiled) > len(schemas) // 3


def needed_keys(schema):
    """All that some part of the schema asks for."""
    if isinstance(schema, list):
        return set().union(*map(needed_keys, schema))
    if not isinstance(schema, dict):
        return set()
    found = set().union(*map(needed_keys, schema.values()))
    lists = [schema.get("required")]
    for keyword in ("dependentRequired", "dependencies"):
        names = schema.get(keyword)
        lists += names.values() if isinstance(names, dict) else []
    return found.union(*(names for names in lists if isinstance(names, list)))


def bounded(schema, keep):
    """The same with short texts and lists where any length was allowed, and without the
    keys that no one needs: a small model goes on and on. What it allows, the schema allows."""
    if isinstance(schema, list):
        return [bounded(one, keep) for one in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: bounded(value, keep) for key, value in schema.items()}
    if schema.get("type") == "string" and not {"enum", "pattern", "const", "format"} & set(schema):
        schema["maxLength"] = max(schema.get("minLength", 0), 8)
    if schema.get("type") == "array":
        schema["maxItems"] = max(schema.get("minItems", 0), 1)
    keys = schema.get("properties")
    if isinstance(keys, dict) and schema.get("additionalProperties") is False:
        kept = [key for key in keys if key in keep] or list(keys)[:1]
        schema["properties"] = {key: keys[key] for key in kept}
    return schema


def validator_of(schema):
    """As the schema's own draft has it."""
    return jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)


def ask(server, schema, temperature):
    form = {"name": "a", "schema": bounded(schema, needed_keys(schema))}
    # The penalties: a small model writes the same digit without end.
    return server.post("/v1/chat/completions", {
        "messages": [{"role": "user", "content": "Give an example, as short as can be."}],
        "temperature": temperature, "seed": 3, "max_tokens": MOST_TOKENS,
        "frequency_penalty": 2, "dry_multiplier": 4, "dry_allowed_length": 1,
        "response_format": {"type": "json_schema", "json_schema": form}},
        timeout=600)["choices"][0]


@pytest.mark.parametrize("temperature", [0, 1])
def test_answers_are_valid(serve_module, compiled, temperature):
    server = serve_module("smollm2", "--parallel", AT_ONCE)
    smallest = sorted(compiled, key=lambda one: len(json.dumps(one[1])))[:ANSWERED]
    assert len(smallest) >= 200
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        choices = list(pool.map(lambda one: ask(server, one[1], temperature), smallest))
    finished = 0
    for (name, schema), choice in zip(smallest, choices):
        if choice["finish_reason"] == "length":
            continue
        assert choice["finish_reason"] == "stop", name
        value = json.loads(choice["message"]["content"])
        problem = next(validator_of(schema).iter_errors(value), None)
        assert problem is None, (name, value, problem)
        finished += 1
    print(f"{finished} of {len(smallest)} answers came to their end")
    assert finished > len(smallest) // 2
