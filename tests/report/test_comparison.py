"""A comparison on a terminal and as Markdown: within 80 columns, with every mark, and with hostile names as text."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len

from selfdiag.protocols.compare import Comparison, compare
from selfdiag.protocols.compare_verdict import NAMES
from selfdiag.report.comparison import comparison_lines, comparison_markdown
from selfdiag.report.measure_words import measure_meaning, measure_name
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run

Ask = Callable[..., Run]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    def run(persona: str, **settings: object) -> Run:
        folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"

        async def events() -> None:
            async for _ in Session(RunSettings(model=f"persona:{persona}", **settings), folder=folder).events():
                pass

        asyncio.run(events())
        return read_run(folder)

    return run


@pytest.fixture
def found(ask: Ask) -> Comparison:
    return compare([ask("calibrated"), ask("overconfident"), ask("calibrated", seed=1)], draws=500)


def renamed(run: Run, **model: str) -> Run:
    manifest = msgspec.structs.replace(run.manifest, model=msgspec.structs.replace(run.manifest.model, **model))
    return msgspec.structs.replace(run, manifest=manifest)


def test_the_terminal_has_every_part_in_eighty_columns(found: Comparison) -> None:
    lines = comparison_lines(found)
    assert all(cell_len(line) <= 80 and line.isprintable() for line in lines)
    text = "\n".join(lines)
    assert lines[0].startswith("A  calibrated (simulated) · persona · ")
    assert "   tier A well calibrated · quick, 42 probes, 21 traps" in lines
    assert text.count("! simulated: these replies were written by a script, not by a model") == 3
    assert "B against A · 42 probes and 21 traps in common" in lines
    assert "  B is worse calibrated: its gap is" in text
    assert "C against A · 6 probes and 13 traps in common" in lines
    assert "! limited to the items in common: 19 of A's 63 and of C's 63" in text
    assert "  exploratory, not corrected for their number" in lines
    assert "  confidence moved most" in lines
    told = " ".join(text.split())
    assert told.count("McNemar's exact p") == told.count(", exploratory, n ") == 4
    assert "and p from 500 draws of items, paired, seed 20260101" in told


def test_a_line_of_the_table_has_the_figures(found: Comparison) -> None:
    gap = found.pairs[0].headline["gap"]
    assert gap.difference.ci is not None
    (line,) = [line for line in comparison_lines(found)[:30] if line.startswith("  gap ")]
    name, first, second, difference, low, high, n, p, corrected = line.split()
    assert (name, n) == ("gap", "42")
    for shown, value in ((first, gap.first), (second, gap.second), (difference, gap.difference.value)):
        assert float(shown) == pytest.approx(value, abs=0.00051)
    assert (float(low.strip("[],")), float(high.strip("[],"))) == pytest.approx(gap.difference.ci, abs=0.0051)
    assert (float(p), float(corrected)) == pytest.approx((gap.p, gap.holm), abs=0.00051)


def test_items_that_changed_sides_show_both_answers(found: Comparison) -> None:
    lost = found.pairs[0].probes.lost
    assert len(lost) > 10
    lines = comparison_lines(found)
    first = next(line for line in lines if line.split()[:1] == [lost[0].id])
    assert str(round(lost[0].first.confidence or 0)) in first.partition("→")[0]
    assert str(round(lost[0].second.confidence or 0)) in first.partition("→")[2]
    assert f"    and {len(lost) - 10} more; --format md has all" in lines
    report = comparison_markdown(found)
    section = report.partition("### Probes that changed sides")[2].partition("###")[0]
    assert section.count("| right to wrong |") == len(lost)
    assert section.count("| wrong to right |") == len(found.pairs[0].probes.gained)


def test_notes_on_measures_are_told_once(found: Comparison) -> None:
    text = " ".join("\n".join(comparison_lines(found)).split())
    said = "Brier score, gap: too few to test: needs 10 answers with a confidence in each run, has 6"
    assert text.count(said) == 1
    assert " nan" not in text
    assert "None" not in text


def test_a_measure_has_one_name_in_every_report(found: Comparison) -> None:
    pair = found.pairs[0]
    for name in (*pair.headline, *pair.exploratory):
        assert measure_meaning(name), name
        assert len(measure_name(name)) <= 20, "a line of the table has no more room"
    assert set(NAMES) == set(pair.headline)
    for name, said in NAMES.items():
        assert said.partition(" (")[0] == measure_name(name)


def test_markdown_has_the_same_parts(found: Comparison) -> None:
    report = comparison_markdown(found)
    assert report == comparison_markdown(found)
    for heading in ("# selfdiag: runs compared", "## B against A", "## C against A", "## How it was compared"):
        assert f"{heading}\n" in report
    assert "| A | calibrated (simulated) | persona |" in report
    assert "**worse**: B is worse calibrated" in report
    assert report.count("- A: simulated:") == 1
    columns = [line.count("|") - line.count("\\|") for line in report.splitlines() if line.startswith("| ")]
    assert set(columns) <= {4, 3, 7, 8, 9, 10}
    assert "| seed | 0 | 1 |" in report


def test_an_equal_run_shows_intervals_without_width(ask: Ask) -> None:
    run = ask("calibrated", limit=12)
    lines = comparison_lines(compare([run, run], draws=100))
    (line,) = [line for line in lines if line.startswith("  accuracy ")]
    assert line.split()[3:] == ["+.000", "[+.00,", "+.00]", "12", "1", "1"]
    assert any("no difference: each of 12 probes and 12 traps comes out alike" in line for line in lines)


def test_a_measure_without_a_value_has_a_dash(ask: Ask) -> None:
    runs = [ask(persona, limit=3, sections=("probes",)) for persona in ("calibrated", "abstainer")]
    lines = comparison_lines(compare(runs, draws=100))
    (line,) = [line for line in lines if line.startswith("  trap rate ")]
    assert line.split() == ["trap", "rate", "–", "–", "–", "0"]
    assert "  ! trap rate, Youden index: no traps in common" in lines


def test_several_replies_show_how_many_are_right(ask: Ask) -> None:
    run = ask("calibrated", limit=4, repeat=3)
    swapped = {"correct": "incorrect", "incorrect": "correct"}
    records = [msgspec.structs.replace(r, outcome=swapped.get(r.outcome, r.outcome)) for r in run.records]
    found = compare([run, msgspec.structs.replace(run, records=tuple(records))], draws=100)
    assert any(" 3/3 → " in line and " 0/3" in line for line in comparison_lines(found))
    assert "(3 of 3 right)" in comparison_markdown(found)


def test_hostile_names_and_answers_stay_text(ask: Ask) -> None:
    evil = "\x1b[31m<script>|`*\u202e" + "漢字" * 40
    run = ask("calibrated", limit=12)
    other = renamed(ask("overconfident", limit=12), name=evil, served_name=evil, digest=evil, provider=evil)
    answers = [msgspec.structs.replace(record, answer=evil) for record in other.records]
    settings = msgspec.structs.replace(other.manifest.settings, model=evil, battery=evil)
    manifest = msgspec.structs.replace(other.manifest, run_id=evil, settings=settings, prompt_version=evil)
    other = msgspec.structs.replace(other, manifest=manifest, records=tuple(answers), problems=(evil,))
    found = compare([run, other], draws=100)
    assert found.pairs[0].probes.lost
    lines = comparison_lines(found)
    assert all("\x1b" not in line and "\u202e" not in line for line in lines)
    assert all(len(line) <= 80 for line in lines)
    report = comparison_markdown(found)
    assert "\x1b" not in report
    assert "\u202e" not in report
    assert "<script>" not in report
    rows = [line for line in report.splitlines() if "script>" in line and line.startswith("|")]
    assert rows
    assert all("\\|\\`\\*" in row or "…" in row for row in rows)
