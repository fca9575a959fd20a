"""Results of promptfoo: one JSON document, or one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from selfdiag.runs.columns import Answers
from selfdiag.runs.confidence_column import reply_text
from selfdiag.runs.json_document import read_document
from selfdiag.runs.log_kind import Kind
from selfdiag.runs.logged import LogFile, LoggedAnswer, LogReader, verdict
from selfdiag.safety import SelfdiagError, nearest, one_line

NEWEST = 3
"""The newest version of the results' format that is known."""
_ERROR = 2
"""The reason of a failure that is an error of the provider, not of the answer."""


class _Result(msgspec.Struct):
    """What is read of one answer; prompts and test cases, most of the file, are passed over."""

    success: Any = None
    failureReason: Any = None  # noqa: N815 - the file's own name
    error: Any = None
    response: Any = None
    provider: Any = None
    vars: Any = None
    metadata: Any = None
    namedScores: Any = None  # noqa: N815
    testIdx: Any = None  # noqa: N815
    promptIdx: Any = None  # noqa: N815


class _Results(msgspec.Struct):
    results: list[_Result]
    version: int = NEWEST


class _Document(msgspec.Struct):
    results: _Results


def read_promptfoo(path: Path, mapping: Mapping[str, str], kind: Kind) -> Answers:
    """Return the graded answers of a promptfoo run; each is right when its test passed.

    A document is read as a whole; a file with one result a line is streamed and may have any size.

    Args:
        path: of the results.
        mapping: what ``--map`` says; ``correct`` names one of the named scores in place of the whole test.
        kind: ``promptfoo json`` or ``promptfoo lines``.

    Raises:
        SelfdiagError: when nothing can be read, or a name is not there.
    """
    log = LogFile(path, mapping, "line" if kind == "promptfoo lines" else "result")
    if kind == "promptfoo json":
        try:
            document = read_document(path, _Document)
        except ValueError as error:
            raise log.damaged(f"promptfoo results that are cut off or damaged ({one_line(str(error), 80)})") from None
        if document.results.version > NEWEST:
            version = document.results.version
            raise log.damaged(
                f"written by a newer promptfoo (results version {version}; this selfdiag knows up to {NEWEST})"
            )
        rows: Iterable[tuple[int, _Result]] = enumerate(document.results.results, 1)
    else:
        rows = ((line, msgspec.convert(members, _Result)) for line, members in log.objects())
    score = _Score(log)
    reader = LogReader(log)
    reader.add(_answers(rows, score))
    return reader.answers(score.notes(), log.torn)


def _answers(rows: Iterable[tuple[int, _Result]], score: _Score) -> Iterator[LoggedAnswer]:
    for place, row in rows:
        response = _mapping(row.response)
        output = response.get("output")
        outcome, why = score.outcome(row)
        named = _mapping(row.vars)
        yield LoggedAnswer(
            place=place,
            item=reply_text(dict(sorted(named.items()))) if named else str(row.testIdx),
            outcome=outcome,
            why=why,
            reply=None if output is None else reply_text(output),
            cut=response.get("finishReason") == "length",
            model=_model(row.provider),
            fields={
                "promptIdx": row.promptIdx,
                "testIdx": row.testIdx,
                **_mapping(row.namedScores),
                **_mapping(row.metadata),
                **named,
            },
        )


def _model(provider: Any) -> str:
    if isinstance(provider, str):
        return provider
    found = _mapping(provider)
    return str(found.get("label") or found.get("id") or "")


class _Score:
    """What says right or wrong: whether the test passed, or one of the named scores."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._name = log.columns.get("correct", "success")
        self._names: dict[str, None] = {"success": None}

    def outcome(self, row: _Result) -> tuple[str, str]:
        """Return what came of one test, and why it came to nothing."""
        self._names |= dict.fromkeys(_mapping(row.namedScores))
        output = _mapping(row.response).get("output")
        if row.failureReason == _ERROR or (row.error and output is None):
            return "error", str(row.error or "")
        return verdict(row.success if self._name == "success" else _mapping(row.namedScores).get(self._name))

    def notes(self) -> list[str]:
        """Return how the results were read."""
        names = list(self._names)
        if self._name not in names:
            raise SelfdiagError(
                f"{self._log.shown}: no score {one_line(self._name, 60)!r} (there are: "
                f"{', '.join(one_line(name, 40) for name in names)}){nearest(self._name, names)}"
            )
        by = "a passed test is right" if self._name == "success" else f"right by {one_line(self._name, 40)}"
        others = ", ".join(one_line(name, 40) for name in names if name != self._name)
        return [f"promptfoo results: {by}" + (f" (--map correct=NAME takes another: {others})" if others else "")]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
