"""Citations are read from any reply, verified by what is known of a work, and contradicted only by what cannot be."""

from __future__ import annotations

import datetime
import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfdiag.battery.self_assessment import Work, works
from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.citations import (
    ALIKE,
    Citation,
    Judgement,
    LookedUp,
    judge_citation,
    read_citation,
    with_lookup,
)
from selfdiag.elicit.identifiers import (
    arxiv_fault,
    arxiv_of_doi,
    arxiv_year,
    bare_arxiv,
    bare_doi,
    bare_isbn,
    doi_fault,
    is_doi,
    isbn_fault,
)
from selfdiag.elicit.titles import first_author, is_comparable_name, names_author, same_title, title_likeness

TODAY = datetime.date(2026, 6, 15)
WORKS = works()
EPR = "Can Quantum-Mechanical Description of Physical Reality Be Considered Complete?"
UNTITLED = "10.1000/182"
SHIPPED = Path(__file__).resolve().parents[2] / "probes" / "self" / "citations.toml"


def reply(**members: object) -> str:
    return json.dumps(members, ensure_ascii=False)


def judged(title: str, author: str = "", year: int | None = None, **numbers: str) -> Judgement:
    return judge_citation(Citation(title=title, author=author, year=year, **numbers), WORKS, TODAY)


# --- the tasks ---


def tasks() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))["task"]
    return found


def test_there_are_four_tasks_of_every_domain() -> None:
    found = tasks()
    assert [task["id"] for task in found] == [f"citation-{number:02d}" for number in range(1, 17)]
    domains = [task["domain"] for task in found]
    assert domains == [name for name in ("physics", "mathematics", "computing", "economics") for _ in range(4)]
    assert len({task["topic"] for task in found}) == 16


def test_every_task_has_three_wordings_of_its_own() -> None:
    wordings = [question for task in tasks() for question in task["questions"]]
    assert len(wordings) == len(set(wordings)) == 48
    for task in tasks():
        assert set(task) == {"id", "domain", "topic", "questions"}
        assert len(task["questions"]) == 3
    for question in wordings:
        # the contract says what to reply, and no wording may give a work away
        assert not {"JSON", "title", "author", "year", "DOI", "ISBN"} & set(question.replace(",", " ").split())
        assert not any(title in question for work in WORKS for title in (work.title, *work.other_titles))


def test_several_works_of_the_table_answer_every_task() -> None:
    named = [
        line[1:].replace(",", " ").split()
        for line, after in itertools.pairwise(SHIPPED.read_text(encoding="utf-8").splitlines())
        if after == "[[task]]"
    ]
    domains = {work.id: work.domain for work in WORKS}
    for task, ids in zip(tasks(), named, strict=True):
        assert len(ids) >= 2
        assert {domains[one] for one in ids} == {task["domain"]}


# --- reading ---


def test_a_whole_citation_is_read() -> None:
    raw = reply(
        title="The C Programming Language",
        author="Brian W. Kernighan",
        year=1978,
        doi="https://doi.org/10.1000/182.",
        isbn="ISBN-13: 978-0-13-110362-7",
        arxiv="arXiv:1706.03762v7 [cs.CL]",
    )
    assert read_citation(raw) == (
        Citation(
            title="The C Programming Language",
            author="Brian W. Kernighan",
            year=1978,
            doi="10.1000/182",
            isbn="9780131103627",
            arxiv="1706.03762",
        ),
        "",
    )


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        '<think>Perhaps Newton? {{"title": "Opticks"}}</think>{}',
        "Here is one:\n```json\n{}\n```\nIt is well known.",
        "[{}]",
        '{{"citation": {}}}',
        '{{"answer": [{}]}}',
        '{{"title": "<title>", "author": "<author>"}}\n{}',
        '{{"title": "..."}} {}',
        '{{"title": "Opticks", "author": "Newton"}} or rather {}',
    ],
)
def test_the_object_is_found_in_what_stands_around_it(around: str) -> None:
    citation, reason = read_citation(around.format(reply(title="On Growth", author="Ann Ay", year=1950)))
    assert (citation, reason) == (Citation(title="On Growth", author="Ann Ay", year=1950), "")


@pytest.mark.parametrize(
    ("author", "read"),
    [
        (["Brian Kernighan", "Dennis Ritchie"], "Brian Kernighan"),
        ([{"given": "Brian", "family": "Kernighan"}, {"family": "Ritchie"}], "Brian Kernighan"),
        ({"name": "Kernighan"}, "Kernighan"),
        ("  Kernighan,\n Brian ", "Kernighan, Brian"),
        ([], ""),
        ([[], "Kernighan"], "Kernighan"),
        (None, ""),
        (True, ""),
        ("unknown", ""),
    ],
)
def test_the_first_author_is_taken(author: object, read: str) -> None:
    citation, _ = read_citation(reply(title="On Growth", author=author))
    assert citation is not None
    assert citation.author == read


@pytest.mark.parametrize(
    ("year", "read"),
    [
        (1905, 1905),
        ("1905", 1905),
        ("c. 1905 (reprint 1952)", 1905),
        (1905.0, 1905),
        (["1905"], 1905),
        (0, None),
        ("0000", None),
        (19051, None),
        ("300 BC", None),
        (True, None),
        (None, None),
        (-4, None),
    ],
)
def test_the_year_is_four_digits(year: object, read: int | None) -> None:
    citation, _ = read_citation(reply(title="On Growth", year=year))
    assert citation is not None
    assert citation.year == read


@pytest.mark.parametrize(
    "nothing",
    ["", "N/A", "none", "None available", "not applicable", "-", "0", "10.xxxx/xxxxx", "978-?", None, [], False],
)
def test_an_identifier_that_is_not_given_is_empty(nothing: object) -> None:
    citation, _ = read_citation(reply(title="On Growth", doi=nothing, isbn=nothing, arxiv=nothing))
    assert citation == Citation(title="On Growth")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "empty"),
        (" \n\ufeff\u200b", "empty"),
        ("<think>I wonder.</think>", "empty"),
        ("<think>I wonder", "truncated"),
        ('{"title": "On Gro', "truncated"),
        ('{"title": "On Growth", "author": "Ann', "truncated"),
        ("UNANSWERABLE", "abstained"),
        ('{"answer": "UNANSWERABLE"}', "abstained"),
        ('{"title": "UNANSWERABLE"}', "abstained"),
        ('{"title": "unanswerable.", "author": "", "year": 0}', "abstained"),
        ('{"title": "I don\'t know"}', "abstained"),
        ("I don't know.", "abstained"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ('{"title": "I\'m sorry, but I can\'t help with that."}', "refused"),
        ("Principia Mathematica by Newton, 1687", "not a citation"),
        ('{"answer": "Principia"}', "not a citation"),
        ('{"title": null, "author": null}', "not a citation"),
        ('{"title": "<title of the work>"}', "not a citation"),
        ('{"properties": {"title": {"type": "string"}}}', "not a citation"),
        ("[1, 2]", "not a citation"),
    ],
)
def test_a_reply_without_a_citation_has_a_reason(raw: str, reason: str) -> None:
    assert read_citation(raw) == (None, reason)


def test_a_reply_that_a_limit_ended_is_truncated_unless_its_object_is_whole() -> None:
    assert read_citation("Let me think of", cut=True) == (None, "truncated")
    assert read_citation("Let me think of") == (None, "not a citation")
    assert read_citation(reply(title="On Growth"), cut=True) == (Citation(title="On Growth"), "")
    assert read_citation("x" * 1_000_001) == (None, "truncated")


def test_no_title_of_the_table_looks_like_an_abstention() -> None:
    for work in WORKS:
        for title in (work.title, *work.other_titles):
            assert not abstains(title) and not declines(title)
            assert read_citation(reply(title=title)) == (Citation(title=title), "")


# --- identifiers ---


@pytest.mark.parametrize(
    "isbn",
    [
        "978-0-13-110362-7",
        "9780131103627",
        "0-13-110362-8",
        "0 262 03384 4",
        "080442957X",
        "0-8044-2957-x",
        "131103628",
    ],
)
def test_a_right_check_digit_passes(isbn: str) -> None:
    assert isbn_fault(bare_isbn(isbn)) is None


@pytest.mark.parametrize(
    ("isbn", "reason"),
    [
        ("978-0-13-110362-8", "check digit"),
        ("0-13-110362-7", "check digit"),
        ("0804429570", "check digit"),
        ("977-0-13-110362-0", "978"),
        ("97801311036", "ten nor thirteen"),
        ("978013110362X", "ten nor thirteen"),
        ("97801311036271", "ten nor thirteen"),
    ],
)
def test_a_wrong_isbn_refutes(isbn: str, reason: str) -> None:
    fault = isbn_fault(bare_isbn(isbn))
    assert fault is not None and fault.refutes and reason in fault.reason


@pytest.mark.parametrize("isbn", ["first edition", "0028-0836", "9780131103627 0131103628", "978-0-13-1103X2-7"])
def test_what_is_no_isbn_refutes_nothing(isbn: str) -> None:
    fault = isbn_fault(bare_isbn(isbn))
    assert fault is not None and not fault.refutes


def test_one_wrong_digit_or_two_swapped_ones_are_noticed() -> None:
    right = "9780131103627"
    for place, digit in itertools.product(range(3, 13), "0123456789"):
        changed = right[:place] + digit + right[place + 1 :]
        assert (isbn_fault(changed) is None) == (changed == right)
    ten = "0131103628"
    for one, other in itertools.combinations(range(10), 2):
        swapped = list(ten)
        swapped[one], swapped[other] = ten[other], ten[one]
        assert (isbn_fault("".join(swapped)) is None) == (ten[one] == ten[other])


@pytest.mark.parametrize("isbn", ["978-0-13-110362-7 (paperback)", "ISBN: 9780131103627", "9780131103627, 0131103628"])
def test_an_isbn_is_taken_out_of_what_stands_around_it(isbn: str) -> None:
    assert bare_isbn(isbn) == "9780131103627"
    assert bare_isbn("ISBN 1310101010") == "1310101010"


@pytest.mark.parametrize(
    "number",
    [
        *("1706.03762", "0704.0001", "1412.6980", "1501.00001", "2606.00001", "hep-th/9901001", "math.DG/0211159"),
        *("hep-lat/9107001", "q-bio/0703001", "cond-mat.mes-hall/0410550"),
    ],
)
def test_a_possible_arxiv_number_passes(number: str) -> None:
    assert bare_arxiv(f"https://arxiv.org/abs/{number}v2") == bare_arxiv(f"arXiv:{number}") == number
    assert arxiv_fault(number, TODAY) is None


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("1713.04567", "does not exist"),
        ("1700.04567", "does not exist"),
        ("2607.00001", "after the day"),
        ("9912.00001", "after the day"),
        ("0703.0001", "another form"),
        ("0612.0001", "another form"),
        ("hep-th/0704001", "another form"),
        ("hep-th/9106001", "another form"),
        ("hep-th/9913001", "does not exist"),
        ("hep-th/5001001", "after the day"),
        ("1611.4321", "too many or too few"),
        ("1412.00001", "too many or too few"),
        ("1706.00000", "zero"),
        ("hep-th/9901000", "zero"),
    ],
)
def test_an_impossible_arxiv_number_refutes(number: str, reason: str) -> None:
    fault = arxiv_fault(number, TODAY)
    assert fault is not None and fault.refutes and reason in fault.reason


@pytest.mark.parametrize("number", ["170.03762", "1706-03762", "9901001", "cs.CL", "1706.0376212"])
def test_what_is_no_arxiv_number_refutes_nothing(number: str) -> None:
    fault = arxiv_fault(bare_arxiv(number), TODAY)
    assert fault is not None and not fault.refutes
    assert arxiv_year(number) is None


def test_an_arxiv_number_says_its_year() -> None:
    assert [arxiv_year(one) for one in ("1706.03762", "hep-th/9901001", "math/0211159")] == [2017, 1999, 2002]
    assert arxiv_of_doi("10.48550/arXiv.1706.03762") == "1706.03762"
    assert arxiv_of_doi("10.1000/182") == ""


@pytest.mark.parametrize("doi", ["10.1000/182", "10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2", "10.1000.10/a"])
def test_the_form_of_a_doi(doi: str) -> None:
    assert is_doi(doi)
    for before in ("https://doi.org/", "http://dx.doi.org/", "doi:", "DOI: "):
        assert bare_doi(before + doi) == doi


@pytest.mark.parametrize("doi", ["", "10.12/a", "11.1000/182", "10.1000", "10.1000/", "10.1000/..", "10.1000/a b"])
def test_what_is_no_doi_refutes_nothing(doi: str) -> None:
    assert not is_doi(doi)
    fault = doi_fault(doi)
    assert fault is not None and not fault.refutes
    assert not is_doi("10.1000/" + "a" * 300) and not is_doi("10.1000/ä")


# --- titles and authors ---


def titles_of(work: Work) -> tuple[str, ...]:
    return (work.title, *work.other_titles)


def test_no_title_of_the_table_is_that_of_another_work() -> None:
    assert len(WORKS) >= 80
    for one, other in itertools.combinations(WORKS, 2):
        for first, second in itertools.product(titles_of(one), titles_of(other)):
            assert same_title(first, second) is None, (first, second)
            assert same_title(second, first) is None, (second, first)


def test_titles_of_different_works_are_less_alike_than_the_bound() -> None:
    # the two Principia and the paper about one of them share a name, and agree in nothing else
    near = {"principia", "principia-mathematica", "unentscheidbar"}
    for one, other in itertools.combinations(WORKS, 2):
        if not {one.id, other.id} <= near:
            assert title_likeness(one.title, other.title) < 72 < ALIKE


@pytest.mark.parametrize(
    ("first", "second", "agreement"),
    [
        ("A Brief History of Time", "a brief history of time", "whole"),
        ("A Brief History of Time", "Brief History of Time.", "whole"),
        ("A Brief History of Time", "*A Brief History of Time*", "whole"),
        ("A Brief History of Time", "A Brief History of Time: From the Big Bang to Black Holes", "part"),
        ("A Brief History of Time", "A Brief History of Time – From the Big Bang to Black Holes", "part"),
        ("A Brief History of Time", "A Brief History of Time (10th anniversary edition)", "whole"),
        ("A Brief History of Time", "A Briefer History of Time", None),
        ("A Brief History of Time", "A Brief History of Everything", None),
        ("Go To Statement Considered Harmful", "GOTO Statement Considered Harmful", "whole"),
        ("Theory of Games and Economic Behavior", "Theory of Games & Economic Behaviour", "whole"),
        ("On the Einstein Podolsky Rosen Paradox", "On the Einstein–Podolsky–Rosen paradox", "whole"),
        ("Über formal unentscheidbare Sätze I", "Uber formal unentscheidbare Satze I", "whole"),
        ("The C Programming Language", "The C Programming Language, 2nd Edition", "part"),
        ("The C Programming Language", "The C++ Programming Language", None),
        ("The C Programming Language", "The Go Programming Language", None),
        ("PEP 8", "PEP 20", None),
        ("RFC 768", "RFC 793", None),
        ("RFC 2119", "RFC 2119: Key words", "part"),
        ("The TLS Protocol Version 1.3", "The TLS Protocol Version 1.2", None),
        (
            "The Art of Computer Programming",
            "The Art of Computer Programming, Volume 1: Fundamental Algorithms",
            "part",
        ),
        ("The Art of Computer Programming", "The Art of Multiprocessor Programming", None),
        ("Capital: A Critique of Political Economy", "Capital: A Critique of Political Economy, Volume I", "part"),
        ("Capital: A Critique of Political Economy", "Capital: A Critique of Political Theory, Volume I", None),
        ("Attention Is All You Need", "Attention Is Not All You Need", None),
        ("The Tragedy of the Commons", "The Tragedy of the Anticommons", None),
        ("Capital in the Twenty-First Century", "Capitalism in the Twenty-First Century", None),
        ("A Contribution to the Theory of Economic Growth", "A Contribution to the Empirics of Economic Growth", None),
        ("Prospect Theory: An Analysis of Decision under Risk", "Prospect Theory: For Risk and Ambiguity", None),
        ("Prospect Theory: An Analysis of Decision under Risk", "Prospect Theory", "part"),
        ("Principles of Political Economy and Taxation", "Principles of Political Economy", None),
        ("Computers and Intractability", "Computers and Tractability", None),
        ("The", "A", None),
        ("", "", None),
        ("???", "A Brief History of Time", None),
    ],
)
def test_near_titles(first: str, second: str, agreement: str | None) -> None:
    assert same_title(first, second) == same_title(second, first) == agreement


@pytest.mark.parametrize(
    ("authors", "surname", "named"),
    [
        ("Albert Einstein", "Einstein", True),
        ("EINSTEIN, A.", "Einstein", True),
        ("Einstein et al.", "Einstein", True),
        ("Goedel", "Gödel", True),
        ("Kurt Godel", "Gödel", True),
        ("George Polya", "Pólya", True),
        ("A. N. Kolmogoroff", "Kolmogorov", True),
        ("J. Neumann", "von Neumann", True),
        ("John von Neumann", "von Neumann", True),
        ("T. Berners-Lee", "Berners-Lee", True),
        ("Lee", "Berners-Lee", False),
        ("Rand Wilcox", "Wilcoxon", False),
        ("Heather", "He", False),
        ("Kaiming He", "He", True),
        ("Hardin", "Hardy", False),
        ("", "Einstein", False),
        ("Einstein", "", False),
    ],
)
def test_whether_a_surname_is_named(authors: str, surname: str, named: bool) -> None:
    assert names_author(authors, surname) is named


def test_every_author_of_the_table_is_named_by_the_surname() -> None:
    for work in WORKS:
        assert names_author(work.author, work.surname) and is_comparable_name(work.author)


def test_the_first_of_several_authors() -> None:
    for authors in ("A. Ay and B. Be", "A. Ay & B. Be", "A. Ay; B. Be", "A. Ay et al.", "A. Ay, et al.", " A. Ay"):
        assert first_author(authors) == "A. Ay"
    assert first_author("Ay, A. and Be, B.") == "Ay, A."


# --- judging ---


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.id)
def test_every_work_of_the_table_is_verified_as_it_stands_there(work: Work) -> None:
    for title, year in itertools.product(titles_of(work), (work.year, *work.also_years)):
        judgement = judged(title, work.author, year)
        assert (judgement.state, judgement.work, judgement.year) == ("verified", work.id, work.year)


@pytest.mark.parametrize(
    ("title", "author", "year"),
    [
        (EPR, "A. Einstein, B. Podolsky, N. Rosen", 1935),
        ("The C Programming Language, 2nd edition", "Kernighan, Brian W. and Ritchie, Dennis", 1988),
        ("A Brief History of Time: From the Big Bang to Black Holes", "Hawking", 1998),
        ("Design Patterns", "Gamma et al.", 1994),
        ("BERT", "Devlin", 2018),
    ],
)
def test_other_right_forms_are_verified(title: str, author: str, year: int) -> None:
    assert judged(title, author, year).state == "verified"


@pytest.mark.parametrize(
    ("title", "author", "year", "state"),
    [
        # another author or year than the work's
        (EPR, "Niels Bohr", 1935, "contradicted"),
        (EPR, "Albert Einstein", 1936, "contradicted"),
        (EPR, "Albert Einstein", 1934, "contradicted"),
        ("The Road to Serfdom", "Ludwig von Mises", 1944, "contradicted"),
        # a book may be cited by a later edition, a paper not, and neither from before it was written
        ("The Road to Serfdom", "Friedrich Hayek", 2007, "verified"),
        ("The Road to Serfdom", "Friedrich Hayek", 1943, "contradicted"),
        ("The Use of Knowledge in Society", "Friedrich Hayek", 1990, "contradicted"),
        # a standard is dated
        ("PEP 8", "Guido van Rossum", 2013, "contradicted"),
        # loose works
        ("Gravitation", "Thanu Padmanabhan", 2010, "unknown"),
        ("Theory of Superconductivity", "John Bardeen", 1964, "unknown"),
        ("Principia Mathematica", "Isaac Newton", 1687, "unknown"),
        # another of the authors
        ("The C Programming Language", "Dennis Ritchie and Brian Kernighan", 1978, "unknown"),
        ("The C Programming Language", "Dennis Ritchie", 1978, "unknown"),
        ("The C Programming Language", "Dennis Ritchie", 1970, "contradicted"),
        # the titles agree in part only: the author decides whether it is the work
        ("Prospect Theory", "Peter Wakker", 2010, "unknown"),
        ("Prospect Theory", "Daniel Kahneman", 1989, "contradicted"),
        # names that cannot be compared
        ("Observation of Gravitational Waves from a Binary Black Hole Merger", "LIGO Collaboration", 2016, "unknown"),
        ("The Road to Serfdom", "哈耶克", 1944, "unknown"),
        ("The Road to Serfdom", "", 1944, "unknown"),
        ("The Road to Serfdom", "", 1934, "contradicted"),
        ("The Road to Serfdom", "Friedrich Hayek", None, "unknown"),
        # no work of the table
        ("The Structure of Scientific Revolutions", "Thomas Kuhn", 1962, "unknown"),
        ("The Structure of Scientific Revolutions", "Thomas Kuhn", 2026, "unknown"),
        ("The Structure of Scientific Revolutions", "Thomas Kuhn", 2027, "contradicted"),
    ],
)
def test_author_and_year(title: str, author: str, year: int | None, state: str) -> None:
    judgement = judged(title, author, year)
    assert judgement.state == state
    assert judgement.reason.endswith(".") and "\n" not in judgement.reason
    assert (judgement.year is None) == (state != "verified")


def test_a_title_of_two_works_is_that_of_the_author() -> None:
    # "Capital" alone is the head of a title of Marx
    assert judged("Capital", "Karl Marx", 1867).work == "kapital"
    assert judged("Capital", "Thomas Piketty", 2014).state == "unknown"


@pytest.mark.parametrize(
    "numbers",
    [{"isbn": "9780131103628"}, {"arxiv": "1713.04567"}, {"arxiv": "2607.00001"}, {"doi": "10.48550/arXiv.1713.04567"}],
)
def test_an_impossible_number_contradicts_any_citation(numbers: dict[str, str]) -> None:
    for judgement in (judged("The Road to Serfdom", "Hayek", 1944, **numbers), judged("No Such Thing", **numbers)):
        assert (judgement.state, judgement.work, judgement.year) == ("contradicted", "", None)


def test_a_future_year_contradicts() -> None:
    assert judged("The Road to Serfdom", "Hayek", 2026).state == "verified"
    assert judged("The Road to Serfdom", "Hayek", 2027).state == "contradicted"


@pytest.mark.parametrize("numbers", [{"isbn": "first edition"}, {"arxiv": "170.376"}, {"doi": "10.12/a"}])
def test_a_number_of_no_form_only_keeps_from_verifying(numbers: dict[str, str]) -> None:
    judgement = judged("The Road to Serfdom", "Hayek", 1944, **numbers)
    assert (judgement.state, judgement.work) == ("unknown", "serfdom")
    assert judged("The Road to Serfdom", "Mises", 1944, **numbers).state == "contradicted"


def test_right_numbers_do_no_harm() -> None:
    assert judged("The C Programming Language", "Kernighan", 1978, isbn="9780131103627").state == "verified"
    assert judged("Attention Is All You Need", "Vaswani", 2017, arxiv="1706.03762", doi=UNTITLED).state == "verified"
    assert judged("Deep Residual Learning for Image Recognition", "He", 2016, arxiv="1512.03385").state == "verified"


@pytest.mark.parametrize(
    ("arxiv", "state"),
    [
        ("1706.03762", "verified"),
        ("1606.03762", "verified"),
        ("1806.03762", "verified"),
        ("1512.03762", "contradicted"),
        ("1901.03762", "unknown"),
    ],
)
def test_an_arxiv_number_against_the_years_of_a_work(arxiv: str, state: str) -> None:
    assert judged("Attention Is All You Need", "Ashish Vaswani", 2017, arxiv=arxiv).state == state


def test_no_distance_between_year_and_arxiv_number_refutes_an_unknown_work() -> None:
    for year in (1916, 2016, 2026):
        assert judged("No Such Thing", "Ann Ay", year, arxiv="1706.03762").state == "unknown"


# --- a resolver's word ---

UNKNOWN = Judgement(state="unknown", reason="Nothing is known.")
KUHN = Citation(title="The Structure of Scientific Revolutions", author="Thomas Kuhn", year=1962, doi=UNTITLED)


def found(title: str = KUHN.title, year: int | None = 1962, surname: str = "Kuhn") -> LookedUp:
    return LookedUp(exists=True, title=title, year=year, surname=surname)


def test_a_record_that_agrees_verifies() -> None:
    for year in (1961, 1962, 1963):
        judgement = with_lookup(KUHN, UNKNOWN, found(year=year))
        assert (judgement.state, judgement.year) == ("verified", year)
    assert with_lookup(KUHN, UNKNOWN, found(surname="")).state == "verified"
    assert with_lookup(KUHN, UNKNOWN, found(title=f"{KUHN.title}: An Essay")).state == "verified"


def test_a_doi_that_does_not_exist_contradicts() -> None:
    for judgement in (UNKNOWN, Judgement(state="verified", reason="It is known.", work="serfdom", year=1944)):
        changed = with_lookup(KUHN, judgement, LookedUp(exists=False))
        assert (changed.state, changed.reason, changed.year) == ("contradicted", "There is no such DOI.", None)


@pytest.mark.parametrize("year", [1962, 1996])
def test_a_doi_of_another_work_contradicts(year: int) -> None:
    changed = with_lookup(KUHN, UNKNOWN, found("Bagging predictors", year, "Breiman"))
    assert (changed.state, changed.reason) == ("contradicted", "The DOI is that of another work.")


@pytest.mark.parametrize(
    "record",
    [
        LookedUp(exists=True),
        found(year=1964),
        found(year=None),
        found(surname="Lakatos"),
        found(title="Die Struktur wissenschaftlicher Revolutionen"),
        found(title="Structure of Revolutions", surname="Lakatos"),
    ],
)
def test_a_record_that_agrees_in_some_parts_changes_nothing(record: LookedUp) -> None:
    assert with_lookup(KUHN, UNKNOWN, record) == UNKNOWN


def test_a_record_overrules_the_table_but_no_impossible_number() -> None:
    by_table = judged("The Road to Serfdom", "Ann Ay", 1990)
    assert by_table.state == "contradicted"
    cited = Citation(title="The Road to Serfdom", author="Ann Ay", year=1990, doi=UNTITLED)
    changed = with_lookup(cited, by_table, found("The Road to Serfdom", 1990, "Ay"))
    assert (changed.state, changed.work, changed.year) == ("verified", "", 1990)
    by_number = judged("The Road to Serfdom", "Ann Ay", 1990, isbn="1")
    assert with_lookup(cited, by_number, found("The Road to Serfdom", 1990, "Ay")) == by_number


def test_what_the_table_verified_is_not_judged_again() -> None:
    judgement = Judgement(state="verified", reason="The table has it.", work="w", year=1962)
    assert with_lookup(KUHN, judgement, found()) is judgement


def test_what_the_table_verified_keeps_its_year() -> None:
    judgement = judged("The Road to Serfdom", "Hayek", 2007)
    cited = Citation(title="The Road to Serfdom", author="Hayek", year=2007, doi=UNTITLED)
    assert with_lookup(cited, judgement, found("The Road to Serfdom", 2007, "Hayek")) == judgement
    assert judgement.year == 1944


# --- anything at all ---

PIECES = [
    *(
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
        "\\",
        "\n",
        " ",
        "```json",
        "<think>",
        "</think>",
        "\ud800",
        "\u202e",
        "\x1b[",
    ),
    *('"title"', '"author"', '"year"', '"doi"', '"isbn"', '"arxiv"', "1905", "1e999", "-", "null", "NaN", "9" * 5000),
    *("UNANSWERABLE", "The Road to Serfdom", "10.1000/182", "1706.03762", "9780131103627", "X", "٣", "²", "ſ", "İ"),
]
noise = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | noise,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["title", "name", "x"]), inner),
    max_leaves=6,
)
years = st.none() | st.integers(-10_000, 10_000)
patient = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@patient
@given(noise, st.booleans())
def test_any_text_is_read(raw: str, cut: bool) -> None:
    citation, reason = read_citation(raw, cut)
    assert (citation is None) == (reason != "")


@patient
@given(st.fixed_dictionaries(dict.fromkeys(("title", "author", "year", "doi", "isbn", "arxiv"), values)), st.booleans())
def test_any_object_is_read_and_judged(members: dict[str, object], escaped: bool) -> None:
    citation, reason = read_citation(json.dumps(members, ensure_ascii=escaped))
    if citation is None:
        assert reason
        return
    assert citation.title and (citation.year is None or 1 <= citation.year <= 9999)
    for text in (citation.title, citation.author, citation.doi, citation.isbn, citation.arxiv):
        text.encode()
        assert len(text) <= 500
    assert judge_citation(citation, WORKS, TODAY).state in {"verified", "contradicted", "unknown"}


@patient
@given(noise, noise, years, noise, noise, noise, years, noise, st.dates())
def test_any_citation_is_judged(
    title: str,
    author: str,
    year: int | None,
    doi: str,
    isbn: str,
    arxiv: str,
    known: int | None,
    surname: str,
    day: object,
) -> None:
    assert isinstance(day, datetime.date)
    citation = Citation(title=title, author=author, year=year, doi=doi, isbn=isbn, arxiv=arxiv)
    first = judge_citation(citation, WORKS, day)
    last = with_lookup(citation, first, LookedUp(exists=True, title=author, year=known, surname=surname))
    for judgement in (first, last):
        assert judgement.reason.endswith(".")
        assert (judgement.year is not None) == (judgement.state == "verified")


@patient
@given(noise)
def test_bare_forms_are_stable(text: str) -> None:
    for bare in (bare_doi, bare_isbn, bare_arxiv):
        assert isinstance(bare(text), str)
        assert len(bare(text)) <= 4000


def test_long_texts_are_read_and_contradict_nothing_they_do_not_say() -> None:
    for piece in ("a ", "(", "[", "1", "-", "and ", " –", "<", "{", "x", ":", "10."):
        long = piece * 200_000
        read, reason = read_citation(reply(title=long, author=long, doi=long, isbn=long, arxiv=long, year=long))
        assert (read is None) == bool(reason)
        citation = Citation(title=long, author=long, doi=long, isbn=long, arxiv=long)
        assert judge_citation(citation, WORKS, TODAY).state != "verified"
        assert with_lookup(citation, UNKNOWN, found(long, 1962, long)).state in {"verified", "contradicted", "unknown"}


@pytest.mark.parametrize("levels", [0, 1, 2, 3, 4])
def test_a_citation_may_stand_four_objects_deep(levels: int) -> None:
    whole: dict[str, Any] = {"title": "On Growth", "author": "Ann Ay", "year": 1950}
    for _ in range(levels):
        whole = {"within": [whole]}
    found, reason = read_citation(json.dumps(whole))
    assert found is not None and (found.title, reason) == ("On Growth", "")
    if levels == 4:
        assert read_citation(json.dumps({"within": whole})) == (None, "not a citation")
