"""Personas as oracles: what is built into them must come out of a whole run."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from selfdiag.protocols.audit import Summary, summarise
from selfdiag.report.audit_markdown import audit_markdown
from selfdiag.report.card import card_lines
from selfdiag.report.page import INNER
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run

SEEDS = range(20)
Audit = Callable[..., tuple[Run, Summary]]


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    def run(persona: str, seed: int = 0, **settings: object) -> tuple[Run, Summary]:
        chosen = RunSettings(model=f"persona:{persona}", seed=seed, **settings)
        session = Session(chosen, folder=tmp_path / f"{persona}-{seed}")

        async def ask() -> None:
            async with aclosing(session.events()) as events:
                async for _ in events:
                    pass

        asyncio.run(ask())
        found = read_run(session.folder)
        return found, summarise(found, draws=100)

    return run


def test_calibrated_is_a_or_b_with_a_small_gap(audit: Audit) -> None:
    for seed in SEEDS:
        _, summary = audit("calibrated", seed)
        assert summary.tier.letter in "AB", seed
        gap = summary.metrics["gap"].value
        assert gap is not None
        assert abs(gap) <= 0.1, seed


def test_blind_is_x(audit: Audit) -> None:
    for seed in SEEDS:
        _, summary = audit("blind", seed)
        assert summary.tier.letter == "X", seed
        assert "echo" in summary.metrics["modal_share"].note


def test_overconfident_has_a_wide_gap_and_some_discrimination(audit: Audit) -> None:
    for seed in SEEDS:
        _, summary = audit("overconfident", seed)
        gap, spread = summary.metrics["gap"].value, summary.metrics["discrimination"].value
        assert gap is not None
        assert spread is not None
        assert gap >= 0.25, seed
        assert spread > 0, seed
        assert summary.tier.direction == "overconfident"


def test_abstainer_gives_too_little_to_judge(audit: Audit) -> None:
    for seed in SEEDS:
        _, summary = audit("abstainer", seed)
        assert summary.tier.letter == "-", seed
        assert summary.counts["probes"]["abstained"] > 30


def test_malformed_counts_what_cannot_be_read_and_ends(audit: Audit) -> None:
    for seed in SEEDS:
        run, summary = audit("malformed", seed)
        counts = summary.counts
        unread = counts["probes"]["unparsed"] + counts["probes"]["truncated"]
        assert unread + counts["traps"]["unparsed"] + counts["traps"]["truncated"] > 0
        assert counts["probes"]["not_asked"] == counts["traps"]["not_asked"] == 0
        assert run.manifest.sessions[-1].outcome == "complete"


def test_refuser_is_counted_as_refusing(audit: Audit) -> None:
    _, summary = audit("refuser")
    assert summary.counts["probes"]["refused"] >= 25
    assert summary.counts["probes"]["incorrect"] < 42 - 25


def test_underconfident_says_less_than_it_knows(audit: Audit) -> None:
    _, summary = audit("underconfident")
    assert summary.tier.direction == "underconfident"


def test_hostile_replies_stay_text_on_disk_and_on_screen(audit: Audit) -> None:
    for seed in (0, 1, 2):
        run, summary = audit("hostile", seed)
        assert len(run.records) == 63
        assert run.problems == ()
        assert any(len(record.raw) > 900_000 for record in run.records)
        assert all(len(record.raw) < 1_100_000 for record in run.records)
        report = audit_markdown(run, summary)
        assert "\x1b" not in report
        assert "<script>" not in report
        assert len(report) < 60_000
        for line in card_lines(summary):
            assert len(line) <= INNER
            assert line.isprintable()


def test_a_replicate_or_all_wordings_keep_the_item_as_the_unit(audit: Audit) -> None:
    run, summary = audit("calibrated", paraphrase="all", limit=21)
    assert len(run.records) == 3 * 42
    assert summary.battery.probes == 21
    assert "items" in summary.metrics["accuracy"].method
    assert summary.metrics["accuracy"].n == sum(
        summary.counts["probes"][outcome] for outcome in ("correct", "incorrect")
    )


def test_simulated_is_marked_everywhere(audit: Audit) -> None:
    run, summary = audit("blind")
    assert summary.model.simulated
    assert run.manifest.model.simulated
    assert any("simulated" in line for line in card_lines(summary))
    assert "simulated" in audit_markdown(run, summary)


def test_the_same_run_gives_the_same_report(audit: Audit) -> None:
    run, summary = audit("overconfident")
    again = read_run(run.folder)
    assert audit_markdown(again, summarise(again, draws=100)) == audit_markdown(run, summary)
