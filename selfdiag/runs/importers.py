"""Files of graded answers, or of raw replies, from elsewhere: CSV, JSON lines, or the records of a run."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from selfdiag.elicit.confidence import run_scale
from selfdiag.elicit.grading import Outcome
from selfdiag.runs.columns import Answers, Columns, fractions, item_number
from selfdiag.runs.confidence_column import NOTHING, RepliesColumn, StatedColumn, reply_text
from selfdiag.runs.logged import RIGHT, WRONG
from selfdiag.runs.records import AGREEMENT, MEASURED_SECTIONS, POSTHOC
from selfdiag.runs.table_file import KEYS, OF_A_REPORT, TableFile
from selfdiag.safety import SelfdiagError, one_line

_SIMULATED = "simulated: these replies were written by a script, not by a model"
_OTHER = {"abstained", "refused", "unparsed", "truncated", "empty", "overflow", "error"}


@dataclass(frozen=True, kw_only=True)
class RawReply:
    """One reply as it came, with the names that its row gives it (empty where the file has none)."""

    line: int
    raw: str
    item: str = ""
    model: str = ""


class _RecordRow(msgspec.Struct):
    """What an analysis needs of a record; the rest of the line is not even decoded."""

    call_id: str
    item_id: str
    bin: str
    trap: bool
    section: str
    outcome: Outcome | Literal["answered"]
    confidence: int | None = None
    flags: tuple[str, ...] = ()


def read_answers(path: Path, mapping: Mapping[str, str]) -> Answers:
    """Return the graded answers of a file.

    Confidences are read as percent (0-100) or as fractions (0-1) for the whole file: as fractions when none is
    above 1. A value with a percent sign speaks for itself. An empty confidence is missing; an empty label means
    that the answer was not graded, and counts as ``unparsed``. Records of a run are known by their fields, and
    read as a run is, when there is no mapping; a run's report as CSV is known by its columns: of it the probes and
    traps are read, and their confidence is percent.

    Where ``raw`` is mapped and no column holds the confidence, it is read from the replies.

    Args:
        path: a CSV file with a header, or a file with one JSON object a line.
        mapping: which column stands for which of ``table_file.KEYS``; a column of that very name needs none.

    Raises:
        SelfdiagError: naming file, line, column and value, when anything cannot be read.
    """
    table = TableFile(path, mapping)
    if table.is_records and not mapping:
        return _read_records(table)
    if "correct" not in table.columns:
        raise table.missing("correct")
    if "confidence" not in table.columns and "raw" not in mapping:
        raise table.missing("confidence")
    return _Reader(table).read()


def read_raw(path: Path, mapping: Mapping[str, str]) -> Iterator[RawReply]:
    """Yield the raw replies of a file; the arguments and errors are those of ``read_answers``."""
    table = TableFile(path, mapping)
    if "raw" not in table.columns:
        raise table.missing("raw")
    keys = [key for key in ("raw", "item", "model") if key in table.columns]
    for line, values in table.rows(keys):
        row = dict(zip(keys, values, strict=True))
        yield RawReply(
            line=line, raw=reply_text(row["raw"]), item=_name(row.get("item")), model=_name(row.get("model"))
        )


class _Reader:
    """Reads a table of graded answers row by row into columns."""

    def __init__(self, table: TableFile) -> None:
        self._table = table
        self._ungraded = 0
        self._labels: dict[Any, str] = {}
        self._flags: dict[str, bool] = {}

    def read(self) -> Answers:
        """Return the whole file."""
        table = self._table
        from_replies = "confidence" not in table.columns
        keys = [key for key in (*KEYS, *OF_A_REPORT) if key in table.columns and (key != "raw" or from_replies)]
        place = {key: index for index, key in enumerate(keys)}
        stated = RepliesColumn() if from_replies else StatedColumn(table, "confidence")
        token = StatedColumn(table, "logprob") if "logprob" in place else None
        stands_in = place["raw" if from_replies else "confidence"]
        outcome: list[str] = []
        items = array("q")
        bins: list[str] = []
        models: list[str] = []
        traps = bytearray()
        own_words = bytearray()
        simulated = False
        names: dict[Any, str] = {}
        for line, values in table.rows(keys):
            if table.is_report:
                if values[place["section"]] not in MEASURED_SECTIONS:
                    continue
                own_words.append("flags" in place and "free_text" in values[place["flags"]].split())
                simulated = simulated or ("simulated" in place and values[place["simulated"]] == "true")
            stated.add(line, values[stands_in])
            outcome.append(self._outcome(line, values[place["correct"]]))
            bin_name = self._named(values, place, "bin", names)
            bins.append(bin_name)
            if "item" in place:
                items.append(item_number(bin_name, self._item(line, values[place["item"]])))
            if "model" in place:
                models.append(self._named(values, place, "model", names))
            traps.append(self._flag(line, values[place["trap"]]) if "trap" in place else 0)
            if token is not None:
                token.add(line, values[place["logprob"]])
        if table.is_report and not outcome:
            raise SelfdiagError(f"{table.shown} has no reply to a probe or a trap")
        confidence, note = stated.decided()
        notes = [_SIMULATED, note] if simulated else [note]
        if self._ungraded:
            notes.append(f"{self._ungraded} rows have no label and count as unparsed")
        logprob = None
        if token is not None:
            logprob, note = token.decided()
            notes.append(note)
        columns = Columns(
            item=np.frombuffer(items, dtype=np.int64) if items else self._rows_as_items(len(outcome)),
            bin=tuple(bins),
            trap=np.frombuffer(bytes(traps), dtype=np.bool_),
            outcome=tuple(outcome),
            confidence=confidence,
            free_text=np.frombuffer(bytes(own_words or len(outcome)), dtype=np.bool_),
        )
        return Answers(
            columns=columns, model=tuple(models) if "model" in place else None, logprob=logprob, notes=tuple(notes)
        )

    def _rows_as_items(self, count: int) -> NDArray[np.int64]:
        """Return a number of its own for every row, another one than those of any other file."""
        first = item_number("", str(self._table.path.resolve())) >> 1
        return first + np.arange(count, dtype=np.int64)

    def _outcome(self, line: int, value: Any) -> str:
        known = self._labels.get(value) if isinstance(value, str | bool | int | float | None) else None
        if known is None:
            known = self._labels[value] = self._label(line, value)
        if known == "unlabelled":
            self._ungraded += 1
            return "unparsed"
        return known

    def _label(self, line: int, value: Any) -> str:
        text = _name(value).strip().lower()
        if text in RIGHT:
            return "correct"
        if text in WRONG:
            return "incorrect"
        if text in NOTHING:
            return "unlabelled"
        if text in _OTHER:
            return text
        column = one_line(self._table.columns["correct"], 60)
        what = f"column {column!r}: {one_line(text, 40)!r} is neither right (1, true, yes) nor wrong (0, false, no)"
        raise self._table.fault(line, what)

    def _item(self, line: int, value: Any) -> str:
        name = _name(value)
        if not name.strip():
            column = one_line(self._table.columns["item"], 60)
            raise self._table.fault(line, f"column {column!r} is empty, so its row cannot be told from others")
        return name

    def _flag(self, line: int, value: Any) -> bool:
        text = _name(value).strip().lower()
        if text not in self._flags:
            if text not in RIGHT | WRONG | NOTHING:
                column = one_line(self._table.columns["trap"], 60)
                raise self._table.fault(line, f"column {column!r}: {one_line(text, 40)!r} is neither yes nor no")
            self._flags[text] = text in RIGHT
        return self._flags[text]

    @staticmethod
    def _named(values: tuple[Any, ...], place: Mapping[str, int], key: str, names: dict[Any, str]) -> str:
        """Return the text under a key, one and the same object for equal texts: a file repeats few names often."""
        if key not in place:
            return ""
        text = _name(values[place[key]])
        return names.setdefault(text, text)


def _name(value: Any) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else json.dumps(value)


def _read_records(table: TableFile) -> Answers:
    """Return the measured records of a run's file: of several with one call id the last counts."""
    decoder = msgspec.json.Decoder(_RecordRow)
    outcome: list[str] = []
    stated: list[int | None] = []
    marks: list[tuple[str, ...]] = []
    bins: list[str] = []
    items, calls = array("q"), array("q")
    traps = bytearray()
    shared: dict[Any, Any] = {}
    torn, others = 0, False
    for number, line in table.lines():
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if not line.endswith(b"\n"):
                torn = number
                continue
            raise table.fault(number, f"not a record ({one_line(str(error), 80)})") from None
        if row.section not in MEASURED_SECTIONS:
            others = others or row.section in {POSTHOC, AGREEMENT}
            continue
        if row.confidence is not None and not 0 <= row.confidence <= 100:
            raise table.fault(number, f"column 'confidence': '{row.confidence}' is outside 0-100")
        outcome.append(shared.setdefault(row.outcome, row.outcome))
        stated.append(row.confidence)
        marks.append(shared.setdefault(row.flags, row.flags))
        bins.append(shared.setdefault(row.bin, row.bin))
        items.append(item_number(row.bin, row.item_id))
        calls.append(item_number("", row.call_id))
        traps.append(row.trap)
    if not outcome:
        raise SelfdiagError(f"{table.shown} has no record of a probe or a trap")
    confidences, note = run_scale(stated, marks)
    columns = Columns(
        item=np.frombuffer(items, dtype=np.int64),
        bin=tuple(bins),
        trap=np.frombuffer(bytes(traps), dtype=np.bool_),
        outcome=tuple(outcome),
        confidence=fractions(confidences),
        free_text=np.array(["free_text" in flags for flags in marks], dtype=np.bool_),
    )
    # the first place of a call id in the reversed file is its last record
    _, last = np.unique(np.frombuffer(calls, dtype=np.int64)[::-1], return_index=True)
    kept = np.sort(len(calls) - 1 - last)
    notes = [note] if note else []
    if torn:
        notes.append(f"line {torn} is torn and was left out")
    if others:
        notes.append("the stated confidence; name the run's folder to have its other sources of confidence")
    return Answers(columns=columns if kept.size == len(calls) else columns.rows(kept), notes=tuple(notes))
