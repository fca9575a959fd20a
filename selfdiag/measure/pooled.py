"""Several models in one table: what their pooled AUROC owes to which model answered."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.correlation import average_ranks
from selfdiag.measure.counts import Counts, Floats, merge_neighbours, tabulate
from selfdiag.measure.discrimination import auroc
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.graded import why_undefined
from selfdiag.measure.resampling import DRAWS, SEED, clustered_draws, percentile_interval
from selfdiag.measure.sample import MOST_LEVELS, Sample
from selfdiag.measure.tally import Tally, tally_rows

MOST_ITEMS = 20_000
"""With more items the intervals would take longer than they are worth."""


class PooledAuroc(msgspec.Struct, frozen=True, kw_only=True):
    """The AUROC over the rows of all models, and of the same rows ranked within their model.

    ``between_models`` is the first minus the second: what comes from telling models apart.
    """

    auroc: Estimate
    rank_normalised: Estimate
    between_models: Estimate


def rank_fractions(p: ArrayLike, model: ArrayLike) -> Floats:
    """Return each confidence's average rank within its model over that model's number of answers.

    ``p`` and ``model`` have shape (n,); the result lies in (0, 1], ties share their mean rank.
    """
    stated, codes = np.asarray(p, dtype=np.float64), np.asarray(model)
    ranks = np.empty(stated.size)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        ranks[rows] = average_ranks(stated[rows]) / rows.size
    return ranks


def pooled_auroc(
    p: ArrayLike, correct: ArrayLike, model: ArrayLike, item: ArrayLike, *, draws: int = DRAWS, seed: int = SEED
) -> PooledAuroc:
    """Return the pooled AUROC with and without the differences between models.

    A model that is right more often and surer than another raises the pooled AUROC without telling its own right
    answers from its wrong ones; ranks within the model take that away. Intervals draw items, all models' rows of
    an item together; the ranks stay those of the data.

    Args:
        p: shape (n,), stated confidences in [0, 1].
        correct: shape (n,), 1 for a right answer and 0 for a wrong one.
        model: shape (n,), who answered.
        item: shape (n,), what was asked.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
    """
    stated, right, items = np.asarray(p, dtype=np.float64), np.asarray(correct), np.asarray(item)
    ranks = rank_fractions(stated, model)
    whole, ranked = tabulate(stated, right), tabulate(ranks, right)
    n = int(whole.n)
    units = np.unique(items).size
    if not whole.hits or not whole.misses:
        nothing = estimate(None, n=n, note=why_undefined(whole))
        return PooledAuroc(auroc=nothing, rank_normalised=nothing, between_models=nothing)
    if units > MOST_ITEMS:
        values = float(auroc(whole)), float(auroc(ranked))
        note = f"no interval: {units:,} items"
        parts = [estimate(value, n=n, note=note) for value in (*values, values[0] - values[1])]
        return PooledAuroc(auroc=parts[0], rank_normalised=parts[1], between_models=parts[2])
    outcome = np.where(right.astype(np.bool_), "correct", "incorrect").tolist()
    by_item = [tally_rows(outcome, merge_neighbours(signal, MOST_LEVELS), item=items) for signal in (stated, ranks)]
    samples = [
        Sample(tally_rows(outcome, signal), table, draws=draws, seed=seed)
        for signal, table in zip((stated, ranks), by_item, strict=True)
    ]
    made = percentile_interval(_paired_differences(by_item[0].answered, by_item[1].answered, draws, seed))
    return PooledAuroc(
        auroc=samples[0].bootstrap(_auroc, n, undefined=""),
        rank_normalised=samples[1].bootstrap(_auroc, n, undefined=""),
        between_models=estimate(
            float(auroc(whole) - auroc(ranked)),
            made.ci,
            n=n,
            method=f"{made.method}, {draws} draws of items, paired, seed {seed}" if made.ci else "",
            note=made.note,
        ),
    )


def _paired_differences(first: Counts, second: Counts, draws: int, seed: int) -> Floats:
    """Return the first AUROC minus the second in draws of the same items, shape (draws,).

    Both have shape (items, k), one table per item. Two samples of one seed would not do: among many items each draws
    kinds of items that are alike in its own table.
    """
    tables = (first.right, first.wrong, second.right, second.wrong)
    drawn = clustered_draws(np.concatenate(tables, axis=1), draws, np.random.default_rng(seed))
    ends = np.cumsum([table.shape[1] for table in tables])
    parts = np.split(drawn, ends[:-1], axis=1)
    return auroc(Counts(first.levels, parts[0], parts[1])) - auroc(Counts(second.levels, parts[2], parts[3]))


def _auroc(tally: Tally) -> Floats:
    return auroc(tally.answered)
