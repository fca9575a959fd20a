"""Run the Inspect task in an environment of its own, and compare its log with runs on the same replies.

    python tests/bridges/inspect_check.py [--env FOLDER] [--embedded]

FOLDER keeps the environment, which is made anew in a temporary one otherwise; selfdiag itself is installed in every
case. With ``--embedded`` the real embedded model answers instead of scripted ones, each prompt once: Inspect and the
run get the same reply to it.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from other_tool import (
    KEY,
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

SERVICE = "check"
WAYS: dict[str, tuple[list[str], list[str]]] = {
    "quick": ([], []),
    "a schema, an example, another seed": (
        ["-T", "structured=on", "-T", "example=85", "-T", "seed=7"],
        ["--structured", "on", "--example", "85", "--seed", "7"],
    ),
    "two passes through two topics": (
        ["-T", "bins=physics,history", "--epochs", "2"],
        ["--bins", "physics,history", "--repeat", "2"],
    ),
    "all wordings of probes": (
        ["-T", "sections=probes", "-T", "paraphrase=all"],
        ["--sections", "probes", "--paraphrase", "all"],
    ),
}
"""How the task is asked, and how a run is asked for the same."""


def evaluated(tool: Path, work: Path, name: str, url: str, flags: list[str]) -> Path:
    """Run the task with one model and return its log."""
    logs = work / f"logs-{secrets.token_hex(4)}"
    words = ("eval", "selfdiag/audit", "--model", f"openai-api/{SERVICE}/{name}", "--log-dir", logs)
    service = {f"{SERVICE.upper()}_API_KEY": KEY, f"{SERVICE.upper()}_BASE_URL": url}
    command(tool / "inspect", *words, "--display", "none", *flags, cwd=work, **service)
    return next(logs.glob("*.eval"))


def compared(tool: Path, work: Path, name: str, url: str, way: str) -> bool:
    """Return whether the log of the task and a run come to the same summary."""
    task, run = WAYS[way]
    log = evaluated(tool, work, name, url, task)
    found = json.loads(command(tool / "selfdiag", "analyze", log, "--json", cwd=work))
    plain = [] if "--structured" in run else ["--structured", "off"]
    ours = summary_of_run(work, name, url, *plain, *run)
    same = tell(f"{name}, {way}", differences(found, ours, frozenset({"usage/seconds"})))
    return _as_printed(log, tool, work, found) and same


def _as_printed(log: Path, tool: Path, work: Path, found: dict[str, Any]) -> bool:
    """Return whether the figures that Inspect printed are those of the summary."""
    header = json.loads(command(tool / "inspect", "log", "dump", "--header-only", log, cwd=work))
    printed = {name: metric["value"] for name, metric in header["results"]["scores"][0]["metrics"].items()}
    names = {"accuracy": "accuracy", "gap": "gap", "brier": "brier", "trap_rate": "trap_abstention"}
    ours = {name: found["metrics"][measure]["value"] for name, measure in names.items()}
    ours["mean_confidence"] = found["mean_confidence"]
    ours = {name: value for name, value in ours.items() if value is not None}
    return tell("  the figures Inspect prints", differences(printed, ours)) if printed != ours else True


def scripted(tool: Path, work: Path) -> bool:
    """Return whether all scripted models come out the same both ways."""
    with personas() as stub:
        done = [compared(tool, work, name, stub.url, "quick") for name in PERSONAS]
        done += [compared(tool, work, "overconfident", stub.url, way) for way in WAYS if way != "quick"]
    return all(done)


def embedded(tool: Path, work: Path) -> bool:
    """Return whether the real model comes out the same both ways; it needs a schema to keep to the form."""
    WAYS["held to a schema"] = (
        ["-T", "structured=on", "--max-tokens", "128", "--max-connections", "1"],
        ["--structured", "on", "--max-tokens", "128"],
    )
    with embedded_model("the check against Inspect") as stub:
        return compared(tool, work, "embedded", stub.url, "held to a schema")


def main() -> None:
    """Make the environment, run the check, and end with 1 when a number differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", type=Path)
    parser.add_argument("--embedded", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tool = environment(chosen.env or work / "env", f"{ROOT}[inspect]", "openai")
        # what is being checked is this checkout, whatever an earlier check has left
        pip = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", str(ROOT)]
        subprocess.run([tool / "pip", *pip], check=True)
        same = embedded(tool, work) if chosen.embedded else scripted(tool, work)
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
