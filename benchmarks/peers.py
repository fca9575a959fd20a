"""What one would use instead of selfdiag, measured beside it: for asking a model, and for intervals.

1,008 calls, 16 at once, without latency and with 50 ms of it, timed by the server: a run of selfdiag, bare loops,
Inspect AI and lm-evaluation-harness with their own settings for 16 at once. Only the time from the first request to the
last reply counts, not that of starting. Then intervals over 22,248 answers of 16 models: selfdiag, a scikit-learn loop
and relplot. Nothing has a bar here.

Usage: python benchmarks/peers.py [--json FILE]; it installs both tools into a temporary folder. What cannot be
installed, or does not ask once for every prompt, is left out, and standard error says why.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import measures
import numpy as np
import table
from stub_server import StubServer, stub_server
from throughput import (
    AT_ONCE,
    LATENCY,
    PROMPTS,
    bare_aiohttp,
    bare_httpx,
    httpx_over_aiohttp,
    selfdiag_run,
    timed,
)

from selfdiag.measure.discrimination import auroc
from selfdiag.measure.recalibration import smooth_ece
from selfdiag.measure.resampling import DRAWS
from selfdiag.measure.sample import Measure, Sample
from selfdiag.protocols.rows import tally_of
from selfdiag.runs.columns import Columns

REPEAT = 3
CALLS = REPEAT * PROMPTS
ROUNDS, ROUNDS_OF_TOOLS = 5, 2
PATIENCE = 600
"""Seconds until a tool must be installed, or have asked everything."""
PROMPT_FILE = "prompts.jsonl"
FEW_DRAWS = 100
"""As many as relplot takes for an interval."""
ROUNDS_OF_INTERVALS = 2

INSPECT_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def calls(prompts):
    config = GenerateConfig(temperature=0, max_tokens=128)
    return Task(dataset=json_dataset(prompts), solver=generate(), scorer=includes(), config=config)
"""
LM_EVAL_TASK = """
task: calls
dataset_path: json
dataset_kwargs:
  data_files:
    test: PROMPT_FILE
test_split: test
output_type: generate_until
description: "{{input[0].content}}"
doc_to_text: "{{input[1].content}}"
doc_to_target: target
generation_kwargs:
  until: []
  do_sample: false
  temperature: 0
  max_gen_toks: 128
metric_list:
  - metric: exact_match
"""


class Peer(NamedTuple):
    """Something that asks every prompt once; ``note`` says what about it explains its time."""

    name: str
    ask: Callable[[str], Awaitable[object]]
    note: str = ""
    rounds: int = ROUNDS
    requests: int = CALLS


def left_out(name: str, why: Exception) -> None:
    said = why.stderr if isinstance(why, subprocess.CalledProcessError) else ""
    last = (said or str(why)).strip().splitlines()[-1:]
    print(f"{name} is left out: {type(why).__name__}: {' '.join(last)}", file=sys.stderr, flush=True)


def command(*words: str | Path, work: Path, **env: str) -> str:
    """Run a program in a folder, as if at home there, and return its standard output."""
    own = {"PATH": os.environ["PATH"], "HOME": str(work)}
    done = subprocess.run(words, cwd=work, env=own | env, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout


def installed(folder: Path, *packages: str) -> str:
    """Make an environment with the packages, and return the version of the first."""
    venv.create(folder, with_pip=True)
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    subprocess.run([folder / "bin/python", *pip], capture_output=True, text=True, timeout=PATIENCE, check=True)
    name = packages[0].partition("[")[0]
    asking = f"from importlib.metadata import version; print(version({name!r}))"
    return command(folder / "bin/python", "-c", asking, work=folder).strip()


def write_prompts(path: Path) -> None:
    """Write prompts as long as those of the bare loops, no two alike."""
    with path.open("w", encoding="ascii") as file:
        for number in range(CALLS):
            texts = {"system": "s" * 400, "user": f"{number:0300}"}
            messages = [{"role": role, "content": text} for role, text in texts.items()]
            file.write(json.dumps({"input": messages, "target": "Paris"}) + "\n")


def inspect_ai(work: Path) -> Iterator[Peer]:
    env = work / "inspect-env"
    release = installed(env, "inspect-ai", "openai")
    (work / "calls.py").write_text(INSPECT_TASK, encoding="utf-8")
    usual = ["eval", "calls.py", "--model", "openai-api/stub/stub", "-T", f"prompts={work / PROMPT_FILE}"]
    usual += ["--max-connections", str(AT_ONCE), "--max-samples", str(AT_ONCE), "--display", "none"]

    def asking(*more: str) -> Callable[[str], Awaitable[object]]:
        return lambda url: asyncio.to_thread(
            command, env / "bin/inspect", *usual, *more, work=work, STUB_API_KEY="none", STUB_BASE_URL=url
        )

    why = "its time goes into its own work, as some 17 events a sample are copied, checked and logged"
    live = f"{release}; {why}, each of them committed to a database for the live view"
    yield Peer("Inspect AI", asking(), live, ROUNDS_OF_TOOLS)
    rest = f"{release}, --no-log-realtime; {why}"
    yield Peer("Inspect AI without its live log", asking("--no-log-realtime"), rest, ROUNDS_OF_TOOLS)


def lm_eval(work: Path) -> Iterator[Peer]:
    env, tasks = work / "lm-eval-env", work / "tasks"
    release = installed(env, "lm_eval[api]")
    tasks.mkdir()
    task = LM_EVAL_TASK.replace("PROMPT_FILE", json.dumps(str(work / PROMPT_FILE)))
    (tasks / "calls.yaml").write_text(task, encoding="utf-8")
    words: list[str | Path] = [
        "--model",
        "local-chat-completions",
        "--include_path",
        tasks,
        "--tasks",
        "calls",
        "--apply_chat_template",
    ]
    words += ["--log_samples", "--output_path", work / "lm-eval-logs", "--model_args"]

    def ask(url: str) -> Awaitable[object]:
        model = f"model=stub,base_url={url}/chat/completions,num_concurrent={AT_ONCE}"
        home = {"OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1"}
        return asyncio.to_thread(command, env / "bin/lm_eval", *words, model, work=work, **home)

    note = f"{release}; asks through aiohttp and keeps replies in memory: it grades and writes after the last one"
    yield Peer("lm-evaluation-harness", ask, note, ROUNDS_OF_TOOLS)


def tools(work: Path) -> list[Peer]:
    """Install the tools and return those that could be."""
    found: list[Peer] = []
    for tool in (inspect_ai, lm_eval):
        try:
            found += tool(work)
        except (OSError, subprocess.SubprocessError) as error:
            left_out(tool.__name__, error)
    return found


def loops() -> list[Peer]:
    """Return a run of ours and the bare loops, which keep nothing."""
    ours = "every reply is graded and written down as it comes"
    slow = "each request goes through all connections and tries ten times to import sniffio, which need not be there"
    return [
        # which asks for a warm-up besides
        Peer("a run of selfdiag", lambda url: selfdiag_run(url, REPEAT), ours, requests=CALLS + 1),
        Peer("a bare httpx loop", lambda url: bare_httpx(url, CALLS), slow),
        Peer("a loop of httpx over aiohttp", lambda url: httpx_over_aiohttp(url, CALLS)),
        Peer("a bare aiohttp loop", lambda url: bare_aiohttp(url, CALLS), "replies are read and dropped"),
    ]


def seconds_per_call(server: StubServer, peer: Peer) -> float:
    """Let a peer ask everything once, and return the time by the number of requests.

    Raises:
        RuntimeError: when it did not ask once for every prompt.
    """
    found = timed(server, lambda: peer.ask(server.url))
    if found.requests != peer.requests:
        raise RuntimeError(f"{found.requests} requests instead of {peer.requests}")
    return found.seconds / found.requests


def asking_rows(peers: list[Peer], latency: float, what: str) -> list[table.Row]:
    """Return the median time of each peer, asked in turns."""
    found: dict[Peer, list[float]] = {peer: [] for peer in peers}
    with stub_server(latency=latency) as server:
        timed(server, lambda: selfdiag_run(server.url, 1))  # what is imported at the first call is not timed
        for turn in range(ROUNDS):
            for peer in [peer for peer in found if turn < peer.rounds]:
                try:
                    found[peer].append(seconds_per_call(server, peer))
                # the server has nothing to tell of fewer than two requests, which is a TypeError
                except (OSError, subprocess.SubprocessError, RuntimeError, TypeError) as error:
                    left_out(peer.name, error)
                    del found[peer]
    return [
        table.Row(f"1,000 calls {what}, {peer.name}", 1000 * statistics.median(seconds), "s", note=peer.note)
        for peer, seconds in found.items()
    ]


def seconds_of_intervals(models: list[Columns], measure: Measure, draws: int) -> float:
    started = time.process_time()
    for columns in models:
        Sample(tally_of(columns), draws=draws).interval(measure)
    return time.process_time() - started


def relplot_row(name: str, models: list[Columns]) -> Iterator[table.Row]:
    """Yield the time of its smooth ECE with an interval, without the diagram around it."""
    try:
        import relplot
    except ImportError as error:
        left_out("relplot", error)
        return

    def seconds() -> float:
        started = time.process_time()
        for columns in models:
            correct = np.array(columns.outcome) == "correct"
            relplot.prepare_rel_diagram(columns.confidence, correct, plot_confidence_band=False)
        return time.process_time() - started

    note = f"{version('relplot')}, the {FEW_DRAWS} draws it always takes; it smooths all answers anew at each width"
    yield table.Row(f"{name}, relplot", quickest(seconds), "s", note=note)


def scikit_learn_rows(area: str, summary: str, columns: Columns) -> Iterator[table.Row]:
    """Yield the time of bootstrap loops, as far as one model's answers go."""
    try:
        from sklearn.calibration import calibration_curve
        from sklearn.metrics import brier_score_loss, roc_auc_score
    except ImportError as error:
        left_out("scikit-learn", error)
        return

    def row(name: str, *scores: Callable[..., object]) -> table.Row:
        seconds = quickest(lambda: measures.seconds_of_loop(columns, *scores, draws=DRAWS))
        called = ", ".join(score.__name__ for score in scores)
        note = f"{version('scikit-learn')}, {called}; {DRAWS:,} draws of one model, times {measures.MODELS}"
        return table.Row(f"{name}, a scikit-learn loop", seconds, "s", note=note)

    yield row(area, roc_auc_score)
    yield row(f"three measures of {summary}", roc_auc_score, brier_score_loss, calibration_curve)


def quickest(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(ROUNDS_OF_INTERVALS))


def interval_rows() -> Iterator[table.Row]:
    """Yield the time of the same intervals by several means, where any of the 101 values may be stated."""
    answers = list(measures.answers(every_value=True))
    models = [columns for _, columns in answers]
    of_all = f"{measures.MODELS} models' {measures.ROWS:,} answers"
    area, smooth = f"AUROC and interval, {of_all}", f"smooth ECE and interval, {of_all}"

    def ours(name: str, measure: Measure, draws: int) -> table.Row:
        seconds = quickest(lambda: seconds_of_intervals(models, measure, draws))
        return table.Row(f"{name}, selfdiag", seconds, "s", note=f"{draws:,} draws")

    yield ours(area, lambda tally: auroc(tally.answered), DRAWS)
    seconds = quickest(lambda: measures.seconds_of_summary(answers))
    note = f"every measure, topic and tier, {DRAWS:,} draws"
    yield table.Row(f"the whole summary of {of_all}, selfdiag", seconds, "s", note=note)
    yield from scikit_learn_rows(area, of_all, models[0])
    yield ours(smooth, lambda tally: smooth_ece(tally.answered), FEW_DRAWS)
    yield from relplot_row(smooth, models)


def rows() -> list[table.Row]:
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        write_prompts(work / PROMPT_FILE)
        peers = [*loops(), *tools(work)]
        asked = asking_rows(peers, 0.0, "without latency")
        asked += asking_rows(peers, LATENCY, "with 50 ms latency")
    return [*asked, *interval_rows()]


if __name__ == "__main__":
    table.main("Measure what one would use instead.", rows)
