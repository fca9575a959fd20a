import asyncio
import re
from pathlib import Path

import msgspec
from rich.cells import cell_len

from selfdiag.protocols.audit import summarise
from selfdiag.report.audit_markdown import audit_markdown
from selfdiag.report.card import card_lines, framed
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import read_run


def report(tmp_path: Path, persona: str, **settings: object) -> str:
    session = Session(RunSettings(model=f"persona:{persona}", **settings), folder=tmp_path / "run")

    async def ask() -> None:
        async for _ in session.events():
            pass

    asyncio.run(ask())
    run = read_run(session.folder)
    return audit_markdown(run, summarise(run, draws=100))


def test_missed_traps_are_told_on_the_scale_of_the_confidence(tmp_path: Path) -> None:
    found = re.search(r"it said (\d+) on average", report(tmp_path, "overconfident"))
    assert found is not None
    assert 80 <= int(found[1]) <= 90


def test_bounds_stand_in_the_report_when_replies_were_lost(tmp_path: Path) -> None:
    text = report(tmp_path, "malformed")
    assert "## Bounds" in text
    rows = dict(re.findall(r"\| (accuracy|gap) \| ([^|]+ \| [^|]+) \|\n", text.partition("## Bounds")[2]))
    low, high = (int(part.strip(" %")) for part in rows["accuracy"].split("|"))
    assert low < high
    assert "those of the gap had all of them been right at confidence 0, or wrong at 100:" in text
    assert "## Bounds" not in report(tmp_path / "other", "calibrated")


def test_chance_gaps_of_questions_asked_again_are_told_to_be_too_narrow(tmp_path: Path) -> None:
    told = "take every reply for a question of its own, so they are too narrow."
    assert told in report(tmp_path / "twice", "calibrated", limit=30, repeat=2)
    assert told not in report(tmp_path / "once", "calibrated", limit=30)


def test_the_command_that_asks_the_same_again_has_every_setting_that_matters(tmp_path: Path) -> None:
    text = report(tmp_path, "calibrated", bins=("physics", "logic"), seed=3, example=85, limit=2, concurrency=9)
    (again,) = re.findall(r"^    (selfdiag run .*)$", text, re.MULTILINE)
    assert again == "selfdiag run persona:calibrated --seed 3 --bins physics,logic --limit 2 --example 85"


def test_a_run_without_a_probe_does_not_speak_of_wrong_answers(tmp_path: Path) -> None:
    text = report(tmp_path, "calibrated", sections=("traps",))
    assert "No probe has been asked." in text
    assert "answers 0 of 0" not in text


def test_a_run_whose_manifest_has_lost_its_sessions_is_still_reported(tmp_path: Path) -> None:
    report(tmp_path, "blind", limit=2)
    run = read_run(tmp_path / "run")
    bare = msgspec.structs.replace(run, manifest=msgspec.structs.replace(run.manifest, sessions=()))
    text = audit_markdown(bare, summarise(bare, draws=100))
    assert "| started | unknown |" in text and "| calls at once | unknown |" in text


def test_no_text_of_a_manifest_breaks_out_of_its_cell(tmp_path: Path) -> None:
    report(tmp_path, "blind", limit=2)
    run = read_run(tmp_path / "run")
    nasty = "1 | 2\n\n# <b>"
    stretch = msgspec.structs.replace(run.manifest.sessions[0], concurrency=nasty)
    model = msgspec.structs.replace(run.manifest.model, details={f"a{nasty}": nasty})
    manifest = msgspec.structs.replace(run.manifest, sessions=(stretch,), model=model)
    run = msgspec.structs.replace(run, manifest=manifest)
    text = audit_markdown(run, summarise(run, draws=100))
    assert "\n# <b>" not in text and "<b>" not in text
    method = text.partition("## How it was asked")[2].partition("To ask the same again")[0]
    rows = [line for line in method.splitlines() if line.startswith("|")]
    assert len(rows) > 10 and all(row.replace("\\|", "").count("|") == 3 for row in rows)


def test_a_missing_interval_says_why_on_the_card(tmp_path: Path) -> None:
    report(tmp_path, "blind", limit=8)
    lines = "\n".join(card_lines(summarise(read_run(tmp_path / "run"), draws=100)))
    assert "no interval: 3 right" in lines
    assert re.search(r"discrimination  \+\.000 \S", lines)


def test_the_frame_holds_names_of_wide_characters(tmp_path: Path) -> None:
    report(tmp_path, "blind", limit=2)
    run = read_run(tmp_path / "run")
    model = msgspec.structs.replace(run.manifest.model, name="模型" * 20, served_name="模" * 300)
    run = msgspec.structs.replace(run, manifest=msgspec.structs.replace(run.manifest, model=model))
    lines = framed(card_lines(summarise(run, draws=100)))
    assert {cell_len(line) for line in lines} == {80}
    assert lines[1].startswith("│  模型") and "…" in lines[1]
    assert lines[3].startswith("│   ")  # the tier, which is painted by its place
