"""Gates: what passes a bar, what fails it, and that a missing value never passes."""

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
from claim_runs import answered

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.microprobe import SET_SIZE
from selfdiag.measure.resampling import wilson
from selfdiag.measure.tiers import Tier
from selfdiag.protocols.gates import TIERS, GateResult, Gates, check, check_kind
from selfdiag.protocols.microprobe import MicroprobeSummary, microprobe_of
from selfdiag.protocols.microprobe_plan import microprobe_plan
from selfdiag.protocols.rows import summarise_columns
from selfdiag.protocols.summary import Summary, SummaryModel
from selfdiag.runs.claims import LOW_AND_HIGH
from selfdiag.runs.columns import Columns
from selfdiag.runs.records import MICROPROBE, RunSettings
from selfdiag.safety import SelfdiagError

NOBODY = SummaryModel(provider="", name="", served_name="", digest="", simulated=False)


def summary_of(rows: int = 40) -> Summary:
    """Answers at 90 and 50, right and wrong in turn."""
    return summarise_columns(
        Columns(
            item=np.arange(rows),
            bin=("logic",) * rows,
            trap=np.zeros(rows, dtype=np.bool_),
            outcome=("correct", "incorrect") * (rows // 2),
            confidence=np.where(np.arange(rows) % 4 < 2, 0.9, 0.5),
            free_text=np.zeros(rows, dtype=np.bool_),
        ),
        model=NOBODY,
        draws=200,
    )


SUMMARY = summary_of()


def having(metric: str, value: float | None, ci: tuple[float, float] | None = None, note: str = "") -> Summary:
    figure = Estimate(value=value, ci=ci, n=42, note=note)
    return msgspec.structs.replace(SUMMARY, metrics=SUMMARY.metrics | {metric: figure})


def tiered(letter: str, **probabilities: float) -> Summary:
    tier = Tier(
        letter=letter,
        name="",
        direction="",
        range=letter,
        provisional=False,
        probabilities={name.replace("none", "-"): share for name, share in probabilities.items()},
        advice="Not enough to judge: 7 of 42 probes are answered with a confidence, 20 are needed.",
    )
    return msgspec.structs.replace(SUMMARY, tier=tier)


def probed(shifts: list[int | None]) -> MicroprobeSummary:
    """A microprobe of so many items, each moved by so much from a confidence of 30; None was not read at 95."""
    settings = RunSettings(model="openai:x", battery="quick", sections=(MICROPROBE,), limit=None)
    plan = microprobe_plan(settings, claims=LOW_AND_HIGH, labelled=True, wordings=1)
    items = list(dict.fromkeys(call.item_id for call in plan.calls))[: len(shifts)]
    moved = dict(zip(items, shifts, strict=True))
    kept = msgspec.structs.replace(plan, calls=tuple(call for call in plan.calls if call.item_id in moved))
    bins = {probe.id: probe.bin for probe in plan.asked().probes}

    def reply(call):
        shift = moved[call.item_id]
        own = call.claim_bin == bins[call.item_id]
        said = 30 if call.claim == 0 or not own else None if shift is None else 30 + shift
        return said, "x", "incorrect"

    return microprobe_of(answered(settings, kept, reply), draws=200).summary


def only(gates: Gates, found: Summary | MicroprobeSummary) -> GateResult:
    (result,) = check(gates, found)
    return result


def passes(gates: Gates, found: Summary | MicroprobeSummary) -> bool:
    return only(gates, found).passed


def test_the_order_of_tiers_is_a_to_e_and_then_x() -> None:
    assert TIERS == "ABCDEX"
    for place, letter in enumerate(TIERS):
        reached = [least for least in TIERS if passes(Gates(fail_under=least), tiered(letter, **{letter: 1.0}))]
        assert reached == list(TIERS[place:])


@pytest.mark.parametrize("least", TIERS)
def test_without_a_tier_no_gate_on_it_passes(least: str) -> None:
    for gate_on in ("point", "bound"):
        result = only(Gates(fail_under=least, gate_on=gate_on), tiered("-", none=1.0))
        assert not result.passed
        assert "there is no tier: Not enough to judge: 7 of 42 probes" in result.sentence


def test_a_tier_on_its_bound_needs_a_probability_of_95_in_100() -> None:
    gates = Gates(fail_under="C", gate_on="bound")
    assert passes(gates, tiered("B", A=0.05, B=0.5, C=0.4, D=0.05))
    assert not passes(gates, tiered("B", A=0.05, B=0.5, C=0.399, D=0.051))
    assert passes(Gates(fail_under="C"), tiered("B", A=0.05, B=0.5, C=0.399, D=0.051))
    # draws without sufficient evidence are not better than anything
    assert not passes(gates, tiered("C", C=0.9, none=0.1))
    # shares of draws, added up, may miss the bar by a rounding error
    assert 0.0005 + 0.8755 + 0.074 < 0.95
    assert passes(gates, tiered("C", A=0.0005, B=0.8755, C=0.074, D=0.05))
    assert not passes(gates, tiered("D", C=0.96, D=0.04)), "a bound never passes where the letter itself does not"


def test_a_tier_says_its_probability_and_n() -> None:
    said = only(Gates(fail_under="C", gate_on="bound"), tiered("C", C=0.6, D=0.4)).sentence
    assert said.startswith("the tier is C, C or better with a probability of 0.600, n 40")
    assert "a probability of 0.95 is asked for" in said
    assert "more items" in said


def test_the_gap_counts_in_either_direction_and_its_bound_is_the_end_further_from_0() -> None:
    for sign in (1, -1):
        ends = sorted((sign * 0.05, sign * 0.25))
        found = having("gap", sign * 0.15, (ends[0], ends[1]))
        assert passes(Gates(max_gap=0.15), found)
        assert not passes(Gates(max_gap=0.149), found)
        assert passes(Gates(max_gap=0.25, gate_on="bound"), found)
        assert not passes(Gates(max_gap=0.249, gate_on="bound"), found)
    wide = having("gap", 0.05, (-0.3, 0.2))
    result = only(Gates(max_gap=0.25, gate_on="bound"), wide)
    assert not result.passed
    assert "its bound -0.300 does not" in result.sentence


def test_the_trap_rate_is_judged_at_its_lower_end() -> None:
    found = having("trap_abstention", 0.8, (0.6, 0.92))
    assert passes(Gates(min_trap_rate=0.8), found)
    assert not passes(Gates(min_trap_rate=0.81), found)
    assert passes(Gates(min_trap_rate=0.6, gate_on="bound"), found)
    assert not passes(Gates(min_trap_rate=0.61, gate_on="bound"), found)


def test_the_high_confidence_error_is_that_at_80_and_judged_at_its_upper_end() -> None:
    found = having("high_confidence_error_80", 0.1, (0.05, 0.3))
    assert passes(Gates(max_high_confidence_error=0.1), found)
    assert not passes(Gates(max_high_confidence_error=0.09), found)
    assert passes(Gates(max_high_confidence_error=0.3, gate_on="bound"), found)
    assert not passes(Gates(max_high_confidence_error=0.29, gate_on="bound"), found)
    assert SUMMARY.metrics["high_confidence_error_80"].value == 0.5
    assert not passes(Gates(max_high_confidence_error=0.49), SUMMARY)


def test_a_bound_lies_never_on_the_better_side_of_the_value() -> None:
    # resampling noise can put a whole interval on one side of its value
    found = having("gap", 0.2, (0.05, 0.15))
    assert not passes(Gates(max_gap=0.16, gate_on="bound"), found)


@pytest.mark.parametrize(
    ("gates", "metric"),
    [
        (Gates(max_gap=1.0), "gap"),
        (Gates(min_trap_rate=0.0), "trap_abstention"),
        (Gates(max_high_confidence_error=1.0), "high_confidence_error_80"),
    ],
)
def test_a_missing_value_fails_the_easiest_gate_with_its_reason(gates: Gates, metric: str) -> None:
    result = only(gates, having(metric, None, note="no data: nobody answered"))
    assert not result.passed
    assert "is missing (no data: nobody answered)" in result.sentence
    assert passes(gates, having(metric, 0.5))
    bound = msgspec.structs.replace(gates, gate_on="bound")
    result = only(bound, having(metric, 0.5, note="no interval: one row"))
    assert not result.passed
    assert "without an interval (no interval: one row), so there is no bound to judge" in result.sentence
    assert passes(bound, having(metric, 0.5, (0.4, 0.6)))


def test_a_value_that_equals_its_bar_on_paper_passes() -> None:
    assert passes(Gates(max_gap=0.3), having("gap", 0.1 + 0.2))
    assert passes(Gates(min_trap_rate=0.3), having("trap_abstention", 0.3 - 1e-12))
    near = only(Gates(max_gap=0.2), having("gap", 0.20004))
    assert not near.passed
    assert "the gap is 0.20004" in near.sentence


def test_the_shift_is_that_of_the_microprobe_in_points() -> None:
    found = probed([20, -20, 0, 0] * 5)
    assert found.absolute_shift.value == 10
    whole = msgspec.structs.replace(SUMMARY, microprobe=found)
    for figures in (found, whole):
        assert passes(Gates(max_shift=10), figures)
        assert not passes(Gates(max_shift=9.9), figures)
        assert not passes(Gates(max_shift=10, gate_on="bound"), figures)
        assert passes(Gates(max_shift=20, gate_on="bound"), figures)
    assert "10.0 points [" in only(Gates(max_shift=9.9), found).sentence


def test_a_shift_that_too_few_items_show_does_not_pass() -> None:
    found = probed([0] * (SET_SIZE - 1) + [None] * 3)
    result = only(Gates(max_shift=100), found)
    assert not result.passed
    assert f"only {SET_SIZE - 1} of {SET_SIZE + 2} items have a reading" in result.sentence


@pytest.mark.parametrize(
    "gates", [Gates(fail_under="X"), Gates(max_gap=1), Gates(min_trap_rate=0), Gates(max_high_confidence_error=1)]
)
def test_a_microprobe_passes_no_gate_of_an_audit(gates: Gates) -> None:
    result = only(gates, probed([0] * SET_SIZE))
    assert not result.passed
    assert "microprobe" in result.sentence


def test_without_a_microprobe_it_says_how_to_ask_one() -> None:
    result = only(Gates(max_shift=100), SUMMARY)
    assert not result.passed
    assert "add --sections probes,traps,microprobe" in result.sentence


def test_gates_come_out_in_one_order_as_a_person_writes_them() -> None:
    gates = Gates(max_shift=5, min_trap_rate=0.5, max_high_confidence_error=0.25, max_gap=0.2, fail_under="B")
    assert [result.gate for result in check(gates, SUMMARY)] == [
        "--fail-under B",
        "--max-gap 0.2",
        "--min-trap-rate 0.5",
        "--max-high-confidence-error 0.25",
        "--max-shift 5",
    ]
    assert check(Gates(), SUMMARY) == ()
    assert only(Gates(max_gap=0.2, gate_on="bound"), SUMMARY).gate == "--max-gap 0.2 --gate-on bound"


@pytest.mark.parametrize("kind", ["assess", "ladder", "topicpass", "swap"])
def test_other_kinds_of_runs_have_no_gates(kind: str) -> None:
    check_kind(Gates(), kind)
    with pytest.raises(SelfdiagError, match=f"--max-shift is a gate for audits.*of the kind {kind}"):
        check_kind(Gates(max_shift=5), kind)


def test_a_microprobe_has_one_gate() -> None:
    check_kind(Gates(max_shift=5), MICROPROBE)
    with pytest.raises(SelfdiagError, match="--max-gap is a gate.*of the kind microprobe.*--max-shift alone"):
        check_kind(Gates(max_shift=5, max_gap=0.1), MICROPROBE)


def test_nothing_in_a_sentence_is_more_than_one_line() -> None:
    result = only(Gates(max_gap=0.1), having("gap", None, note="no\n\x1b[2Jdata"))
    assert result.sentence.isprintable()


def test_the_samples_that_the_docs_name_are_the_least_that_pass() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "ci.md").read_text(encoding="utf-8")

    def rows(gate: str) -> list[tuple[float, list[str]]]:
        found = re.findall(rf"^\| `{gate} (\.\d)` \| (.*) \|$", page, re.MULTILINE)
        return [(float(bar), cells.split(" | ")) for bar, cells in found]

    def spotted(k: int, n: int, bar: float) -> bool:
        found = having("trap_abstention", k / n, wilson(k, n))
        return passes(Gates(min_trap_rate=bar, gate_on="bound"), found)

    def wrong(k: int, n: int, bar: float) -> bool:
        found = having("high_confidence_error_80", k / n, wilson(k, n))
        return passes(Gates(max_high_confidence_error=bar, gate_on="bound"), found)

    traps, errors = rows("--min-trap-rate"), rows("--max-high-confidence-error")
    assert len(traps) == 4
    assert len(errors) == 3
    for bar, cells in traps:
        for n, cell in zip((21, 42), cells, strict=True):
            least = next((k for k in range(n + 1) if spotted(k, n, bar)), None)
            assert cell == ("not possible" if least is None else str(least))
    for bar, (none_wrong, *allowed) in errors:
        assert int(none_wrong) == next(n for n in range(1, 200) if wrong(0, n, bar))
        for n, cell in zip((40, 120), allowed, strict=True):
            assert int(cell) == max(k for k in range(n + 1) if wrong(k, n, bar))
