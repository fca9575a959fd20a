"""Two runs over the same items: what differs, how sure that is, and what must not be paired."""

import asyncio
import json
import math
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.mcnemar import mcnemar
from selfdiag.protocols.compare import Comparison, RunPair, compare
from selfdiag.protocols.compare_items import Common, Flips
from selfdiag.protocols.compare_measures import ALIKE, EXPLORATORY, HEADLINE, Difference
from selfdiag.protocols.compare_verdict import verdict
from selfdiag.runs.records import Fault, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

Ask = Callable[..., Run]
Said = tuple[str, int | None]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    def run(persona: str = "calibrated", **settings: object) -> Run:
        folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"

        async def events() -> None:
            async for _ in Session(RunSettings(model=f"persona:{persona}", **settings), folder=folder).events():
                pass

        asyncio.run(events())
        return read_run(folder)

    return run


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., str]:
    """Write a battery of so many probes and traps; ``changed`` maps an id to fields that are otherwise."""

    def write(name: str = "own", probes: int = 12, traps: int = 2, **changed: dict[str, object]) -> str:
        rows: list[dict[str, object]] = [{"id": name, "version": "1"}]
        for number in range(1, probes + 1):
            wordings = [f"What is {number} plus 100? As a number.", f"Add 100 to {number}. As a number."]
            rows.append(
                {
                    "id": f"p{number}",
                    "bin": "sums",
                    "difficulty": "easy",
                    "kind": "number",
                    "answer": str(number + 100),
                    "questions": wordings,
                    "derivation": f"{number} + 100",
                }
            )
        rows += [
            {
                "id": f"t{number}",
                "bin": "sums",
                "family": "missing_information",
                "questions": [f"How many coins are in box {number}? As a number."],
                "note": "nobody says",
            }
            for number in range(1, traps + 1)
        ]
        rows = [row | changed.get(str(row["id"]), {}) for row in rows]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return write


def saying(run: Run, said: dict[str, Said | list[Said]]) -> Run:
    """Return the run with other outcomes and confidences, by item and then in the order of its replies."""
    left = {item: list(rows) if isinstance(rows, list) else [rows] for item, rows in said.items()}
    records = []
    for record in run.records:
        outcome, confidence = left[record.item_id].pop(0) if len(left[record.item_id]) > 1 else left[record.item_id][0]
        answer = "UNANSWERABLE" if outcome == "abstained" else f"says {outcome}"
        changes = {"outcome": outcome, "confidence": confidence, "answer": answer, "flags": ()}
        records.append(msgspec.structs.replace(record, **changes))
    return msgspec.structs.replace(run, records=tuple(records))


def rows(prefix: str, *said: Said) -> dict[str, Said]:
    return {f"{prefix}{number}": one for number, one in enumerate(said, 1)}


RIGHT_80, WRONG_80 = ("correct", 80), ("incorrect", 80)
HALF_RIGHT = rows("p", *[RIGHT_80] * 6, *[WRONG_80] * 6)
TRAPS = rows("t", ("abstained", 80), ("incorrect", 90))


def pair_of(found: Comparison) -> RunPair:
    (pair,) = found.pairs
    return pair


def undecided(found: RunPair) -> set[str]:
    return {name for name, one in found.headline.items() if one.holm is None}


def test_a_small_example_worked_out_by_hand(ask: Ask, own: Callable[..., str]) -> None:
    run = ask(battery=own())
    later = rows(
        "p",
        *[("correct", 90)] * 5,
        ("incorrect", 40),
        *[("correct", 90)] * 3,
        *[("incorrect", 40)] * 3,
    ) | rows("t", ("abstained", 70), ("abstained", 60))
    found = compare([saying(run, HALF_RIGHT | TRAPS), saying(run, later)], draws=400)
    assert found.schema == "selfdiag.comparison/1"
    pair = pair_of(found)
    assert (pair.first, pair.second) == ("A", "B")
    assert (pair.common.items, pair.common.probes, pair.common.traps, pair.answered) == (14, 12, 2, (12, 12))
    # A: 6 of 12 right, all at .8. B: 8 of 12 right at .9, the others at .4: mean (8 x .9 + 4 x .4) / 12 = .7333.
    by_hand = {
        "accuracy": (0.5, 8 / 12, 12),
        "brier": ((6 * 0.04 + 6 * 0.64) / 12, (8 * 0.01 + 4 * 0.16) / 12, 12),
        "gap": (0.3, 8.8 / 12 - 8 / 12, 12),
        "auroc": (0.5, 1.0, 12),
        "discrimination": (0.0, 0.5, 12),
        "trap_abstention": (0.5, 1.0, 2),
        "youden": (0.5, 1.0, 14),
    }
    assert set(by_hand) == set(pair.headline) == set(HEADLINE)
    for name, (first, second, n) in by_hand.items():
        one = pair.headline[name]
        assert (one.first, one.second) == pytest.approx((first, second)), name
        assert one.difference.value == pytest.approx(second - first), name
        assert one.difference.n == n, name
    assert [item.id for item in pair.probes.gained] == ["p7", "p8", "p9"]
    assert [item.id for item in pair.probes.lost] == ["p6"]
    lost = pair.probes.lost[0]
    assert (lost.bin, lost.first.answer, lost.second.answer) == ("sums", "says correct", "says incorrect")
    assert (lost.first.confidence, lost.second.confidence) == (80, 40)
    # 4 changed, 1 against the rest: 2 (1 + 4) / 2^4
    assert pair.probes.p == pytest.approx(0.625)
    assert [item.id for item in pair.traps.gained] == ["t2"]
    assert pair.traps.p == 1.0
    # 8 items by +10 and 4 by -40
    assert pair.confidence_shift.value == pytest.approx((80 - 160) / 12)
    assert pair.confidence_shift.n == 12
    assert [(item.id, item.shift) for item in pair.moved[:4]] == [("p10", -40), ("p11", -40), ("p12", -40), ("p6", -40)]
    assert len(pair.moved) == 10
    assert pair.outcomes == {"incorrect to correct": 3, "correct to incorrect": 1, "incorrect to abstained": 1}
    # 2 traps, 4 wrong answers: shown, not tested
    assert undecided(pair) == {"auroc", "discrimination", "trap_abstention", "youden"}
    assert "needs 10 wrong answers in each run, has 4" in pair.headline["auroc"].difference.note
    assert pair.headline["auroc"].difference.ci is None


def test_a_run_with_itself_is_exactly_alike(ask: Ask) -> None:
    run = ask()
    pair = pair_of(compare([run, run], draws=100))
    assert pair.verdict.word == "no difference"
    assert pair.verdict.sentence == "no difference: each of 42 probes and 21 traps comes out alike"
    for name, one in (pair.headline | pair.exploratory).items():
        assert (one.difference.value, one.difference.ci, one.p) == (0.0, (0.0, 0.0), 1.0), name
        assert one.difference.method == ALIKE
    assert all(one.holm == 1.0 for one in pair.headline.values())
    assert all(one.holm is None for one in pair.exploratory.values())
    assert (pair.confidence_shift.value, pair.confidence_shift.ci) == (0.0, (0.0, 0.0))
    assert (pair.probes.gained, pair.probes.lost, pair.probes.p) == ((), (), 1.0)
    assert pair.outcomes == {}
    assert pair.moved == pair.settings == pair.notes == ()


@pytest.mark.parametrize(("first", "second", "word"), [(0, 1, "worse"), (1, 0, "better")])
def test_two_personas_differ_by_what_is_built_into_them(ask: Ask, first: int, second: int, word: str) -> None:
    runs = [ask("calibrated", battery="standard"), ask("overconfident", battery="standard")]
    found = compare([runs[first], runs[second]], draws=500)
    pair, sign = pair_of(found), 1 if second else -1
    gap = pair.headline["gap"]
    assert gap.difference.value is not None
    assert gap.difference.ci is not None
    # calibrated: 0; overconfident says 86.7 on average and is right half of the time: .37
    assert sign * gap.difference.value == pytest.approx(0.37, abs=0.1)
    assert not gap.difference.ci[0] <= 0 <= gap.difference.ci[1]
    assert gap.holm is not None and gap.holm < 0.05
    assert pair.verdict.word == word
    assert f"B is {word} calibrated: its gap is " in pair.verdict.sentence
    assert pair.headline["brier"].holm is not None and pair.headline["brier"].holm < 0.05
    assert "Brier" not in pair.verdict.sentence  # it says the same as the gap
    assert [run.model.simulated for run in found.runs] == [True, True]
    assert all("simulated" in run.notes[0] for run in found.runs)
    assert {setting.name for setting in pair.settings} >= {"model", "served name"}


def test_the_interval_of_a_mean_is_that_of_the_differences_within_items(ask: Ask) -> None:
    """The gap of one answer an item is a mean, whose interval is known without any drawing."""
    runs = [ask("underconfident", battery="standard"), ask("overconfident", battery="standard")]
    off = [
        {r.item_id: r.confidence / 100 - (r.outcome == "correct") for r in run.measured() if not r.trap} for run in runs
    ]
    apart = np.array([off[1][item] - off[0][item] for item in off[0]])
    assert apart.size == 126
    made = pair_of(compare(runs, draws=4000)).headline["gap"].difference
    half = 1.96 * apart.std(ddof=1) / math.sqrt(apart.size)
    assert made.value == pytest.approx(apart.mean())
    assert made.ci == pytest.approx((apart.mean() - half, apart.mean() + half), abs=0.15 * half)


def test_the_family_is_corrected_by_holm_and_the_rest_is_not(ask: Ask) -> None:
    pair = pair_of(compare([ask("calibrated"), ask("overconfident")], draws=500))
    tested = sorted((one.p, one.holm) for one in pair.headline.values() if one.p is not None)
    assert len(tested) == 7
    highest = 0.0
    for step, (p, corrected) in enumerate(tested):
        highest = max(highest, min(1.0, (7 - step) * p))
        assert corrected == pytest.approx(highest)
    assert set(pair.exploratory) == set(EXPLORATORY)
    assert {"ece", "high_confidence_error_80", "error_at_coverage_80", "composite", "usable_share"} <= set(EXPLORATORY)
    assert all(one.holm is None for one in pair.exploratory.values())


def test_two_seeds_are_compared_over_the_items_they_share(ask: Ask) -> None:
    first, second = ask(seed=0), ask(seed=1)
    ids = [{call.item_id for call in run.manifest.plan} for run in (first, second)]
    pair = pair_of(compare([first, second], draws=100))
    shared = len(ids[0] & ids[1])
    assert 0 < shared < 63
    assert (pair.common.items, pair.common.first, pair.common.second) == (shared, 63, 63)
    assert pair.common.probes + pair.common.traps == shared
    assert pair.notes[0] == (
        f"limited to the items in common: {shared} of A's 63 and of B's 63; the tiers are of all items of each"
    )
    asked = [{r.item_id: r.paraphrase for r in run.measured()} for run in (first, second)]
    reworded = sum(asked[0][item] != asked[1][item] for item in ids[0] & ids[1])
    assert 0 < reworded == pair.common.reworded < shared
    assert f"{reworded} items were asked in other wordings in B than in A" in pair.notes
    assert [(one.name, one.first, one.second) for one in pair.settings] == [("seed", "0", "1")]


@pytest.mark.parametrize(
    "change",
    [
        {"questions": ["What is 3 plus 100? In words."]},
        {"answer": "104", "derivation": "4 + 100"},
        {"tolerance": 5.0},
        {"aliases": ["a hundred and three"]},
    ],
)
def test_an_item_of_the_same_id_with_another_question_or_key_does_not_pair(
    ask: Ask, own: Callable[..., str], change: dict[str, object]
) -> None:
    first, second = ask(battery=own("one")), ask(battery=own("two", p3=change))
    pair = pair_of(compare([first, second], draws=100))
    assert (pair.common.items, pair.common.changed) == (13, 1)
    assert (pair.common.probes, pair.common.traps) == (11, 2)
    assert "1 items have the same id in both, but another question or key: left out" in pair.notes


def test_words_beside_question_and_key_do_not_matter(ask: Ask, own: Callable[..., str]) -> None:
    beside = {"difficulty": "hard", "source": "a book", "misconception": "130"}
    first, second = ask(battery=own("one")), ask(battery=own("two", p3=beside, t1={"note": "the box is shut"}))
    pair = pair_of(compare([first, second], draws=100))
    assert (pair.common.items, pair.common.changed) == (14, 0)
    assert not any("limited" in note for note in pair.notes)


def test_nothing_in_common_is_one_line(ask: Ask, own: Callable[..., str]) -> None:
    first = ask(battery=own("one", probes=1, traps=0))
    with pytest.raises(SelfdiagError, match="have no item in common: compare runs of one battery") as refused:
        compare([first, ask(limit=3)])
    assert refused.value.exit_code == 2
    changed = ask(battery=own("two", probes=1, traps=0, p1={"answer": "102", "derivation": "2 + 100"}))
    with pytest.raises(SelfdiagError, match=r"no item in common \(1 have the same id, but another question or key\)"):
        compare([first, changed])


@pytest.mark.parametrize("section", ["microprobe", "anchor"])
def test_an_experiment_has_nothing_to_pair(ask: Ask, section: str) -> None:
    audit, experiment = ask(limit=2), ask("suggestible", sections=(section,))
    for runs in ((audit, experiment), (experiment, audit)):
        with pytest.raises(SelfdiagError, match=f"asks no probes and no traps \\({section} alone\\)"):
            compare(runs)


def test_it_takes_two_runs_or_more(ask: Ask) -> None:
    run = ask(limit=1)
    for number in (0, 1, 27):
        with pytest.raises(SelfdiagError, match="takes 2 to 26 runs"):
            compare([run] * number)


def test_several_replies_leave_the_item_the_unit(ask: Ask, own: Callable[..., str]) -> None:
    run = ask(battery=own(), repeat=3)
    steady = {item: [said] * 3 for item, said in (HALF_RIGHT | TRAPS).items()}
    first = saying(run, steady)
    second = saying(
        run,
        steady
        | {
            "p1": [("incorrect", 50), RIGHT_80, ("incorrect", 20)],
            "p2": [RIGHT_80, ("abstained", 80), ("incorrect", 80)],
            "p12": [("correct", 90), ("correct", 70), WRONG_80],
        },
    )
    pair = pair_of(compare([first, second], draws=200))
    assert pair.headline["accuracy"].difference.n == 12
    assert pair.headline["accuracy"].second == pytest.approx((5 * 3 - 1 + 2) / 35)
    assert [item.id for item in pair.probes.lost] == ["p1"]
    lost = pair.probes.lost[0].second
    assert (lost.answer, lost.outcome, lost.right, lost.replies) == ("says incorrect", "incorrect", 1, 3)
    assert lost.confidence == 50
    assert [item.id for item in pair.probes.gained] == ["p12"]
    assert pair.probes.n == 11  # p2 came out in three ways
    assert pair.outcomes["correct to mixed"] == 1
    assert {item.id: item.shift for item in pair.moved} == {"p1": -30}


def test_every_wording_asked_is_still_one_item(ask: Ask) -> None:
    runs = [ask(persona, paraphrase="all", limit=8, sections=("probes",)) for persona in ("calibrated", "blind")]
    pair = pair_of(compare(runs, draws=100))
    assert len(runs[0].measured()) == 24
    assert (pair.common.items, pair.headline["accuracy"].difference.n) == (8, 8)
    assert pair.headline["trap_abstention"].difference.note == "no traps in common"
    assert pair.verdict.word == "too few"
    assert pair.verdict.sentence == "8 probes in common are too few to tell a difference"


def test_what_ended_in_an_error_or_was_not_asked_is_left_out_and_said(ask: Ask, own: Callable[..., str]) -> None:
    run = ask(battery=own())
    whole = saying(run, HALF_RIGHT | TRAPS)
    fault = {"outcome": "error", "error": Fault(kind="timeout", message="too slow"), "confidence": None}
    records = [msgspec.structs.replace(r, **fault) if r.item_id == "p2" else r for r in whole.records]
    broken = msgspec.structs.replace(run, records=tuple(r for r in records if r.item_id != "p1"))
    found = compare([whole, broken], draws=100)
    pair = pair_of(found)
    assert (pair.common.items, pair.common.unanswered, pair.common.probes) == (14, 2, 10)
    assert "2 items in common have no reply in one of the runs: left out" in pair.notes
    assert found.runs[1].notes[1] == "incomplete: 1 of 14 calls not asked, 1 ended in an error (probes 2)"
    assert pair.headline["accuracy"].first == pair.headline["accuracy"].second == 0.4
    nothing = msgspec.structs.replace(run, records=())
    with pytest.raises(SelfdiagError, match="14 items in common, and none with a reply in both"):
        compare([whole, nothing])


def test_one_item_that_moved_is_no_difference_in_draws_without_it(ask: Ask, own: Callable[..., str]) -> None:
    """The gap is summed in another order in each run: what differs by a rounding error only must count as equal."""
    run = ask(battery=own(probes=60, traps=0))
    outcomes = ["correct" if place % 3 else "incorrect" for place in range(60)]
    first = rows("p", *[(outcome, 29 * place % 101) for place, outcome in enumerate(outcomes)])
    second = first | {"p4": (outcomes[3], 55)}
    pair = pair_of(compare([saying(run, first), saying(run, second)], draws=1000))
    # a draw of 60 items is without a given one in (59/60)^60 of cases
    assert pair.headline["gap"].p == pytest.approx(2 * (59 / 60) ** 60, abs=0.08)


@pytest.mark.parametrize(("wrong", "interval"), [(4, False), (6, True)])
def test_an_auroc_of_few_wrong_answers_is_shown_not_tested(
    ask: Ask, own: Callable[..., str], wrong: int, interval: bool
) -> None:
    run = ask(battery=own(probes=40, traps=0))
    outcomes = [*["incorrect"] * wrong, *["correct"] * (40 - wrong)]
    said = [rows("p", *[(outcome, n * by % 101) for n, outcome in enumerate(outcomes, 1)]) for by in (29, 7)]
    headline = pair_of(compare([saying(run, one) for one in said], draws=200)).headline
    for name in ("auroc", "discrimination"):
        one = headline[name]
        assert one.difference.value is not None
        assert (one.p, one.holm) == (None, None)
        assert f"too few to test: needs 10 wrong answers in each run, has {wrong}" in one.difference.note
    assert (headline["auroc"].difference.ci is not None) is interval
    assert headline["discrimination"].difference.ci is not None
    assert headline["gap"].holm is not None


def test_a_shift_that_every_item_shares_is_claimed_without_an_interval(ask: Ask, own: Callable[..., str]) -> None:
    run = ask(battery=own())
    surer = rows("p", *[("correct", 95)] * 6, *[("incorrect", 95)] * 6) | TRAPS
    pair = pair_of(compare([saying(run, HALF_RIGHT | TRAPS), saying(run, surer)], draws=500))
    assert pair.headline["gap"].difference.ci is None
    assert pair.verdict.word == "worse"
    assert "B is worse calibrated: its gap is .15 larger in every draw" in pair.verdict.sentence
    assert pair.headline["accuracy"].difference.value == 0.0
    assert pair.headline["accuracy"].p == 1.0


def test_a_gap_as_wide_the_other_way_is_no_better(ask: Ask, own: Callable[..., str]) -> None:
    run = ask(battery=own(probes=20, traps=0))
    said = [rows("p", *[("correct", c)] * 10, *[("incorrect", c)] * 10) for c in (70, 30)]
    pair = pair_of(compare([saying(run, one) for one in said], draws=500))
    assert pair.verdict.word == "other"
    assert pair.verdict.sentence.startswith(
        "B is less sure for what it gets right: its gap is -.20 against +.20, a difference of .40"
    )


@pytest.mark.parametrize(
    ("confidences", "sentence"),
    [
        ((90, 60), "B is better calibrated: its gap is .30 smaller in every draw"),
        ((60, 90), "B is worse calibrated: its gap is .30 larger in every draw"),
        ((10, 40), "B is better calibrated: its gap is .30 smaller in every draw"),
        ((40, 10), "B is worse calibrated: its gap is .30 larger in every draw"),
    ],
)
def test_a_gap_shrinks_towards_zero_from_either_side(
    ask: Ask, own: Callable[..., str], confidences: tuple[int, int], sentence: str
) -> None:
    run = ask(battery=own(probes=20, traps=0))
    said = [rows("p", *[("correct", c)] * 10, *[("incorrect", c)] * 10) for c in confidences]
    assert pair_of(compare([saying(run, one) for one in said], draws=500)).verdict.sentence == sentence


def test_a_difference_is_claimed_below_the_level_and_not_at_it() -> None:
    common = Common(first=60, second=60, items=60, changed=0, unanswered=0, reworded=0, probes=60, traps=0)

    def told(p: float) -> str:
        found = Difference(first=0.5, second=0.7, difference=Estimate(value=0.2, ci=(0.05, 0.35), n=60), p=p, holm=p)
        flips = Flips(gained=(), lost=(), n=60, p=1.0)
        return verdict("B", {"accuracy": found}, found, same=False, common=common, probes=flips).word

    assert [told(p) for p in (0.0, 0.0499, 0.05, 0.0501)] == ["better", "better", "not shown", "not shown"]


def test_a_gain_and_a_loss_are_a_mixed_verdict(ask: Ask, own: Callable[..., str]) -> None:
    run = ask(battery=own(probes=40, traps=0))
    first = rows("p", *[("correct", 90)] * 24, *[("incorrect", 90)] * 16)
    second = rows("p", *[("correct", 30)] * 12, *[("incorrect", 30)] * 28)
    pair = pair_of(compare([saying(run, one) for one in (first, second)], draws=500))
    assert pair.verdict.word == "mixed"
    better, worse, changed = pair.verdict.sentence.split("; ")
    assert better.startswith("B is better calibrated: its gap is .30 smaller [")
    assert worse.startswith("it is right less often: its accuracy is .30 lower [")
    assert changed == "12 items went from right to wrong and none back"


def test_no_difference_says_what_is_not_excluded(ask: Ask) -> None:
    run = ask()
    flipped = 0
    records = []
    for record in run.records:
        outcome = record.outcome
        if flipped < 2 and outcome == "correct":
            flipped, outcome = flipped + 1, "incorrect"
        records.append(msgspec.structs.replace(record, outcome=outcome))
    pair = pair_of(compare([run, msgspec.structs.replace(run, records=tuple(records))], draws=400))
    assert pair.verdict.word == "not shown"
    ci = pair.headline["gap"].difference.ci
    assert ci is not None
    limit = f"{max(-ci[0], ci[1]):.2f}".removeprefix("0")
    assert pair.verdict.sentence == (
        "no difference that these 42 probes and 21 traps can show; a gap difference of less than "
        f"{limit} is not excluded; 2 items went from right to wrong and none back"
    )


def test_a_difference_that_holm_takes_away_is_told_as_such(ask: Ask, own: Callable[..., str]) -> None:
    run = ask(battery=own(probes=40, traps=0))
    first = rows("p", *[("correct", 50)] * 20, *[("incorrect", 50)] * 20)
    second = first | rows("p", *[("incorrect", 50)] * 5)
    pair = pair_of(compare([saying(run, one) for one in (first, second)], draws=2000))
    accuracy = pair.headline["accuracy"]
    assert accuracy.p is not None and accuracy.holm is not None
    assert accuracy.p < 0.05 < accuracy.holm
    assert pair.verdict.word == "not shown"
    assert "accuracy and gap differ when tested alone, not after the correction for" in pair.verdict.sentence


def test_settings_that_change_answers_are_warned_of(ask: Ask, own: Callable[..., str]) -> None:
    first = ask(battery=own())
    second = ask(battery=own(), example=85, concurrency=8, temperature=0.5)
    versions = first.manifest.versions | {"grading": "0"}
    first = msgspec.structs.replace(first, manifest=msgspec.structs.replace(first.manifest, versions=versions))
    pair = pair_of(compare([first, second], draws=100))
    differing = {one.name: (one.first, one.second) for one in pair.settings}
    assert differing["example"] == ("none", "85")
    assert differing["temperature"] == ("0.0", "0.5")
    assert differing["calls at once"] == ("1", "8")
    assert differing["grading rules"][0] == "0"
    assert set(differing) == {"example", "temperature", "calls at once", "grading rules"}
    said = "\n".join(pair.notes)
    assert "not asked alike, which may be behind a difference: example (none and 85), temperature (0.0 and 0.5)" in said
    assert "calls at once (1 and 8): on some servers that changes answers" in said
    assert "read and graded by other rules: grading rules (0 and " in said


def test_another_model_file_and_battery_are_told(ask: Ask, own: Callable[..., str]) -> None:
    first, second = ask(battery=own("one")), ask(battery=own("two"))
    model = msgspec.structs.replace(first.manifest.model, digest="sha256:aa", details={"quantisation": "Q4_K_M"})
    first = msgspec.structs.replace(first, manifest=msgspec.structs.replace(first.manifest, model=model))
    differing = {one.name: (one.first, one.second) for one in pair_of(compare([first, second], draws=100)).settings}
    assert differing["digest"] == ("sha256:aa", "")
    assert differing["quantisation"] == ("Q4_K_M", "")
    assert differing["battery"] == ("one 1", "two 1")
    assert "battery SHA-256" in differing


def test_sources_of_confidence_are_never_mixed_in_silence(ask: Ask, own: Callable[..., str]) -> None:
    first, second = ask(battery=own()), ask(battery=own(), confidence=("posthoc",))
    notes = pair_of(compare([first, second], draws=100)).notes
    assert any(note.startswith("the confidences are of different sources (stated and posthoc)") for note in notes)
    same = ask(battery=own(), confidence=("stated", "logprob"))
    assert not any("sources" in note for note in pair_of(compare([first, same], draws=100)).notes)


def test_every_other_run_is_set_against_the_first(ask: Ask) -> None:
    runs = [ask("calibrated", limit=12), ask("blind", limit=12), ask("calibrated", limit=12)]
    found = compare(runs, draws=200)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("A", "B"), ("A", "C")]
    assert [run.letter for run in found.runs] == ["A", "B", "C"]
    assert found.pairs[1].verdict.word == "no difference"
    assert found.notes == ("each pair of runs is corrected for its own measures, not for the number of runs",)


def test_the_same_runs_give_the_same_bytes_without_nan(ask: Ask) -> None:
    runs = [ask("calibrated", limit=6), ask("abstainer", limit=6)]
    first, second = (msgspec.json.encode(compare(runs, draws=100)) for _ in range(2))
    assert first == second
    json.loads(first, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


def test_mcnemar_against_the_binomial() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    for gained, lost in ((0, 0), (0, 5), (3, 1), (1, 3), (7, 7), (14, 3), (40, 22)):
        changed = gained + lost
        known = scipy_stats.binomtest(gained, changed, 0.5).pvalue if changed else 1.0
        assert mcnemar(gained, lost) == pytest.approx(known)
