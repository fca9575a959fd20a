"""Everything that is known of one reply, as headed texts."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from selfdiag.battery.items import ABSTENTION_TOKEN, Item, Probe, Trap
from selfdiag.battery.self_assessment import Asked, FormalTask
from selfdiag.elicit.grading import grade
from selfdiag.elicit.reading import read_reply
from selfdiag.runs.earlier import LATER
from selfdiag.runs.records import Record
from selfdiag.runs.store import Run
from selfdiag.safety import one_line
from selfdiag.tui.item_filter import shown
from selfdiag.tui.text import LONGEST, block
from selfdiag.tui.widgets.long_text import Part

_RULES = {
    "number": "compared as numbers, within the tolerance",
    "fraction": "read as a fraction and compared as numbers",
    "percent": "read as a percentage and compared as numbers",
    "scientific notation": "read as scientific notation and compared as numbers",
    "number word": "read from number words and compared as numbers",
    "number in a sentence": "the one number of the sentence, compared as numbers",
    "last of equated parts": "the last of several equated parts, compared as numbers",
    "no single number": "the answer holds no single number",
    "unit left out": "compared as numbers; the unit was left out, which is allowed",
    "same unit": "compared as numbers in the same unit",
    "unit converted": "converted into the unit of the key and compared as numbers",
    "another unit": "the answer is in another unit",
    "alias": "equal to another accepted form of the key",
    "text": "compared as text: case, accents, articles, punctuation and space do not count",
    "option text": "the option named by its text",
    "option letter": "the option named by its letter",
    "no option": "the answer names no option",
    "set": "compared as a set: order and repeats do not count",
    "sequence": "compared as a sequence: the order counts",
    "date": "compared as dates, as far as the key goes",
    "no date": "the answer holds no date",
    "equal expressions": "equal as expressions",
    "other expression": "another expression than the key",
    "no expression": "the answer is no expression that can be read",
    "exact output": "compared with what the program prints, character by character",
    "abstention token": f"it wrote {ABSTENTION_TOKEN}, as it was asked to where there is no answer",
    "abstention in free text": "it says in its own words that it has no answer",
    "refusal": "it declines to answer",
    "answer to a trap": "there is no answer, and it gave one",
    "cut off": "a limit cut the reply before its end",
    "nothing said": "the reply says nothing",
    "no answer found": "no answer was found in the reply",
    "object without answer": "the reply has the right form and no answer in it",
}
"""What the rules of a grade mean; others are words already."""
_PARSES = {
    "strict": "in the form it was asked for",
    "repaired": "in the form it was asked for, once small faults of it were mended",
    "salvaged": "out of a text in another form",
    "none": "nothing could be read",
}


class ItemPage(msgspec.Struct, frozen=True, kw_only=True):
    """One reply: ``title`` says which it is in one line, ``raw`` is the reply as it came."""

    title: str
    parts: tuple[Part, ...]
    record: Record

    def text(self) -> str:
        """Return the page as plain text, harmless in a terminal and without any known key."""
        return "\n\n".join(f"{part.head}\n{block(part.text).plain}" for part in self.parts)


def item_page(run: Run, call_id: str) -> ItemPage | None:
    """Return everything that is known of a reply, or None when a run has none to this call."""
    record = run.latest().get(call_id)
    if record is None:
        return None
    item = _asked(run, record.item_id)
    return ItemPage(title=_title(record, item), parts=tuple(_parts(run, record, item)), record=record)


def _asked(run: Run, item_id: str) -> Asked | None:
    manifest = run.manifest
    known = {item.id: item for item in (*manifest.drawn.items(), *manifest.check)}
    if item_id not in known and manifest.assessed is not None:
        known |= {one.id: one for one in manifest.assessed.everything()}  # type: ignore[misc]
    return known.get(item_id)


def _title(record: Record, item: Asked | None) -> str:
    kind = item.kind if isinstance(item, Probe) else "trap" if isinstance(item, Trap) else ""
    named = (record.item_id, kind, record.bin, record.difficulty or "", record.section)
    return " · ".join(one_line(name, 40) for name in dict.fromkeys(named) if name)


def _parts(run: Run, record: Record, item: Asked | None) -> Iterator[Part]:
    glyph, word, tone = shown(record)
    sure = "" if record.confidence is None else f"   sure {record.confidence}"
    answer = f"   said {one_line(record.answer, 300)}" if record.answer is not None else ""
    yield Part(head=f"{glyph} {word}", text=f"{answer}{sure}".strip() or "nothing", tone=tone)
    if record.error is not None:
        yield Part(head="error", text=f"{record.error.kind}: {record.error.message}", tone="wrong")
    prompt = run.manifest.prompts.get(record.prompt_sha256)
    yield Part(head="question", text=prompt.user if prompt is not None else "its prompt is not in the run")
    yield from _keys(item)
    yield Part(head="reply", text=record.raw or "none", tone="plain" if record.raw else "muted")
    if len(record.raw) > LONGEST:
        yield Part(head="", text=f"cut here: w saves all {len(record.raw):,} characters to a file", tone="accent")
    if record.reasoning:
        yield Part(head="reasoning", text=record.reasoning, tone="muted")
    yield Part(head="read", text=_reading(record))
    yield Part(head="graded", text=_grade(record, item))
    if record.judge is not None:
        opinion = record.judge.opinion or "not readable"
        yield Part(head="judge", text=f"{record.judge.model}: {opinion}; not counted\n{record.judge.raw}".strip())
    yield Part(head="asked", text=_how(record), tone="muted")
    yield Part(head="took", text=_cost(record), tone="muted")
    if prompt is not None:
        yield Part(head="system", text=run.manifest.systems.get(prompt.system, ""), tone="muted")


def _keys(item: Asked | None) -> Iterator[Part]:
    if isinstance(item, Trap):
        yield Part(head="key", text=f"none, the right reply is {ABSTENTION_TOKEN} ({item.family.replace('_', ' ')})")
        yield Part(head="why", text=item.note)
        return
    if isinstance(item, FormalTask):
        yield Part(head="key", text=f"none: {item.elements} elements of its form are checked, as {item.format}")
        return
    if not isinstance(item, Probe):
        yield Part(head="key", text="none: it is not graded against a key", tone="muted")
        return
    if item.options:
        letters = (f"{chr(ord('A') + place)}) {option}" for place, option in enumerate(item.options))
        yield Part(head="options", text="\n".join(letters))
    more = [f"also {alias}" for alias in item.aliases]
    more += [f"unit {item.unit}{', others are converted' if item.convert else ''}"] if item.unit else []
    more += [f"within {item.tolerance:g}"] if item.tolerance else []
    more += [f"within {100 * item.relative_tolerance:g} %"] if item.relative_tolerance else []
    yield Part(head="key", text="\n".join([item.answer, *more]), tone="accent")
    if item.misconception:
        yield Part(head="often said", text=item.misconception, tone="muted")
    if item.source:
        yield Part(head="source", text=item.source, tone="muted")


def _reading(record: Record) -> str:
    said = "no answer" if record.answer is None else f"answer {record.answer}"
    sure = "no confidence" if record.confidence is None else f"confidence {record.confidence}"
    value = "" if record.value is None else f"; value {record.value:.2f}"
    tokens = "" if record.token_confidence is None else f"; its tokens say {100 * record.token_confidence:.0f}"
    flags = f"\nto be known: {', '.join(flag.replace('_', ' ') for flag in record.flags)}" if record.flags else ""
    return f"{said}; {sure}{value}{tokens}\n{_PARSES.get(record.parse, record.parse)} ({record.parse}){flags}"


def _grade(record: Record, item: Asked | None) -> str:
    words = f"{record.outcome}: {_RULES.get(record.rule, record.rule) or 'no rule'}"
    if record.rule in _RULES:
        words += f" ({record.rule})"
    if not isinstance(item, Probe | Trap) or record.error is not None or record.section in LATER:
        return words
    return "\n".join(filter(None, (words, _compared(record, item))))


def _compared(record: Record, item: Item) -> str:
    """Return what was compared with what, as today's rules do it."""
    today = grade(item, read_reply(record.raw, cut=record.finish_reason == "length"))
    if (today.outcome, today.rule) == (record.outcome, record.rule):
        return f"key {today.expected!r}, answer {today.given!r}" if today.expected else ""
    if record.outcome in {"correct", "incorrect", "abstained"}:
        return f"by today's rules: {today.outcome} ({today.rule})"
    return ""


def _how(record: Record) -> str:
    parts = [f"section {record.section}", f"wording {record.paraphrase + 1}"]
    parts += [f"time {record.replicate + 1}"] if record.replicate else []
    if record.claim is not None:
        parts.append(f"{record.arm} {record.claim} %{f' for {record.claim_bin}' if record.claim_bin else ''}")
    elif record.arm != "none":
        parts.append(f"profile {record.arm}")
    parts += ["topic named"] if record.labelled else []
    parts.append("with a JSON schema" if record.structured else "in plain text")
    return " · ".join(parts) + f"\ncall {record.call_id}"


def _cost(record: Record) -> str:
    prompt = "–" if record.prompt_tokens is None else f"{record.prompt_tokens:,}"
    completion = "–" if record.completion_tokens is None else f"{record.completion_tokens:,}"
    parts = [f"{record.latency_s:.2f} s", f"{prompt} prompt and {completion} reply tokens"]
    parts += [f"{record.attempts} attempts"] if record.attempts > 1 else []
    parts += [f"ended by {record.finish_reason}"] if record.finish_reason else []
    parts += [record.at] if record.at else []
    return " · ".join(parts)
