"""Everything that reads a file: what a valid one looks like, and what is done with a file of that kind."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

from selfdiag.battery.lint import lint
from selfdiag.keys import sources
from selfdiag.protocols.analysis import Part, analyse
from selfdiag.protocols.profile_file import read_profile
from selfdiag.protocols.profile_signature import verify
from selfdiag.report.results import result_of
from selfdiag.runs.answer_file import read_file
from selfdiag.runs.audit_log import audit_in
from selfdiag.runs.events import Answered
from selfdiag.runs.importers import read_raw
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.shelf import find_run, run_folders
from selfdiag.runs.store import MANIFEST, RECORDS, Run, read_run
from selfdiag.settings import config_path, keys_path
from selfdiag.tui.choices import preferences
from tests.endurance.command import selfdiag

LOGS = Path(__file__).resolve().parents[1] / "data" / "logs"
SOME, FEW = 4, 20
"""One input in so many is also followed to its report, and to its page; a run is gone on with."""
MOST_CALLS = 200
"""A run that has more calls left is not gone on with."""
CONFIG = b"""\
# settings
[app]
theme = "dark"
[app.keys]
quit = "ctrl+q"
"""
KEYS = b"""\
OPENAI_API_KEY = "not-a-real-key-123456"
ANTHROPIC_API_KEY = true
"""
TABLE = b"""\
item,bin,model,trap,confidence,correct,raw
a,logic,one,0,85,1,"{""answer"": ""7"", ""confidence"": 85}"
b,logic,one,0,40%,0,"I am 40 % sure"
c,algebra,two,1,,abstained,UNANSWERABLE
d,algebra,two,0,0.5,true,seven
e,physics,two,0,100,no,"a, b ""c"", d"
"""


class Base(NamedTuple):
    """A valid file, or a folder of them: ``changed`` names those that are mutated, ``use`` what reads them."""

    kind: str
    name: str
    files: dict[str, bytes]
    changed: tuple[str, ...]
    use: Callable[[Path, int], None]


def bases(place: Path) -> list[Base]:
    """Return every valid file there is to start from.

    Args:
        place: a folder for what has to be made first.

    Raises:
        RuntimeError: when a valid file cannot be made.
    """
    return [*_batteries(place), *_runs(place), *_settings(), *_profiles(place), *_tables(place), *_logs()]


def _made(place: Path, *words: str) -> None:
    done = selfdiag(place / "home", *words)
    if done.code != 0:
        raise RuntimeError(f"selfdiag {' '.join(words)}: {done.stderr}")


def _batteries(place: Path) -> Iterator[Base]:
    for form in ("toml", "jsonl", "csv"):
        path = place / f"battery.{form}"
        _made(place, "probes", "export", "--format", form, "-o", str(path))
        data = path.read_bytes()
        # of the whole battery a tenth: a change must have a chance to meet what matters
        yield Base("battery", path.name, {path.name: _beginning(data, form)}, (path.name,), _use_battery)


def _beginning(data: bytes, form: str) -> bytes:
    if form == "toml":
        cut = data.index(b"[[trap]]")
        return data[: data.index(b"[[probe]]", 12_000)] + data[cut : data.index(b"[[trap]]", cut + 4_000)]
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:20], *lines[-6:]])


def _use_battery(folder: Path, number: int) -> None:
    (path,) = folder.iterdir()
    if number % SOME == 0:
        for fault in lint(path):
            str(fault)
    make_plan(RunSettings(model="persona:calibrated", battery=str(path), limit=3, seed=number))


def _runs(place: Path) -> Iterator[Base]:
    """Make a small run of every kind, simulated."""
    persona, small = "persona:suggestible", ["--limit", "4", "--repeat", "2"]
    audit = place / "audit"
    asked = ["--sections", "probes,traps,questionnaire,microprobe,anchor,fresh-check"]
    asked += ["--confidence", "stated,posthoc,logprob,agreement", "--yes"]
    _made(place, "run", persona, "--out", str(audit), *small, *asked)
    _made(place, "run", persona, "--out", str(place / "plain"), "--limit", "12", "--impute", "50")
    _made(place, "microprobe", persona, "--out", str(place / "microprobe"))
    few = ["--instances", "1", "--questionnaires", "2"]
    _made(place, "assess", persona, "--out", str(place / "assess"), *few, "--yes")
    _made(place, "topicpass", persona, "--out", str(place / "topicpass"), "--battery", "quick", "--yes")
    _made(place, "ladder", persona, "--out", str(place / "ladder"), "--battery", "quick", "--replicates", "1", "--yes")
    for path in sorted(place.rglob(MANIFEST)):
        folder = path.parent
        if place / "home" in folder.parents:
            continue
        files = {name: (folder / name).read_bytes() for name in (MANIFEST, RECORDS)}
        name = str(folder.relative_to(place))
        yield Base("run", name, files, (MANIFEST, MANIFEST, RECORDS), _use_run)


def _use_run(folder: Path, number: int) -> None:
    run = read_run(folder)
    if any("\n" in problem for problem in run.problems):
        raise AssertionError("a problem of several lines")
    result = result_of(run)
    if number % SOME == 1 and run.manifest.settings.model.startswith("persona:") and not run.manifest.settings.judge:
        asyncio.run(_resumed(folder, run))
    if number % SOME == 0:
        json.dumps(len(result.lines(True)) + len(result.lines(False)))
        result.markdown()
    if number % FEW == 0:
        result.html()


async def _resumed(folder: Path, run: Run) -> None:
    session = Session(run.manifest.settings, resume=folder)
    if not 0 < session.calls_left() < MOST_CALLS:
        return
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, Answered):
                assert event.record.error is None or event.record.error.kind != "internal", event.record.error


def _settings() -> Iterator[Base]:
    yield Base("config", "config.toml", {"config/config.toml": CONFIG}, ("config/config.toml",), _use_config)
    yield Base("config", "keys.toml", {"config/keys.toml": KEYS}, ("config/keys.toml",), _use_keys)
    yield Base("config", "latest-run", {"latest-run": b"/nowhere"}, ("latest-run",), _use_note)


def _use_config(folder: Path, _: int) -> None:
    os.environ["SELFDIAG_HOME"] = str(folder)
    assert config_path().parent.parent == folder
    preferences()


def _use_keys(folder: Path, _: int) -> None:
    os.environ["SELFDIAG_HOME"] = str(folder)
    keys_path().chmod(0o600)
    sources(keys_path(), ["OPENAI_API_KEY"])


def _use_note(folder: Path, _: int) -> None:
    os.environ["SELFDIAG_HOME"] = str(folder)
    run_folders()
    find_run("latest")


def _profiles(place: Path) -> Iterator[Base]:
    path, key = place / "profile.json", place / "key.pem"
    _made(place, "profile", "export", str(place / "plain"), "-o", str(path))
    _made(place, "profile", "keygen", "--signer", "somebody", "--key", str(key))
    _made(place, "profile", "sign", str(path), "--key", str(key))
    names = ("profile.json", "profile.json.sig", "key.pem.pub")
    files = {name: (place / name).read_bytes() for name in names}
    yield Base("profile", "profile.json", files, names, _use_profile)


def _use_profile(folder: Path, _: int) -> None:
    verify(folder / "profile.json", folder / "key.pem.pub")
    read_profile(folder / "profile.json")


def _tables(place: Path) -> Iterator[Base]:
    rows = [
        json.dumps({"item": f"i{number}", "bin": "logic", "conf": 5 * number, "correct": number % 2, "model": "m"})
        for number in range(20)
    ]
    report = place / "report.csv"
    _made(place, "report", str(place / "audit"), "--format", "csv", "-o", str(report))
    for name, data in {
        "table.csv": TABLE,
        "table.jsonl": "\n".join(rows).encode(),
        "report.csv": report.read_bytes(),
        "records.jsonl": (place / "audit" / RECORDS).read_bytes(),
    }.items():
        yield Base("answers", name, {name: data}, (name,), _use_answers)


def _logs() -> Iterator[Base]:
    """Return the logs of other tools, each with what lies beside it."""
    for path in sorted(LOGS.rglob("*")):
        if path.suffix not in {".json", ".jsonl", ".eval"} or path.name.startswith(("results_", "expected")):
            continue
        beside = path.parent.glob("results_*.json") if path.parent != LOGS else ()
        files = {one.name: one.read_bytes() for one in (path, *beside)}
        yield Base("log", path.name, files, (path.name, path.name, *files), _use_answers)


def _use_answers(folder: Path, number: int) -> None:
    # what lies beside a log is found by its name
    path = next(one for one in sorted(folder.iterdir()) if not one.name.startswith("results_"))
    audit = audit_in(path)
    if audit is not None:
        result_of(audit)
        return
    answers = read_file(path, {})
    assert len(answers.columns) == len(answers.columns.confidence) == len(answers.columns.bin)
    if number % SOME == 0:
        model = answers.model or ("",) * len(answers.columns)
        part = Part(file=path.name, columns=answers.columns, model=model, logprob=answers.logprob, notes=answers.notes)
        analyse([part], ("model",) if answers.model else (), draws=100)
    if path.name.startswith("table"):
        for _ in read_raw(path, {"raw": "raw"} if path.suffix == ".csv" else {"raw": "conf"}):
            pass


def write(base: Base, folder: Path, data: dict[str, bytes]) -> None:
    """Write the files of an input into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in (base.files | data).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
