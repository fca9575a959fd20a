"""The diagrams of whole runs agree with their summary, finished or under way."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest

from selfdiag.battery.items import GROUPS
from selfdiag.measure.curves import NOT_ASKED
from selfdiag.measure.diagrams import ROWS_ALONE
from selfdiag.measure.topic_diagrams import topics
from selfdiag.protocols.assess import assess_of
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.diagrams import (
    diagrams_of,
    diagrams_of_columns,
    diagrams_so_far,
    dose_response_of,
    radar_of,
    reliability_so_far,
    where_runs_stand,
)
from selfdiag.protocols.microprobe import microprobe_of
from selfdiag.runs.columns import columns_of
from selfdiag.runs.records import Fault, Record, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run

Ask = Callable[..., Run]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    def run(persona: str, **settings: object) -> Run:
        session = Session(RunSettings(model=f"persona:{persona}", **settings), folder=tmp_path / persona)

        async def go() -> None:
            async with aclosing(session.events()) as events:
                async for _ in events:
                    pass

        asyncio.run(go())
        return read_run(session.folder)

    return run


def record(call: str, outcome: str, confidence: int | None, **fields: object) -> Record:
    given = {"item_id": call, "bin": "physics", "difficulty": None, "trap": False, "family": None, "section": "probes"}
    return Record(call_id=call, prompt_sha256="", outcome=outcome, confidence=confidence, **given | fields)


def test_diagrams_agree_with_the_summary(ask: Ask) -> None:
    run = ask("overconfident")
    shown, summary = diagrams_of(run), summarise(run, draws=100)
    metrics, traps = summary.metrics, summary.counts["traps"]
    assert shown.simulated
    assert shown.reliability.n == metrics["brier"].n == 42
    assert (shown.roc.auroc.value, shown.roc.auroc.ci) == (metrics["auroc"].value, metrics["auroc"].ci)
    assert shown.risk_coverage.aurc.value == pytest.approx(metrics["aurc"].value)
    sure = shown.thresholds.at_threshold(80)
    assert sure.let_through / sure.kept == pytest.approx(metrics["high_confidence_error_80"].value)
    bars = {one.outcome: one.n for one in shown.confidence.series}
    assert bars["right"] == summary.counts["probes"]["correct"]
    assert (bars["missed trap"], bars["spotted trap"]) == (traps["incorrect"], traps["abstained"])


def test_topics_of_nearly_the_same_name_stay_apart() -> None:
    rows = [record(f"{name!r}{n}", "correct", 90, bin=name) for name in ("a", "a\x00", "b") for n in range(2)]
    assert [(topic.name, topic.n) for topic in diagrams_of_columns(columns_of(rows)[0]).topics.topics] == [
        ("a", 2),
        ("a\x00", 2),
        ("b", 2),
    ]


def test_topics_are_those_of_the_summary(ask: Ask) -> None:
    run = ask("calibrated")
    shown = diagrams_of(run)
    assert shown.by_group
    expected = topics(summarise(run, draws=20).groups)
    assert len(expected.topics) == shown.surface.categories == len(GROUPS) == 5
    for topic, other in zip(shown.topics.topics, expected.topics, strict=True):
        assert (topic.name, topic.n, topic.accuracy, topic.ci) == (other.name, other.n, other.accuracy, other.ci)
        assert (topic.gap, *topic.band) == pytest.approx((other.gap, *other.band))
    assert shown.surface.n == shown.topics.n == shown.reliability.n


def test_single_topics_are_shown_once_one_has_ten_answers() -> None:
    records = [record(f"p{i}", "correct", 90) for i in range(9)] + [record("h", "incorrect", 80, bin="history")]
    few = diagrams_so_far(records)
    assert few.by_group
    assert {topic.name for topic in few.topics.topics} == {"sciences", "humanities and language"}
    enough = diagrams_so_far([*records, record("p9", "incorrect", 90)])
    assert not enough.by_group
    assert [(topic.name, topic.n) for topic in enough.topics.topics] == [("history", 1), ("physics", 10)]
    cells = enough.surface.cells
    # physics is right nine times in ten at 90, history never at 80
    assert (cells[90][0], cells[91][100], cells[0][80], cells[0][79]) == (1, 0, 2, 1)


def test_a_topic_of_no_group_stays_by_itself() -> None:
    shown = diagrams_so_far([record("a", "correct", 60), record("b", "correct", 70, bin="chess")])
    assert {topic.name for topic in shown.topics.topics} == {"sciences", "chess"}
    own = diagrams_so_far([record("b", "correct", 70, bin="chess"), record("c", "correct", 70, bin="")])
    assert (own.by_group, [topic.name for topic in own.topics.topics]) == (False, ["chess"])


def test_the_replies_so_far_give_the_run_s_diagrams(ask: Ask) -> None:
    run = ask("blind")
    assert diagrams_so_far(run.records, simulated=True) == diagrams_of(run)
    half = diagrams_so_far(run.records[:20])
    assert 0 < half.reliability.n < 20
    assert not half.simulated


def test_the_last_record_of_a_call_counts_and_other_sections_do_not() -> None:
    fault = record("a", "error", None, error=Fault(kind="timeout", message="late"))
    records = [
        fault,
        record("b", "correct", 80),
        record("t", "incorrect", 100, section="trial"),
        record("m", "incorrect", 100, section="microprobe"),
        record("a", "incorrect", 60),
    ]
    shown = reliability_so_far(records)
    assert (shown.n, shown.grouped_by) == (2, "bin")
    assert [(point.low, point.accuracy) for point in shown.points] == [(0.6, 0.0), (0.8, 1.0)]
    assert reliability_so_far(records, group_by="value").grouped_by == "value"


def test_before_the_first_reply_every_diagram_says_why_it_is_empty() -> None:
    shown = diagrams_so_far([])
    for name in ("reliability", "roc", "confidence", "risk_coverage", "thresholds", "topics", "surface"):
        assert getattr(shown, name).note.startswith("no data"), name
    assert reliability_so_far([record("a", "abstained", 90)]).note == "no data: no graded answer states a confidence"


def test_fractions_over_a_run_are_brought_on_one_scale() -> None:
    records = [record(f"p{i}", "correct", 90, flags=("scale_guess",)) for i in range(5)]
    records.append(record("one", "correct", 1, flags=("ambiguous_scale",)))
    shown = diagrams_so_far(records)
    assert shown.reliability.points[-1].mean_confidence == 1.0
    assert "1 readings of 1 count as 100" in shown.note


def test_several_rows_an_item_are_told(ask: Ask) -> None:
    run = ask("calibrated", limit=20, paraphrase="all")
    shown = diagrams_of(run, draws=50)
    assert shown.reliability.method == shown.topics.method == ROWS_ALONE
    assert shown.roc.auroc.ci is None
    assert "50 draws of items" in shown.risk_coverage.method
    assert "50 draws of items" in shown.thresholds.at_threshold(50).accuracy.method
    assert len(shown.risk_coverage.low) == len(shown.risk_coverage.risk)


def test_intervals_by_bootstrap_only_when_asked_for(ask: Ask) -> None:
    run = ask("calibrated")
    assert diagrams_of(run).risk_coverage.method == NOT_ASKED
    assert diagrams_of(run, draws=50) == diagrams_of(run, draws=50)
    assert "50 draws of rows" in diagrams_of(run, draws=50).risk_coverage.method


def test_another_first_source_is_drawn_and_named(ask: Ask) -> None:
    run = ask("calibrated", confidence=("agreement", "stated"), limit=12)
    shown = diagrams_of(run)
    assert "resampled answers" in shown.note
    assert shown.reliability.n > 0
    assert shown.reliability != diagrams_so_far(run.records).reliability


def test_rows_of_a_file_have_the_same_diagrams(ask: Ask) -> None:
    run = ask("overconfident")
    columns, note = columns_of(run.measured())
    assert diagrams_of_columns(columns, note=note) == msgspec.structs.replace(diagrams_of(run), simulated=False)


def test_runs_stand_beside_the_published_models(ask: Ask) -> None:
    run, refusing = ask("overconfident"), ask("refuser", limit=10)
    shown = where_runs_stand([run, refusing])
    mine = next(model for model in shown.models if model.run_id == run.manifest.run_id)
    summary = summarise(run, draws=20)
    assert (mine.name, mine.source, mine.simulated) == ("persona:overconfident", "own", True)
    assert mine.gap == pytest.approx(summary.metrics_attempted["gap"].value)
    assert 100 * mine.mean_confidence == pytest.approx(summary.mean_confidence_attempted)
    assert mine.auroc.value == summary.metrics_attempted["auroc"].value
    assert sum(model.source == "published" for model in shown.models) == 9


def test_abstentions_with_a_confidence_count_as_wrong_beside_published_models(ask: Ask) -> None:
    run = ask("abstainer")
    answered = diagrams_of(run).reliability.n
    mine = where_runs_stand([run]).models[-1]
    assert mine.n > answered
    assert mine.n == summarise(run, draws=20).metrics_attempted["brier"].n


def test_claims_move_a_suggestible_model_on_its_topic_alone(ask: Ask) -> None:
    found = microprobe_of(ask("suggestible", sections=("microprobe",), limit=4))
    assert found is not None
    shown = dose_response_of(found)
    assert [item.name for item in shown.items] == [item.id for item in found.items]
    for drawn, item in zip(shown.items, found.items, strict=True):
        low, high = drawn.on_topic.confidence
        assert drawn.on_topic.claim == (0.0, 0.95)
        assert 100 * (high - low) == pytest.approx(item.shift)
        assert drawn.off_topic.confidence[0] == drawn.off_topic.confidence[1]


def test_radar_of_an_audit_knows_hallucination_control_alone(ask: Ask) -> None:
    assessment = assess_of(ask("calibrated"), draws=20)
    shown = radar_of(assessment)
    first, *rest = shown.spokes
    assert (shown.n, first.external, first.internal) == (1, assessment.external["x1"].value, None)
    assert all(spoke.external is None and spoke.internal is None for spoke in rest)
