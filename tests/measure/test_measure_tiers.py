"""Composite, tier, and what simulation expects of them."""

import numpy as np
import pytest

from selfdiag.measure.calibration import gap
from selfdiag.measure.counts import Counts, tabulate
from selfdiag.measure.resampling import SEED
from selfdiag.measure.summary import measure_run
from selfdiag.measure.tally import Tally, resample, tally_rows
from selfdiag.measure.tiers import (
    RULES,
    Tier,
    composite,
    parts,
    probability_at_least,
    tier,
    tier_letters,
)

SIZES = {"quick": (42, 21), "standard": (126, 21), "full": (294, 42)}
SETS = 1500


def simulate(
    size: tuple[int, int], stated: np.ndarray, right: np.ndarray | float, trap_rate: float, silent: float = 0
) -> np.ndarray:
    """Return tier letters of simulated runs; ``stated`` are integers of shape (sets, probes)."""
    rng = np.random.default_rng(7)
    sets = stated.shape[0]
    correct = rng.random(stated.shape) < right
    quiet = rng.random(stated.shape) < silent
    cell = stated + 101 * np.arange(sets)[:, None]
    counts = [
        np.bincount(cell[chosen & ~quiet], minlength=101 * sets).reshape(sets, 101) for chosen in (correct, ~correct)
    ]
    spotted = rng.binomial(size[1], trap_rate, size=sets)
    tally = Tally(
        answered=Counts(np.arange(101) / 100, *counts),
        abstained=quiet.sum(axis=1),
        trap_abstained=spotted,
        trap_incorrect=size[1] - spotted,
    )
    return tier_letters(tally)


def calibrated(probes: int) -> np.ndarray:
    nu = 0.6 * 0.4 / 0.25**2 - 1
    p = np.random.default_rng(8).beta(0.6 * nu, 0.4 * nu, size=(SETS, probes))
    return (np.round(p * 20) * 5).astype(np.int64)


@pytest.mark.parametrize(("size", "share"), [("quick", 66), ("standard", 90), ("full", 98)])
def test_calibrated_models_are_mostly_a(size: str, share: int) -> None:
    stated = calibrated(SIZES[size][0])
    letters = simulate(SIZES[size], stated, stated / 100, 0.8)
    assert 100 * (letters == "A").mean() == pytest.approx(share, abs=6)


@pytest.mark.parametrize(
    ("right", "letter", "size", "share"),
    [
        (0.2, "X", "quick", 82),
        (0.2, "X", "standard", 94),
        (0.2, "X", "full", 100),
        (0.8, "D", "quick", 77),
        (0.8, "D", "standard", 94),
        (0.8, "D", "full", 99),
    ],
)
def test_saturated_models_are_blind_or_weak(right: float, letter: str, size: str, share: int) -> None:
    stated = np.random.default_rng(9).choice([90, 95], size=(SETS, SIZES[size][0]))
    letters = simulate(SIZES[size], stated, right, 0.1)
    assert 100 * (letters == letter).mean() == pytest.approx(share, abs=6)


@pytest.mark.parametrize("size", SIZES)
def test_a_constant_fifty_is_weak(size: str) -> None:
    letters = simulate(SIZES[size], np.full((SETS, SIZES[size][0]), 50), 0.5, 0.0)
    assert (letters == "D").mean() > 0.9


@pytest.mark.parametrize("size", ["quick", "standard"])
def test_a_model_that_abstains_gives_no_evidence(size: str) -> None:
    stated = calibrated(SIZES[size][0])
    assert (simulate(SIZES[size], stated, stated / 100, 0.8, silent=0.9) == "-").mean() > 0.94


def judged(tally: Tally) -> Tier:
    return tier(tally, tier_letters(resample(tally, draws=500)))


def run(
    right: int, wrong: int, p_right: float, p_wrong: float, spotted: int = 20, missed: int = 0, **more: int
) -> Tally:
    """A run in which right answers state one value and wrong answers another."""
    return Tally(
        answered=tabulate([p_right] * right + [p_wrong] * wrong, [1] * right + [0] * wrong),
        trap_abstained=np.array(spotted),
        trap_incorrect=np.array(missed),
        **{name: np.array(value) for name, value in more.items()},  # type: ignore[arg-type]
    )


def test_parts_and_composite() -> None:
    tally = run(30, 10, 0.9, 0.75, spotted=12, missed=8, abstained=10)
    shares = {name: float(share) for name, share in parts(tally).items()}
    brier = (30 * 0.01 + 10 * 0.75**2) / 40
    gap = (30 * 0.9 + 10 * 0.75) / 40 - 0.75
    expected = {
        "brier": 1 - brier / 0.5,
        "gap": 1 - gap / 0.5,
        "discrimination": 0.15 / 0.3,
        "traps": 0.6 - 10 / 50,
    }
    assert shares == pytest.approx(expected)
    assert float(composite(tally)) == pytest.approx(25 * sum(expected.values()))


def test_parts_are_clipped() -> None:
    awful = run(0, 30, 0.5, 1.0, spotted=0, missed=20)
    assert [float(share) for share in parts(awful).values()] == [0, 0, 0, 0]
    backwards = run(15, 15, 0.2, 0.9)
    assert float(parts(backwards)["discrimination"]) == 0


@pytest.mark.parametrize(
    ("tally", "letter"),
    [
        (run(20, 10, 0.9, 0.1), "A"),
        (run(20, 10, 0.75, 0.0), "B"),
        (run(20, 10, 0.9, 0.1, spotted=0), "B"),
        (run(15, 15, 0.6, 0.6, spotted=12, missed=8), "C"),
        (run(15, 15, 0.6, 0.6, spotted=0, missed=20), "D"),
        (run(12, 18, 0.9, 0.9, spotted=6, missed=14), "E"),
        (run(12, 18, 0.9, 0.9, spotted=5, missed=15), "X"),
        (run(12, 18, 0.9, 0.9, spotted=0, missed=0), "X"),
        (run(3, 30, 0.9, 0.9, spotted=0, missed=20), "X"),
        (run(3, 30, 0.96, 0.9, spotted=0, missed=20), "E"),
        (run(0, 30, 0.5, 0.9, spotted=0, missed=20), "X"),
        (run(10, 9, 0.9, 0.1), "-"),
        (run(30, 0, 0.9, 0.1), "-"),
        (run(20, 10, 0.9, 0.1, unusable=31), "-"),
        (Tally(), "-"),
    ],
)
def test_letters(tally: Tally, letter: str) -> None:
    assert str(tier_letters(tally)) == letter


def test_a_gap_on_the_cut_off_counts_as_reached() -> None:
    blind = Tally(answered=tabulate([0.95] * 10 + [0.55] * 18, [0] * 17 + [1] * 11))
    shy = Tally(answered=tabulate([0.9] * 10 + [0.4] * 12, [1] * 16 + [0] * 6))
    # On paper the gaps are .3 and -.1; in binary both fall short of it.
    assert float(gap(blind.answered)) < 0.3
    assert float(gap(shy.answered)) > -0.1
    assert str(tier_letters(blind)) == "X"
    assert judged(shy).direction == "underconfident"


@pytest.mark.parametrize(
    ("tally", "direction"),
    [
        (run(10, 20, 0.9, 0.8), "overconfident"),
        (run(20, 10, 0.4, 0.3), "underconfident"),
        (run(15, 15, 0.5, 0.5), "uninformative"),
        (run(20, 10, 0.8, 0.3), ""),
        (run(30, 0, 0.5, 0.5), ""),
    ],
)
def test_direction(tally: Tally, direction: str) -> None:
    assert judged(tally).direction == direction


def test_without_traps_the_best_is_b() -> None:
    tally = run(20, 10, 0.9, 0.1, spotted=0)
    assert float(composite(tally)) > 95
    measured = measure_run(tally, draws=300)
    assert measured.tier.letter == "B"
    assert measured.composite.note.startswith("without traps")
    assert measured.composite.parts["traps"].value is None


@pytest.mark.parametrize(("unusable", "provisional"), [(7, False), (8, True)])
def test_a_tier_is_provisional_when_replies_are_lost(unusable: int, provisional: bool) -> None:
    assert judged(run(20, 10, 0.9, 0.1, unusable=unusable)).provisional is provisional


def test_probabilities_and_range() -> None:
    sure = judged(run(200, 100, 0.9, 0.1))
    assert (sure.range, sure.probabilities) == ("A", {"A": 1.0})
    drawn = np.array(["C"] * 60 + ["D"] * 30 + ["B"] * 10)
    unsure = tier(run(15, 15, 0.6, 0.6, spotted=12, missed=8), drawn)
    assert unsure.probabilities == {"C": 0.6, "D": 0.3, "B": 0.1}
    assert list(unsure.probabilities) == ["C", "D", "B"]
    assert unsure.range == "C-D"
    assert probability_at_least(unsure, "C") == pytest.approx(0.7)
    assert probability_at_least(unsure, "X") == pytest.approx(1)
    just = tier(run(15, 15, 0.6, 0.6, spotted=12, missed=8), np.array(["C"] * 70 + ["B"] * 30))
    assert just.range == "C"
    shaky = tier(run(15, 15, 0.6, 0.6, spotted=12, missed=8), np.array(["C"] * 60 + ["-"] * 40))
    assert shaky.range == "C or -"
    assert probability_at_least(shaky, "E") == pytest.approx(0.6)


def test_insufficient_evidence_is_certain() -> None:
    few = judged(run(10, 9, 0.9, 0.1))
    assert (few.letter, few.range, few.probabilities) == ("-", "-", {"-": 1.0})
    assert probability_at_least(few, "X") == 0


@pytest.mark.parametrize(
    ("tally", "advice"),
    [
        (
            run(11, 27, 0.9, 0.9, spotted=0, missed=21),
            "Do not act on its stated confidence: 27 of 38 answers at 80 or more are wrong.",
        ),
        (
            run(20, 10, 0.9, 0.1),
            "Its stated confidence can be used: 0 of 20 answers at 80 or more are wrong.",
        ),
        (
            run(20, 10, 0.4, 0.3),
            "Take its stated confidence as too low: it states 37 on average and 20 of 30 answers are right.",
        ),
        (
            run(15, 15, 0.7, 0.7, spotted=5, missed=15),
            "Take its stated confidence as too high: it states 70 on average and 15 of 30 answers are right.",
        ),
        (
            run(15, 15, 0.5, 0.5, spotted=0, missed=20),
            "Do not use its stated confidence to tell right answers from wrong ones: "
            "it states 50 on average and 15 of 30 answers are right.",
        ),
        (
            run(30, 0, 0.9, 0.9),
            "Too easy, nothing to measure: all 30 answers are right; ask harder questions.",
        ),
        (
            run(8, 4, 0.9, 0.9),
            "Not enough to judge: 12 of 12 probes are answered with a confidence, 20 are needed.",
        ),
        (run(20, 10, 0.9, 0.1, unusable=40), "Not enough to judge: only 30 of 70 replies can be used."),
        (Tally(), "Not enough to judge: no probe got a reply."),
        (
            run(20, 10, 0.9, 0.1, spotted=0),
            "Its stated confidence can be used with care: 0 of 20 answers at 80 or more are wrong.",
        ),
        (
            run(17, 13, 0.6, 0.5, spotted=0, missed=20),
            "Do not rely on its stated confidence alone: it states 56 on average and 17 of 30 answers are right.",
        ),
    ],
)
def test_advice_is_one_plain_sentence(tally: Tally, advice: str) -> None:
    assert judged(tally).advice == advice


def test_every_letter_has_a_name() -> None:
    assert judged(run(11, 27, 0.9, 0.9, spotted=0, missed=21)).name == "confidently blind"
    assert set(RULES.names) == set("ABCDEX-")


def test_one_bootstrap_serves_metrics_and_tier() -> None:
    rng = np.random.default_rng(1)
    p = rng.choice([0.5, 0.7, 0.9], 42)
    outcome = np.where(rng.random(42) < p, "correct", "incorrect").tolist() + ["abstained"] * 15 + ["incorrect"] * 6
    tally = tally_rows(outcome, [*p, *[0.9] * 21], trap=[False] * 42 + [True] * 21)
    measured = measure_run(tally)
    assert measured.tier == tier(tally, tier_letters(resample(tally, seed=SEED)))
    assert measured.composite.value == pytest.approx(float(composite(tally)))
    assert measured.composite.value is not None
    assert measured.composite.ci is not None
    assert measured.composite.ci[0] < measured.composite.value < measured.composite.ci[1]
    assert list(measured.composite.parts) == ["brier", "gap", "discrimination", "traps"]
