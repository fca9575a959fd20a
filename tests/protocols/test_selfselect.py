"""Self-selection: candidates, picks, and what they show of a model topic by topic."""

import json
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
from claim_runs import Reply, asked
from selections import Candidate, battery_file, selection

from selfdiag.battery.load import shipped
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.resampling import wilson
from selfdiag.models.persona import CHARACTERS
from selfdiag.protocols.categories import diagnostics_of
from selfdiag.protocols.selfselect import SelfSelection, selection_sentence, selfselect_of
from selfdiag.report.selfselect import selfselect_lines, selfselect_markdown
from selfdiag.runs.columns import Columns
from selfdiag.runs.earlier import BACKWARD, FORWARD, spoken_of
from selfdiag.runs.plan import open_calls
from selfdiag.runs.records import CANDIDATES, SELFSELECT, PlannedCall, RunSettings
from selfdiag.runs.selection_plan import selection_plan
from selfdiag.runs.store import Run, read_manifest
from selfdiag.safety import SelfdiagError

MIXED: tuple[Candidate, Candidate] = (("4", "correct"), ("5", "incorrect"))


def other(letter: str) -> str:
    return "B" if letter == "A" else "A"


def right(_call: PlannedCall, letter: str) -> Reply:
    return 80, letter, "correct"


def result(run: Run) -> SelfSelection:
    return selfselect_of(run, draws=200)


# Plans.


def test_an_item_takes_two_candidates_and_a_pick_in_each_order() -> None:
    plan = selection_plan(RunSettings(model="openai:m", battery="quick", sections=(SELFSELECT,)))
    assert len(plan.check) == 42 and len(plan.calls) == 168
    candidates = [call for call in plan.calls if call.section == CANDIDATES]
    picks = [call for call in plan.calls if call.section == SELFSELECT]
    assert list(plan.calls) == candidates + picks
    assert {(call.temperature, call.top_p) for call in candidates} == {(0.7, 0.9)}
    assert {(call.temperature, call.top_p) for call in picks} == {(None, None)}
    assert sorted((call.item_id, call.replicate) for call in candidates) == sorted(
        (probe.id, way) for probe in plan.check for way in (0, 1)
    )
    assert sorted((call.item_id, call.arm) for call in picks) == sorted(
        (probe.id, arm) for probe in plan.check for arm in (FORWARD, BACKWARD)
    )
    assert [call.arm for call in picks] != sorted(call.arm for call in picks)
    prompts = {plan.prompt(call).user for call in picks if call.item_id == picks[0].item_id}
    assert len(prompts) == 2 and all("<its answer 1, cut at 400 characters>" in text for text in prompts)


def test_a_pick_keeps_its_id_whatever_else_is_asked() -> None:
    settings = RunSettings(model="openai:m", battery="quick", sections=(SELFSELECT,))
    ids = {n: {call.call_id for call in selection_plan(settings, selections=n).calls} for n in (1, 2, 10)}
    assert ids[1] < ids[2]
    assert len(ids[10]) == 42 * 12
    # sampled picks are other calls than those at the run's own temperature
    assert ids[2] & ids[10] == {call.call_id for call in selection_plan(settings).calls if call.section == CANDIDATES}
    few = msgspec.structs.replace(settings, limit=5)
    assert {call.call_id for call in selection_plan(few).calls} < ids[2]


def test_one_pick_has_an_order_that_the_seed_draws_and_ten_have_five_of_each() -> None:
    settings = RunSettings(model="openai:m", battery="standard", sections=(SELFSELECT,))
    orders = [call.arm for call in selection_plan(settings, selections=1).calls if call.section == SELFSELECT]
    assert len(orders) == 126 and 40 < orders.count(FORWARD) < 86
    ten = [call for call in selection_plan(settings, selections=10).calls if call.section == SELFSELECT]
    assert {(call.temperature, call.top_p) for call in ten} == {(0.7, 0.9)}
    of_one = [(call.arm, call.replicate) for call in ten if call.item_id == ten[0].item_id]
    assert sorted(of_one) == [(arm, number) for arm in (BACKWARD, FORWARD) for number in range(1, 6)]
    with pytest.raises(ValueError, match="one pick"):
        selection_plan(settings, selections=3)


def test_nothing_to_ask_is_said() -> None:
    trap = next(trap.id for trap in shipped().traps)
    for change, words in (
        ({"items": ("nope",)}, "'nope' is no item of this battery"),
        ({"items": (trap,)}, "a trap, which has no right answer"),
        ({"bins": ("logik",)}, "unknown bin 'logik'"),
    ):
        with pytest.raises(SelfdiagError, match=words):
            selection_plan(RunSettings(model="openai:m", sections=(SELFSELECT,), **change))


# Personas as oracles.


@pytest.mark.parametrize("name", ["calibrated", "overconfident", "underconfident", "blind", "suggestible", "pinned"])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_persona_picks_right_as_often_as_it_is_built_to(tmp_path: Path, name: str, seed: int) -> None:
    settings = RunSettings(model=f"persona:{name}", battery="standard", sections=(SELFSELECT,), seed=seed)
    found = result(asked(settings, tmp_path / "run", selection_plan(settings)))
    character = CHARACTERS[name]
    answering = 126 - round(126 * character.abstains)
    assert abs(found.pairs.mixed - answering / 2) <= 1
    assert found.pairs.incomplete == 126 - answering
    share = np.mean([character.chance(level) for level in character.levels])
    accuracy, gap = found.metrics["accuracy"].value, found.metrics["gap"].value
    assert accuracy is not None and gap is not None
    assert accuracy == pytest.approx(share, abs=2.5 / found.pairs.mixed)
    assert gap == pytest.approx(np.mean(character.levels) / 100 - share, abs=3 / found.pairs.mixed)
    assert found.model.simulated and "(simulated)" in selfselect_lines(found)[0]
    # whichever stands first, it takes the one it believes in
    assert found.order.first_shown.value == 0.5 and found.order.turned.value == 0
    assert sum((found.pairs.mixed, found.pairs.both_right, found.pairs.both_wrong, found.pairs.incomplete)) == 126


def test_one_that_takes_what_is_shown_first_is_found_out(tmp_path: Path) -> None:
    settings = RunSettings(model="persona:first-picker", battery="standard", sections=(SELFSELECT,))
    found = result(asked(settings, tmp_path / "run", selection_plan(settings)))
    assert found.metrics["accuracy"].value == 0.5
    assert found.order.first_shown.value == 1 and found.order.turned.value == 1
    assert [one.value for one in found.order.accuracy] == [1, 0]
    assert found.order.difference.value == 1
    single = result(asked(settings, tmp_path / "single", selection_plan(settings, selections=1)))
    assert single.order.first_shown.value == 1
    assert [one.value for one in single.order.accuracy] == [1, 0]
    assert single.order.turned.value is None and "one order" in single.order.turned.note


# What became of the items.


def test_every_kind_of_pair_is_told_apart(tmp_path: Path) -> None:
    kinds: dict[str, tuple[Candidate | None, Candidate | None]] = {
        "t-000": MIXED,
        "t-001": (("5", "incorrect"), ("4", "correct")),
        "t-002": (("4", "correct"), ("four", "correct")),
        "t-003": (("4", "correct"), ("4", "correct")),
        "t-004": (("5", "incorrect"), ("6", "incorrect")),
        "t-005": (("5", "incorrect"), ("5", "incorrect")),
        "t-006": ((None, "unparsed"), ("4", "correct")),
        "t-007": (("UNANSWERABLE", "abstained"), (None, "refused")),
        "t-008": (("4", "correct"), None),
        "t-009": MIXED,
    }
    grades = {"t-002": "answered", "t-004": "answered"}

    def picks(call: PlannedCall, letter: str) -> Reply:
        if call.item_id == "t-009":
            # once there is no clear pick, and once no confidence
            return (90, "both", "unparsed") if call.arm == FORWARD else (None, letter, "correct")
        if call.item_id in grades:
            return 90, "A", grades[call.item_id]
        return (70, letter, "correct") if call.item_id in {"t-000", "t-001"} else None

    run = selection(tmp_path / "run", battery_file(tmp_path / "b.jsonl", {"t": 10}), kinds.__getitem__, picks)
    found = result(run)
    assert found.items == 10
    assert msgspec.to_builtins(found.pairs) == {
        "mixed": 3,
        "both_right": 2,
        "both_wrong": 2,
        "identical": 2,
        "incomplete": 2,
        "not_asked": 1,
        "missing": {"unparsed": 1, "abstained": 1, "refused": 1},
    }
    assert found.picks == 5 and found.unread == {"unparsed": 1}
    assert found.metrics["accuracy"].value == 1 and found.metrics["accuracy"].n == 5
    # the pick without a confidence leaves what needs one
    assert found.metrics["gap"].n == 4 and found.mean_confidence == 70
    assert (found.both_right.pairs, found.both_right.picks, found.both_right.mean_confidence) == (2, 2, 90)
    assert (found.both_wrong.pairs, found.both_wrong.picks, found.both_wrong.sure.value) == (2, 2, 1)
    solving = found.solving
    # t-006 and t-008 have one graded answer each, t-007 none
    assert (solving.ways[0].value, solving.ways[0].n) == (pytest.approx(5 / 8), 8)
    assert (solving.ways[1].value, solving.ways[1].n) == (pytest.approx(4 / 8), 8)
    assert (solving.accuracy.value, solving.accuracy.n) == (pytest.approx((3 * 0.5 + 2 + 2) / 9), 9)
    assert (solving.picked.value, solving.picked.n) == (pytest.approx(5 / 7), 7)
    assert solving.gain.value == pytest.approx(1.5 / 7)
    # an answer that may still come leaves its picks open; one that cannot be picked from does not
    left = [(call.section, call.item_id) for call in open_calls(run.manifest.plan, run.latest())]
    assert sorted(left) == [(CANDIDATES, "t-008"), (SELFSELECT, "t-008"), (SELFSELECT, "t-008")]
    assert "incomplete: 3 of 40 calls not asked" in " ".join(found.notes)
    text = "\n".join(selfselect_lines(found))
    assert "Too few for a verdict: in 3 of 10 items" in text
    assert "unparsed 1, abstained 1, refused 1" in text
    assert re.search(r"of both, the same text twice +2  nothing to pick", text)
    assert re.search(r"picks that could not be read +1  unparsed 1", text)
    assert max(map(len, text.splitlines())) <= 80


def test_the_order_effect_is_paired_by_item(tmp_path: Path) -> None:
    def picks(call: PlannedCall, letter: str) -> Reply:
        # three of four items turn toward what is shown first
        turns = not call.item_id.endswith("3")
        chosen = "A" if turns else letter
        return 60, chosen, "correct" if chosen == letter else "incorrect"

    battery = battery_file(tmp_path / "b.jsonl", {"t": 4})
    found = result(selection(tmp_path / "run", battery, lambda _: MIXED, picks)).order
    assert found.first_shown.value == pytest.approx((3 * 1 + 0.5) / 4)
    assert [one.value for one in found.accuracy] == [1, 0.25]
    assert found.difference.value == 0.75 and found.difference.n == 4
    assert found.turned.value == 0.75


def test_agreement_of_many_picks_is_a_confidence_of_its_own(tmp_path: Path) -> None:
    def picks(call: PlannedCall, letter: str) -> Reply:
        # t-000: 8 of 10 for the right one; t-001: 3 of 10; t-002: 5 of 10, the first pick is wrong
        number = 2 * (call.replicate - 1) + (call.arm != FORWARD)
        hit = {"t-000": number >= 2, "t-001": number < 3, "t-002": number % 2 == 1}[call.item_id]
        return 90, letter if hit else other(letter), "correct" if hit else "incorrect"

    battery = battery_file(tmp_path / "b.jsonl", {"t": 3})
    found = result(selection(tmp_path / "run", battery, lambda _: MIXED, picks, selections=10))
    assert found.selections == 10 and found.sampled
    assert found.metrics["accuracy"].value == pytest.approx(16 / 30)
    agreement = found.consistency
    assert agreement is not None and agreement.pairs == 3
    assert agreement.metrics["accuracy"].value == pytest.approx(1 / 3)
    # .8 and right, .7 and wrong, .5 and wrong
    assert agreement.metrics["brier"].value == pytest.approx((0.04 + 0.49 + 0.25) / 3)
    assert agreement.act_or_defer[0].coverage.value == pytest.approx(1 / 3)
    assert "agreement of 10 picks" in "\n".join(selfselect_lines(found))


def test_acting_at_a_threshold_counts_picks(tmp_path: Path) -> None:
    def picks(call: PlannedCall, letter: str) -> Reply:
        number = int(call.item_id[-1])
        hit = number != 0
        return (95, 90, 80, 50)[number], letter if hit else other(letter), "correct" if hit else "incorrect"

    battery = battery_file(tmp_path / "b.jsonl", {"t": 4})
    at80, at90, at95 = result(selection(tmp_path / "run", battery, lambda _: MIXED, picks)).act_or_defer
    assert (at80.threshold, at90.threshold, at95.threshold) == (0.8, 0.9, 0.95)
    assert (at80.coverage.value, at80.error.value) == (0.75, pytest.approx(1 / 3))
    assert [one.penalty for one in at80.utility] == [0.5, 1, 2, 5]
    assert [one.utility.value for one in at80.utility] == pytest.approx([0.375, 0.25, 0, -0.75])
    assert (at95.coverage.value, at95.error.value) == (0.25, 1)


def test_pairs_without_a_pick_that_could_be_read_carry_no_verdict(tmp_path: Path) -> None:
    def picks(call: PlannedCall, letter: str) -> Reply:
        return (80, letter, "correct") if call.item_id < "t-005" else (80, "both", "unparsed")

    run = selection(tmp_path / "run", battery_file(tmp_path / "b.jsonl", {"t": 30}), lambda _: MIXED, picks)
    found = result(run)
    assert found.pairs.mixed == 30 and found.picks == 10
    assert found.sentence.startswith("Too few for a verdict: in 5 of 30 items it picked between")
    assert (found.solving.accuracy.n, found.solving.picked.n) == (30, 5)
    assert any("what picking adds is over 5 items" in note for note in found.notes)


def test_a_figure_without_an_interval_says_why(tmp_path: Path) -> None:
    settings = RunSettings(model="persona:first-picker", battery="standard", sections=(SELFSELECT,))
    found = result(asked(settings, tmp_path / "run", selection_plan(settings)))
    lines = selfselect_lines(found)
    assert "  ! first minus second: no interval: every draw gives the same value" in lines
    assert any(line.startswith("  ! what picking adds") for line in lines)
    assert lines.count(f"  n {found.act_or_defer[0].coverage.n}; each has its interval with --format md") == 1


def test_a_reason_is_never_cut(tmp_path: Path) -> None:
    abstained: tuple[Candidate, Candidate] = (("UNANSWERABLE", "abstained"), ("UNANSWERABLE", "abstained"))
    battery = battery_file(tmp_path / "b.jsonl", {"t": 2})
    found = result(selection(tmp_path / "run", battery, lambda _: abstained, lambda *_: None))
    lines = selfselect_lines(found)
    assert found.metrics["gap"].note in " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80 and not any("…" in line for line in lines)


@pytest.mark.parametrize(
    ("picked", "accuracy", "gap", "words"),
    [
        (0, Estimate(value=None, note="no data"), Estimate(value=None), "Nothing to tell"),
        (19, Estimate(value=0.9, ci=(0.7, 1.0)), Estimate(value=0.0, ci=(-0.1, 0.1)), "Too few for a verdict: in 19"),
        (20, Estimate(value=0.8, ci=(0.6, 0.9)), Estimate(value=0.1, ci=(0.05, 0.2)), "80 % of the time, better than"),
        (
            20,
            Estimate(value=0.3, ci=(0.1, 0.4)),
            Estimate(value=0.1, ci=(0.05, 0.2)),
            "worse than chance; it says that",
        ),
        (20, Estimate(value=0.6, ci=(0.4, 0.8)), Estimate(value=-0.1, ci=(-0.2, -0.1)), "says that it is less sure"),
        (20, Estimate(value=0.6, ci=(0.5, 0.8)), Estimate(value=0.0, ci=(-0.2, 0.1)), "not shown to be better than"),
        (20, Estimate(value=1.0), Estimate(value=None), "whether it is as sure as that cannot be said"),
    ],
)
def test_the_sentence_says_no_more_than_is_shown(picked: int, accuracy: Estimate, gap: Estimate, words: str) -> None:
    assert words in selection_sentence(picked, 42, accuracy, gap)


def test_a_run_of_another_kind_and_a_plan_without_its_answers_are_refused(tmp_path: Path) -> None:
    settings = RunSettings(model="persona:blind", limit=2, sections=("probes",))
    with pytest.raises(SelfdiagError, match="holds no self-selection"):
        selfselect_of(asked(settings, tmp_path / "probes"))
    battery = battery_file(tmp_path / "b.jsonl", {"t": 1})
    run = selection(tmp_path / "run", battery, lambda _: MIXED, right)
    file = tmp_path / "run" / "manifest.json"
    document = json.loads(file.read_text())
    document["plan"] = [call for call in document["plan"] if (call["section"], call["replicate"]) != (CANDIDATES, 1)]
    file.write_text(json.dumps(document))
    with pytest.raises(SelfdiagError, match="speaks of an answer that the plan does not ask for"):
        read_manifest(tmp_path / "run")
    pick = next(call for call in run.manifest.plan if call.arm == BACKWARD)
    assert [way for *_, way in spoken_of(pick)] == [1, 0]


# Categories.


def test_the_volumes_of_the_study_come_out_of_a_run(tmp_path: Path) -> None:
    """Four topics of 45 items with 30, 27, 36 and 20 right and e of .10, .25, .05 and .40."""
    hits = {"one": 30, "two": 27, "three": 36, "four": 20}
    # a sum over 45 items that makes the mean confidence differ by e
    sums = {"one": 3450, "two": 3825, "three": 3825, "four": 3800}

    def picks(call: PlannedCall, letter: str) -> Reply:
        topic, _, number = call.item_id.partition("-")
        low, rest = divmod(sums[topic], 45)
        hit = int(number) < hits[topic]
        confidence = low + (int(number) < rest)
        return confidence, letter if hit else other(letter), "correct" if hit else "incorrect"

    battery = battery_file(tmp_path / "b.jsonl", dict.fromkeys(hits, 45))
    run = selection(tmp_path / "run", battery, lambda _: MIXED, picks)
    found = result(run).categories
    assert (found.by, found.items, found.n) == ("bin", 180, 360)
    assert {row.name: round(row.error, 9) for row in found.categories} == {
        "one": 0.1,
        "two": 0.25,
        "three": 0.05,
        "four": 0.4,
    }
    closed = {"pvc_vus": 2.511111, "c_pvc_vus": 2.076667, "vus_gap": 0.434444, "pm_pvc": 1.133333, "pm_c_pvc": 0.351992}
    paper = {"pvc_vus": 2.52, "c_pvc_vus": 2.0966, "pm_pvc": 1.016953, "pm_c_pvc": 0.358482, "pm_sc": 319.3806}
    for volumes, expected in ((found.volumes, closed), (found.paper, paper)):
        for name, value in expected.items():
            assert volumes[name].value == pytest.approx(value, abs=1e-4 if name == "pm_sc" else 1e-6), name
            assert volumes[name].ci is not None
    assert found.volumes["pvc_vus_per_category"].value == pytest.approx(2.511111 / 4, abs=1e-6)
    assert found.worst_gap.observed == pytest.approx(0.4) and found.worst_gap.partitions == 1000
    assert set(found.flips) == {"10", "20", "30"}
    assert len(found.flips["10"]["pvc_vus"].values) == len(found.other_categories["pvc_vus"].values) == 5
    # two picks of an item are no two items
    first = next(row for row in found.categories if row.name == "one").accuracy
    assert (first.method, first.ci) == ("Wilson over items", pytest.approx(wilson(30, 45)))
    lines = {grid: "\n".join(selfselect_lines(result(run), grid=grid)) for grid in ("closed", "paper")}  # type: ignore[arg-type]
    assert (
        "PVC volume                  2.511" in lines["closed"] and "PVC volume                  2.520" in lines["paper"]
    )
    assert "319.381" in lines["paper"]
    assert "certifies nothing" in lines["closed"].replace("\n", " ") and "no VC dimension" in lines["closed"]
    markdown = selfselect_markdown(run)
    assert "| C-PVC volume | 2.077 |" in markdown and "| 2.097 |" in markdown


def columns(bins: list[str], correct: list[int], p: list[float], item: list[int] | None = None) -> Columns:
    n = len(bins)
    return Columns(
        item=np.array(item if item is not None else range(n), dtype=np.int64),
        bin=tuple(bins),
        trap=np.zeros(n, dtype=np.bool_),
        outcome=tuple("correct" if one else "incorrect" for one in correct),
        confidence=np.array(p, dtype=np.float64),
        free_text=np.zeros(n, dtype=np.bool_),
    )


def test_topics_stand_in_their_groups_where_none_has_ten_items() -> None:
    names = ["physics", "chemistry", "logic", "mine"]
    few = diagnostics_of(columns(names * 9, [1, 0] * 18, [0.5] * 36), partitions=50, draws=100)
    assert few.by == "group"
    assert [(row.name, row.items) for row in few.categories] == [("structure", 9), ("sciences", 18), ("mine", 9)]
    many = diagnostics_of(columns(names * 10, [1, 0] * 20, [0.5] * 40), partitions=50, draws=100)
    assert many.by == "bin" and [row.name for row in many.categories] == ["logic", "physics", "chemistry", "mine"]
    # ten rows of five items are not ten items
    twice = diagnostics_of(
        columns(["physics"] * 10, [1] * 10, [0.5] * 10, [one // 2 for one in range(10)]), partitions=50, draws=100
    )
    assert twice.by == "group" and twice.categories[0].items == 5
    own = diagnostics_of(columns(["mine", "yours"], [1, 0], [0.5, 0.5]), partitions=50, draws=100)
    assert own.by == "bin" and any("smallest category has 1 item:" in note for note in own.notes)


def test_rows_without_a_confidence_or_a_topic_leave_and_nothing_at_all_is_said() -> None:
    found = diagnostics_of(
        columns(["a", "a", "", "b"], [1, 0, 1, 1], [0.5, np.nan, 0.5, 0.5]), partitions=50, draws=100
    )
    assert found.n == 2 and "1 graded without a confidence left out" in found.notes
    empty = diagnostics_of(columns([], [], []), partitions=50, draws=100)
    assert empty.categories == () and empty.volumes["pvc_vus"].value is None
    assert empty.worst_gap.p is None and any("no answer counts" in note for note in empty.notes)
