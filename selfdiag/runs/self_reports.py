"""Which calls a self-assessment makes: what the model says of itself, and the tasks that show what it does."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from selfdiag.battery.draw import SeededOrder, wording
from selfdiag.battery.items import Probe, Trap
from selfdiag.battery.self_assessment import CRITERIA, CitationTask, FormalTask, SelfAssessment, self_assessment
from selfdiag.elicit.prompts import render
from selfdiag.elicit.self_prompts import render_citation, render_formal, render_rating, render_statement
from selfdiag.runs.calls import CallBook
from selfdiag.runs.records import FRAMING, QUESTIONNAIRE, SELF_PROFILE, TASKS, RunSettings

T = TypeVar("T")

SELF_REPORT_TEMPERATURE = 0.7
"""Warmth of repeated self-reports: at 0 a repetition is a copy and says nothing of how steady a claim is."""

FORMAL_TASKS = 15
"""Formal tasks that a usual assessment asks: three of each format, so that some may come to nothing."""

NEUTRAL = "neutral"
AFFIRMING = "affirming"


def assessed(settings: RunSettings) -> SelfAssessment | None:
    """Return what the sections of the settings ask of a self-assessment, None when they ask nothing of it."""
    wanted = {QUESTIONNAIRE, SELF_PROFILE, FRAMING, TASKS} & set(settings.sections)
    if not wanted:
        return None
    every = self_assessment()
    n, order = settings.tasks, SeededOrder("tasks", settings.seed)
    tasks = TASKS in wanted
    about_sources: list[Probe | Trap | CitationTask] = [*every.sources, *every.invented, *every.citations]
    chosen = _spread(about_sources, n, order, lambda task: task.id.rpartition("-")[0])
    return SelfAssessment(
        statements=every.statements if QUESTIONNAIRE in wanted else (),
        ratings=every.ratings if SELF_PROFILE in wanted else (),
        framing=every.framing if FRAMING in wanted else (),
        facts=tuple(_evenly(sorted(every.facts, key=lambda fact: (fact.year, fact.month)), n)) if tasks else (),
        formal=tuple(_formal(every.formal, n, order)) if tasks else (),
        sources=tuple(task for task in chosen if isinstance(task, Probe)) if tasks else (),
        invented=tuple(task for task in chosen if isinstance(task, Trap)) if tasks else (),
        citations=tuple(task for task in chosen if isinstance(task, CitationTask)) if tasks else (),
        terms=tuple(_spread(every.terms, n, order, lambda term: term.bin)) if tasks else (),
    )


def add_self_reports(book: CallBook, chosen: SelfAssessment) -> None:
    """Plan every call of a self-assessment, each a conversation of its own."""
    _statements(book, chosen)
    _ratings(book, chosen)
    rationale = book.settings.rationale
    for pair in chosen.framing:
        for index, (arm, text) in enumerate(((NEUTRAL, pair.neutral), (AFFIRMING, pair.affirming))):
            book.add(FRAMING, pair.id, render_rating(text, rationale=rationale), arm=arm, paraphrase=index)
    _tasks(book, chosen)


def _statements(book: CallBook, chosen: SelfAssessment) -> None:
    settings = book.settings
    order = SeededOrder("questionnaire", settings.seed)
    for instance in range(settings.instances if chosen.statements else 0):
        for statement in order.shuffled(chosen.statements, instance):
            drawn = order.pick(len(statement.wordings), "wording", instance, statement.id)
            prompt = render_statement(statement.wordings[drawn], rationale=settings.rationale)
            book.add(
                QUESTIONNAIRE,
                statement.id,
                prompt,
                paraphrase=drawn,
                replicate=instance,
                temperature=SELF_REPORT_TEMPERATURE,
            )


def _ratings(book: CallBook, chosen: SelfAssessment) -> None:
    """Plan one rating per criterion and instance, every rating of a criterion in turn."""
    settings = book.settings
    order = SeededOrder("self-profile", settings.seed)
    pools = {
        name: order.shuffled([rating for rating in chosen.ratings if rating.criterion == name], "pool")
        for name in CRITERIA
    }
    for instance in range(settings.ratings if chosen.ratings else 0):
        for name in CRITERIA:
            rating = pools[name][instance % len(pools[name])]
            prompt = render_rating(rating.text, rationale=settings.rationale)
            book.add(SELF_PROFILE, rating.id, prompt, replicate=instance, temperature=SELF_REPORT_TEMPERATURE)


def _tasks(book: CallBook, chosen: SelfAssessment) -> None:
    settings = book.settings
    order = SeededOrder("task order", settings.seed)
    # those with one contract after the other: a local engine then reads it once
    for item in order.shuffled(chosen.items()):
        paraphrase = wording(item, settings.seed)
        prompt = render(item, paraphrase, example=settings.example, stated="stated" in settings.confidence)
        book.add(TASKS, item.id, prompt, paraphrase=paraphrase)
    for task in order.shuffled(chosen.citations):
        paraphrase = order.pick(len(task.questions), "wording", task.id)
        book.add(TASKS, task.id, render_citation(task, paraphrase), paraphrase=paraphrase)
    for form in order.shuffled(chosen.formal):
        book.add(TASKS, form.id, render_formal(form))


def _formal(tasks: Sequence[FormalTask], elements: int, order: SeededOrder) -> list[FormalTask]:
    """Return tasks of every format, ``FORMAL_TASKS`` or as many as elements are wanted, and so many elements."""
    kept: list[FormalTask] = []
    for task in _spread(tasks, len(tasks), order, lambda task: task.format):
        if len(kept) >= min(elements, FORMAL_TASKS) and sum(one.elements for one in kept) >= elements:
            break
        kept.append(task)
    return kept


def _spread(items: Sequence[T], n: int, order: SeededOrder, kind: Callable[[T], Hashable]) -> list[T]:
    """Return ``n`` items in which every kind has the share it has among all."""
    by_kind: dict[Hashable, list[T]] = {}
    for item in order.shuffled(items, "spread"):
        by_kind.setdefault(kind(item), []).append(item)
    ranked = [
        ((rank + 0.5) / len(found), order.key("kind", name), item)
        for name, found in by_kind.items()
        for rank, item in enumerate(found)
    ]
    return [item for _, _, item in sorted(ranked, key=lambda row: row[:2])[:n]]


def _evenly(items: Sequence[T], n: int) -> list[T]:
    """Return ``n`` items at even distances, the first and the last among them."""
    if n >= len(items):
        return list(items)
    if n == 1:
        return [items[-1]]
    return [items[math.floor(index * (len(items) - 1) / (n - 1) + 0.5)] for index in range(n)]
