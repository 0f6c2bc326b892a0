#!/usr/bin/env python3
"""Whether `vivace eval` and lm-eval, asking the server, find the same on the same questions.

    PEERS/bin/python bench/lm_eval_compare.py MODEL.gguf [--questions 120] \
        [--out FOLDER] [--publish docs/measuring.md]

To be run by a Python that has lm-eval[api], transformers, torch and gguf (bench/peers/
requirements.txt). The questions are made here, so nothing is fetched: capitals and sums, with
four choices each. lm-eval sends the prompt with each choice to /v1/completions, with "echo" and
"logprobs", and takes the likeliest; `vivace eval --tasks` reads the letters' probabilities after
the prompt. Compared are the answers and every letter's log-probability.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "peers")]
# Before what reads them is imported: nothing is to be fetched.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
import servers  # noqa: E402
from write_figures import table, write  # noqa: E402

MARK = "lm_eval_compare.py"
PREFACE = "The following are multiple choice questions (with answers).\n\n"
CAPITALS = dict(pair.split("=") for pair in (
    "France=Paris;Japan=Tokyo;Egypt=Cairo;Peru=Lima;Norway=Oslo;Kenya=Nairobi;Canada=Ottawa;"
    "Cuba=Havana;Greece=Athens;Portugal=Lisbon;Spain=Madrid;Italy=Rome;Austria=Vienna;"
    "Ireland=Dublin;Poland=Warsaw;Hungary=Budapest;Finland=Helsinki;Sweden=Stockholm;"
    "Denmark=Copenhagen;Russia=Moscow;Turkey=Ankara;Iran=Tehran;Iraq=Baghdad;India=New Delhi;"
    "Thailand=Bangkok;Vietnam=Hanoi;China=Beijing;Chile=Santiago;Ghana=Accra;Nigeria=Abuja;"
    "Morocco=Rabat;Tunisia=Tunis;Senegal=Dakar;Ethiopia=Addis Ababa;Uganda=Kampala;"
    "Colombia=Bogota;Uruguay=Montevideo;Ecuador=Quito;Jamaica=Kingston;Nepal=Kathmandu"
).split(";"))


def questions(count):
    chance = random.Random(7)
    countries = list(CAPITALS)
    for number in range(count):
        if number % 2:
            a, b = chance.randrange(10, 60), chance.randrange(10, 40)
            text, right = f"What is {a} + {b}?", str(a + b)
            wrong = [str(a + b + d) for d in chance.sample([-10, -3, -1, 1, 2, 10, 11], 3)]
        else:
            country = countries[number // 2 % len(countries)]
            text, right = f"What is the capital of {country}?", CAPITALS[country]
            wrong = chance.sample([c for c in CAPITALS.values() if c != right], 3)
        choices = chance.sample([right, *wrong], 4)
        yield {"id": str(number), "question": text, "choices": choices,
               "answer": choices.index(right)}


def prompt(question):
    letters = "".join(f"{letter}. {choice}\n"
                      for letter, choice in zip("ABCD", question["choices"], strict=True))
    return f"{PREFACE}{question['question']}\n{letters}Answer:"


def ours(arguments, tasks):
    out = arguments.out / "vivace.jsonl"
    out.unlink(missing_ok=True)
    subprocess.run([arguments.vivace, "eval", arguments.model, "--tasks", tasks, "--out", out],
                   check=True)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()[1:]]
    return {line["item"]: line for line in lines}


def save_tokenizer(arguments):
    """lm-eval counts tokens by itself, with the GGUF's tokenizer."""
    import transformers
    folder = arguments.out / "tokenizer"
    transformers.AutoTokenizer.from_pretrained(
        arguments.model.parent, gguf_file=arguments.model.name).save_pretrained(folder)
    return folder


def theirs(arguments, asked, address):
    import lm_eval
    import lm_eval.tasks
    data = arguments.out / "prompts.jsonl"
    data.write_text("".join(json.dumps({"prompt": prompt(one), "answer": one["answer"]}) + "\n"
                            for one in asked), "utf-8")
    (arguments.out / "task.yaml").write_text(json.dumps({
        "task": "choices", "dataset_path": "json", "output_type": "multiple_choice",
        "dataset_kwargs": {"data_files": {"test": str(data.resolve())}}, "test_split": "test",
        "doc_to_text": "{{prompt}}", "doc_to_choice": ["A", "B", "C", "D"],
        "doc_to_target": "answer", "metric_list": [{"metric": "acc"}]}), "utf-8")
    result = lm_eval.simple_evaluate(
        model="local-completions", tasks=["choices"], log_samples=True, batch_size=4,
        model_args={"model": "default", "base_url": f"{address}/v1/completions",
                    "tokenizer": str(save_tokenizer(arguments)), "tokenizer_backend": "huggingface",
                    "tokenized_requests": True, "num_concurrent": 1, "max_length": 2048},
        task_manager=lm_eval.tasks.TaskManager(include_path=str(arguments.out.resolve()),
                                               include_defaults=False))
    found = result["results"]["choices"]
    samples = {}
    for sample in result["samples"]["choices"]:
        samples[str(sample["doc_id"])] = [float(answer[0]) for answer in sample["filtered_resps"]]
    return found["acc,none"], found["acc_stderr,none"], samples


def compare(asked, kept, accuracy, error, samples):
    differences, same = [], 0
    for one in asked:
        line, logprobs = kept[one["id"]], samples[one["id"]]
        same += line["chosen"] == "ABCD"[max(range(4), key=logprobs.__getitem__)]
        differences += [abs(a - b) for a, b in zip(line["logprobs"], logprobs, strict=True)]
    return {"questions": len(asked), "vivace": sum(line["value"] for line in kept.values()) /
            len(kept), "lm_eval": accuracy, "lm_eval_stderr": error, "same_answers": same,
            "largest_difference": max(differences),
            "mean_difference": sum(differences) / len(differences)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--vivace", default=os.environ.get("VIVACE_BIN", "build/release/vivace"))
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench/lm_eval"))
    parser.add_argument("--publish", type=pathlib.Path, metavar="PAGE.md")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    asked = list(questions(arguments.questions))
    tasks = arguments.out / "questions.jsonl"
    tasks.write_text("".join(json.dumps(one) + "\n" for one in asked), "utf-8")
    kept = ours(arguments, tasks)
    command = [arguments.vivace, "serve", arguments.model, "--log-level", "off"]
    with servers.running("vivace", command, arguments.out / "server.log") as server:
        address = server.address.split("=")[1]
        result = compare(asked, kept, *theirs(arguments, asked, address))
    print(json.dumps(result))
    if arguments.publish:
        write(arguments.publish, MARK, [table(
            ["model", "questions", "accuracy, vivace eval", "accuracy, lm-eval", "same answers",
             "log-probabilities differ by at most"],
            [[f"`{arguments.model.stem}`", str(result["questions"]), f"{result['vivace']:.4f}",
              f"{result['lm_eval']:.4f} ± {1.96 * result['lm_eval_stderr']:.4f}",
              str(result["same_answers"]), f"{result['largest_difference']:.1e}"]])])


if __name__ == "__main__":
    main()
