"""What the agreement of other models says about an answer, beside what its own confidence says.

Models that answered the same items are combined afterwards; none saw another's output. The signal of a model
on an item is the number of its panel-mates whose answer agrees with its own. The model's own record never
counts for itself. Source: the "self-confidence in LLM evaluation" study.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from selfdiag.measure.contrast import paired_contrast
from selfdiag.measure.counts import Bools, Floats, Ints, ratio, tabulate
from selfdiag.measure.discrimination import auroc, rank_normalised
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.graded import FEW, VERY_FEW, why_undefined
from selfdiag.measure.itemwise import auroc_estimate, from_draws
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, wilson
from selfdiag.measure.sample import MOST_LEVELS, Sample
from selfdiag.measure.tally import Tally, tally_rows

AGREE, DISAGREE, INDETERMINATE = 1, 0, -1
"""Whether two models gave the same answer to an item."""

LEAST_MODELS = 3
"""With two models one mate would be the whole panel."""

Agreement = NDArray[np.int8]
Bracket = Literal["strict", "lenient"]

_NO_ANSWER = -1


def canonical_agreement(answers: ArrayLike, correct: ArrayLike) -> Agreement:
    """Return which pairs agree when two right answers count as the same, whatever their wording.

    ``answers`` has shape (models, items): an integer code per distinct answer, -1 for a refusal or no answer.
    ``correct`` has the same shape: 1 right, 0 wrong, -1 not graded. Returns shape (models, models, items) with
    ``AGREE`` and ``DISAGREE``. The answer key takes part, so this coding describes a panel and could not be
    used on questions without a key. Raises ``ValueError`` when the shapes differ.
    """
    code, grade = _table(answers), _table(correct)
    if code.shape != grade.shape:
        raise ValueError("answers and grades differ in shape")
    both_right = (grade[:, None] == 1) & (grade[None] == 1)
    return np.asarray(_same(code) | both_right, dtype=np.int8)


def label_free_agreement(answers: ArrayLike, overlap: ArrayLike | None = None) -> Agreement:
    """Return which pairs agree by their wording alone.

    ``answers`` has shape (models, items): an integer code per distinct answer, -1 for a refusal or no answer,
    which agrees with nothing. ``overlap`` has shape (models, models, items) and says of answers that are not
    equal whether they share words: ``INDETERMINATE`` for some, ``DISAGREE`` for none, ``AGREE`` where the
    comparison takes them for the same; without it different codes disagree. Returns the same shape. Raises
    ``ValueError`` for an overlap of another shape, with other values, or that differs between (a, b) and
    (b, a).
    """
    code = _table(answers)
    same = _same(code)
    if overlap is None:
        return np.asarray(same, dtype=np.int8)
    shared = np.asarray(overlap)
    if shared.shape != same.shape or not np.isin(shared, (AGREE, DISAGREE, INDETERMINATE)).all():
        raise ValueError("overlap holds 1, 0 or -1 for each pair of models and item")
    if (shared != shared.swapaxes(0, 1)).any():
        raise ValueError("overlap of two answers does not depend on their order")
    answered = code != _NO_ANSWER
    both = answered[:, None] & answered[None]
    return np.where(same, AGREE, np.where(both, shared, DISAGREE)).astype(np.int8)


def panel_signal(agreement: ArrayLike, bracket: Bracket = "strict") -> Ints:
    """Return for each model and item how many panel-mates agree, shape (models, items), 0 to models - 1.

    ``agreement`` has shape (models, models, items) with ``AGREE``, ``DISAGREE`` and ``INDETERMINATE``; what
    stands on its diagonal is ignored. An indeterminate pair counts as disagreeing in the strict bracket and
    as agreeing in the lenient one. Raises ``ValueError`` below ``LEAST_MODELS`` models.
    """
    pairs = np.asarray(agreement)
    models = pairs.shape[0]
    if pairs.ndim != 3 or pairs.shape[1] != models:
        raise ValueError("agreement has one entry for each pair of models and item")
    _enough(models)
    agreeing = pairs != DISAGREE if bracket == "lenient" else pairs == AGREE
    mates = ~np.eye(models, dtype=np.bool_)
    return np.asarray((agreeing & mates[:, :, None]).sum(axis=1), dtype=np.int64)


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """How well own confidence and the panel signal tell right answers from wrong ones, on the same rows.

    ``own`` and ``panel`` are AUROCs, ``difference`` is panel minus own over a bootstrap that draws items with
    the rows of all models, and ``p`` its two-sided p-value (exploratory).
    """

    own: Estimate
    panel: Estimate
    difference: Estimate
    p: float | None


class Lift(msgspec.Struct, frozen=True, kw_only=True):
    """What full agreement adds to the accuracy of one model.

    ``lift`` is ``agreed``, the accuracy where all panel-mates agree, minus ``base``, the accuracy on all its
    graded items.
    """

    agreed: Estimate
    base: Estimate
    lift: Estimate


class ErrorCorrelation(msgspec.Struct, frozen=True, kw_only=True):
    """Phi of the errors of two models, given by their places, on the items that both were graded on."""

    first: int
    second: int
    phi: Estimate


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """All that is computed from one panel and one coding of agreement.

    ``pooled`` stacks the rows of all models as they are; ``rank_normalised`` first replaces confidences and
    signals by their ranks within each model, so that only differences within models count. The lift is
    *replicated* in the ``replicated`` of ``lifted`` models (those with a lift) whose interval lies above 0.
    ``n`` of ``mean_lift`` counts models and that of ``mean_error_correlation`` pairs of models.
    """

    models: tuple[Comparison, ...]
    pooled: Comparison
    rank_normalised: Comparison
    lifts: tuple[Lift, ...]
    mean_lift: Estimate
    replicated: int
    lifted: int
    error_correlations: tuple[ErrorCorrelation, ...]
    mean_error_correlation: Estimate


def panel(signal: ArrayLike, correct: ArrayLike, p: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> Panel:
    """Compare the panel signal with stated confidence.

    ``signal`` comes from ``panel_signal``. ``correct`` has the same shape (models, items): 1 right, 0 wrong,
    -1 not graded; refusals may be counted as wrong by whoever calls. ``p`` has that shape too: stated
    confidence in [0, 1], NaN where there is none. AUROCs use the rows with a grade and a confidence, lifts and
    error correlations all graded ones. Raises ``ValueError`` below ``LEAST_MODELS`` models and for values out
    of range.
    """
    agreeing, grade = _table(signal), _table(correct)
    stated = np.asarray(p, dtype=np.float64)
    if not agreeing.shape == grade.shape == stated.shape:
        raise ValueError("signal, grades and confidences differ in shape")
    models = agreeing.shape[0]
    _enough(models)
    if not np.isin(grade, (-1, 0, 1)).all() or not ((agreeing >= 0) & (agreeing < models)).all():
        raise ValueError("a grade is 1, 0 or -1 and a signal counts panel-mates")
    if ((stated < 0) | (stated > 1)).any():
        raise ValueError("a stated confidence lies between 0 and 1")
    share = agreeing / (models - 1)
    used = (grade >= 0) & np.isfinite(stated)
    ranked = np.zeros((2, *stated.shape))
    for source, ranks in zip((stated, share), ranked, strict=True):
        for m in range(models):
            ranks[m, used[m]] = _ranks(source[m, used[m]], grade[m, used[m]])

    def pooled(own: Floats, mates: Floats) -> Comparison:
        item = np.broadcast_to(np.arange(used.shape[1]), used.shape)[used]
        return _compare(own[used], mates[used], grade[used], item, draws, seed)

    items = grade.shape[1]
    weights = np.concatenate([np.ones((1, items)), item_weights(items, draws, np.random.default_rng(seed))])
    lifts, mean_lift = _lifts(agreeing == models - 1, grade, weights, seed)
    correlations, mean_correlation = _error_correlations(grade, weights, seed)
    defined = [one.lift for one in lifts if one.lift.value is not None]
    return Panel(
        models=tuple(
            _compare(stated[m, u], share[m, u], grade[m, u], np.flatnonzero(u), draws, seed) for m, u in enumerate(used)
        ),
        pooled=pooled(stated, share),
        rank_normalised=pooled(ranked[0], ranked[1]),
        lifts=lifts,
        mean_lift=mean_lift,
        replicated=sum(one.ci is not None and one.ci[0] > 0 for one in defined),
        lifted=len(defined),
        error_correlations=correlations,
        mean_error_correlation=mean_correlation,
    )


def _compare(own: Floats, mates: Floats, right: Ints, item: Ints, draws: int, seed: int) -> Comparison:
    tables = (tabulate(own, right), tabulate(mates, right))
    n = right.size
    if not (tables[0].hits and tables[0].misses):
        missing = estimate(None, n=n, note=why_undefined(tables[0]))
        return Comparison(own=missing, panel=missing, difference=missing, p=None)
    words = np.where(right == 1, "correct", "incorrect").tolist()
    names = item.astype(np.str_).tolist()
    rows = [tally_rows(words, values, item=names) for values in (own, mates)]
    contrast = paired_contrast(_merged(rows[0]), _merged(rows[1]), _auroc, draws=draws, seed=seed)
    if np.unique(item).size == n:
        shown = [auroc_estimate(table) for table in tables]
    else:
        shown = [
            Sample(one.summed(), one, draws=draws, seed=seed).bootstrap(_auroc, n, undefined="not defined")
            for one in rows
        ]
    exact = float(auroc(tables[1]) - auroc(tables[0]))
    difference = msgspec.structs.replace(contrast.difference, value=exact, n=n)
    return Comparison(own=shown[0], panel=shown[1], difference=difference, p=contrast.p)


def _merged(rows: Tally) -> Tally:
    """Return rows in which neighbouring confidences are merged when there are very many: for the draws alone."""
    return rows.merged(MOST_LEVELS) if rows.answered.levels.size > MOST_LEVELS else rows


def _auroc(tally: Tally) -> Floats:
    return auroc(tally.answered)


def _lifts(unanimous: Bools, grade: Ints, weights: Floats, seed: int) -> tuple[tuple[Lift, ...], Estimate]:
    graded, right = grade >= 0, grade == 1
    # One row of weights per draw, the first of ones, and one column per model.
    base = ratio(weights @ right.T.astype(np.float64), weights @ graded.T.astype(np.float64))
    agreed = ratio(
        weights @ (right & unanimous).T.astype(np.float64), weights @ (graded & unanimous).T.astype(np.float64)
    )
    lift = agreed - base
    alone = "not defined: on no graded item do all panel-mates agree"
    lifts = []
    for m in range(grade.shape[0]):
        n, k = int((graded & unanimous)[m].sum()), int((right & unanimous)[m].sum())
        undefined = alone if graded[m].any() else "no data: no answer was graded"
        lifts.append(
            Lift(
                agreed=_share(k, n, undefined),
                base=_share(int(right[m].sum()), int(graded[m].sum()), "no data: no answer was graded"),
                lift=_unless_few(from_draws(float(lift[0, m]), lift[1:, m], n=n, seed=seed, undefined=undefined)),
            )
        )
    mean = _mean(lift, seed, "models", "not defined: no model has a lift")
    few = sum(one.lift.value is not None and one.lift.n < VERY_FEW for one in lifts)
    if few:
        note = f"no interval: {few} of the {mean.n} lifts rest on fewer than {VERY_FEW} answers"
        mean = estimate(mean.value, n=mean.n, note=note)
    return tuple(lifts), mean


def _unless_few(lift: Estimate) -> Estimate:
    """Return a lift without the interval that draws of very few agreeing answers give: it has next to no width."""
    if lift.value is None or lift.n >= FEW:
        return lift
    if lift.n < VERY_FEW:
        note = f"no interval: needs {VERY_FEW} answers with which all panel-mates agree, has {lift.n}"
        return estimate(lift.value, n=lift.n, note=note)
    return msgspec.structs.replace(lift, note=join_notes("too few to trust", lift.note))


def _error_correlations(grade: Ints, weights: Floats, seed: int) -> tuple[tuple[ErrorCorrelation, ...], Estimate]:
    pairs = list(combinations(range(grade.shape[0]), 2))
    a, b = grade[[i for i, _ in pairs]], grade[[j for _, j in pairs]]
    shared = (a >= 0) & (b >= 0)
    cells = (shared, (a == 0) & shared, (b == 0) & shared, (a == 0) & (b == 0))
    n, first, second, both = (weights @ cell.T.astype(np.float64) for cell in cells)
    phi = ratio(n * both - first * second, np.sqrt(first * (n - first) * second * (n - second)))
    sizes = shared.sum(axis=1)
    correlations = tuple(
        ErrorCorrelation(
            first=i,
            second=j,
            phi=from_draws(
                float(phi[0, at]),
                phi[1:, at],
                n=int(sizes[at]),
                seed=seed,
                undefined="not defined: a model is all right or all wrong on the shared items"
                if sizes[at]
                else "no data: no item was graded for both",
            ),
        )
        for at, (i, j) in enumerate(pairs)
    )
    return correlations, _mean(phi, seed, "pairs of models", "not defined: no pair of models has a correlation")


def _mean(values: Floats, seed: int, of: str, undefined: str) -> Estimate:
    """Return the mean over the columns that are defined on the data (row 0); a draw needs all of them."""
    defined = np.isfinite(values[0])
    n = int(defined.sum())
    if not n:
        return estimate(None, note=undefined)
    means = values[:, defined].mean(axis=1)
    note = "" if defined.all() else f"mean of {n} of {defined.size} {of}"
    return from_draws(float(means[0]), means[1:], n=n, seed=seed, undefined=undefined, note=note)


def _share(k: int, n: int, undefined: str) -> Estimate:
    return estimate(k / n, wilson(k, n), n=n, method="Wilson") if n else estimate(None, note=undefined)


def _ranks(values: Floats, right: Ints) -> Floats:
    """Return average ranks over n of the values of one model, by the formula used for pooled tables."""
    levels, at = np.unique(values, return_inverse=True)
    return rank_normalised([tabulate(values, right)]).levels[at.reshape(-1)] if levels.size else values


def _same(code: Ints) -> Bools:
    return np.asarray((code[:, None] == code[None]) & (code[:, None] != _NO_ANSWER))


def _table(values: ArrayLike) -> Ints:
    given = np.asarray(values)
    if given.ndim != 2 or not (np.floor(given) == given).all():
        raise ValueError("one whole number for each model and item")
    return given.astype(np.int64)


def _enough(models: int) -> None:
    if models < LEAST_MODELS:
        raise ValueError(f"a panel needs {LEAST_MODELS} models or more, has {models}")
