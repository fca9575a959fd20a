"""Make the logs beside this file: run Inspect AI, lm-evaluation-harness and promptfoo against a scripted model.

    python tests/data/logs/make_logs.py [--envs FOLDER] [--embedded]

Each tool is installed into an environment of its own below FOLDER (a temporary one unless named; what is there already
is used as it is), asks a server on loopback that answers with seeded replies, and writes its own log. The accuracies
that the tools printed go into ``expected.json``. With ``--embedded`` the same evaluations ask the real embedded model
instead, fewer of them, and its logs go into the folder ``embedded``; that needs the extra ``embedded``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from http_stub import Answer, Request, Stub, as_json, completion  # noqa: E402 - found by the path above

SEED = 20260204
INSPECT, LM_EVAL = ("inspect-ai==0.3.285", "openai"), ("lm_eval[api]==0.4.13",)
NODE, PROMPTFOO = "node@26", "promptfoo@0.123.1"
CONTRACT = {
    "json": 'Reply with one JSON object: "answer", a word or a number, and "confidence", a whole number from 0 to 100. '
    "If you do not know, the answer is UNANSWERABLE.",
    "prose": "Reply with two lines: 'Answer: ' and your answer, then 'Confidence: ' and a percentage.",
}
QUESTIONS = [
    ("capitals", "What is the capital of France?", "Paris", "Lyon"),
    ("capitals", "What is the capital of Norway?", "Oslo", "Bergen"),
    ("capitals", "What is the capital of Kenya?", "Nairobi", "Mombasa"),
    ("capitals", "What is the capital of Australia?", "Canberra", "Sydney"),
    ("capitals", "What is the capital of Peru?", "Lima", "Cusco"),
    ("capitals", "What is the capital of Turkey?", "Ankara", "Istanbul"),
    ("sums", "What is 17 + 26?", "43", "33"),
    ("sums", "What is 58 + 67?", "125", "115"),
    ("sums", "What is 91 - 48?", "43", "53"),
    ("sums", "What is 12 x 13?", "156", "146"),
    ("sums", "What is 144 / 9?", "16", "18"),
    ("sums", "What is 7 x 18?", "126", "116"),
    ("elements", "Which element has the symbol Na?", "sodium", "nitrogen"),
    ("elements", "Which element has the symbol K?", "potassium", "krypton"),
    ("elements", "Which element has the symbol Fe?", "iron", "fluorine"),
    ("elements", "Which element has the symbol Au?", "gold", "silver"),
]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked: the model for each form of reply, and which logs each tool writes.

    ``inspect`` holds for each log its name, the task, the form and how many samples; ``promptfoo`` names its logs,
    which hold the answers of all ``compared`` models.
    """

    models: dict[str, str]
    inspect: tuple[tuple[str, str, str, int], ...]
    promptfoo: tuple[str, ...]
    compared: tuple[str, ...]


SCRIPTED = Asked(
    models={"json": "stub-json", "prose": "stub-prose"},
    inspect=(
        ("inspect_json_replies.eval", "facts", "json", 16),
        ("inspect_json_replies.json", "facts", "json", 6),
        ("inspect_prose_two_scorers.eval", "twice", "prose", 10),
        ("inspect_ended_in_error.eval", "broken", "json", 16),
    ),
    promptfoo=("promptfoo_two_models.json", "promptfoo_two_models.jsonl"),
    compared=("stub-json", "broken-json"),
)
EMBEDDED = Asked(
    models={"json": "embedded"},
    inspect=(("inspect_embedded.eval", "facts", "json", 16),),
    promptfoo=("promptfoo_embedded.json",),
    compared=("embedded",),
)


def scripted(model: str, question: str) -> str:
    """Return the reply of a scripted model; the last part of its name is the form of its replies."""
    _, _, right, wrong = next(row for row in QUESTIONS if row[1] in question)
    draw = random.Random(f"{SEED} {model} {right}")
    kind = draw.choices(("right", "wrong", "abstains", "silent"), (50, 27, 11, 12))[0]
    confidence = 5 * draw.randint(13, 20) if kind == "right" else 5 * draw.randint(8, 19)
    answer = {"right": right, "wrong": wrong, "abstains": "UNANSWERABLE", "silent": right}[kind]
    if model.endswith("json"):
        said = {"answer": answer} if kind == "silent" else {"answer": answer, "confidence": confidence}
        return json.dumps(said)
    return f"It must be {answer}, I think." if kind == "silent" else f"Answer: {answer}\nConfidence: {confidence}%"


def stub(request: Request) -> Answer:
    """Answer one chat completion; the model ``broken-json`` fails at one question."""
    asked = request.json()
    question = asked["messages"][-1]["content"]
    if asked["model"].startswith("broken") and "Peru" in question:
        return as_json({"error": {"message": "the stub fails here on purpose"}}, status=400)
    message = {"role": "assistant", "content": scripted(asked["model"], question)}
    return completion(message, model=asked["model"], id="stub", created=0)


@contextmanager
def embedded_engine() -> Iterator[Callable[[Request], Answer]]:
    """Start the embedded model and yield a function that answers chat completions with its replies."""
    from selfdiag.elicit.prompts import RESPONSE_SCHEMA
    from selfdiag.models.base import Call, ProviderOptions
    from selfdiag.models.llamacpp import embedded

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    model = embedded("", ProviderOptions())

    def wait(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    def answer(request: Request) -> Answer:
        asked = request.json()
        said = {message["role"]: message["content"] for message in asked["messages"]}
        # a model this small keeps to no form without a schema
        call = Call(system=said.get("system", ""), user=said["user"], schema=RESPONSE_SCHEMA, max_tokens=128)
        message = {"role": "assistant", "content": wait(model.ask(call)).text}
        return completion(message, model=asked["model"], id="embedded", created=0)

    try:
        wait(model.__aenter__())
        yield answer
    finally:
        wait(model.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def run(work: Path, *words: str | Path, may_fail: bool = False, **env: str) -> str:
    """Run a command in the folder ``work`` and return what it printed."""
    plain = {"PATH": os.environ["PATH"], "HOME": str(work / "home"), "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=work,
        env=plain | env,
        capture_output=True,
        check=False,
        text=True,
        timeout=600,
    )
    if done.returncode and not may_fail:
        raise SystemExit(f"{words[0]} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def python_environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """Return the ``bin`` of a virtual environment with the packages, made when it is not there."""
    if not (folder / "bin").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", *packages], check=True)
    return folder / "bin"


def node_environment(folder: Path) -> tuple[Path, Path]:
    """Return the folder of a Node new enough, and the command ``promptfoo`` of an npm folder."""
    node = folder / "node_modules/node/bin"
    command = folder / "node_modules/.bin/promptfoo"
    if not command.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, NODE], check=True)
        newer = os.environ | {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
        npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, PROMPTFOO]
        subprocess.run(npm, check=True, env=newer)
    return node, command


INSPECT_TASKS = """
import json

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, PARTIAL, Score, accuracy, includes, scorer
from inspect_ai.solver import generate, solver, system_message

ROWS = json.load(open("questions.json"))
CONTRACT = json.load(open("contract.json"))


def samples():
    return [
        Sample(input=question, target=right, id=f"q{number}", metadata={"topic": topic})
        for number, (topic, question, right, _) in enumerate(ROWS, 1)
    ]


@scorer(metrics=[accuracy()])
def careful():
    async def score(state, target):
        said = state.output.completion
        if "UNANSWERABLE" in said:
            return Score(value=NOANSWER)
        right = PARTIAL if "I think" in said else CORRECT
        return Score(value=right if target.text in said else INCORRECT, metadata={"sure": len(said) / 50})

    return score


@solver
def breaks():
    async def solve(state, generate):
        if "Peru" in state.input_text:
            raise RuntimeError("the solver fails here on purpose")
        return state

    return solve


@task
def facts(form="json"):
    return Task(dataset=samples(), solver=[system_message(CONTRACT[form]), generate()], scorer=includes())


@task
def twice(form="prose"):
    steps = [system_message(CONTRACT[form]), generate()]
    return Task(dataset=samples(), solver=steps, scorer=[careful(), includes()], epochs=2)


@task
def broken(form="json"):
    return Task(dataset=samples(), solver=[system_message(CONTRACT[form]), generate(), breaks()], scorer=includes())
"""

REWRITE = """
import json, re, sys, zipfile
import inspect_ai._util.zipfile as patched
old, new, rules = sys.argv[1:]
with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w", **patched.zipfile_compress_kwargs) as target:
    for member in source.infolist():
        text = source.read(member).decode()
        for pattern, after in json.loads(rules):
            text = re.sub(pattern, after, text)
        target.writestr(member.filename, text)
"""


def cleaning(work: Path, envs: Path) -> list[tuple[str, str]]:
    """Return patterns of what tells of this machine, and what stands there instead."""
    places = [(work, "work"), (envs, "envs"), (ROOT, "checkout"), (Path.home(), "home")]
    texts = [(str(form), name) for path, name in places for form in (path.resolve(), path)]
    # stack traces, and the description of the whole machine that lm-evaluation-harness adds
    members = r'("(?:traceback|traceback_ansi|pretty_env_info)": ?)"(?:[^"\\]|\\.)*"'
    host = rf"\b{re.escape(socket.gethostname())}\b"
    return [(members, r'\1""'), *((re.escape(text), name) for text, name in texts), (host, "host")]


def inspect_logs(asked: Asked, work: Path, envs: Path, out: Path, url: str) -> dict[str, Any]:
    """Run Inspect AI and return the figures it printed, by log."""
    tool = python_environment(envs / "inspect", INSPECT)
    (work / "tasks.py").write_text(INSPECT_TASKS, encoding="utf-8")
    (work / "questions.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    (work / "contract.json").write_text(json.dumps(CONTRACT), encoding="utf-8")
    expected: dict[str, Any] = {}
    for name, task, form, samples in asked.inspect:
        model = asked.models[form]
        logs = work / "inspect" / name
        options = ["--log-dir", logs, "--log-format", name.rpartition(".")[2], "--display", "plain"]
        limits = ["--limit", str(samples), "--max-samples", "1", "--max-retries", "0"]
        printed = run(
            *(work, tool / "inspect", "eval", f"tasks.py@{task}", "-T", f"form={form}"),
            *("--model", f"openai-api/stub/{model}", *options, *limits),
            STUB_API_KEY="none",
            STUB_BASE_URL=url,
            may_fail=task == "broken",
        )
        (written,) = logs.glob("*." + name.rpartition(".")[2])
        if name.endswith(".eval"):
            run(work, tool / "python", "-c", REWRITE, written, out / name, json.dumps(cleaning(work, envs)))
        else:
            write_clean(written, out / name, cleaning(work, envs))
        expected[name] = {"model": f"openai-api/stub/{model}", "printed": _inspect_figures(printed)}
    return expected


def _inspect_figures(printed: str) -> dict[str, float]:
    """Return the accuracy of each scorer, as the plain display prints them."""
    figures: dict[str, float] = {}
    scorers: list[str] = []
    for line in printed.splitlines():
        words = line.split()
        if words and words[0] == "accuracy":
            figures |= {name: float(value) for name, value in zip(scorers, words[1::2], strict=False)}
            scorers = []
        elif words and all(re.fullmatch(r"\w+", word) for word in words):
            scorers = words
    return figures


def lm_eval_logs(asked: Asked, work: Path, envs: Path, out: Path, url: str) -> dict[str, Any]:
    """Run lm-evaluation-harness and return the figures it printed."""
    tool = python_environment(envs / "lm_eval", LM_EVAL)
    tasks = work / "lm_eval_tasks"
    tasks.mkdir()
    rows = [
        {"topic": topic, "question": question, "answer": right, "number": number}
        for number, (topic, question, right, _) in enumerate(QUESTIONS)
    ]
    (tasks / "facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for form in asked.models:
        pattern = r'"answer": "([^"]*)"' if form == "json" else r"(?:Answer: |must be )([^\n,]*)"
        (tasks / f"facts_{form}.yaml").write_text(_lm_eval_task(form, pattern, tasks / "facts.jsonl"), "utf-8")
    expected: dict[str, Any] = {}
    for form, model in asked.models.items():
        printed = run(
            *(work, tool / "lm_eval", "run", "--model", "local-chat-completions", "--apply_chat_template"),
            *("--model_args", f"model={model},base_url={url}/chat/completions,num_concurrent=1,max_retries=1"),
            *("--tasks", f"facts_{form}", "--include_path", tasks, "--log_samples", "--output_path", work / "lm_eval"),
            OPENAI_API_KEY="none",
            HF_HUB_OFFLINE="1",
            HF_HOME=str(work / "hf"),
        )
        folder = out / "lm_eval" / model
        folder.mkdir(parents=True)
        for written in (work / "lm_eval" / model).iterdir():
            write_clean(written, folder / written.name, cleaning(work, envs))
            if written.name.startswith("samples_"):
                name = str((folder / written.name).relative_to(out))
                expected[name] = {"model": model, "printed": _lm_eval_figures(printed)}
    return expected


def _lm_eval_task(form: str, pattern: str, data: Path) -> str:
    return f"""task: facts_{form}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
description: |
  {CONTRACT[form]}
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: []
  do_sample: false
filter_list:
  - name: answer-part
    filter:
      - function: regex
        regex_pattern: '{pattern}'
      - function: take_first
  - name: whole-reply
    filter:
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""


def _lm_eval_figures(printed: str) -> dict[str, float]:
    """Return the exact match of each filter, as the table at the end prints them."""
    rows = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines() if "exact_match" in line]
    return {row[3]: float(row[row.index("exact_match") + 2]) for row in rows}


def promptfoo_logs(asked: Asked, work: Path, envs: Path, out: Path, url: str) -> dict[str, Any]:
    """Run promptfoo and return the figures it printed."""
    node, command = node_environment(envs / "promptfoo")
    tests = [
        {
            "vars": {"question": question, "topic": topic},
            "assert": [{"type": "icontains", "value": right}],
            "metadata": {"topic": topic},
        }
        for topic, question, right, _ in QUESTIONS[:9]
    ]
    config = {
        "description": "facts",
        "prompts": [
            json.dumps([{"role": "system", "content": CONTRACT["json"]}, {"role": "user", "content": "{{question}}"}])
        ],
        "providers": [
            {"id": f"openai:chat:{model}", "config": {"apiBaseUrl": url, "apiKey": "none", "temperature": 0}}
            for model in asked.compared
        ],
        "tests": tests,
    }
    (work / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    expected: dict[str, Any] = {}
    for name in asked.promptfoo:
        printed = run(
            *(work, command, "eval", "-c", "promptfooconfig.json", "-o", name, "--no-cache", "--no-progress-bar"),
            *("-j", "1", "--no-table"),
            PATH=f"{node}{os.pathsep}{os.environ['PATH']}",
            PROMPTFOO_DISABLE_TELEMETRY="1",
            PROMPTFOO_DISABLE_UPDATE="1",
            PROMPTFOO_DISABLE_REMOTE_GENERATION="1",
            PROMPTFOO_CONFIG_DIR=str(work / "promptfoo"),
            may_fail=True,  # it ends with 100 when a test fails
        )
        write_clean(work / name, out / name, cleaning(work, envs))
        expected[name] = {
            "models": [f"openai:chat:{model}" for model in asked.compared],
            "printed": _promptfoo_figures(printed),
        }
    return expected


def _promptfoo_figures(printed: str) -> dict[str, int]:
    """Return how many tests passed, failed and ended in an error."""
    found = {}
    for word in ("passed", "failed", "errors?"):
        match = re.search(rf"(\d+) {word}", printed)
        found[word.rstrip("s?")] = int(match[1]) if match else 0
    return found


def write_clean(written: Path, place: Path, rules: list[tuple[str, str]]) -> None:
    """Copy a text file without what tells of this machine."""
    text = written.read_text(encoding="utf-8")
    for pattern, after in rules:
        text = re.sub(pattern, after, text)
    place.write_text(text, encoding="utf-8")


def main() -> None:
    """Make all logs."""
    parser = argparse.ArgumentParser(description="Make the logs beside this file.")
    parser.add_argument("--envs", type=Path, help="where the environments of the tools are, or are made")
    parser.add_argument("--embedded", action="store_true", help="ask the real embedded model, into the folder embedded")
    chosen = parser.parse_args()
    asked, out = (EMBEDDED, HERE / "embedded") if chosen.embedded else (SCRIPTED, HERE)
    out.mkdir(exist_ok=True)
    for old in [*out.glob("inspect_*"), *out.glob("promptfoo_*")]:
        old.unlink()
    shutil.rmtree(out / "lm_eval", ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="logs-") as temporary:
        work = Path(temporary) / "work"
        (work / "home").mkdir(parents=True)
        envs = (chosen.envs or Path(temporary) / "envs").resolve()
        expected: dict[str, Any] = {}
        with embedded_engine() if chosen.embedded else _scripted() as decide, Stub(decide=decide) as server:
            for make in (inspect_logs, lm_eval_logs, promptfoo_logs):
                expected |= make(asked, work, envs, out, server.url)
                print(make.__name__, "done")
    (out / "expected.json").write_text(json.dumps(expected, indent=2) + "\n", encoding="utf-8")


@contextmanager
def _scripted() -> Iterator[Callable[[Request], Answer]]:
    yield stub


if __name__ == "__main__":
    main()
