"""The commands that need no engine: list, show, rm, completion, and wrong use."""
import json
import shutil
import struct
import subprocess

import pytest

from conftest import BINARY


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def small_gguf(**texts):
    """A model file with one 32-value Q8_0 tensor and string metadata."""
    keys = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2"}
    keys |= {key.replace("__", "."): value for key, value in texts.items()}
    out = b"GGUF" + struct.pack("<IQQ", 3, 1, len(keys) + 1)
    for key, value in keys.items():
        out += text(key) + struct.pack("<I", 8) + text(value)
    out += text("llama.context_length") + struct.pack("<II", 4, 2048)
    out += text("blk.0.weight") + struct.pack("<IQIQ", 1, 32, 8, 0)
    return out + bytes(-len(out) % 32) + bytes(34)


@pytest.fixture
def models(vivace):
    folder = vivace.home / "models"
    folder.mkdir(parents=True)
    return folder


def test_list_is_empty_at_first(vivace):
    assert vivace.json("list") == []
    assert "vivace pull qwen2.5-0.5b-instruct" in vivace("list").stdout


def test_list_has_what_is_here(vivace, models):
    (models / "mine.gguf").write_bytes(bytes(1500))
    (models / "other.gguf.part").write_bytes(b"")
    [model] = vivace.json("list")
    assert model["name"] == "mine.gguf" and model["size"] == 1500
    assert model["path"] == str(models / "mine.gguf")
    table = vivace("list").stdout.splitlines()
    assert table[0].split()[:2] == ["NAME", "SIZE"]
    assert table[1].split()[:3] == ["mine.gguf", "2", "kB"]


def test_names_are_local_ones_and_the_catalogue(vivace, models):
    (models / "mine.gguf").write_bytes(b"x")
    names = vivace("list", "--names").stdout.split()
    assert names[0] == "mine.gguf"
    assert "qwen2.5-0.5b-instruct:q8_0" in names
    assert len(names) == len(set(names))


def test_show_tells_what_the_file_says(vivace, tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(small_gguf(general__license="mit",
                                tokenizer__chat_template="{{ messages }}{{ tools }}"))
    facts = vivace.json("show", path)
    assert facts["architecture"] == "llama" and facts["license"] == "mit"
    assert facts["context"] == 2048 and facts["layers"] is None
    assert facts["parameters"] == 32 and facts["bits_per_parameter"] == 8.5
    assert facts["quants"] == [{"type": "Q8_0", "tensors": 1, "bytes": 34, "share": 1.0}]
    assert facts["template"] == "{{ messages }}{{ tools }}"
    assert facts["capabilities"] == ["completion", "chat", "tools"]
    shown = vivace("show", path).stdout
    assert "Q8_0" in shown and "100.0 %" in shown and "{{ messages }}" in shown


def test_show_lets_no_file_steer_the_terminal(vivace, tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(small_gguf(general__name="\x1b[2J\x07\u009bName",
                                tokenizer__chat_template="a\x1b]0;b\x07\nc"))
    shown = vivace("show", path)
    assert shown.returncode == 0
    assert not set(shown.stdout) & {"\x1b", "\x07", "\u009b"}
    assert "?[2J??Name" in shown.stdout
    assert vivace.json("show", path)["title"] == "\x1b[2J\x07\u009bName"


def test_show_takes_texts_that_are_not_utf8(vivace, tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(small_gguf(general__name="NAME").replace(b"NAME", b"\xff\xfe\xc2x"))
    assert vivace.json("show", path)["architecture"] == "llama"
    done = subprocess.run([BINARY, "show", path], capture_output=True, check=False,
                          env=vivace.environment())
    assert done.returncode == 0


def test_show_of_a_real_model(vivace, model):
    facts = vivace.json("show", model("smollm2"))
    assert facts["architecture"] == "llama" and facts["layers"] == 30
    assert facts["heads"] == 9 and facts["kv_heads"] == 3
    assert facts["quants"][0]["type"] == "Q4_1"
    assert sum(quant["share"] for quant in facts["quants"]) == pytest.approx(1)


def test_rm_removes_by_name_only(vivace, models, tmp_path):
    outside = tmp_path / "outside.gguf"
    for path in (models / "mine.gguf", outside, vivace.home / "config.gguf"):
        path.write_bytes(b"x")
    for name in (outside, "../config.gguf", "models/mine.gguf", ".", "no-such-model"):
        assert vivace("rm", name).returncode == 1
    assert vivace.json("rm", "mine.gguf")["removed"] == str(models / "mine.gguf")
    assert outside.exists() and (vivace.home / "config.gguf").exists()
    assert not list(models.iterdir())


def test_rm_of_a_link_leaves_what_it_leads_to(vivace, models, tmp_path):
    (tmp_path / "real.gguf").write_bytes(b"x")
    (models / "link.gguf").symlink_to(tmp_path / "real.gguf")
    assert vivace("rm", "link.gguf").returncode == 0
    assert (tmp_path / "real.gguf").exists() and not (models / "link.gguf").is_symlink()


@pytest.mark.parametrize("arguments, words", [
    (["show", "none.gguf"], "none.gguf: no such file"),
    (["show", "smollm2-135m-instruct"], "not here yet: vivace pull smollm2-135m-instruct:q4_1"),
    (["show", "smolm2"], "near it are smollm2-135m-instruct|known are"),
    (["show", "/"], "/ is a folder"),
    (["rm", "gemma-3-270m"], "gemma-3-270m-q4_k_m.gguf is not in"),
    (["pull", "qwen2.5-0.5b-instruct:q3"], 'no quant "q3", allowed is q4_k_m'),
    (["pull", "hf:org/repo/../x.gguf"], "the form is hf:org/repo/file.gguf"),
])
def test_what_fails_says_so_in_one_line(vivace, arguments, words):
    done = vivace(*arguments)
    assert done.returncode == 1 and not done.stdout
    [line] = done.stderr.splitlines()
    assert line.startswith("vivace: ")
    assert any(word in line for word in words.split("|")), line


def test_show_of_a_broken_file_is_an_error(vivace, tmp_path):
    whole = small_gguf()
    path = tmp_path / "m.gguf"
    for content in (b"", b"GGUF", whole[:60], whole[:-40], b"x" * 100):
        path.write_bytes(content)
        done = vivace("show", path)
        assert done.returncode == 1
        assert done.stderr.startswith("vivace: "), content


@pytest.mark.parametrize("arguments", [
    [], ["pul"], ["pull"], ["list", "--nonsense"], ["show"], ["completion", "csh"],
])
def test_wrong_use_exits_with_2(vivace, arguments):
    done = vivace(*arguments)
    assert done.returncode == 2 and not done.stdout
    [line] = done.stderr.splitlines()
    assert line.startswith("vivace: ") and "--help" in line


@pytest.mark.parametrize("arguments, words", [
    (["--help"], ["pull", "list", "show", "rm", "Examples:"]),
    (["pull", "--help"], ["hf:org/repo/file", "Examples:"]),
    (["--version"], ["vivace 0."]),
])
def test_help_and_version_go_to_standard_output(vivace, arguments, words):
    done = vivace(*arguments)
    assert done.returncode == 0 and not done.stderr
    assert all(word in done.stdout for word in words)


def test_a_bad_catalogue_is_named(vivace, tmp_path):
    (tmp_path / "models.json").write_text('[{"name": "a/b"}]', encoding="utf-8")
    done = vivace("pull", "x", env={"VIVACE_CATALOGUE": str(tmp_path / "models.json")})
    assert done.returncode == 1
    assert "models.json: model 0: " in done.stderr


def complete(vivace, line):
    """What bash offers at the end of the line."""
    folder = BINARY.parent
    script = (f'source <(vivace completion bash); COMP_LINE={json.dumps(line)}\n'
              'COMP_POINT=${#COMP_LINE}; read -ra COMP_WORDS <<<"${COMP_LINE//:/ : }"\n'
              '[[ "$COMP_LINE" == *" " ]] && COMP_WORDS+=("")\n'
              'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _vivace; printf "%s\\n" "${COMPREPLY[@]}"')
    environment = vivace.environment()
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True,
                          check=True, env=environment, cwd=vivace.home)
    return done.stdout.split()


def test_bash_completes_commands_flags_names_and_files(vivace, models):
    (models / "mine.gguf").write_bytes(b"x")
    (vivace.home / "here.gguf").write_bytes(b"x")
    assert complete(vivace, "vivace pu") == ["pull"]
    assert complete(vivace, "vivace list --n") == ["--names"]
    assert complete(vivace, "vivace rm mi") == ["mine.gguf"]
    assert complete(vivace, "vivace pull gemma") == ["gemma-3-270m:q4_k_m"]
    assert complete(vivace, "vivace pull qwen2.5-0.5b-instruct:q8") == ["q8_0"]
    assert complete(vivace, "vivace show her") == ["here.gguf"]
    assert complete(vivace, "vivace completion ") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_valid(vivace, shell):
    script = vivace("completion", shell)
    assert script.returncode == 0 and "list --names" in script.stdout
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    subprocess.run([shell, "-n"], input=script.stdout, text=True, check=True)
