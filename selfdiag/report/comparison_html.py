"""A comparison of runs as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from selfdiag.protocols.compare import ComparedRun, Comparison, RunPair
from selfdiag.protocols.compare_items import Flips, ItemPair, ItemReply, asked_items, pair, stated_in_both
from selfdiag.protocols.compare_measures import Difference
from selfdiag.protocols.diagrams import where_runs_stand
from selfdiag.report import words
from selfdiag.report.comparison import (
    VERDICTS,
    YOUDEN,
    difference_head,
    difference_row,
    flips_words,
    how_compared,
    model_words,
    tier_words,
    what_is_compared,
    what_was_asked,
)
from selfdiag.report.drawings import comparison as drawings
from selfdiag.report.drawings.svg import Drawing
from selfdiag.report.html_page import drawn, environment, html_page, html_table
from selfdiag.report.items import question_of, shown_key
from selfdiag.report.page import excerpt
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

OPEN = 12
"""So many items that changed sides are shown at once; the others open on a click."""
_QUESTION, _ANSWER, _SETTING = 600, 300, 400
"""Characters of a question, an answer and a setting that are shown."""

_GAINED, _LOST = "wrong to right", "right to wrong"


class _Side(NamedTuple):
    """What one run replied to an item that changed sides."""

    letter: str
    right: bool
    answer: str
    says: str


class _Card(NamedTuple):
    """An item that changed sides; all texts are harmless and bounded."""

    way: str
    item: str
    topic: str
    question: str
    key: str
    sides: tuple[_Side, _Side]


class _Items:
    """The items of the runs compared: how each was put, and its key."""

    def __init__(self, run: Run) -> None:
        self._items = asked_items(run)
        self._asked = {record.item_id: question_of(run, record) for record in reversed(run.measured())}

    def question(self, item_id: str) -> str:
        return excerpt(self._asked.get(item_id, ""), _QUESTION)

    def key(self, item_id: str) -> str:
        return shown_key(self._items[item_id], _ANSWER)


def comparison_html(found: Comparison, runs: Sequence[Run]) -> str:
    """Return a comparison as a whole page; the same runs give the same bytes.

    Args:
        found: the comparison.
        runs: what was compared, in the same order.
    """
    baseline, items = runs[0], _Items(runs[0])
    body = (
        environment()
        .get_template("comparison.html.j2")
        .render(
            runs=[_run(run) for run in found.runs],
            pairs=[_pair(one, (baseline, other), items) for one, other in zip(found.pairs, runs[1:], strict=True)],
            standing=drawn(_standing(found, runs)),
            method=f"{how_compared(found)} {YOUDEN}",
            notes=_sentences(found.notes),
        )
    )
    named = [f"{run.letter} {model_words(run)}" for run in found.runs]
    lead = "Only items that are in both runs, with the same question and key, are compared."
    return html_page(f"Runs compared: {', '.join(named)}", Markup(body), lead=lead)  # noqa: S704  # it escapes all text


def _run(run: ComparedRun) -> dict[str, Any]:
    return {
        "letter": run.letter,
        "model": one_line(run.model.name, 60),
        "simulated": run.model.simulated,
        "provider": one_line(run.model.provider, 40),
        "run_id": one_line(run.run_id, 60),
        "tier": f"No tier: {run.tier.name}" if run.tier.letter == "-" else f"Tier {tier_words(run)}",
        "asked": what_was_asked(run),
        "notes": _sentences(run.notes),
    }


def _standing(found: Comparison, runs: Sequence[Run]) -> Drawing | str:
    """Return where the runs stand; one without answers is left out."""
    return drawings.where_runs_stand(
        {one.letter: where_runs_stand([run]) for one, run in zip(found.runs, runs, strict=True)}
    )


def _pair(found: RunPair, runs: tuple[Run, Run], items: _Items) -> dict[str, Any]:
    return {
        "first": found.first,
        "second": found.second,
        "word": VERDICTS[found.verdict.word],
        "sentence": words.sentence(one_line(found.verdict.sentence, 1000)),
        "compared": what_is_compared(found),
        "notes": _sentences(found.notes),
        "differences": drawn(drawings.differences(found)),
        "shift": drawn(drawings.confidence_shift(found, stated_in_both(pair(*runs)))),
        "headline": _table(found, found.headline, corrected=True),
        "exploratory": _table(found, found.exploratory, corrected=False),
        "exploratory_count": len(found.exploratory),
        "flips": [
            _flips(found, name, flips, items)
            for name, flips in (("Probes", found.probes), ("Traps", found.traps))
            if flips.n
        ],
        "outcomes": _counts(found.outcomes),
        "moved": _moved(found, items),
        "settings": _settings(found),
    }


def _table(found: RunPair, measures: Mapping[str, Difference], *, corrected: bool) -> Markup:
    """Return differences as a table; the column of notes goes where there is none."""
    head = difference_head(found, corrected=corrected)
    rows = [difference_row(name, one, corrected=corrected) for name, one in measures.items()]
    if any(row[-1] for row in rows):
        return html_table(head, [[*row[:-1], one_line(row[-1], 400)] for row in rows])
    return html_table(head[:-1], [row[:-1] for row in rows])


def _flips(found: RunPair, name: str, flips: Flips, items: _Items) -> dict[str, Any]:
    cards = [
        _card(found, way, item, items)
        for way, those in ((_GAINED, flips.gained), (_LOST, flips.lost))
        for item in those
    ]
    return {"name": name, "sentence": flips_words(name, flips), "first": cards[:OPEN], "rest": cards[OPEN:]}


def _card(found: RunPair, way: str, item: ItemPair, items: _Items) -> _Card:
    gained = way == _GAINED
    return _Card(
        way=f"{'▲' if gained else '▼'} {way}",
        item=one_line(item.id, 80),
        topic=one_line(item.bin.replace("_", " "), 40),
        question=items.question(item.id),
        key=items.key(item.id),
        sides=(_side(found.first, item.first, right=not gained), _side(found.second, item.second, right=gained)),
    )


def _side(letter: str, reply: ItemReply, *, right: bool) -> _Side:
    several = f", {reply.right} of {reply.replies} right" if reply.replies > 1 else ""
    return _Side(letter, right, _answer(reply), f"{_says(reply)}{several}")


def _answer(reply: ItemReply) -> str:
    return one_line(reply.answer, _ANSWER) if reply.answer else reply.outcome


def _says(reply: ItemReply) -> str:
    return "states nothing" if reply.confidence is None else f"states {reply.confidence:.0f}"


def _counts(outcomes: Mapping[str, int]) -> Markup | str:
    return html_table(("outcome", "items"), [[change, str(n)] for change, n in outcomes.items()]) if outcomes else ""


def _moved(found: RunPair, items: _Items) -> Markup | str:
    if not found.moved:
        return ""
    head = (
        "item",
        "question",
        "key",
        *(f"{letter} {word}" for letter in (found.first, found.second) for word in ("answers", "states")),
        "points",
    )
    return html_table(head, [list(_moved_row(item, item.shift, items)) for item in found.moved])


def _moved_row(item: ItemPair, shift: float, items: _Items) -> Iterator[str]:
    yield one_line(item.id, 80)
    yield one_line(items.question(item.id), 200)
    yield items.key(item.id)
    for reply in (item.first, item.second):
        yield one_line(_answer(reply), 80)
        yield "–" if reply.confidence is None else f"{reply.confidence:.0f}"
    yield f"{shift:+.0f}"


def _settings(found: RunPair) -> Markup | str:
    if not found.settings:
        return ""
    rows = [[one_line(text, _SETTING) or "–" for text in (one.name, one.first, one.second)] for one in found.settings]
    return html_table(("setting", found.first, found.second), rows)


def _sentences(notes: Sequence[str]) -> list[str]:
    return [words.sentence(one_line(note, 400)) for note in notes]
