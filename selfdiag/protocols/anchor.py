"""The anchor check: whether an example confidence in the prompt pulls the confidence that is stated."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.itemwise import mean_over_items
from selfdiag.measure.microprobe import dose_response
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.claim_replies import replies_of
from selfdiag.protocols.microprobe import share
from selfdiag.runs.records import ANCHOR
from selfdiag.runs.store import Run

_UNREAD = "no data: no answer with a confidence"
_UNPAIRED = "no data: no item has a confidence both with the example and without"
_NOT_PLAIN = "no data: not asked without an example"
_ROUNDING = 1e-9


class ExampleShown(msgspec.Struct, frozen=True, kw_only=True):
    """What one example value does; confidences and shifts are in points, 0 to 100.

    ``confidence`` is the mean stated with the ``example`` in the prompt, ``shift`` the mean difference from the same
    item without one. ``echoed`` is the share of replies that state exactly the value shown, ``anyway`` that of
    the replies without an example that state it.
    """

    example: int
    confidence: Estimate
    shift: Estimate
    echoed: Estimate
    anyway: Estimate


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """What example values do to the stated confidence.

    ``items`` were asked. ``without`` is the mean confidence without an example. ``slope`` is in points of confidence
    per point of the example: 1 repeats it, 0 ignores it. ``sentence`` says it in plain words.
    """

    items: int
    without: Estimate
    shown: tuple[ExampleShown, ...]
    slope: Estimate
    sentence: str
    notes: tuple[str, ...] = ()


def anchor_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> Anchor | None:
    """Return what a run's anchor check shows, or None when the run has none.

    Only answers count: the confidence of an abstention speaks of something else.

    Args:
        run: manifest and records, complete or not.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
    """
    calls = [call for call in run.manifest.plan if call.section == ANCHOR]
    if not calls:
        return None
    replies, scale_note = replies_of(run)
    plain: dict[str, float] = {}
    with_example: dict[int, dict[str, float]] = {}
    for call in calls:
        said = plain if call.claim is None else with_example.setdefault(call.claim, {})
        said[call.item_id] = replies[call.call_id].points()
    items = dict.fromkeys(call.item_id for call in calls)
    unread = _UNREAD if plain else _NOT_PLAIN
    without = mean_over_items(list(plain.values()), undefined=unread, draws=draws, seed=seed)
    shown = tuple(
        _shown(example, said, plain, draws=draws, seed=seed) for example, said in sorted(with_example.items())
    )
    values = [[with_example[one.example].get(item, math.nan) for one in shown] for item in items]
    slope = dose_response([one.example for one in shown], values, draws=draws, seed=seed).slope
    missing = sum(not math.isfinite(value) for said in (plain, *with_example.values()) for value in said.values())
    left_out = f"replies without an answer and a confidence left out: {missing} of {len(calls)}" if missing else ""
    return Anchor(
        items=len(items),
        without=without,
        shown=shown,
        slope=slope,
        sentence=_sentence(without, shown, slope),
        notes=tuple(filter(None, (scale_note, left_out))),
    )


def _shown(
    example: int, said: Mapping[str, float], plain: Mapping[str, float], *, draws: int, seed: int
) -> ExampleShown:
    unread = _UNREAD if plain else _NOT_PLAIN
    read = [value for value in said.values() if math.isfinite(value)]
    unprompted = [value for value in plain.values() if math.isfinite(value)]
    shifts = [value - plain.get(item, math.nan) for item, value in said.items()]
    return ExampleShown(
        example=example,
        confidence=mean_over_items(read, undefined=_UNREAD, draws=draws, seed=seed),
        shift=mean_over_items(shifts, undefined=_UNPAIRED if plain else _NOT_PLAIN, draws=draws, seed=seed),
        echoed=share(read.count(example), len(read), undefined=_UNREAD),
        anyway=share(unprompted.count(example), len(unprompted), undefined=unread),
    )


def _sentence(without: Estimate, shown: tuple[ExampleShown, ...], slope: Estimate) -> str:
    read = [one for one in shown if one.confidence.value is not None]
    if slope.value is None or without.value is None or not read:
        why = "it was not asked without an example" if without.note == _NOT_PLAIN else "too few replies state one"
        return f"What an example does to the confidence cannot be said: {why}."
    examples = _listed([str(one.example) for one in read])
    means = _listed([f"{one.confidence.value:.0f}" for one in read])
    echoes = sum(round((one.echoed.value or 0) * one.echoed.n) for one in read)
    replies = sum(one.echoed.n for one in read)
    expected = sum((one.anyway.value or 0) * one.echoed.n for one in read)
    # several items without an interval all have the same slope
    least = slope.ci[0] if slope.ci is not None else slope.value if slope.n > 1 else 0.0
    verdict = (
        f"an example pulls it by {10 * slope.value:.1f} points for every 10"
        if least > _ROUNDING
        else "no pull of the example shows"
        if not echoes
        else "no more often than without it, so no pull of the example shows"
        if echoes <= expected + _ROUNDING
        else "more often than without it, but no pull of the example on the mean shows"
    )
    return (
        f"Shown {examples} it says {means} on average, {without.value:.0f} without an example, and repeats the value "
        f"shown in {echoes} of {replies} replies: {verdict}."
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
