"""Reading the citation of one work, and judging whether the work exists as it is cited.

A citation is *verified* when it agrees with what is known of a work, *contradicted* only by what cannot be, and else
*unknown*: a work that no table knows may exist.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from selfdiag.battery.self_assessment import Work
from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.identifiers import (
    Fault,
    arxiv_fault,
    arxiv_of_doi,
    arxiv_year,
    bare_arxiv,
    bare_doi,
    bare_isbn,
    doi_fault,
    isbn_fault,
)
from selfdiag.elicit.jsonobject import Members, find_objects
from selfdiag.elicit.reading import MAX_REPLY, read_reply
from selfdiag.elicit.reasoning import set_reasoning_aside, without_template_tokens
from selfdiag.elicit.textforms import clean_text
from selfdiag.elicit.titles import (
    MAX_TITLE,
    Agreement,
    first_author,
    is_comparable_name,
    names_author,
    same_title,
    title_likeness,
)

State = Literal["verified", "contradicted", "unknown"]
Authorship = Literal["first", "later", "another", "unclear"]
Unread = Literal["", "empty", "truncated", "refused", "abstained", "not a citation"]

ALIKE = 80.0
"""Titles that share so much, of 100, may be one title in two forms; among the works of the table, unrelated titles
stay below 72."""

MAX_DEPTH = 4
"""So deep in lists and objects a value is looked for."""


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """One work as a reply cites it; a text is empty, and the year None, where nothing is given.

    Identifiers stand without labels, addresses and hyphens; ``author`` is the first one where the reply lists several.
    """

    title: str
    author: str = ""
    year: int | None = None
    doi: str = ""
    isbn: str = ""
    arxiv: str = ""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a citation.

    ``reason`` is one sentence. ``work`` is the id of the work of the table that the citation was compared with, empty
    when there is none or an identifier alone decided. ``year`` is the year from which the age of a verified work
    counts, that of its first publication, and None for any other.
    """

    state: State
    reason: str
    work: str = ""
    year: int | None = None


class LookedUp(msgspec.Struct, frozen=True, kw_only=True):
    """What a resolver says of a DOI: whether it exists and, where its record can be read, the work that it names."""

    exists: bool
    title: str = ""
    year: int | None = None
    surname: str = ""


_KEYS = {
    "title": ("title", "worktitle", "booktitle", "papertitle", "fulltitle"),
    "author": ("author", "firstauthor", "authors", "authorname"),
    "year": ("year", "publicationyear", "yearofpublication", "published", "date"),
    "doi": ("doi",),
    "isbn": ("isbn", "isbn13", "isbn10"),
    "arxiv": ("arxiv", "arxivid", "arxivnumber", "eprint"),
}
_ECHO = re.compile(r"<[^<>]{0,200}>|\[[^\[\]]{0,200}\]|\{[^{}]{0,200}\}|[\W_]*")
_NO_IDENTIFIER = re.compile(
    r"(?:n/?a|none|null|nil|no|not|unknown|unavailable)\b|[0\W]*\Z|.*(?:x{3}|\?|\.\.|…)", re.IGNORECASE
)
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")


def read_citation(raw: str, cut: bool = False) -> tuple[Citation | None, Unread]:
    """Return the citation in a reply, or None and why there is none.

    Reasoning is set aside; of several JSON objects with a title the last one counts, never one that only echoes a
    placeholder. Any text gives a result, none an exception.

    Args:
        raw: the reply as it came.
        cut: True when the provider says that a limit ended the reply.

    Returns:
        The citation and an empty reason; or None and ``empty``, ``truncated``, ``refused``, ``abstained`` or
        ``not a citation``.
    """
    text = raw[:MAX_REPLY].removeprefix("\ufeff")
    cut = cut or len(raw.rstrip()) > MAX_REPLY
    parts = set_reasoning_aside(text)
    if parts.unclosed:
        return None, "truncated"
    if not clean_text(without_template_tokens(parts.content))[0].strip():
        return None, "truncated" if cut else "empty"
    found = find_objects(parts.content)
    citations = [one for whole in found.objects for one in _citations(whole.members, MAX_DEPTH)]
    if found.unfinished is not None:
        return None, "truncated"
    if citations:
        return _settled(citations[-1])
    return None, _without_citation(raw, cut)


def _settled(citation: Citation) -> tuple[Citation | None, Unread]:
    """Return a citation unless its title is none."""
    if abstains(citation.title):
        return None, "abstained"
    return (None, "refused") if declines(citation.title) else (citation, "")


def _without_citation(raw: str, cut: bool) -> Unread:
    answer = read_reply(raw, cut).answer or ""
    if abstains(answer):
        return "abstained"
    if declines(answer):
        return "refused"
    return "truncated" if cut else "not a citation"


def _citations(members: Members, depth: int) -> Iterator[Citation]:
    """Yield the citations in an object: itself when it has a title, else those of the objects within."""
    title = _member(members, "title", _text)
    if title:
        if _ECHO.fullmatch(title) is None:
            yield _citation(title, members)
        return
    for _, value in members[:100] if depth else ():
        for inner in value[:100] if isinstance(value, list) else (value,):
            if isinstance(inner, Members):
                yield from _citations(inner, depth - 1)


def _citation(title: str, members: Members) -> Citation:
    author = _member(members, "author", _author)
    year = _YEAR.search(_member(members, "year", _text))
    return Citation(
        title=title,
        author="" if abstains(author) else author,
        year=int(year[0]) if year and int(year[0]) else None,
        doi=bare_doi(_member(members, "doi", _identifier)),
        isbn=bare_isbn(_member(members, "isbn", _identifier)),
        arxiv=bare_arxiv(_member(members, "arxiv", _identifier)),
    )


def _member(members: Members, name: str, read: Callable[[Any], str]) -> str:
    """Return the first text that stands under one of a member's names."""
    texts: dict[str, list[Any]] = {}
    for key, value in members:
        texts.setdefault(re.sub(r"[\W_]+", "", key[:60].casefold()), []).append(value)
    for key in _KEYS[name]:
        for value in texts.get(key, ()):
            text = read(value)
            if text:
                return text
    return ""


def _text(value: Any, depth: int = MAX_DEPTH) -> str:
    """Return a value as one clean line; of a list, that of its first element that has any."""
    if isinstance(value, list):
        return next((text for part in value[:100] if depth and (text := _text(part, depth - 1))), "")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return " ".join(clean_text(str(value)[: 2 * MAX_TITLE])[0].split())[:MAX_TITLE]


def _author(value: Any) -> str:
    """Return the first author, whose name may be in parts."""
    first = next((part for part in value[:100] if part), "") if isinstance(value, list) else value
    if isinstance(first, Members):
        return " ".join(filter(None, (_text(part) for _, part in first[:10])))[:MAX_TITLE]
    return _text(first)


def _identifier(value: Any) -> str:
    text = _text(value)
    return "" if _NO_IDENTIFIER.match(text) or abstains(text) else text


def judge_citation(citation: Citation, works: Sequence[Work], run_date: datetime.date) -> Judgement:
    """Return what the citation's own numbers and a table of works say of it.

    These contradict: a year after the run's, an ISBN with a wrong check digit, length or prefix, and an arXiv number
    that cannot have been given. So do another author or another year than those of the work that the title names,
    unless the work is ``loose``, or the titles agree in part and the author is another: then it may be another work.

    A paper's year must be one of the table's. A book may be cited by the year of any later edition, not by one before
    it was written. The author must be the work's first; another of its authors neither verifies nor contradicts,
    since the work exists, and no more do names in other scripts and names of bodies.

    No distance between the cited year and that of an arXiv number contradicts by itself: preprints are printed years
    later, and old works are posted years after they were printed. But what appears on arXiv has appeared, so that a
    number from more than a year before the first appearance of a work of the table cannot be that work's. A number
    from more than a year after all its years, and an identifier of no known form, are no part of a verified citation.

    Args:
        citation: as ``read_citation`` returns it.
        works: the known works.
        run_date: the day on which the model was asked.
    """
    faults = _identifier_faults(citation, run_date)
    refuted = [fault.reason for fault in faults if fault.refutes]
    if citation.year is not None and citation.year > run_date.year:
        refuted.insert(0, f"The year {citation.year} lies after the day of the run.")
    if refuted:
        return Judgement(state="contradicted", reason=refuted[0])
    work, agreement = _named_work(citation, works)
    if work is None:
        return Judgement(state="unknown", reason="No work in the table has this title.")
    by = _authorship(citation.author, work)
    certain = not work.loose and (agreement == "whole" or by in {"first", "later"})
    faults = [*_disagreements(citation, work, by, certain=certain), *faults]
    gravest = min(faults, key=lambda fault: not fault.refutes, default=None)
    if gravest is None:
        reason = f"Title, author and year are those of “{work.title}”."
        return Judgement(state="verified", reason=reason, work=work.id, year=work.year)
    return Judgement(state="contradicted" if gravest.refutes else "unknown", reason=gravest.reason, work=work.id)


def _identifier_faults(citation: Citation, run_date: datetime.date) -> list[Fault]:
    found = [
        doi_fault(citation.doi) if citation.doi else None,
        isbn_fault(citation.isbn) if citation.isbn else None,
        *(arxiv_fault(number, run_date) for number in _arxiv_numbers(citation)),
    ]
    return [fault for fault in found if fault is not None]


def _arxiv_numbers(citation: Citation) -> list[str]:
    return [number for number in (citation.arxiv, arxiv_of_doi(citation.doi)) if number]


def _named_work(citation: Citation, works: Sequence[Work]) -> tuple[Work | None, Agreement | None]:
    """Return the work that the title names, one whose author agrees before others, and how far the titles agree."""
    ranked: list[tuple[bool, bool, Work, Agreement]] = []
    for work in works:
        found = {same_title(citation.title, title) for title in (work.title, *work.other_titles)} - {None}
        if found:
            whole = "whole" in found
            ranked.append((whole, names_author(citation.author, work.surname), work, "whole" if whole else "part"))
    if not ranked:
        return None, None
    *_, work, agreement = max(ranked, key=lambda row: row[:2])
    return work, agreement


def _authorship(author: str, work: Work) -> Authorship:
    if names_author(first_author(author), work.surname):
        return "first"
    others = (work.surname, *(name.rpartition(" ")[2] for name in work.coauthors))
    if any(names_author(author, surname) for surname in others):
        return "later"
    return "another" if is_comparable_name(author) else "unclear"


def _disagreements(citation: Citation, work: Work, by: Authorship, *, certain: bool) -> Iterator[Fault]:
    """Yield where a citation and a work disagree; ``certain`` is whether it can be meant to be no other work."""
    if by == "another":
        yield Fault(reason=f"The author of “{work.title}” is {work.author}.", refutes=certain)
    elif by == "later":
        yield Fault(reason=f"The first author of “{work.title}” is {work.author}.", refutes=False)
    elif by == "unclear":
        yield Fault(reason="No author is named who could be compared with the work's.", refutes=False)
    years = (work.year, *work.also_years)
    if citation.year is None:
        yield Fault(reason="No year is given.", refutes=False)
    elif not (citation.year in years or (work.kind == "book" and citation.year > work.year)):
        yield Fault(reason=f"“{work.title}” appeared in {work.year}, not in {citation.year}.", refutes=certain)
    for posted in map(arxiv_year, _arxiv_numbers(citation)):
        if posted is not None and posted < min(years) - 1:
            yield Fault(reason=f"The arXiv number is of {posted}, and “{work.title}” is younger.", refutes=certain)
        elif posted is not None and posted > max(years) + 1:
            yield Fault(reason=f"The arXiv number is of {posted}, and “{work.title}” is older.", refutes=False)


def with_lookup(citation: Citation, judgement: Judgement, found: LookedUp) -> Judgement:
    """Return a judgement in the light of what a resolver says of the citation's DOI.

    A DOI that does not exist contradicts, and so does one of another work. A title counts as another only when it
    shares little with the cited one and author and year do not agree either: a record may have the title in the
    original language. A record with the cited title and author, and the cited year or one next to it, verifies, even
    against the table, which may know another work of that title; but not against a number that cannot be. A record
    that has only some of them, or no title, changes nothing.

    Args:
        citation: the citation whose DOI was looked up.
        judgement: what ``judge_citation`` says of it.
        found: what the resolver said.
    """
    if judgement.state == "contradicted" and not judgement.work:
        return judgement
    if not found.exists:
        return Judgement(state="contradicted", reason="There is no such DOI.")
    if not found.title:
        return judgement
    author = names_author(citation.author, found.surname)
    year = citation.year is not None and found.year is not None and abs(citation.year - found.year) <= 1
    if same_title(citation.title, found.title) is None:
        if (author and year) or title_likeness(citation.title, found.title) >= ALIKE:
            return judgement
        return Judgement(state="contradicted", reason="The DOI is that of another work.")
    if judgement.state == "verified" or not year or not (author or not found.surname):
        return judgement
    return Judgement(
        state="verified",
        reason=f"The record of the DOI has this title{', author' if author else ''} and year.",
        work=judgement.work if judgement.state == "unknown" else "",
        year=found.year,
    )
