"""One column of confidences: percent, fractions or logarithms, or read from the replies themselves."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from selfdiag.elicit.confidence import run_scale
from selfdiag.elicit.reading import Reading, read_reply
from selfdiag.runs.columns import fractions
from selfdiag.safety import SelfdiagError, one_line

NOTHING = {"", "nan", "na", "n/a", "null", "none"}
"""What an empty cell may hold."""
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")


def reply_text(value: Any) -> str:
    """Return a reply as text, whatever JSON type its file gives it."""
    # a reply that was decoded already is written out again: reading starts from text
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


class Source(Protocol):
    """The file that a column belongs to; ``unit`` is what its rows are counted in."""

    shown: str
    columns: dict[str, str]
    is_report: bool
    unit: str

    def fault(self, line: int, what: str) -> SelfdiagError:
        """Return an error that names the file and the row."""


class StatedColumn:
    """Confidences as they stand in a file, and the decision whether they are percent or fractions.

    Token probabilities may also be natural logarithms: then none is above 0. A run's report states percent, whatever
    its values are.
    """

    def __init__(self, table: Source, key: str) -> None:
        self._table, self._column = table, table.columns[key]
        self._logarithms = key == "logprob"
        self._of_a_report = table.is_report and self._column == "confidence"
        self._values: list[float] = []
        self._explicit: list[int] = []
        self._fraction_at = self._percent_at = self._logarithm_at = 0

    def add(self, line: int, value: Any) -> None:
        """Note one value: a number, a text, or None for a missing one."""
        number, percent = self._number(line, value)
        if math.isnan(number):
            pass
        elif percent:
            self._explicit.append(len(self._values))
        elif number < 0:
            self._logarithm_at = self._logarithm_at or line
        elif number > 1:
            self._percent_at = self._percent_at or line
        elif 0 < number < 1:
            self._fraction_at = self._fraction_at or line
        self._values.append(number)

    def decided(self) -> tuple[NDArray[np.float64], str]:
        """Return fractions or NaN, and a sentence that says how they were read.

        Raises:
            SelfdiagError: when fractions and percentages are mixed.
        """
        if self._of_a_report:
            return np.array(self._values, dtype=np.float64) / 100, "confidence: percent, as in every report of a run"
        if self._fraction_at and self._percent_at:
            raise SelfdiagError(
                f"{self._table.shown}: column {one_line(self._column, 60)!r} mixes percent and fractions "
                f"({self._table.unit} {self._percent_at} is above 1, {self._table.unit} {self._fraction_at} between 0 "
                "and 1): write all as "
                "0-100 or all as 0-1"
            )
        values = np.array(self._values, dtype=np.float64)
        if self._logarithm_at:
            return self._from_logarithms(values), f"{one_line(self._column, 60)}: read as natural logarithms"
        if not self._percent_at:
            only = "every value carries a percent sign" if len(self._explicit) == int(np.isfinite(values).sum()) else ""
            said = only or "read as fractions (0-1): no value is above 1"
            values[self._explicit] /= 100
            return values, f"{one_line(self._column, 60)}: {said}"
        return values / 100, f"{one_line(self._column, 60)}: read as percent (0-100)"

    def _from_logarithms(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._explicit or np.nanmax(values) > 0:
            raise SelfdiagError(
                f"{self._table.shown}: column {one_line(self._column, 60)!r} mixes logarithms and probabilities (line "
                f"{self._logarithm_at} is below 0): write all as natural logarithms or all as probabilities"
            )
        return np.exp(values)

    def _number(self, line: int, value: Any) -> tuple[float, bool]:
        if value is None:
            return math.nan, False
        percent = False
        if isinstance(value, str):
            text = value.strip()
            if text.lower() in NOTHING:
                return math.nan, False
            percent = text.endswith("%")
            number = float(text.rstrip("% ")) if _NUMBER.fullmatch(text.rstrip("% ")) else math.nan
        else:
            known = isinstance(value, int | float) and not isinstance(value, bool)
            # a whole number may be too long for a float
            number = float(max(-1e9, min(value, 1e9))) if known else math.nan
        least = -math.inf if self._logarithms and not percent else 0
        if not least < number <= 100 and number != 0:
            why = "not a number" if math.isnan(number) else "outside 0-100"
            shown = one_line(value if isinstance(value, str) else json.dumps(value), 40)
            raise self._table.fault(line, f"column {one_line(self._column, 60)!r}: {shown!r} is {why}")
        return number, percent


class RepliesColumn:
    """Confidences read from replies as they came."""

    def __init__(self) -> None:
        self._values: list[int | None] = []
        self._flags: list[tuple[str, ...]] = []

    def add(self, line: int, value: Any, cut: bool = False) -> Reading:  # noqa: ARG002 - no reply is a fault
        """Read one reply; ``cut`` says that a limit ended it."""
        reading = read_reply(reply_text(value), cut)
        self._values.append(reading.confidence)
        self._flags.append(reading.flags)
        return reading

    def decided(self) -> tuple[NDArray[np.float64], str]:
        """Return fractions or NaN, and a sentence that says how they were read."""
        confidences, note = run_scale(self._values, self._flags)
        return fractions(confidences), "; ".join(filter(None, ["confidence read from the replies", note]))
