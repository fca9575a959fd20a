"""Agreement as a confidence: whether resampled answers say the same, and never whether they are right."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from made_runs import graded, written

from selfdiag.battery.items import Probe
from selfdiag.protocols.sources import confidences
from selfdiag.runs.plan import RESAMPLES, make_plan
from selfdiag.runs.records import AGREEMENT, Record, RunSettings
from selfdiag.runs.store import Run

SETTINGS = RunSettings(model="openai:made-up", sections=("probes",), confidence=("stated", AGREEMENT), limit=42)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("asked") / "run"
    return written(make_plan(SETTINGS), SETTINGS, lambda call, probe: (graded(probe), 60), folder)


def probe_of(run: Run, kind: str) -> Probe:
    return next(probe for probe in run.manifest.drawn.probes if probe.kind == kind)


def share(run: Run, probe: Probe, outcome: str, first: str, again: Sequence[str]) -> float:
    """The agreement on a probe that is answered with ``first``, and with ``again`` when it is asked again."""
    later = iter(again)

    def said(record: Record) -> Record:
        if record.item_id != probe.id:
            return record
        answer = next(later) if record.section == AGREEMENT else first
        return msgspec.structs.replace(record, answer=answer, outcome=outcome)

    answered = msgspec.structs.replace(run, records=tuple(map(said, run.records)))
    measured = [record for record in answered.records if record.section == "probes"]
    (call_id,) = (record.call_id for record in measured if record.item_id == probe.id)
    return confidences(answered, measured, AGREEMENT)[call_id]


@pytest.mark.parametrize("outcome", ["correct", "incorrect"])
def test_answers_are_compared_alike_whether_right_or_wrong(run: Run, outcome: str) -> None:
    assert RESAMPLES == 5
    text, number = probe_of(run, "text"), probe_of(run, "number")
    assert share(run, text, outcome, "Zzz", ["the zzz", "ZZZ.", "zz", "Other", "Zzz, or the other"]) == 0.4
    assert share(run, number, outcome, "1200", ["1,200", "1200.0", "1.2e3", "1201", "12"]) == 0.6


def test_an_abstention_is_no_agreement(run: Run) -> None:
    probe = probe_of(run, "text")
    silent = msgspec.structs.replace(
        run,
        records=tuple(
            msgspec.structs.replace(record, outcome="abstained") if record.section == AGREEMENT else record
            for record in run.records
        ),
    )
    measured = [record for record in silent.records if record.section == "probes"]
    shares = confidences(silent, measured, AGREEMENT)
    assert len(shares) == len(measured) and set(shares.values()) == {0}
    assert any(record.item_id == probe.id for record in measured)
