"""What answer a model gave, in a form in which the answers of several models can be compared without the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from selfdiag.battery.items import Probe
from selfdiag.elicit.choices import pick
from selfdiag.elicit.dates import read_date
from selfdiag.elicit.kinds import show_number
from selfdiag.elicit.lists import splits
from selfdiag.elicit.numbers import read_number
from selfdiag.elicit.phrases import REASON
from selfdiag.elicit.textforms import clean_text, fold_text, unwrap, without_lead
from selfdiag.elicit.units import in_unit
from selfdiag.measure.counts import Ints
from selfdiag.measure.panel import DISAGREE, INDETERMINATE, Agreement

NO_ANSWER = -1


class GivenAnswer(NamedTuple):
    """An answer: two of one ``form`` are the same, and two that share some of their ``words`` may be."""

    form: str
    words: frozenset[str]


def given_answer(probe: Probe, answer: str) -> GivenAnswer:
    """Return what an answer says to a question, by the kind of the question and never by its key.

    A choice is the option it picks, a number its value (in the unit that was asked for), a set or sequence its
    elements, a date its day, printed output its lines; any other answer, and one that cannot be read so, is its text
    with case, accents, articles and punctuation folded, without an opening such as "The answer is" and without a
    reason after it.

    Args:
        probe: what was asked.
        answer: as the model gave it; any text has a form.
    """
    readers = {
        "choice": _choice,
        "number": _number,
        "set": _elements,
        "sequence": _elements,
        "date": _date,
        "code": _printed,
    }
    reader = readers.get(probe.kind)
    found = None if reader is None else reader(probe, answer)
    return found or _text(answer)


def answer_codes(given: Sequence[Sequence[GivenAnswer | None]]) -> Ints:
    """Return a whole number for each distinct answer to an item, ``NO_ANSWER`` for None.

    Args:
        given: by model, then by item; shape (models, items), which is that of the result.
    """
    codes = np.full((len(given), len(given[0])), NO_ANSWER, dtype=np.int64)
    for item, answers in enumerate(zip(*given, strict=True)):
        forms: dict[str, int] = {}
        for model, answer in enumerate(answers):
            if answer is not None:
                codes[model, item] = forms.setdefault(answer.form, len(forms))
    return codes


def shared_words(given: Sequence[Sequence[GivenAnswer | None]]) -> Agreement:
    """Return which answers share words: ``INDETERMINATE`` for some, ``DISAGREE`` for none.

    Args:
        given: by model, then by item. The result has shape (models, models, items).
    """
    found = np.full((len(given), len(given), len(given[0])), DISAGREE, dtype=np.int8)
    for item, answers in enumerate(zip(*given, strict=True)):
        for one, first in enumerate(answers):
            for other, second in enumerate(answers[:one]):
                if first is not None and second is not None and first.words & second.words:
                    found[one, other, item] = found[other, one, item] = INDETERMINATE
    return found


def _choice(probe: Probe, answer: str) -> GivenAnswer | None:
    index, _ = pick(answer, probe.options)
    return None if index is None else _exactly(f"option {index + 1}")


def _number(probe: Probe, answer: str) -> GivenAnswer | None:
    numeral = read_number(answer)
    if numeral is None:
        return None
    if numeral.percent and probe.unit.strip() not in {"%", "percent"}:
        # "50%" is one half, and may be what "50" means where a percentage was asked for
        shown = show_number(numeral.value / 100)
        return GivenAnswer(shown, frozenset({shown, show_number(numeral.value)}))
    if probe.unit and not numeral.percent:
        converted, _ = in_unit(numeral.value, numeral.rest, probe.unit, convert=probe.convert)
        return None if converted is None else _exactly(show_number(converted))
    return _exactly(show_number(numeral.value))


def _elements(probe: Probe, answer: str) -> GivenAnswer | None:
    parts = splits(answer)[0][1]
    elements = [shown for part in parts if (shown := part if isinstance(part, str) else show_number(part))]
    if not elements:
        return None
    ordered = elements if probe.kind == "sequence" else sorted(set(elements))
    return GivenAnswer("; ".join(ordered), frozenset(elements))


def _date(_probe: Probe, answer: str) -> GivenAnswer | None:
    day, either = read_date(answer)
    if day is None or either:
        return None
    form = f"{day.year}-{day.month}-{day.day}"
    # a year alone may be the same as a day of it; days of different years are not, whatever month they share
    return GivenAnswer(form, frozenset({form} if day.year is None else {form, f"in {day.year}"}))


def _printed(_probe: Probe, answer: str) -> GivenAnswer | None:
    lines = unwrap(clean_text(answer)[0]).split("\n")
    form = "\n".join(line.rstrip() for line in lines).strip("\n")
    return GivenAnswer(form, frozenset(fold_text(form).split())) if form else None


def _text(answer: str) -> GivenAnswer:
    bare = without_lead(clean_text(answer)[0])
    folded = fold_text(REASON.sub("", bare)) or fold_text(bare)
    return GivenAnswer(folded.replace(" ", "") or answer, frozenset(folded.split()))


def _exactly(form: str) -> GivenAnswer:
    return GivenAnswer(form, frozenset({form}))
