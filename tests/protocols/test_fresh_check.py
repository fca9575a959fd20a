import asyncio
from pathlib import Path

import msgspec
from made_runs import written

from selfdiag.battery.generators import TEMPLATES
from selfdiag.battery.items import Probe
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.fresh_check import NOTE, fresh_check
from selfdiag.report.audit_markdown import audit_markdown
from selfdiag.runs.plan import CHECK_PAIRS, FRESH_CHECK, make_plan
from selfdiag.runs.records import PlannedCall, Record, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import RunWriter, read_run

SETTINGS = RunSettings(model="persona:calibrated", sections=("probes", "traps", FRESH_CHECK), limit=21)


def test_pairs_share_topic_and_difficulty_and_cover_every_computable_topic() -> None:
    plan = make_plan(SETTINGS)
    assert len(plan.check) == 2 * CHECK_PAIRS
    pairs = list(zip(plan.check[::2], plan.check[1::2], strict=True))
    for old, new in pairs:
        assert (old.bin, old.difficulty) == (new.bin, new.difficulty)
        assert new.id.startswith("fresh-")
        assert not old.id.startswith("fresh-")
    assert {old.bin for old, _ in pairs} == set(TEMPLATES)
    calls = [call for call in plan.calls if call.section == FRESH_CHECK]
    assert [call.item_id for call in calls] == [probe.id for probe in plan.check]
    assert len({call.call_id for call in plan.calls}) == len(plan.calls)


def _ask(settings: RunSettings, folder: Path) -> None:
    async def ask() -> None:
        async for _ in Session(settings, folder=folder).events():
            pass

    asyncio.run(ask())


def test_it_stays_out_of_the_audits_own_measures(tmp_path: Path) -> None:
    _ask(SETTINGS, tmp_path / "run")
    summary = summarise(read_run(tmp_path / "run"), draws=200)
    assert summary.battery.probes == 21
    assert sum(summary.counts["probes"].values()) == 21
    assert summary.fresh_check is not None
    assert summary.fresh_check.pairs == CHECK_PAIRS
    difference = summary.fresh_check.accuracy.difference
    assert difference.ci is not None
    assert difference.ci[0] <= (difference.value or 0.0) <= difference.ci[1]
    assert "## Fresh check" in audit_markdown(read_run(tmp_path / "run"), summary)


def test_a_model_that_has_memorised_the_stored_ones_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    _ask(SETTINGS, folder)
    run = read_run(folder)
    (folder / "records.jsonl").unlink()
    with RunWriter.resume(folder)[0] as writer:
        for record in run.records:
            outcome = "incorrect" if record.item_id.startswith("fresh-") else "correct"
            writer.append(msgspec.structs.replace(record, outcome=outcome))
    check = summarise(read_run(folder), draws=200).fresh_check
    assert check is not None
    assert check.accuracy.difference.value == 1.0
    assert (check.accuracy.first, check.accuracy.second) == (0.0, 1.0)


def test_the_scale_of_the_confidences_is_that_of_the_whole_run(tmp_path: Path) -> None:
    settings = RunSettings(model="openai:made-up", sections=(FRESH_CHECK,))
    plan = make_plan(settings)

    def reply(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return "correct", 60 if probe.id.startswith("fresh-") else 1

    run = written(plan, settings, reply, tmp_path / "run")
    stored = [record for record in run.records if record.confidence == 1]

    def flagged(record: Record) -> Record:
        if record not in stored:
            return record
        # five of the stored ones are fractions, which alone would make a 1 mean 100
        if record in stored[:5]:
            return msgspec.structs.replace(record, confidence=40, flags=("scale_guess",))
        return msgspec.structs.replace(record, flags=("ambiguous_scale",))

    found = fresh_check(plan.calls, {record.call_id: flagged(record) for record in run.records}, draws=100)
    assert found is not None
    assert (found.accuracy.first, found.accuracy.second) == (1, 1)
    assert found.gap.first == -0.4 and found.gap.second is None
    assert found.note == (
        f"{NOTE}; fractions and percentages are mixed: 20 readings of 1 or below leave the confidence measures, "
        "20 above 1 stay"
    )


def test_none_was_asked_for(tmp_path: Path) -> None:
    _ask(RunSettings(model="persona:calibrated", limit=2), tmp_path / "run")
    assert summarise(read_run(tmp_path / "run"), draws=200).fresh_check is None
