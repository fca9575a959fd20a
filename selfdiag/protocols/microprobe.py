"""The microprobe: whether a model's confidence on an item follows the accuracy that is claimed for its topic."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from selfdiag.battery.items import BINS, Probe
from selfdiag.elicit.grading import GRADED
from selfdiag.elicit.prompts import question
from selfdiag.elicit.textforms import fold_text
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.itemwise import mean_over_items
from selfdiag.measure.microprobe import (
    MIN_DOSES,
    DoseResponse,
    ItemVerdict,
    SetVerdict,
    Verdict,
    dose_response,
    item_verdict,
    paraphrase_noise,
    set_verdict,
)
from selfdiag.measure.resampling import DRAWS, SEED, wilson
from selfdiag.protocols.claim_replies import NOT_ASKED, ClaimReply, replies_of
from selfdiag.runs.claims import judged_claims
from selfdiag.runs.records import MICROPROBE, Manifest, PlannedCall
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

SCHEMA = "selfdiag.microprobe/1"
_DECIDED = GRADED | {"abstained", "refused"}


class ProbedItem(ItemVerdict, frozen=True, kw_only=True):
    """One item under every claim, and its verdict.

    ``question`` is the wording asked and ``key`` its answer. ``differs`` holds the one line in which the prompts of
    the lowest and of the highest claim differ. ``claims`` has the reply by claim in percent, ``off_topic_claims``
    those with the claim on the line of ``off_topic_bin``, and ``unlabelled_claims`` those to a question that does
    not name its topic; a control that was not asked is empty. ``wordings`` of the question were asked.
    ``answer_changed`` compares the answers under the two ends. ``in_order`` says whether confidence goes one way from
    claim to claim; None below three claims, when a reading is missing, and when it never changes.
    """

    id: str
    bin: str
    question: str
    key: str
    differs: tuple[str, str]
    claims: dict[str, ClaimReply]
    off_topic_bin: str
    off_topic_claims: dict[str, ClaimReply]
    unlabelled_claims: dict[str, ClaimReply]
    wordings: int
    answer_changed: bool | None
    in_order: bool | None

    def ends(self) -> tuple[ClaimReply, ClaimReply]:
        """Return the replies under the two claims that are judged."""
        return ends_of(self.claims)

    def points(self, claim: int) -> float:
        """Return the confidence stated under a claim, NaN where there is none."""
        reply = self.claims.get(str(claim))
        return math.nan if reply is None else reply.points()


class MicroprobeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What the items show together; shifts are in points of confidence from the lowest claim to the highest.

    ``verdict`` is that of the item when there is one alone. ``tried`` is how many items an automatic choice kept
    this one of. ``asked`` items were put under the ``claims`` (percent), ``n`` of them have a reading. ``shift`` is
    the mean of the signed shifts, ``absolute_shift`` that of their sizes, ``off_topic`` the mean size when the
    claims stand on another topic's line, ``unlabelled`` the mean shift when the question does not name its topic;
    the fields that end in 90 are 90 % intervals. ``moved`` is the share of items that move by 10 or more.
    ``noise`` is the mean over items of the largest difference between two wordings under one claim. ``shares`` are
    those of the items' verdicts, ``mechanisms`` counts what the items that move go by. ``dose`` is None below three
    claims.
    """

    verdict: Verdict | None
    set_verdict: SetVerdict
    note: str
    tried: int | None
    claims: tuple[int, ...]
    labelled: bool
    asked: int
    n: int
    shift: Estimate
    shift_90: tuple[float, float] | None
    absolute_shift: Estimate
    moved: Estimate
    pinned: Estimate
    off_topic: Estimate
    unlabelled: Estimate
    unlabelled_90: tuple[float, float] | None
    noise: Estimate
    induced_abstention: Estimate
    answer_changed: Estimate
    right_to_wrong: Estimate
    wrong_to_right: Estimate
    shares: dict[str, float]
    mechanisms: dict[str, int]
    dose: DoseResponse | None
    notes: tuple[str, ...] = ()


class Microprobe(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a microprobe: who was asked, what the items show together, and each of them."""

    model: str
    simulated: bool
    run_id: str
    summary: MicroprobeSummary
    items: tuple[ProbedItem, ...]

    def document(self) -> dict[str, Any]:
        """Return the result as one flat JSON document, its schema first."""
        head = {"schema": SCHEMA, "model": self.model, "simulated": self.simulated, "run_id": self.run_id}
        return head | msgspec.structs.asdict(self.summary) | {"items": self.items}


def has_claims(run: Run) -> bool:
    """Return whether a run puts claims before the model."""
    return any(call.section == MICROPROBE for call in run.manifest.plan)


def microprobe_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> Microprobe:
    """Return what a run's microprobe shows.

    Args:
        run: manifest and records, complete or not.
        draws: bootstrap draws over items.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the run has no microprobe, or its plan lacks claims of an item.
    """
    manifest = run.manifest
    by_item: dict[str, list[PlannedCall]] = defaultdict(list)
    for call in manifest.plan:
        if call.section == MICROPROBE:
            by_item[call.item_id].append(call)
    if not by_item:
        raise SelfdiagError(f"the run {one_line(manifest.run_id, 60)} holds no microprobe")
    replies, scale_note = replies_of(run)
    probes = {probe.id: probe for probe in (*manifest.drawn.probes, *manifest.check) if probe.id in by_item}
    _check_claims(run, by_item, probes)
    items = tuple(_item(probe, by_item[probe.id], replies, manifest) for probe in sorted(probes.values(), key=_place))
    calls = [call for called in by_item.values() for call in called]
    notes = [scale_note, _incomplete(calls, replies)]
    tried = _tried(manifest, len(items))
    if tried is not None:
        notes += [_choice(tried), *(_order(item) for item in items)]
    return Microprobe(
        model=manifest.settings.model,
        simulated=manifest.model.simulated,
        run_id=manifest.run_id,
        summary=_summary(
            items,
            tried=tried,
            labelled=any(call.labelled for call in calls),
            notes=tuple(filter(None, notes)),
            draws=draws,
            seed=seed,
        ),
        items=items,
    )


def ends_of(claims: Mapping[str, ClaimReply]) -> tuple[ClaimReply, ClaimReply]:
    """Return the replies under the two claims that are judged; there must be one."""
    low, high = judged_claims([int(claim) for claim in claims])
    return claims[str(low)], claims[str(high)]


def share(k: int, n: int, *, undefined: str) -> Estimate:
    """Return k of n with Wilson's interval; ``undefined`` is the note when n is 0."""
    return estimate(k / n, wilson(k, n), n=n, method="Wilson") if n else estimate(None, note=undefined)


def _check_claims(run: Run, by_item: Mapping[str, Sequence[PlannedCall]], probes: Mapping[str, Probe]) -> None:
    """Refuse a plan in which an item lacks claims that another one has: its shift would be another."""
    claims = {name: {_claim(call) for call in _judged(probes[name], calls)} for name, calls in by_item.items()}
    every: set[int] = set().union(*claims.values())
    for name, asked in claims.items():
        if len(asked) < 2 or asked != every:
            raise SelfdiagError(
                f"the microprobe of the run {one_line(run.manifest.run_id, 60)} is damaged: its plan lacks a claim of "
                f"{one_line(name, 40)} about its own topic"
            )


def _judged(probe: Probe, calls: Sequence[PlannedCall]) -> list[PlannedCall]:
    """Return the calls that an item is judged by: its drawn wording under the claims about its own topic."""
    own = _own(probe, calls)
    # the drawn wording stands first in the plan, and the controls have it too
    return [call for call in own if call.paraphrase == own[0].paraphrase]


def _own(probe: Probe, calls: Sequence[PlannedCall]) -> list[PlannedCall]:
    """Return the calls of every wording under the claims about an item's own topic, the control aside."""
    own = [call for call in calls if call.claim_bin == probe.bin]
    labelled = any(call.labelled for call in own)
    return [call for call in own if call.labelled == labelled]


def _place(probe: Probe) -> tuple[int, str, str]:
    return BINS.index(probe.bin) if probe.bin in BINS else len(BINS), probe.bin, probe.id


def _item(
    probe: Probe, calls: Sequence[PlannedCall], replies: Mapping[str, ClaimReply], manifest: Manifest
) -> ProbedItem:
    asked, first = _own(probe, calls), _judged(probe, calls)
    claims = _by_claim(first, replies)
    elsewhere = [call for call in calls if call.claim_bin != probe.bin]
    off_topic = _by_claim(elsewhere, replies)
    bare = _by_claim([call for call in calls if call.claim_bin == probe.bin and call not in asked], replies)
    low, high = ends_of(claims)
    judged = item_verdict(
        low.stated(),
        high.stated(),
        low_abstained=low.outcome == "abstained",
        high_answered=high.outcome in GRADED,
        noise=paraphrase_noise(_wordings(asked, replies)),
        off_topic=_shift(off_topic),
        unlabelled=_shift(bare),
        example=manifest.settings.example,
    )
    return ProbedItem(
        **msgspec.structs.asdict(judged),
        id=probe.id,
        bin=probe.bin,
        question=question(probe, asked[0].paraphrase),
        key=probe.answer,
        differs=_differing_line(first, manifest),
        claims=claims,
        off_topic_bin=elsewhere[0].claim_bin if elsewhere else "",
        off_topic_claims=off_topic,
        unlabelled_claims=bare,
        wordings=len({call.paraphrase for call in asked}),
        answer_changed=_changed(low, high),
        in_order=_in_order(claims),
    )


def _by_claim(calls: Iterable[PlannedCall], replies: Mapping[str, ClaimReply]) -> dict[str, ClaimReply]:
    return {str(call.claim): replies[call.call_id] for call in sorted(calls, key=_claim)}


def _claim(call: PlannedCall) -> int:
    return call.claim or 0


def _wordings(calls: Iterable[PlannedCall], replies: Mapping[str, ClaimReply]) -> list[list[float]]:
    """Return for each claim the confidences stated under it, one a wording."""
    found: dict[int, list[float]] = defaultdict(list)
    for call in calls:
        stated = replies[call.call_id].stated()
        if stated is not None:
            found[_claim(call)].append(stated)
    return list(found.values())


def _shift(claims: Mapping[str, ClaimReply]) -> float | None:
    # of one claim alone the two ends are the same reply
    if len(claims) < 2:
        return None
    low, high = (reply.stated() for reply in ends_of(claims))
    return None if low is None or high is None else high - low


def _differing_line(calls: Sequence[PlannedCall], manifest: Manifest) -> tuple[str, str]:
    """Return the line of the prompt that differs between the two claims that are judged."""
    by_claim = {_claim(call): call for call in calls}
    texts = [manifest.prompts[by_claim[claim].prompt] for claim in judged_claims(list(by_claim))]
    low, high = (f"{manifest.systems[text.system]}\n{text.user}".split("\n") for text in texts)
    return next((pair for pair in zip(low, high, strict=False) if pair[0] != pair[1]), ("", ""))


def _changed(low: ClaimReply, high: ClaimReply) -> bool | None:
    if not {low.outcome, high.outcome} <= GRADED:
        return None
    # the key in other words is the same answer
    both_right = low.outcome == high.outcome == "correct"
    return not both_right and fold_text(low.answer or "") != fold_text(high.answer or "")


def _in_order(claims: Mapping[str, ClaimReply]) -> bool | None:
    stated = [reply.stated() for reply in claims.values()]
    read = [value for value in stated if value is not None]
    if len(read) < len(stated) or len(read) < MIN_DOSES or len(set(read)) == 1:
        return None
    return read == sorted(read, reverse=read[-1] < read[0])


def _tried(manifest: Manifest, asked: int) -> int | None:
    """Return how many items an automatic choice kept the asked one of, None when nothing was chosen.

    The manifest of a kept item holds every item that was tried; only the kept one is asked.
    """
    alone = manifest.settings.sections == (MICROPROBE,)
    return len(manifest.check) if alone and len(manifest.check) > asked else None


def _choice(tried: int) -> str:
    return f"the item that moved most of {tried} tried: the largest of {tried} tries is not an effect size"


def _order(item: ProbedItem) -> str:
    """Return what the claims between the two ends say of an item that was chosen by these."""
    between = " and ".join(list(item.claims)[1:-1])
    stated = [reply.stated() for reply in item.claims.values()]
    if not between:
        return ""
    if item.in_order is not None:
        found = "fall in order" if item.in_order else "do not fall in order"
    elif None in stated:
        found = "cannot be judged, as a reading is missing"
    else:
        found = "change nothing either"
    said = ", ".join("–" if value is None else str(value) for value in stated)
    return f"{between}, which had no part in the choice, {found}: {said} at {', '.join(item.claims)} %"


def _incomplete(calls: Sequence[PlannedCall], replies: Mapping[str, ClaimReply]) -> str:
    outcomes = Counter(replies[call.call_id].outcome for call in calls)
    missing, errors = outcomes[NOT_ASKED], outcomes["error"]
    if not missing and not errors:
        return ""
    return f"incomplete: {missing} of {len(calls)} calls not asked, {errors} ended in an error"


def _summary(
    items: Sequence[ProbedItem], *, tried: int | None, labelled: bool, notes: tuple[str, ...], draws: int, seed: int
) -> MicroprobeSummary:
    unread = "no item has a reading there"
    bare = unread if any(item.unlabelled_claims for item in items) else "not asked without the topic"
    if not labelled:
        bare = "no question names its topic"
    together = set_verdict(items, no_unlabelled=bare, draws=draws, seed=seed)
    claims = tuple(sorted({int(claim) for item in items for claim in item.claims}))
    sizes = [math.nan if item.shift is None else abs(item.shift) for item in items]
    elsewhere = [math.nan if item.off_topic is None else abs(item.off_topic) for item in items]
    noises = [item.noise for item in items if item.wordings > 1 and item.shift is not None]
    ends = [tuple(reply.outcome for reply in item.ends()) for item in items]
    decided = [pair for pair in ends if set(pair) <= _DECIDED]
    graded = [pair for pair in ends if set(pair) <= GRADED]
    changed = [item.answer_changed for item in items if item.answer_changed is not None]
    unanswered = "no data: no item was answered under both claims"
    silent = unread if any(item.off_topic_claims for item in items) else "not asked"
    doses = None
    if len(claims) >= MIN_DOSES:
        stated = [[item.points(claim) for claim in claims] for item in items]
        doses = dose_response(claims, stated, draws=draws, seed=seed)
    return MicroprobeSummary(
        verdict=items[0].verdict if len(items) == 1 else None,
        set_verdict=together.verdict,
        note=together.note,
        tried=tried,
        claims=claims,
        labelled=labelled,
        asked=together.items,
        n=together.n,
        shift=together.shift,
        shift_90=together.shift_90,
        absolute_shift=mean_over_items(sizes, undefined="no data: no item has a reading", draws=draws, seed=seed),
        moved=together.moved,
        pinned=together.pinned,
        off_topic=mean_over_items(elsewhere, undefined=f"no data: {silent}", draws=draws, seed=seed),
        unlabelled=together.unlabelled,
        unlabelled_90=together.unlabelled_90,
        noise=mean_over_items(noises, undefined="no data: one wording of each item was asked", draws=draws, seed=seed),
        induced_abstention=share(
            sum(item.verdict == "induced abstention" for item in items), len(decided), undefined=unanswered
        ),
        answer_changed=share(sum(changed), len(changed), undefined=unanswered),
        right_to_wrong=share(graded.count(("correct", "incorrect")), len(graded), undefined=unanswered),
        wrong_to_right=share(graded.count(("incorrect", "correct")), len(graded), undefined=unanswered),
        shares=together.shares,
        mechanisms=dict(Counter(item.mechanism for item in items if item.mechanism is not None)),
        dose=doses,
        notes=notes,
    )
