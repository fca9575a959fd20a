"""Imputed confidences: which rows get one, in which figures, and that every figure with one says so."""

import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import msgspec
import numpy as np
import pytest
from claim_runs import asked
from made_runs import measured

from selfdiag.protocols.audit import summarise
from selfdiag.protocols.gates import Gates, check
from selfdiag.protocols.imputation import Imputation, imputation_note, impute
from selfdiag.protocols.sources import run_columns
from selfdiag.protocols.summary import Summary
from selfdiag.report.audit_html import audit_html
from selfdiag.report.audit_markdown import audit_markdown
from selfdiag.report.card import card_lines
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import Run

ROWS: list[tuple[str, int | None]] = [
    *[("correct", 80)] * 8,
    *[("incorrect", 60)] * 12,
    ("correct", None),
    ("incorrect", None),
    ("unparsed", None),
    ("unparsed", None),
    ("unparsed", 90),
    ("truncated", None),
    ("empty", None),
    ("overflow", None),
    ("refused", None),
    ("refused", 70),
    ("abstained", None),
    ("abstained", 40),
]
STATED = [80] * 8 + [60] * 12 + [70, 40]


def run_of(folder: Path, rows: Sequence[tuple[str, int | None]] = ROWS, **settings: object) -> Run:
    given = iter(rows)
    return measured(folder, lambda call, probe: next(given), limit=len(rows), **settings)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Summary, Summary]:
    """The same replies without and with 50 imputed."""
    return summarise(run_of(tmp_path / "plain"), draws=100), summarise(
        run_of(tmp_path / "filled", impute=50), draws=100
    )


def test_replies_without_a_confidence_get_it_and_malformed_ones_are_wrong(pair: tuple[Summary, Summary]) -> None:
    _, filled = pair
    assert filled.imputed == Imputation(confidence=50, imputed=4, malformed=3, unstated=2)
    said = [*STATED, 50, 50, 50, 50, 90]
    gap = filled.metrics_attempted["gap"]
    assert gap.n == len(said) == 27
    assert gap.value == pytest.approx(np.mean(said) / 100 - 9 / 27)
    assert filled.mean_confidence_attempted == pytest.approx(np.mean(said))
    wrong = 12 + 2 + 1 + 3
    assert filled.metrics_attempted["accuracy"].value == pytest.approx(9 / (9 + wrong))
    right, missed = [80] * 8 + [50], [60] * 12 + [70, 40, 50, 50, 50, 90]
    brier = np.mean([(p / 100 - 1) ** 2 for p in right] + [(p / 100) ** 2 for p in missed])
    assert filled.metrics_attempted["brier"].value == pytest.approx(brier)


def test_nothing_else_rests_on_an_imputed_value(pair: tuple[Summary, Summary]) -> None:
    plain, filled = pair
    for name in Summary.__struct_fields__:
        if name not in {"run_id", "metrics_attempted", "mean_confidence_attempted", "imputed", "notes"}:
            assert getattr(plain, name) == getattr(filled, name), name
    assert plain.imputed is None
    assert filled.counts["probes"]["unparsed"] == 3
    gates = Gates(fail_under="C", max_gap=0.2, max_high_confidence_error=0.5)
    assert check(gates, plain) == check(gates, filled)


def test_every_figure_with_an_imputed_value_and_every_report_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", impute=50)
    summary = summarise(run, draws=100)
    assert all("4 confidences imputed as 50" in one.note for one in summary.metrics_attempted.values())
    assert not any("imputed" in one.note for one in summary.metrics.values())
    said = "4 of 27 confidences in the attempted-as-wrong figures are imputed as 50, as the SCE study did"
    assert any(note.startswith(said) for note in summary.notes)
    card = " ".join(" ".join(card_lines(summary)).split())
    assert said in card
    figures = re.search(r"Attempted as wrong, n 27: accuracy 33 % \[\d+, \d+\], stated 65, gap [^!]*?AUROC \S+", card)
    assert figures is not None
    report = audit_markdown(run, summary)
    assert "imputed as 50" in " ".join(report.replace("│", " ").split())
    assert "--impute 50" in report
    page = unescape(audit_html(run, summary))
    assert figures[0] in page and said in page


def test_a_run_without_it_says_nothing_of_it(pair: tuple[Summary, Summary]) -> None:
    plain, _ = pair
    assert "imputed" not in " ".join(plain.notes)
    assert "Attempted as wrong" not in " ".join(card_lines(plain))


def test_another_value_is_another_reading(tmp_path: Path) -> None:
    low, high = (summarise(run_of(tmp_path / str(n), impute=n), draws=100) for n in (0, 100))
    assert low.metrics_attempted["gap"].n == high.metrics_attempted["gap"].n == 27
    difference = high.metrics_attempted["gap"].value - low.metrics_attempted["gap"].value
    assert difference == pytest.approx(4 / 27)


def test_where_nothing_is_missing_nothing_changes_and_it_says_that(tmp_path: Path) -> None:
    rows = [row for row in ROWS if row[1] is not None and row[0] != "unparsed"]
    plain = summarise(run_of(tmp_path / "plain", rows), draws=100)
    filled = summarise(run_of(tmp_path / "filled", rows, impute=50), draws=100)
    assert filled.metrics_attempted == plain.metrics_attempted
    assert filled.notes[0] == "no confidence had to be imputed as 50 in the attempted-as-wrong figures"


def test_traps_keep_what_was_read(tmp_path: Path) -> None:
    settings = RunSettings(model="persona:malformed", impute=50, battery="full")
    run = asked(settings, tmp_path / "run")
    columns, _ = run_columns(run, run.measured())
    filled, found = impute(columns, run.measured(), 50)
    assert found.malformed > 10
    assert found.unstated > 10
    assert any(record.trap and record.outcome == "unparsed" for record in run.measured())
    traps = np.flatnonzero(columns.trap)
    assert [filled.outcome[row] for row in traps] == [columns.outcome[row] for row in traps]
    assert np.array_equal(filled.confidence[traps], columns.confidence[traps], equal_nan=True)


def test_a_reading_that_left_for_its_scale_is_not_filled(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", [("correct", 80)] * 10 + [("incorrect", 40)] * 10, impute=50)
    mixed = tuple(
        msgspec.structs.replace(record, flags=("scale_guess",)) if record.confidence == 40 else record
        for record in run.records
    )
    summary = summarise(msgspec.structs.replace(run, records=mixed), draws=100)
    assert summary.metrics_attempted["gap"].n == 10
    assert summary.imputed is not None
    assert summary.imputed.imputed == 0


def test_other_sources_of_confidence_are_never_filled(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", impute=50, confidence=("logprob",))
    assert summarise(run, draws=100).imputed is None


def test_the_note_counts_what_was_done() -> None:
    found = Imputation(confidence=30, imputed=3, malformed=1, unstated=2)
    assert "3 of 12 confidences" in imputation_note(found, 12)
    assert "malformed replies, wrong there: 1; answers without one: 2" in imputation_note(found, 12)
