"""Sample logs of lm-evaluation-harness: one JSON object a line, with the run's scores in a file beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from selfdiag.runs.columns import Answers
from selfdiag.runs.json_document import read_document
from selfdiag.runs.logged import LogFile, LoggedAnswer, LogReader, verdict
from selfdiag.safety import SelfdiagError, nearest, one_line

USUAL_METRICS = ("exact_match", "acc")
"""Metrics that say right or wrong; the first one that an answer has counts unless another is named."""
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")


class _Scores(msgspec.Struct):
    """What is read of the file with the scores."""

    model_name: str | None = None
    results: dict[str, dict[str, Any]] = {}


def read_lm_eval(path: Path, mapping: Mapping[str, str]) -> Answers:
    """Return the graded answers of a sample log; each is right or wrong as its metric has it.

    A task with several filters has every answer once for each of them: one filter is read.

    Args:
        path: of the ``samples_*.jsonl``.
        mapping: what ``--map`` says; ``correct`` names a metric, a filter, or both as ``METRIC/FILTER``.

    Raises:
        SelfdiagError: when nothing can be read, or a name is not there.
    """
    log = LogFile(path, mapping)
    found = _NAME.fullmatch(path.name)
    scores = _scores_beside(path, found["date"] if found else None)
    task = found["task"] if found else ""
    choice = _Choice(log)
    reader = LogReader(log)
    reader.add(_answers(log, choice, scores.model_name or "", task))
    return reader.answers(choice.notes(task, scores.results.get(task, {})), log.torn)


def _answers(log: LogFile, choice: _Choice, model: str, task: str) -> Iterator[LoggedAnswer]:
    for line, row in log.objects():
        if not choice.takes(row):
            continue
        if row.get("doc_hash") is None and row.get("doc_id") is None:
            raise log.fault(line, "a row of an lm-evaluation-harness log without doc_id, so its question is not known")
        outcome, why = choice.outcome(row)
        doc = row.get("doc")
        yield LoggedAnswer(
            place=line,
            item=f"{task}\x1f{row.get('doc_hash') or row.get('doc_id')}",
            outcome=outcome,
            why=why,
            reply=_reply(row.get("resps", row.get("filtered_resps"))),
            model=model,
            bin=task,
            fields={**row, **doc} if isinstance(doc, dict) else row,
        )


def _reply(replies: Any) -> str | None:
    """Return the first reply; for answers that were chosen by their likelihood there is none in words."""
    while isinstance(replies, list) and replies:
        if len(replies) > 1 and all(isinstance(part, list) for part in replies):
            return None
        replies = replies[0]
    return replies if isinstance(replies, str) else None


class _Choice:
    """The metric and the filter whose word counts: those that are named, else the first in the log."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._named = log.columns.get("correct", "")
        self._metric = ""
        self._filter: str | None = None
        self._metrics: dict[str, None] = {}
        self._filters: dict[str, None] = {}

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row is of the filter that is read."""
        own = str(row.get("filter", ""))
        self._filters[own] = None
        self._metrics |= dict.fromkeys(_metrics(row))
        if self._filter is None:
            metric, _, name = self._named.rpartition("/")
            if metric or name not in self._metrics:
                self._metric, self._filter = metric, name or own
            else:
                self._metric, self._filter = name, own
        return own == self._filter

    def outcome(self, row: Mapping[str, Any]) -> tuple[str, str]:
        """Return what a row's metric says."""
        if not self._metric:
            names = _metrics(row)
            self._metric = next((name for name in USUAL_METRICS if name in names), next(iter(names), ""))
        return verdict(row.get(self._metric)) if self._metric else ("unparsed", "no metric")

    def notes(self, task: str, scores: Mapping[str, Any]) -> list[str]:
        """Return how the log was read, and the figure that the tool itself printed."""
        if self._filter not in self._filters or (self._metric and self._metric not in self._metrics):
            names = [*self._metrics, *filter(None, self._filters)]
            raise SelfdiagError(
                f"{self._log.shown}: no metric or filter {one_line(self._named, 60)!r} (there are: "
                f"{', '.join(one_line(name, 40) for name in names)}){nearest(self._named, names)}"
            )
        said = f"lm-evaluation-harness log{task and f' of {one_line(task, 60)}'}, right and wrong by {self._metric}"
        if self._filter:
            said += f" after its filter {one_line(self._filter, 40)}"
        others = [name for name in (*self._metrics, *self._filters) if name not in {self._metric, self._filter}]
        if others:
            said += f" (--map correct=NAME takes another: {', '.join(one_line(name, 40) for name in others)})"
        own = scores.get(f"{self._metric},{self._filter}")
        if isinstance(own, int | float):
            said += f"; its own figure there is {own:.4f}"
        return [said]


def _metrics(row: Mapping[str, Any]) -> list[str]:
    """Return the names of a row's metrics, which older versions do not list."""
    listed = row.get("metrics")
    if isinstance(listed, list):
        return [str(name) for name in listed]
    return [name for name in USUAL_METRICS if name in row]


def _scores_beside(path: Path, date: str | None) -> _Scores:
    """Return the scores of the same run, from the file that lies beside the log; none without it."""
    beside = sorted(path.parent.glob("*results_*.json"))
    same = [other for other in beside if date is not None and date in other.name]
    for other in same or (beside if len(beside) == 1 and date is None else []):
        try:
            return read_document(other, _Scores)
        except ValueError:
            break
    return _Scores()
