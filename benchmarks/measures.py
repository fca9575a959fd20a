"""Time of every measure with its interval over 22,248 answers of 16 models, and against a scikit-learn loop.

Bars: 1 second for all, and 50 times faster than ``roc_auc_score`` alone over the same bootstrap draws.

Usage: python benchmarks/measures.py [--json FILE]
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
import table

from selfdiag.battery.items import BINS
from selfdiag.measure.resampling import DRAWS
from selfdiag.protocols.rows import summarise_columns
from selfdiag.protocols.summary import SummaryModel
from selfdiag.runs.columns import Columns

SECONDS = 1.0
FASTER = 50
ROWS, MODELS = 22_248, 16
ROUNDS = 5
MEASURED = 200
"""Draws over which the scikit-learn loop is timed; its time is scaled to all draws of all models."""


def answers(every_value: bool, seed: int = 1) -> Iterator[tuple[str, Columns]]:
    """Yield each model's answers; confidences are multiples of five, or any of the 101 values."""
    rng = np.random.default_rng(seed)
    for model in range(MODELS):
        rows = ROWS // MODELS + (model < ROWS % MODELS)
        sure = rng.beta(1.5 + model / 8, 1.2, rows)
        confidence = np.round(100 * sure) if every_value else 5 * np.round(20 * sure)
        correct = rng.random(rows) < 0.2 + 0.5 * sure
        yield (
            f"model-{model:02}",
            Columns(
                item=np.arange(rows),
                bin=tuple(BINS[item % len(BINS)] for item in range(rows)),
                trap=np.zeros(rows, dtype=np.bool_),
                outcome=tuple("correct" if right else "incorrect" for right in correct),
                confidence=confidence / 100,
                free_text=np.zeros(rows, dtype=np.bool_),
            ),
        )


def seconds_of_summary(models: list[tuple[str, Columns]]) -> float:
    started = time.process_time()
    for name, columns in models:
        who = SummaryModel(provider="", name=name, served_name="", digest="", simulated=False)
        summarise_columns(columns, model=who, bins=BINS)
    return time.process_time() - started


def seconds_of_loop(columns: Columns, *scores: Callable[..., object], draws: int = MEASURED) -> float:
    """Return the time of scikit-learn's scores over bootstrap draws of one model, scaled to all draws of all models."""
    confidence, correct = columns.confidence, np.array(columns.outcome) == "correct"
    rng = np.random.default_rng(1)
    picks = [rng.integers(correct.size, size=correct.size) for _ in range(draws)]
    started = time.process_time()
    for pick in picks:
        for score in scores:
            score(correct[pick], confidence[pick])
    return (time.process_time() - started) * DRAWS / draws * MODELS


def rows() -> list[table.Row]:
    from sklearn.metrics import roc_auc_score

    found = []
    for every_value, stated in ((False, "multiples of five"), (True, "all 101 values")):
        models = list(answers(every_value))
        ours = min(seconds_of_summary(models) for _ in range(ROUNDS))
        loop = min(seconds_of_loop(models[0][1], roc_auc_score) for _ in range(ROUNDS))
        note = f"its {loop:.0f} s are scaled from {MEASURED} draws of one model"
        found += [
            table.Row(f"summaries of {ROWS:,} answers, 16 models, {stated}", ours, "s", SECONDS),
            table.Row(f"scikit-learn's AUROC alone, {stated}", loop / ours, "times", FASTER, at_least=True, note=note),
        ]
    return found


if __name__ == "__main__":
    table.main("Time the measures.", rows)
