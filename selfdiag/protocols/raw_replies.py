"""What reading finds in a file of raw replies, whoever wrote them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Literal

import msgspec

from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.confidence import run_scale
from selfdiag.elicit.reading import Reading, read_reply
from selfdiag.runs.importers import RawReply

Kind = Literal["parsed", "repaired", "salvaged", "unparsed", "truncated", "empty"]
KINDS: tuple[Kind, ...] = ("parsed", "repaired", "salvaged", "unparsed", "truncated", "empty")
EXAMPLES = 3
"""So many replies of each kind are shown."""


class ReplyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One reply as it was read; ``kind`` says how, ``abstains`` by what, if it does."""

    line: int
    model: str
    item: str
    kind: Kind
    answer: str | None
    confidence: int | None
    abstains: str | None
    refuses: bool
    flags: tuple[str, ...]
    raw: str


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of raw replies holds.

    ``kinds`` divides all replies; ``abstained``, ``refused`` and ``with_confidence`` count among those that have
    an answer. ``flags`` counts everything unusual, ``models`` the kinds of each model, and ``examples`` has the
    first replies of each kind. ``note`` says how the confidences' scale was read.
    """

    schema: str = "selfdiag.replies/1"
    replies: int
    kinds: dict[str, int]
    abstained: int
    refused: int
    with_confidence: int
    flags: dict[str, int]
    models: dict[str, dict[str, int]]
    examples: dict[str, tuple[ReplyRow, ...]]
    note: str


def read_replies(replies: Iterable[RawReply]) -> Found:
    """Read every reply and count what was found."""
    kinds: Counter[str] = Counter()
    found: Counter[str] = Counter()
    stated: list[int | None] = []
    marks: list[tuple[str, ...]] = []
    examples: dict[str, list[ReplyRow]] = defaultdict(list)
    models: dict[str, Counter[str]] = defaultdict(Counter)
    flags: Counter[str] = Counter()
    for reply in replies:
        row = _row(reply, read_reply(reply.raw))
        if len(examples[row.kind]) < EXAMPLES:
            examples[row.kind].append(row)
        models[row.model][row.kind] += 1
        flags.update(row.flags)
        kinds[row.kind] += 1
        found["abstained"] += row.abstains is not None
        found["refused"] += row.refuses
        found["with_confidence"] += row.confidence is not None and row.answer is not None
        stated.append(row.confidence)
        marks.append(row.flags)
    _, note = run_scale(stated, marks)
    return Found(
        replies=len(stated),
        kinds={kind: kinds[kind] for kind in KINDS},
        abstained=found["abstained"],
        refused=found["refused"],
        with_confidence=found["with_confidence"],
        flags=dict(flags.most_common()),
        models={name: {kind: counts[kind] for kind in KINDS} for name, counts in models.items()},
        examples={kind: tuple(examples[kind]) for kind in KINDS if examples[kind]},
        note=note,
    )


def _row(reply: RawReply, reading: Reading) -> ReplyRow:
    answer = reading.answer
    usable = answer is not None and not reading.truncated
    return ReplyRow(
        line=reply.line,
        model=reply.model,
        item=reply.item,
        kind=_kind(reading),
        answer=answer,
        confidence=reading.confidence,
        abstains=abstains(answer) if answer is not None and usable else None,
        refuses=answer is not None and usable and abstains(answer) is None and declines(answer),
        flags=reading.flags,
        raw=reply.raw,
    )


def _kind(reading: Reading) -> Kind:
    if reading.truncated:
        return "truncated"
    if "empty" in reading.flags:
        return "empty"
    if reading.answer is None:
        return "unparsed"
    return "salvaged" if reading.parse == "salvaged" else "repaired" if reading.parse == "repaired" else "parsed"
