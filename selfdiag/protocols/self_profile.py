"""The internal profile of a run: how a model rates itself on five criteria, and what moves its ratings."""

from __future__ import annotations

import msgspec
import numpy as np

from selfdiag.battery.self_assessment import CRITERIA
from selfdiag.measure.counts import Bools, Floats, ratio
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.msi import InternalCriterion, internal_profile
from selfdiag.measure.questionnaire import framing_shift
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, percentile_interval
from selfdiag.protocols.self_replies import missing_warning, self_replies
from selfdiag.runs.records import FRAMING, SELF_PROFILE
from selfdiag.runs.self_reports import AFFIRMING, NEUTRAL
from selfdiag.runs.store import Run

PULLED = 0.15
"""From this pull on, ratings follow the scale rather than the question: as much as profiles may differ."""


class Pull(msgspec.Struct, frozen=True, kw_only=True):
    """Whether ratings are high whatever is asked.

    ``for_itself`` is the raw mean on questions where a high number speaks for the model, ``against_itself`` on those
    where it speaks against it. Ratings that mean what they say add up to 1; ``pull`` is half of what they add up to
    beyond that, from -.5 to .5, positive for a model that gives high numbers to both.
    """

    for_itself: float | None
    against_itself: float | None
    pull: Estimate


class Ratings(msgspec.Struct, frozen=True, kw_only=True):
    """How a model rated itself: ``instances`` are passes with one rating a criterion.

    ``missing`` counts replies without a number by reason. ``follow_scale`` is True where the ``pull`` is so strong that
    the ratings claim nothing. ``warnings`` are plain sentences on what the ratings cannot bear.
    """

    instances: int
    asked: int
    missing: dict[str, int]
    pull: Pull
    follow_scale: bool
    warnings: tuple[str, ...]


class SelfProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What a model claims of itself by criterion, x1 to x5, and how it came to it."""

    criteria: dict[str, InternalCriterion]
    ratings: Ratings


class FramingCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Means of the items rated in both wordings, raw, and how far the affirming one moves the rating."""

    neutral: float | None
    affirming: float | None
    shift: Estimate
    asked: int
    missing: dict[str, int]


def scored_ratings(run: Run) -> Floats:
    """Return a run's ratings with reversed ones turned, shape (instances, 5), NaN where missing."""
    raw, reverse = _ratings(run)
    # turned here once and nowhere else
    return np.where(reverse, 1 - raw, raw)


def self_profile_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> SelfProfile | None:
    """Return the internal profile of a run, or None when it asked for no ratings.

    Args:
        run: manifest and records.
        draws: bootstrap draws over instances, for the pull.
        seed: of the bootstrap.
    """
    if run.manifest.assessed is None or not run.manifest.assessed.ratings:
        return None
    raw, reverse = _ratings(run)
    replies = self_replies(run, SELF_PROFILE)
    pull = _pull(raw, reverse, draws, seed)
    pulled = _pulled(pull)
    return SelfProfile(
        criteria=internal_profile(scored_ratings(run)),
        ratings=Ratings(
            instances=replies.instances,
            asked=replies.asked,
            missing=replies.missing,
            pull=pull,
            follow_scale=bool(pulled),
            warnings=tuple(filter(None, (pulled, missing_warning(replies.asked, replies.missing)))),
        ),
    )


def framing_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> FramingCheck | None:
    """Return how far affirming words move a run's ratings, or None when it asked no pairs.

    Arguments as those of ``self_profile_of``, the bootstrap being over items.
    """
    if run.manifest.assessed is None or not run.manifest.assessed.framing:
        return None
    place = {pair.id: index for index, pair in enumerate(run.manifest.assessed.framing)}
    replies = self_replies(run, FRAMING)
    given = {arm: np.full(len(place), np.nan) for arm in (NEUTRAL, AFFIRMING)}
    for call, value in replies.answered:
        given[call.arm][place[call.item_id]] = value
    both = ~np.isnan(given[NEUTRAL]) & ~np.isnan(given[AFFIRMING])
    means = {arm: float(values[both].mean()) if both.any() else None for arm, values in given.items()}
    return FramingCheck(
        neutral=means[NEUTRAL],
        affirming=means[AFFIRMING],
        shift=framing_shift(given[NEUTRAL], given[AFFIRMING], draws=draws, seed=seed),
        asked=replies.asked,
        missing=replies.missing,
    )


def _ratings(run: Run) -> tuple[Floats, Bools]:
    """Return raw ratings, NaN where missing, and which are reversed, both of shape (instances, 5)."""
    known = {rating.id: rating for rating in run.manifest.assessed.ratings} if run.manifest.assessed else {}
    replies = self_replies(run, SELF_PROFILE)
    raw = np.full((replies.instances, len(CRITERIA)), np.nan)
    reverse = np.zeros(raw.shape, dtype=np.bool_)
    for call, value in replies.answered:
        rating = known[call.item_id]
        place = call.replicate, CRITERIA.index(rating.criterion)
        raw[place], reverse[place] = value, rating.reverse
    return raw, reverse


def _pull(raw: Floats, reverse: Bools, draws: int, seed: int) -> Pull:
    drawn = item_weights(len(raw), draws, np.random.default_rng(seed))
    weights = np.concatenate([np.ones((1, len(raw))), drawn])
    given = ~np.isnan(raw)
    means = [
        ratio(weights @ np.where(kind, raw, 0.0).sum(axis=1), weights @ kind.sum(axis=1))
        for kind in (given & ~reverse, given & reverse)
    ]
    for_itself, against_itself = means
    pulls = (for_itself + against_itself - 1) / 2
    made = percentile_interval(pulls[1:])
    n = int(given.sum())
    note = "" if np.isfinite(pulls[0]) else "needs ratings of both kinds"
    return Pull(
        for_itself=_finite(for_itself[0]),
        against_itself=_finite(against_itself[0]),
        pull=estimate(
            float(pulls[0]),
            made.ci,
            n=n,
            method=f"{made.method}, {draws} draws of instances, seed {seed}" if made.ci else "",
            note=join_notes(note, made.note if not note else ""),
        ),
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _pulled(found: Pull) -> str:
    value = found.pull.value
    if value is None or abs(value) < PULLED:
        return ""
    size = "high" if value > 0 else "low"
    return (
        f"gives {size} numbers whichever way it is asked ({found.for_itself:.2f} where a high one speaks for it, "
        f"{found.against_itself:.2f} where it speaks against it): its claims describe the scale, not the model"
    )
