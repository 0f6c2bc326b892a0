"""What a run finds out about the machine is remembered, and never stands in the way."""
import json

import pytest

STEPS = 60  # more than the measurement takes


def run(vivace, model, *flags):
    return vivace.json("run", model, "--raw", "-p", "Once upon a time", "--temperature", 0,
                       "--max-tokens", STEPS, *flags)


def test_the_prefetch_distance_is_remembered_and_changes_no_token(vivace, model):
    path = model("smollm2")
    first = run(vivace, path)
    file = vivace.home / "tuning.json"
    (key, distance), = json.loads(file.read_text())["prefetch_bytes"].items()
    assert first["timings"]["kernels"] in key
    assert distance in (0, 2048, 4096, 8192)
    for known in (0, 8192):
        file.write_text(json.dumps({"prefetch_bytes": {key: known}}))
        assert run(vivace, path)["tokens"] == first["tokens"]
        assert json.loads(file.read_text())["prefetch_bytes"][key] == known


@pytest.mark.parametrize("content", ["", "{", "[]", '{"prefetch_bytes": 7}',
                                     '{"prefetch_bytes": {"x": "y"}}'])
def test_a_damaged_file_is_as_good_as_none(vivace, model, content):
    vivace.home.mkdir()
    file = vivace.home / "tuning.json"
    file.write_text(content)
    assert len(run(vivace, model("smollm2"))["tokens"]) > 0
    assert isinstance(json.loads(file.read_text())["prefetch_bytes"], dict)
