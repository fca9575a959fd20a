"""The external profile of a run: what its graded tasks show of a model on five criteria."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence

import msgspec

from selfdiag.battery.self_assessment import SelfAssessment, Work, works
from selfdiag.measure.estimate import join_notes
from selfdiag.measure.external import (
    Criterion,
    currency_from_horizon,
    formal_structure,
    hallucination_control,
    knowledge_currency,
    source_validity,
    terminological_precision,
)
from selfdiag.measure.horizon import Horizon, knowledge_horizon
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.cited import Cited, cited_in
from selfdiag.protocols.self_replies import NOT_ASKED
from selfdiag.runs.citation_lookup import USABLE
from selfdiag.runs.records import MEASURED_SECTIONS, TASKS, Record
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

_SCORED = _RIGHT, _WRONG, _SILENT = "right", "wrong", "silent"
_STATES = {"verified": _RIGHT, "contradicted": _WRONG, "unknown": _SILENT}
_LATER = "after the day of the run"
_NO_FORM_TO_SEE = frozenset({"truncated", "overflow", "error"})
"""Outcomes of a formal task that say nothing of its form: what was cut might have gone on rightly."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """Scored elements of one kind of task.

    ``silent`` counts those on which the model abstained or refused, and sources that stay unknown; ``left_out`` those
    without a usable reply.
    """

    kind: str
    right: int
    wrong: int
    silent: int
    left_out: int


class CitedSources(msgspec.Struct, frozen=True, kw_only=True):
    """The open citations by state, and the currency of the verified ones: knowledge currency in the study's form.

    ``mean_age`` is that of the verified works in years before the run, ``looked_up`` counts the DOIs that a resolver
    was asked about, and ``refuted`` holds the contradicted citations.
    """

    verified: int
    contradicted: int
    unknown: int
    looked_up: int
    mean_age: float | None
    currency: Criterion
    refuted: tuple[Cited, ...]


class ExternalProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The criteria x1 to x5 and the counts behind each by kind of task; ``horizon`` and ``cited`` where asked for."""

    criteria: dict[str, Criterion]
    kinds: dict[str, tuple[Kind, ...]]
    horizon: Horizon | None = None
    cited: CitedSources | None = None


def external_profile_of(
    run: Run,
    *,
    known: Sequence[Work] | None = None,
    years: float | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> ExternalProfile:
    """Return what the graded tasks of a run show; a criterion whose tasks were not asked is missing.

    Wrong answers to probes and answered traps count against x1; a spotted trap is settled as an answered probe is.
    To abstain or refuse is not to know a fact (x2), to produce nothing of a form (x3), to leave a source unknown (x4)
    and not to name a term (x5). A reply that was cut, cannot be read or never came is left out and told in the note;
    of a formal task only one that was cut or never came, since anything else is the form that was given.

    Args:
        run: manifest and records.
        known: works that citations are compared with; those that come with selfdiag when None.
        years: a knowledge horizon so long before the run counts 0; as the run's settings say when None.
        draws: bootstrap draws.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the manifest does not say when the run began.
    """
    asked = run.manifest.assessed or SelfAssessment()
    years = run.manifest.settings.years if years is None else years
    replies = _tasks(run)
    cited = cited_in(run, works() if known is None else known, run_date(run)) if asked.citations else []
    answers = _answers(run)
    forms, elements = _forms(asked, replies)
    sources = _sources(asked, replies, cited)
    terms = _Elements()
    for term in asked.terms:
        terms.add(term.bin, _state(replies.get(term.id)))
    x2, facts, horizon = _currency(run, asked, replies, years, draws, seed)
    return ExternalProfile(
        criteria={
            "x1": _hallucination(answers),
            "x2": x2,
            "x3": forms.noted(formal_structure(elements, draws=draws, seed=seed)),
            "x4": _validity(sources),
            "x5": _precision(terms),
        },
        kinds={
            "x1": answers.kinds(),
            "x2": facts.kinds(),
            "x3": forms.kinds(),
            "x4": sources.kinds(),
            "x5": terms.kinds(),
        },
        horizon=horizon,
        cited=_cited(run, cited, years, draws, seed) if asked.citations else None,
    )


def run_date(run: Run) -> datetime.date:
    """Return the day, in UTC, on which a run began.

    Raises:
        SelfdiagError: when its manifest does not say.
    """
    if not run.manifest.sessions:
        raise SelfdiagError(f"{one_line(str(run.folder))}: the manifest does not say when the run began")
    began = datetime.datetime.fromisoformat(run.manifest.sessions[0].started)
    return began.astimezone(datetime.UTC).date()


class _Elements:
    """Scored elements as they are counted: right, wrong, silent, or left out for a reason."""

    def __init__(self) -> None:
        self._found: dict[str, Counter[str]] = {}

    def add(self, kind: str, state: str, number: int = 1) -> None:
        self._found.setdefault(kind, Counter())[state] += number

    def count(self, state: str) -> int:
        return sum(states[state] for states in self._found.values())

    @property
    def scored(self) -> int:
        return sum(self.count(state) for state in _SCORED)

    def kinds(self) -> tuple[Kind, ...]:
        return tuple(
            Kind(
                kind=kind,
                right=states[_RIGHT],
                wrong=states[_WRONG],
                silent=states[_SILENT],
                left_out=sum(states.values()) - sum(states[name] for name in _SCORED),
            )
            for kind, states in sorted(self._found.items())
        )

    def noted(self, criterion: Criterion, *more: str) -> Criterion:
        """Return a criterion that also says what was left out of it, and ``more``."""
        if not self._found:
            return msgspec.structs.replace(criterion, note=NOT_ASKED)
        reasons: Counter[str] = Counter()
        for states in self._found.values():
            reasons.update({state: n for state, n in states.items() if state not in _SCORED})
        listed = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
        left_out = f"left out: {listed}" if listed else ""
        return msgspec.structs.replace(criterion, note=join_notes(criterion.note, *more, left_out))


def _tasks(run: Run) -> dict[str, Record]:
    """Return the record of every task that has one, by item."""
    return {record.item_id: record for record in run.planned() if record.section == TASKS}


def _state(record: Record | None, *, trap: bool = False) -> str:
    """Return what a graded reply counts as, or why it is left out."""
    if record is None:
        return NOT_ASKED
    if record.outcome == ("abstained" if trap else "correct"):
        return _RIGHT
    if record.outcome == "incorrect":
        return _WRONG
    return _SILENT if record.outcome in {"abstained", "refused"} else record.outcome


def _answers(run: Run) -> _Elements:
    """Return the audit's short answers, one for each item: other wordings and repeats are not independent."""
    elements, latest, seen = _Elements(), run.latest(), set()
    for call in run.manifest.plan:
        if call.section in MEASURED_SECTIONS and call.item_id not in seen:
            seen.add(call.item_id)
            elements.add(call.section, _state(latest.get(call.call_id), trap=call.section == "traps"))
    return elements


def _hallucination(answers: _Elements) -> Criterion:
    wrong, settled = answers.count(_WRONG), answers.count(_RIGHT) + answers.count(_WRONG)
    return answers.noted(hallucination_control(wrong, settled, answers.scored))


def _currency(
    run: Run, asked: SelfAssessment, replies: dict[str, Record], years: float, draws: int, seed: int
) -> tuple[Criterion, _Elements, Horizon | None]:
    facts = _Elements()
    if not asked.facts:
        return facts.noted(currency_from_horizon(None, 0, facts=0, years=years)), facts, None
    today = _decimal_year(run_date(run))
    dates, marks = [], []
    marked = {_RIGHT: 1, _WRONG: 0, _SILENT: 0}
    for fact in asked.facts:
        known_from = fact.year + (fact.month - 1) / 12
        state = _LATER if known_from > today else _state(replies.get(fact.id))
        facts.add("facts", state)
        dates.append(known_from)
        marks.append(marked.get(state, -1))
    horizon = knowledge_horizon(dates, marks, run_year=today, draws=draws, seed=seed)
    found = currency_from_horizon(
        horizon.value,
        today,
        facts=horizon.n,
        drawn=horizon.drawn,
        censored=horizon.censored,
        note=horizon.note,
        years=years,
    )
    return facts.noted(found), facts, horizon


def _decimal_year(day: datetime.date) -> float:
    """Return a day on the scale of the facts, whose dates are the first of a month."""
    return day.year + (day.month - 1) / 12 + (day.day - 1) / 372


def _forms(asked: SelfAssessment, replies: dict[str, Record]) -> tuple[_Elements, list[tuple[int, int]]]:
    """Return the formal elements, and how many are right and expected in each scored reply."""
    elements = _Elements()
    scored: list[tuple[int, int]] = []
    for task in asked.formal:
        record = replies.get(task.id)
        if record is None or record.outcome in _NO_FORM_TO_SEE:
            elements.add(task.format, NOT_ASKED if record is None else record.outcome, task.elements)
            continue
        right = 0
        if record.value is None:
            elements.add(task.format, _SILENT, task.elements)
        else:
            right = round(record.value * task.elements)
            elements.add(task.format, _RIGHT, right)
            elements.add(task.format, _WRONG, task.elements - right)
        scored.append((right, task.elements))
    return elements, scored


def _sources(asked: SelfAssessment, replies: dict[str, Record], cited: Sequence[Cited]) -> _Elements:
    elements = _Elements()
    for task in asked.sources:
        elements.add(_kind_of(task.id), _state(replies.get(task.id)))
    for trap in asked.invented:
        elements.add(_kind_of(trap.id), _state(replies.get(trap.id), trap=True))
    for one in cited:
        elements.add("cited", _STATES[one.state])
    for open_task in asked.citations:
        record = replies.get(open_task.id)
        if record is None or record.outcome not in USABLE:
            elements.add("cited", NOT_ASKED if record is None else record.outcome)
    return elements


def _kind_of(task_id: str) -> str:
    """Return what a closed task about sources asks for: its id is ``source-author-07``."""
    return task_id.removeprefix("source-").rpartition("-")[0]


def _validity(sources: _Elements) -> Criterion:
    unknown = sources.count(_SILENT)
    found = source_validity(sources.count(_RIGHT), sources.count(_WRONG), unknown)
    told = unknown and found.value is not None
    return sources.noted(found, f"{unknown} unknown beside these" if told else "")


def _precision(terms: _Elements) -> Criterion:
    silent = terms.count(_SILENT)
    found = terminological_precision(terms.count(_RIGHT), terms.scored)
    return terms.noted(found, f"{silent} of them without an answer" if silent else "")


def _cited(run: Run, cited: Sequence[Cited], years: float, draws: int, seed: int) -> CitedSources:
    states = Counter(one.state for one in cited)
    year = run_date(run).year
    ages = [max(0, year - one.year) for one in cited if one.state == "verified" and one.year is not None]
    return CitedSources(
        verified=states["verified"],
        contradicted=states["contradicted"],
        unknown=states["unknown"],
        looked_up=len(run.manifest.looked_up),
        mean_age=sum(ages) / len(ages) if ages else None,
        currency=knowledge_currency(ages, years=years, draws=draws, seed=seed),
        refuted=tuple(one for one in cited if one.state == "contradicted"),
    )
