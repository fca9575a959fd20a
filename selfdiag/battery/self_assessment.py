"""What a self-assessment asks: statements and ratings of itself, and closed tasks that show what it can do."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from selfdiag.battery.items import Kind, Probe, Trap
from selfdiag.battery.load import shipped_path

Domain = Literal["MAI", "SRIS", "SDQ"]
CriterionName = Literal["x1", "x2", "x3", "x4", "x5"]
CRITERIA: tuple[CriterionName, ...] = ("x1", "x2", "x3", "x4", "x5")
T = TypeVar("T")

INVENTED = "no_such_entity"
"""The family of an invented work: the right reply to a question about it is the abstention token."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement a model makes of itself, in several wordings; ``reverse`` means that No speaks for the trait."""

    id: str
    domain: Domain
    number: int
    about: str
    criterion: CriterionName
    criterion_source: Literal["study", "ours"]
    reverse: bool
    wordings: tuple[str, ...]


class Rating(msgspec.Struct, frozen=True, kw_only=True):
    """A question whose answer is a number from 0 to 1; ``reverse`` means that a high one speaks against the model."""

    id: str
    criterion: CriterionName
    reverse: bool
    text: str


class FramingPair(msgspec.Struct, frozen=True, kw_only=True):
    """One rating in a neutral and in an affirming wording."""

    id: str
    item: str
    criterion: CriterionName
    neutral: str
    affirming: str


class FormalTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task whose reply is checked for its form; ``elements`` counts what is scored, ``check`` says how."""

    id: str
    domain: str
    format: Literal["json", "markdown", "latex", "csv", "python"]
    prompt: str
    elements: int
    check: dict[str, Any]
    sample: str = ""
    flawed: str = ""
    fails: tuple[str, ...] = ()


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A well-known work. ``loose`` means that another author or year refutes nothing."""

    id: str
    domain: str
    kind: Literal["book", "paper", "standard"]
    title: str
    other_titles: tuple[str, ...] = ()
    author: str
    surname: str
    coauthors: tuple[str, ...] = ()
    year: int
    also_years: tuple[int, ...] = ()
    loose: bool = False
    doi: str = ""


class CitationTask(msgspec.Struct, frozen=True, kw_only=True):
    """An open task: name a work on a topic."""

    id: str
    domain: str
    topic: str
    questions: tuple[str, ...]


class DatedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A settled fact, asked as ``probe``, and the year and month in which it became known."""

    probe: Probe
    year: int
    month: int

    @property
    def id(self) -> str:
        """The id of its probe."""
        return self.probe.id


Asked = Probe | Trap | Statement | Rating | FramingPair | FormalTask | CitationTask
"""Whatever a call can be about."""


class SelfAssessment(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a self-assessment can ask, or what one run asks of it.

    ``facts`` speak of x2, ``formal`` of x3, ``sources``, ``invented`` and ``citations`` of x4, ``terms`` of x5;
    ``invented`` are questions about works that do not exist.
    """

    statements: tuple[Statement, ...] = ()
    ratings: tuple[Rating, ...] = ()
    framing: tuple[FramingPair, ...] = ()
    facts: tuple[DatedFact, ...] = ()
    formal: tuple[FormalTask, ...] = ()
    sources: tuple[Probe, ...] = ()
    invented: tuple[Trap, ...] = ()
    citations: tuple[CitationTask, ...] = ()
    terms: tuple[Probe, ...] = ()

    def items(self) -> tuple[Probe | Trap, ...]:
        """Return the tasks that are graded as probes and traps are."""
        return (*(fact.probe for fact in self.facts), *self.sources, *self.invented, *self.terms)

    def ids(self) -> set[str]:
        """Return the id of everything that is asked."""
        return {one.id for one in self.everything()}

    def everything(self) -> tuple[Asked, ...]:
        """Return everything that is asked."""
        others: tuple[Asked, ...] = (
            *self.statements,
            *self.ratings,
            *self.framing,
            *self.formal,
            *self.citations,
        )
        return (*others, *self.items())


@lru_cache(maxsize=1)
def self_assessment() -> SelfAssessment:
    """Return what comes with selfdiag."""
    return SelfAssessment(
        statements=_read("statements", "statement", Statement),
        ratings=_read("criteria", "item", Rating),
        framing=_read("framing", "pair", FramingPair),
        facts=tuple(_fact(row) for row in _rows("dated", "fact")),
        formal=tuple(_formal(row) for row in _rows("formal", "task")),
        sources=tuple(_source(row) for row in _rows("sources", "task") if row["grading"] != "abstention"),
        invented=tuple(_invented(row) for row in _rows("sources", "task") if row["grading"] == "abstention"),
        citations=_read("citations", "task", CitationTask),
        terms=tuple(_term(row) for row in _rows("terms", "term")),
    )


@lru_cache(maxsize=1)
def works() -> tuple[Work, ...]:
    """Return the table of well-known works that citations are compared with."""
    return _read("works", "work", Work)


def _folder() -> Path:
    return shipped_path() / "self"


def _rows(file: str, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((_folder() / f"{file}.toml").read_text(encoding="utf-8"))[table]
    return found


def _read(file: str, table: str, shape: type[T]) -> tuple[T, ...]:
    return tuple(msgspec.convert(row, shape) for row in _rows(file, table))


def _fact(row: dict[str, Any]) -> DatedFact:
    probe = _probe(row, row["kind"], bin_name=row["domain"], questions=row["questions"], source=row["source"])
    return DatedFact(probe=probe, year=row["year"], month=row["month"])


def _formal(row: dict[str, Any]) -> FormalTask:
    texts = {name: row[name].strip("\n") for name in ("prompt", "sample", "flawed")}
    return msgspec.convert(row | texts, FormalTask)


def _source(row: dict[str, Any]) -> Probe:
    return _probe(row, row["grading"], bin_name=_about(row), questions=row["questions"], source=row.get("note", ""))


def _invented(row: dict[str, Any]) -> Trap:
    questions = tuple(row["questions"])
    return Trap(id=row["id"], bin=_about(row), family=INVENTED, questions=questions, note=row["note"])


def _about(row: dict[str, Any]) -> str:
    name: str = row.get("domain", row["kind"])
    return name


def _term(row: dict[str, Any]) -> Probe:
    return _probe(row, "text", bin_name=row["domain"], questions=[row["text"]], source=row["note"])


def _probe(row: dict[str, Any], kind: Kind, *, bin_name: str, questions: list[str], source: str) -> Probe:
    return Probe(
        id=row["id"],
        bin=bin_name,
        difficulty="medium",
        kind=kind,
        answer=row["answer"],
        aliases=tuple(row.get("aliases", ())),
        questions=tuple(questions),
        tolerance=row.get("tolerance", 0.0),
        source=source,
    )
