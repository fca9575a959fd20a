"""Answers in the log of another tool: what a log tells of each, and how they become columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from selfdiag.elicit.abstention import abstains
from selfdiag.runs.columns import Answers, Columns, item_number
from selfdiag.runs.confidence_column import RepliesColumn, StatedColumn, reply_text
from selfdiag.runs.json_document import decode
from selfdiag.safety import SelfdiagError, literal, nearest, one_line

RIGHT = {"1", "1.0", "true", "yes", "right", "correct"}
"""Words for a right answer, in lower case."""
WRONG = {"0", "0.0", "-0.0", "false", "no", "wrong", "incorrect"}
"""Words for a wrong one."""
EXAMPLES = 3
"""So many of the answers that could not be used are shown."""
_FIELDS_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAnswer:
    """One answer of a log, as the tool that wrote it saw it.

    ``place`` is its line, or its number in the log. ``outcome`` follows from the tool's own score; where that says
    neither right nor wrong it is ``unparsed``, and ``why`` says what stands there; of an ``error`` it says which.
    ``reply`` is None where the model said nothing, ``cut`` whether a limit ended it. ``fields`` are what ``--map``
    may name.
    """

    place: int
    item: str
    outcome: str
    why: str = ""
    reply: str | None = None
    cut: bool = False
    model: str = ""
    bin: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


class LogFile:
    """A log of another tool, as far as faults and named fields go.

    Args:
        path: of the log.
        mapping: which field of an answer stands for which of ``table_file.KEYS``; ``correct`` names a score.
        unit: what its answers are counted in, for messages.
    """

    is_report = False

    def __init__(self, path: Path, mapping: Mapping[str, str], unit: str = "line") -> None:
        self.path = path
        self.shown = one_line(str(path), 120)
        self.columns = dict(mapping)
        self.unit = unit
        self.torn = ""

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and members of every line; a last line that is torn is left out, and noted in ``torn``.

        Raises:
            SelfdiagError: when another line is no JSON object.
        """
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line.isspace():
                        continue
                    try:
                        members = decode(line, dict[str, Any])
                    except ValueError as error:
                        if not line.endswith(b"\n"):
                            self.torn = f"line {number} is torn and was left out"
                            return
                        raise self.fault(number, f"not a JSON object ({one_line(str(error), 80)})") from None
                    yield number, members
        except OSError as error:
            raise SelfdiagError(f"{self.shown} cannot be read ({error.strerror})") from None

    def fault(self, line: int, what: str) -> SelfdiagError:
        """Return an error that names the log and the answer."""
        return SelfdiagError(f"{self.shown} {self.unit} {line}: {what}")

    def damaged(self, what: str) -> SelfdiagError:
        """Return the error that nothing of this log can be used."""
        return SelfdiagError(f"{self.shown}: {what}; nothing was read")


class Examples:
    """Answers of one kind: how many, and the first few with their place."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._shown: list[str] = []
        self.count = 0

    def add(self, place: int, text: str) -> None:
        """Count one answer."""
        self.count += 1
        if len(self._shown) < EXAMPLES:
            self._shown.append(f"{self._log.unit} {place}: {one_line(literal(text), 60)}")

    def sentence(self, total: int, what: str) -> str:
        """Return what is to be said of them, empty when there are none."""
        if not self.count:
            return ""
        return f"{self.count} of {total} answers {what}, for example {'; '.join(self._shown)}"


def verdict(value: Any) -> tuple[str, str]:
    """Return the outcome that a score says, and why it says none: ``unparsed`` then, never wrong."""
    if isinstance(value, str | bool | int | float):
        text = str(value).strip().lower()
        if text in RIGHT:
            return "correct", ""
        if text in WRONG:
            return "incorrect", ""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "unparsed", "no score"
    return "unparsed", f"score {one_line(reply_text(value), 40)} is neither right nor wrong"


def named(fields: Mapping[str, Any], name: str) -> Any:
    """Return the field of that name, or the one that dots lead to; None where there is none."""
    if name in fields:
        return fields[name]
    value: Any = fields
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


class LogReader:
    """Turns the answers of a log into columns, and counts what could not be used.

    Where ``--map`` names no field for the confidence, it is read from the replies.
    """

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._columns = log.columns
        self._stated: StatedColumn | None = StatedColumn(log, "confidence") if "confidence" in log.columns else None
        self._said = RepliesColumn()
        self._token = StatedColumn(log, "logprob") if "logprob" in log.columns else None
        self._outcome: list[str] = []
        self._items = array("q")
        self._bins: list[str] = []
        self._models: list[str] = []
        self._traps = bytearray()
        self._texts: dict[str, str] = {}
        self._unjudged, self._failed, self._silent = Examples(log), Examples(log), Examples(log)
        self._abstaining = 0
        self._found: set[str] = set()
        self._fields: dict[str, None] = {}

    def add(self, answers: Iterable[LoggedAnswer]) -> None:
        """Read answers, each once."""
        for answer in answers:
            self._add(answer)

    def answers(self, notes: Iterable[str] = (), missing: str = "") -> Answers:
        """Return everything that was read.

        Args:
            notes: what is to be said of the log first.
            missing: what should be in it and is not.

        Raises:
            SelfdiagError: when there is no answer, none states a confidence, or a named field is in none.
        """
        total = len(self._outcome)
        if not total:
            what = f": {missing}" if missing else ""
            raise SelfdiagError(f"{self._log.shown} holds no answer{what}", exit_code=4 if missing else 2)
        self._check_names()
        confidence, how = (self._stated or self._said).decided()
        silent = self._silent.sentence(total, "state no confidence that could be read")
        if not np.isfinite(confidence).any():
            raise SelfdiagError(
                f"{self._log.shown}: none of its {total} answers states a confidence that could be read"
                f"{silent.partition(',')[1]}{silent.partition(',')[2]}: name a field that holds it with "
                f"--map confidence=FIELD{self._there()}"
            )
        said = [
            *notes,
            how,
            self._unjudged.sentence(total, "have no verdict of right or wrong and count as unparsed"),
            self._failed.sentence(total, "ended in an error"),
            silent,
        ]
        if self._abstaining:
            said.append(
                f"abstentions that the log scores as wrong, and that count so here: {self._abstaining} of {total}"
            )
        logprob = None
        if self._token is not None:
            logprob, how = self._token.decided()
            said.append(how)
        columns = Columns(
            item=np.frombuffer(self._items, dtype=np.int64),
            bin=tuple(self._bins),
            trap=np.frombuffer(bytes(self._traps), dtype=np.bool_),
            outcome=tuple(self._outcome),
            confidence=confidence,
            free_text=np.zeros(total, dtype=np.bool_),
        )
        return Answers(
            columns=columns,
            model=tuple(self._models) if any(self._models) else None,
            logprob=logprob,
            notes=tuple(filter(None, said)),
            missing=missing,
        )

    def _add(self, answer: LoggedAnswer) -> None:
        fields = answer.fields
        if len(self._outcome) < 50:
            self._fields |= dict.fromkeys(fields)
        mapped = {key: self._field(fields, name) for key, name in self._columns.items() if key != "correct"}
        bin_name = self._text(mapped["bin"] if "bin" in mapped else fields.get("bin", answer.bin))
        item = self._text(mapped["item"]) if "item" in mapped else answer.item
        model = self._text(mapped["model"]) if "model" in mapped else answer.model
        trap = verdict(mapped["trap"] if "trap" in mapped else fields.get("trap"))[0] == "correct"
        reply = reply_text(mapped["raw"]) if "raw" in mapped else answer.reply
        self._outcome.append(answer.outcome)
        self._items.append(item_number(bin_name, item))
        self._bins.append(self._texts.setdefault(bin_name, bin_name))
        self._models.append(self._texts.setdefault(model, model))
        self._traps.append(trap)
        if self._token is not None:
            self._token.add(answer.place, mapped["logprob"])
        if answer.outcome == "error":
            self._failed.add(answer.place, answer.why)
        elif answer.why:
            self._unjudged.add(answer.place, answer.why)
        self._confidence(answer, reply, mapped.get("confidence"))

    def _confidence(self, answer: LoggedAnswer, reply: str | None, value: Any) -> None:
        if self._stated is not None:
            self._stated.add(answer.place, value)
            silent, shown = value is None, "no such field"
        else:
            reading = self._said.add(answer.place, reply, answer.cut)
            silent, shown = reading.confidence is None, "no reply" if reply is None else repr(reply[:200])
            said = reading.answer
            self._abstaining += answer.outcome == "incorrect" and said is not None and abstains(said) is not None
        if silent and answer.outcome != "error":
            self._silent.add(answer.place, shown)

    def _field(self, fields: Mapping[str, Any], name: str) -> Any:
        value = named(fields, name)
        if value is not None:
            self._found.add(name)
        return value

    def _check_names(self) -> None:
        for key, name in self._columns.items():
            if key != "correct" and name not in self._found:
                raise SelfdiagError(
                    f"{self._log.shown}: no answer has a field {one_line(name, 60)!r} for {key}{self._there(name)}"
                )

    def _there(self, name: str = "") -> str:
        if not self._fields:
            return ""
        names = list(self._fields)
        shown = ", ".join(one_line(other, 30) for other in names[:_FIELDS_SHOWN])
        more = ", …" if len(names) > _FIELDS_SHOWN else ""
        return f" (there are: {shown}{more}){nearest(name, names) if name else ''}"

    @staticmethod
    def _text(value: Any) -> str:
        return reply_text(value).strip()
