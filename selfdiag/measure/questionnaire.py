"""Scores of a questionnaire asked in many wordings: domains, index, acquiescence, consistency, framing.

The unit is the *instance*: one pass through the statements in one wording each. Arrays have shape (instances,
statements) with values in [0, 1] (Yes 1, Partially .5, No 0), NaN where a reply is missing. A missing reply is in
no sum and in no count. *Scored* values are those after ``reverse_keyed``, *raw* ones those before.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Bools, Floats, ratio
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, percentile_interval

DOMAINS = ("MAI", "SRIS", "SDQ")
"""Domains in the order of their statements: 1 to 5, 6 to 10, 11 to 15."""

STATEMENTS = 5
"""Statements of each domain."""

MIN_SHARED = 3
"""Two instances that share fewer replies than this have no correlation: two points always lie on a line."""

_NO_VARIANCE = 1e-12


class DomainScore(msgspec.Struct, frozen=True, kw_only=True):
    """A domain's mean with its interval, and the sample SD of the instances' own means.

    The ``n`` of the mean counts replies given.
    """

    mean: Estimate
    sd: float | None
    note: str = ""


class WordingEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Share of pairs of replies to one statement that differ: asked in different wordings, and in the same.

    The second is the base rate of unsteadiness, which no wording explains. The ``n`` of each counts pairs.
    """

    different: Estimate
    same: Estimate


def as_instances(values: ArrayLike) -> Floats:
    """Return replies as floats of shape (instances, columns).

    Raises ``ValueError`` for another shape or a reply that is neither in [0, 1] nor NaN.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError("replies come as instances by columns")
    if not (np.isnan(array) | ((array >= 0) & (array <= 1))).all():
        raise ValueError("a reply lies between 0 and 1")
    return array


def column_means(values: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of what each column holds, shape (draws, columns), NaN where it holds nothing.

    ``values`` has shape (instances, columns), NaN where missing; ``weights`` has shape (draws, instances).
    """
    given = ~np.isnan(values)
    return ratio(weights @ np.where(given, values, 0.0), weights @ given.astype(np.float64))


def reverse_keyed(values: ArrayLike, reverse: ArrayLike) -> Floats:
    """Return scored values: 1 - value in each reverse-keyed column, missing replies still missing.

    ``values`` has shape (instances, statements), ``reverse`` shape (statements,) with True where No speaks for
    the trait. Apply it once: twice gives the raw values again. Raises ``ValueError`` when the shapes do not
    fit or a value is out of range.
    """
    raw = as_instances(values)
    flipped = np.asarray(reverse, dtype=np.bool_)
    if flipped.shape != raw.shape[1:]:
        raise ValueError(f"{flipped.size} keys for {raw.shape[1]} statements")
    return np.where(flipped, 1 - raw, raw)


def domain_scores(scored: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, DomainScore]:
    """Return mean and SD of each domain.

    The mean is that of the statement means, so that each statement counts alike however often it was answered;
    statements without any reply are left out and named. The SD (ddof 1) is over instances, each with the mean
    of its replies in the domain. ``scored`` has shape (instances, 15). Raises ``ValueError`` for another shape
    or a value out of range.
    """
    values = _answered(_statements(scored))
    point, spread = _drawn_domains(values, draws, seed)
    return {
        name: _domain(values[:, STATEMENTS * i : STATEMENTS * (i + 1)], i, point[i], spread[:, i], (draws, seed))
        for i, name in enumerate(DOMAINS)
    }


def index_a(scored: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> Estimate:
    """Return index A, the mean of the three domain means.

    Domains are of equal size, so this is the mean of all statement means as long as every statement has a reply.
    Without any reply in a domain there is no index. ``scored`` has shape (instances, 15); ``n`` counts replies
    given. Raises ``ValueError`` for another shape or a value out of range.
    """
    values = _answered(_statements(scored))
    point, spread = _drawn_domains(values, draws, seed)
    empty = [name for name, mean in zip(DOMAINS, point, strict=True) if math.isnan(mean)]
    note = f"no reply in {', '.join(empty)}" if empty else _gaps(values, 0)
    n = int((~np.isnan(values)).sum())
    return _over_instances(float(point.mean()), spread.mean(axis=1), len(values), n, note, (draws, seed))


def yes_rate(raw: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> Estimate:
    """Return the share of Yes (1) among the replies given, before reverse keying: the pull towards agreeing.

    ``raw`` has shape (instances, statements); ``n`` counts replies given. Raises ``ValueError`` for another
    shape or a value out of range.
    """
    values = _answered(as_instances(raw))
    given = ~np.isnan(values)
    yes, replies = (values == 1).sum(axis=1), given.sum(axis=1)
    weights = _weights(len(values), draws, seed)
    shares = ratio(weights @ yes, weights @ replies)
    note = "" if len(values) else "no replies"
    return _over_instances(float(shares[0]), shares[1:], len(values), int(replies.sum()), note, (draws, seed))


def cronbach_alpha(scored: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> Estimate:
    """Return Cronbach's alpha, k / (k - 1) (1 - sum of statement variances / variance of the sum) (1951).

    Up to 1, without lower bound; k is the number of statements. Only instances with all replies enter, and ``n``
    counts these. None with fewer than two statements or complete instances, and when the sum never varies.
    ``scored`` has shape (instances, statements). Raises ``ValueError`` for another shape or a value out of
    range.
    """
    values = as_instances(scored)
    complete = values[~np.isnan(values).any(axis=1)]
    n, k = complete.shape
    note = f"{len(values) - n} of {len(values)} instances left out: replies missing" if n < len(values) else ""
    if k < 2 or n < 2:
        short = "fewer than two statements" if k < 2 else "fewer than two complete instances"
        return estimate(None, n=n, note=join_notes(short, note))
    alphas = _alpha(complete, _weights(n, draws, seed))
    if math.isnan(alphas[0]):
        return estimate(None, n=n, note=join_notes("the sum over statements does not vary", note))
    return _over_instances(float(alphas[0]), alphas[1:], n, n, note, (draws, seed))


def retest(scored: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> Estimate:
    """Return the test-retest reliability: the mean Pearson correlation of two instances over the statements.

    Correlation is the standard coefficient for repeated administrations; the share of identical replies, also
    high for a model that says the same to everything, stands in the note. Pairs with fewer than ``MIN_SHARED``
    common replies, or in which one instance does not vary, have none; the note counts them. The interval
    resamples instances and leaves out an instance's correlation with itself. ``scored`` has shape (instances,
    statements); ``n`` counts instances. Raises ``ValueError`` for another shape or a value out of range.
    """
    values = _answered(as_instances(scored))
    n = len(values)
    if n < 2:
        return estimate(None, n=n, note="fewer than two instances with replies")
    correlation, identical, shared = _pairs(values)
    defined = ~np.isnan(correlation)
    weights = _weights(n, draws, seed)
    above = ((weights @ np.where(defined, correlation, 0.0)) * weights).sum(axis=1)
    means = ratio(above, ((weights @ defined.astype(np.float64)) * weights).sum(axis=1))
    same, common = float(identical.sum()), float(shared.sum())
    pairs, undefined = n * (n - 1) // 2, (n * (n - 1) - int(defined.sum())) // 2
    note = join_notes(
        f"{100 * same / common:.0f} % identical replies" if common else "no statement answered twice",
        f"{undefined} of {pairs} pairs of instances have no correlation" if undefined else "",
    )
    return _over_instances(float(means[0]), means[1:], n, n, note, (draws, seed))


def framing_shift(neutral: ArrayLike, affirming: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> Estimate:
    """Return the mean of affirming - neutral over items asked in both wordings, with a bootstrap over items.

    Positive when suggestive wording raises what a model claims. Both arrays have shape (items,) or (items,
    repeats), raw values in [0, 1], NaN where missing; an item needs a reply in both, and ``n`` counts such items.
    Raises ``ValueError`` when the numbers of items differ or a value is out of range.
    """
    plain, suggestive = _item_means(neutral), _item_means(affirming)
    if plain.shape != suggestive.shape:
        raise ValueError(f"{plain.size} neutral and {suggestive.size} affirming items")
    difference = suggestive - plain
    known = difference[~np.isnan(difference)]
    n, left_out = known.size, difference.size - known.size
    note = f"{left_out} of {difference.size} items left out: a reply is missing" if left_out else ""
    if not n:
        return estimate(None, note=join_notes("no item has a reply in both wordings", note))
    if n < 2:
        return estimate(float(known[0]), n=n, note=join_notes("no interval: only one item", note))
    made = percentile_interval(_weights(n, draws, seed)[1:] @ known / n)
    method = f"{made.method}, {draws} draws of items, paired, seed {seed}" if made.ci else ""
    return estimate(float(known.mean()), made.ci, n=n, method=method, note=join_notes(note, made.note))


def wording_effect(answers: ArrayLike, wordings: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> WordingEffect:
    """Return how often two instances answer the same statement differently, by whether its wording differs.

    Pairs of all statements are pooled. The intervals resample instances and leave out pairs of an instance with
    itself: statements and wordings are those of the questionnaire, and a further run would draw anew which wording
    an instance gets and what it replies.

    ``answers`` holds raw values and ``wordings`` the number of the wording drawn, -1 where none was; both have
    shape (instances, statements). Raises ``ValueError`` for other shapes, a value out of range or a wording that is
    no whole number from -1 on.
    """
    values, drawn = as_instances(answers), np.asarray(wordings)
    if drawn.shape != values.shape:
        raise ValueError("every reply has one wording")
    if not (np.issubdtype(drawn.dtype, np.integer) and (drawn >= -1).all()):
        raise ValueError("a wording is a whole number, -1 where none was drawn")
    values = np.where(drawn < 0, np.nan, values)
    answered = ~np.isnan(values).all(axis=1)
    values, drawn = values[answered], drawn[answered]
    given = ~np.isnan(values)
    both = given[:, None] & given[None] & ~np.eye(len(values), dtype=np.bool_)[..., None]
    differ, reworded = values[:, None] != values[None], drawn[:, None] != drawn[None]
    weights = _weights(len(values), draws, seed)

    def share(pairs: Bools, wording: str) -> Estimate:
        found, counted = ((weights @ part.sum(axis=-1) * weights).sum(axis=1) for part in (pairs & differ, pairs))
        shares = ratio(found, counted)
        note = "" if counted[0] else f"no statement was answered twice in {wording}"
        return _over_instances(float(shares[0]), shares[1:], len(values), int(counted[0]) // 2, note, (draws, seed))

    return WordingEffect(
        different=share(both & reworded, "different wordings"), same=share(both & ~reworded, "the same wording")
    )


def _statements(scored: ArrayLike) -> Floats:
    values = as_instances(scored)
    if values.shape[1] != len(DOMAINS) * STATEMENTS:
        raise ValueError(f"{values.shape[1]} statements, not {len(DOMAINS) * STATEMENTS}")
    return values


def _answered(values: Floats) -> Floats:
    """Return the instances that hold a reply."""
    return values[~np.isnan(values).all(axis=1)]


def _item_means(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    repeats = as_instances(array[:, None] if array.ndim == 1 else array)
    return np.asarray(column_means(repeats.T, np.ones((1, repeats.shape[1])))[0])


def _weights(units: int, draws: int, seed: int) -> Floats:
    """Return bootstrap weights with a first row of ones: the data themselves."""
    drawn = item_weights(units, draws, np.random.default_rng(seed))
    return np.concatenate([np.ones((1, units)), drawn])


def _drawn_domains(values: Floats, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Return the domain means, shape (3,), and those of each draw, shape (draws, 3)."""
    statements = column_means(values, _weights(len(values), draws, seed)).reshape(-1, len(DOMAINS), STATEMENTS)
    known = ~np.isnan(statements)
    means = ratio(np.where(known, statements, 0.0).sum(axis=-1), known.sum(axis=-1))
    return means[0], means[1:]


def _domain(columns: Floats, i: int, point: float, spread: Floats, resampling: tuple[int, int]) -> DomainScore:
    answered = _answered(columns)
    n = int((~np.isnan(columns)).sum())
    note = _gaps(columns, STATEMENTS * i) if n else "no replies"
    mean = _over_instances(float(point), spread, len(answered), n, note, resampling)
    if len(answered) < 2:
        return DomainScore(mean=mean, sd=None, note="no SD: fewer than two instances with replies")
    return DomainScore(mean=mean, sd=float(np.nanmean(answered, axis=1).std(ddof=1)))


def _gaps(values: Floats, before: int) -> str:
    """Name the statements without any reply; ``before`` statements stand left of the first column."""
    empty = [str(before + column + 1) for column in np.flatnonzero(np.isnan(values).all(axis=0))]
    return f"left out, without any reply: statement {', '.join(empty)}" if empty else ""


def _over_instances(
    point: float, spread: Floats, instances: int, n: int, note: str, resampling: tuple[int, int]
) -> Estimate:
    """Return a value with the percentile interval of its draws, ``resampling`` being their number and seed."""
    if not math.isfinite(point):
        return estimate(None, n=n, note=note)
    if instances < 2:
        return estimate(point, n=n, note=join_notes("no interval: only one instance", note))
    made = percentile_interval(spread)
    method = f"{made.method}, {resampling[0]} draws of instances, seed {resampling[1]}" if made.ci else ""
    return estimate(point, made.ci, n=n, method=method, note=join_notes(note, made.note))


def _alpha(values: Floats, weights: Floats) -> Floats:
    """Return alpha for each row of weights, NaN where the sum over statements does not vary."""
    # Centred first, so that the difference of sums below loses no digits.
    statements = values - values.mean(axis=0)
    table = np.column_stack([statements, statements.sum(axis=1)])
    n, k = values.shape
    variances = (weights @ table**2 - (weights @ table) ** 2 / n) / (n - 1)
    total = np.where(variances[:, -1] > _NO_VARIANCE, variances[:, -1], 0.0)
    return np.asarray(k / (k - 1) * (1 - ratio(variances[:, :-1].sum(axis=1), total)))


def _pairs(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return, for each two instances, correlation, identical and shared replies, shape (instances, instances).

    An instance has no correlation and nothing in common with itself.
    """
    given = (~np.isnan(values)).astype(np.float64)
    filled = np.where(np.isnan(values), 0.0, values)
    others = 1 - np.eye(len(values))
    shared = given @ given.T * others
    sums, squares = filled @ given.T, filled**2 @ given.T
    spread = squares - ratio(sums**2, shared)
    spread = np.where(spread > _NO_VARIANCE, spread, 0.0)
    covariance = filled @ filled.T - ratio(sums * sums.T, shared)
    correlation = np.clip(ratio(covariance, np.sqrt(spread * spread.T)), -1.0, 1.0)
    identical = (values[:, None] == values[None]).sum(axis=-1) * others
    return np.where(shared >= MIN_SHARED, correlation, np.nan), identical, shared
