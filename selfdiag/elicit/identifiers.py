"""Identifiers of publications: what can be read from them, and which of them nothing can bear."""

from __future__ import annotations

import datetime
import re
import unicodedata

import msgspec

MAX_IDENTIFIER = 200
"""A longer text is no identifier."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with an identifier.

    ``refutes`` is True when no publication can bear it, False when it merely has none of the forms that are known.
    """

    reason: str
    refutes: bool


class _ArxivNumber(msgspec.Struct, frozen=True):
    """The parts of an arXiv number; ``old`` is True for the scheme with an archive before the slash."""

    year: int
    month: int
    serial: str
    old: bool


_ISBN_LABEL = re.compile(r"(?:urn:)?isbn(?:[- ]?1[03](?=[:\s]))?[\s:=#]*", re.IGNORECASE)
_NOT_IN_ISBN = re.compile(r"[\s.\u00ad\u2010-\u2015\u2212-]+")
_DOI_LABEL = re.compile(r"(?:https?://)?(?:(?:dx\.|www\.)?doi\.org/|doi\s*[:=]\s*)", re.IGNORECASE)
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]{1,9}){0,4}/(?=[!-~]*[0-9A-Za-z])[!-~]+")
_ARXIV_LABEL = re.compile(r"(?:https?://)?(?:www\.)?(?:arxiv\.org/(?:abs|pdf)/)?(?:arxiv\s*[:=]\s*)?", re.IGNORECASE)
_ARXIV_TAIL = re.compile(r"(?:v[0-9]{1,3})?(?:\.pdf)?(?:\s*\[[\w.-]{1,20}\])?", re.IGNORECASE)
_NEW_ARXIV = re.compile(r"([0-9]{2})([0-9]{2})\.([0-9]{4,5})")
_OLD_ARXIV = re.compile(r"[A-Za-z]{1,10}(?:-[A-Za-z]{2,4})?(?:\.[A-Za-z-]{2,12})?/([0-9]{2})([0-9]{2})([0-9]{3})")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.", re.IGNORECASE)

FIRST_OLD_ARXIV = (1991, 7)
FIRST_NEW_ARXIV = (2007, 4)
FIRST_LONG_ARXIV = (2015, 1)
"""Months in which the schemes of arXiv numbers begin; from the last one on, five digits follow the point."""


def bare_doi(text: str) -> str:
    """Return a DOI without the address of a resolver or a label before it and without a full stop after it."""
    plain = _plain(text)
    label = _DOI_LABEL.match(plain)
    return plain[label.end() if label else 0 :].rstrip(".,;")


def bare_isbn(text: str) -> str:
    """Return an ISBN without a label before it and without hyphens; of several the first."""
    plain = _plain(text)
    label = _ISBN_LABEL.match(plain)
    first = re.split(r"[,;/(]", plain[label.end() if label else 0 :], maxsplit=1)[0]
    return _NOT_IN_ISBN.sub("", first).upper()


def bare_arxiv(text: str) -> str:
    """Return an arXiv number without an address or a label before it and without version or category after it."""
    plain = _plain(text)
    label = _ARXIV_LABEL.match(plain)
    rest = plain[label.end() if label else 0 :]
    for form in (_NEW_ARXIV, _OLD_ARXIV):
        number = form.match(rest)
        if number and _ARXIV_TAIL.fullmatch(rest, number.end()):
            return number[0]
    return rest


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text[:MAX_IDENTIFIER]).strip()


def is_doi(text: str) -> bool:
    """Return whether a text has the form of a DOI: ``10.``, four digits or more, a slash and a printable suffix."""
    return len(text) <= MAX_IDENTIFIER and _DOI.fullmatch(text) is not None


def doi_fault(doi: str) -> Fault | None:
    """Return what is wrong with the form of a DOI, or None.

    No form refutes: a DOI has no check digit, and a text of another form is none at all. Only a resolver can say
    that a DOI does not exist.

    Args:
        doi: as ``bare_doi`` returns it.
    """
    return None if is_doi(doi) else Fault(reason="The DOI does not have the form of one.", refutes=False)


def isbn_fault(isbn: str) -> Fault | None:
    """Return what is wrong with an ISBN of ten or thirteen digits, or None.

    The weighted sum of the digits must be divisible by 11 (ISBN-10, weights 10 to 1, X is 10) or by 10 (ISBN-13,
    weights 1 and 3 in turn), as ISO 2108 has it. The nine digits of the older SBN count as an ISBN-10 that begins
    with 0. Digits of another number, a wrong sum and a prefix other than 978 and 979 refute. Words, numbers with
    wildcards, the eight digits of an ISSN and so many digits that they are several numbers do not.

    Args:
        isbn: as ``bare_isbn`` returns it.
    """
    if not re.fullmatch(r"[0-9]{1,17}X?", isbn) or len(isbn) == 8:
        return Fault(reason="The ISBN does not have the form of one.", refutes=False)
    digits = [10 if mark == "X" else int(mark) for mark in isbn]
    if len(digits) == 9:
        digits = [0, *digits]
    if len(digits) == 10:
        weights = list(range(10, 0, -1))
        modulus = 11
    elif len(digits) == 13 and "X" not in isbn:
        if isbn[:3] not in {"978", "979"}:
            return Fault(reason="The ISBN begins with neither 978 nor 979.", refutes=True)
        weights = [1, 3] * 6 + [1]
        modulus = 10
    else:
        return Fault(reason="The ISBN has neither ten nor thirteen digits.", refutes=True)
    if sum(weight * digit for weight, digit in zip(weights, digits, strict=True)) % modulus:
        return Fault(reason="The check digit of the ISBN is wrong.", refutes=True)
    return None


def arxiv_of_doi(doi: str) -> str:
    """Return the arXiv number inside a DOI that arXiv has given, or an empty text."""
    prefix = _ARXIV_DOI.match(doi)
    return bare_arxiv(doi[prefix.end() :]) if prefix else ""


def _read_arxiv(number: str) -> _ArxivNumber | None:
    new = _NEW_ARXIV.fullmatch(number)
    if new:
        return _ArxivNumber(2000 + int(new[1]), int(new[2]), new[3], old=False)
    old = _OLD_ARXIV.fullmatch(number)
    if old:
        return _ArxivNumber((1900 if int(old[1]) >= 91 else 2000) + int(old[1]), int(old[2]), old[3], old=True)
    return None


def arxiv_year(number: str) -> int | None:
    """Return the year that an arXiv number begins with, or None for a text of another form."""
    read = _read_arxiv(number)
    return read.year if read else None


def arxiv_fault(number: str, run_date: datetime.date) -> Fault | None:
    """Return what is wrong with an arXiv number by itself, or None.

    Numbers say in which month a preprint was posted: with an archive and a slash from July 1991 to March 2007
    (``hep-th/9901001``), with a point since April 2007, and then with four digits after it until December 2014
    and five since. A month that does not exist, one outside its scheme or after ``run_date``, another number of digits
    and the serial number zero refute.

    Args:
        number: as ``bare_arxiv`` returns it.
        run_date: the day on which the model was asked.
    """
    read = _read_arxiv(number)
    if read is None:
        return Fault(reason="The arXiv number does not have the form of one.", refutes=False)
    month = (read.year, read.month)
    if not 1 <= read.month <= 12:
        return Fault(reason="The month in the arXiv number does not exist.", refutes=True)
    if month > (run_date.year, run_date.month):
        return Fault(reason="The month in the arXiv number lies after the day of the run.", refutes=True)
    first, end = (FIRST_OLD_ARXIV, FIRST_NEW_ARXIV) if read.old else (FIRST_NEW_ARXIV, None)
    if month < first or (end is not None and month >= end):
        return Fault(reason="In the month of the arXiv number, numbers had another form.", refutes=True)
    if not read.old and len(read.serial) != (5 if month >= FIRST_LONG_ARXIV else 4):
        return Fault(reason="The arXiv number has a digit too many or too few for its month.", refutes=True)
    if not int(read.serial):
        return Fault(reason="The arXiv number counts from zero, and the first of a month is one.", refutes=True)
    return None
