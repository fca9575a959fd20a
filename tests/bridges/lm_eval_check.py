"""Run the exported task in lm-evaluation-harness, and compare its sample logs with runs on the same replies.

    python tests/bridges/lm_eval_check.py [--env FOLDER] [--embedded]

FOLDER keeps the harness's environment, which is made anew in a temporary one otherwise. Nothing of selfdiag is
installed there: the exported folder is all that the harness gets. With ``--embedded`` the real embedded model answers
instead of scripted ones, each prompt once: the harness and the run get the same reply to it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from other_tool import (
    PERSONAS,
    ROOT,
    command,
    differences,
    embedded_model,
    environment,
    personas,
    summary_of_run,
    tell,
)

PACKAGE = "lm_eval[api]"
TASK = "selfdiag_audit"
NOT_LOGGED = frozenset({"usage", "notes"})
"""The harness logs no tokens and no times, which a note says."""
WAYS: dict[str, tuple[list[str], list[str]]] = {
    "quick": ([], []),
    "an example, another seed": (["--example", "85", "--seed", "7"], ["--example", "85", "--seed", "7"]),
    "all wordings of probes": (
        ["--sections", "probes", "--paraphrase", "all"],
        ["--sections", "probes", "--paraphrase", "all"],
    ),
}
"""How the task is exported, and how a run is asked for the same."""


def sampled(tool: Path, work: Path, name: str, url: str, folder: Path) -> Path:
    """Run an exported task with one model and return its sample log."""
    output = work / f"{folder.name}-{name}"
    model = f"model={name},base_url={url}/chat/completions,num_concurrent=4"
    words = ("--model", "local-chat-completions", "--model_args", model, "--include_path", folder, "--tasks", TASK)
    more = ("--apply_chat_template", "--log_samples", "--output_path", output)
    command(tool / "lm_eval", *words, *more, cwd=work, OPENAI_API_KEY="none", HF_HUB_OFFLINE="1")
    return next(output.glob(f"*/samples_{TASK}_*.jsonl"))


def ours(*words: str | Path, work: Path) -> str:
    """Run our own command line."""
    return command(sys.executable, "-m", "selfdiag", *words, cwd=work, PYTHONPATH=str(ROOT))


def compared(tool: Path, work: Path, name: str, url: str, way: str) -> bool:
    """Return whether a sample log and a run come to the same summary."""
    exported, run = WAYS[way]
    folder = work / f"task-{list(WAYS).index(way)}"
    if not folder.exists():
        ours("probes", "export", "--format", "lm-eval", folder, *exported, work=work)
    log = sampled(tool, work, name, url, folder)
    found = json.loads(ours("analyze", log, "--json", work=work))
    summary = summary_of_run(work, name, url, "--structured", "off", *run)
    return tell(f"{name}, {way}", differences(found, summary, NOT_LOGGED))


def scripted(tool: Path, work: Path) -> bool:
    """Return whether all scripted models come out the same both ways."""
    with personas() as stub:
        done = [compared(tool, work, name, stub.url, "quick") for name in PERSONAS]
        done += [compared(tool, work, "overconfident", stub.url, way) for way in WAYS if way != "quick"]
    return all(done)


def embedded(tool: Path, work: Path) -> bool:
    """Return whether the real model's replies come out the same both ways."""
    with embedded_model("the check against lm-evaluation-harness") as stub:
        return compared(tool, work, "embedded", stub.url, "quick")


def main() -> None:
    """Make the environment, run the check, and end with 1 when a number differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", type=Path)
    parser.add_argument("--embedded", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tool = environment(chosen.env or work / "env", PACKAGE)
        same = embedded(tool, work) if chosen.embedded else scripted(tool, work)
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
