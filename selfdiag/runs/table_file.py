"""A file of rows, CSV or one JSON object a line: which column stands for what, and its values."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from selfdiag.safety import SelfdiagError, nearest, one_line

KEYS = ("confidence", "correct", "item", "bin", "model", "trap", "logprob", "raw")
"""What a column can stand for. ``logprob`` is the token probability of the answer, ``raw`` the reply as it came."""
SHORT = {"conf": "confidence"}
OBJECTS_LOOKED_AT = 50
"""So many JSON objects at the start of a file tell which columns it has."""
MAX_FIELD = 20_000_000
"""Characters of one CSV field."""

Row = tuple[int, tuple[Any, ...]]
"""A line's number and its values, in the order of the columns asked for."""


def parse_mapping(text: str) -> dict[str, str]:
    """Return ``conf=p,correct=label`` as {"confidence": "p", "correct": "label"}.

    Raises:
        SelfdiagError: when a part is not KEY=COLUMN, or the key is unknown or stands twice.
    """
    mapping: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, column = (piece.strip() for piece in part.partition("="))
        key = SHORT.get(key, key)
        if not (equals and column):
            raise SelfdiagError(f"--map: {one_line(part, 60)!r} is not KEY=COLUMN, as in --map conf=p,correct=label")
        if key not in KEYS and SHORT.get(column, column) in KEYS:
            raise SelfdiagError(
                f"--map: {one_line(part, 60)} is the wrong way round: write {one_line(column, 40)}={one_line(key, 40)}"
            )
        if key not in KEYS:
            raise SelfdiagError(
                f"--map: no key {one_line(key, 40)!r}; there are: {', '.join(KEYS)}{nearest(key, KEYS)}"
            )
        if key in mapping:
            raise SelfdiagError(f"--map: {key} stands there twice")
        mapping[key] = column
    return mapping


class TableFile:
    """A file of rows: its format, its columns, and its rows as they are read."""

    def __init__(self, path: Path, mapping: Mapping[str, str]) -> None:
        self.path = path
        self.shown = one_line(str(path), 120)
        first = self._first_line()
        self._json = first.lstrip().startswith("{")
        self._delimiter = max(",;\t", key=first.count)
        self.names = self._members() if self._json else self._header(first)
        self.is_records = self._json and {"call_id", "outcome", "section"} <= set(self.names)
        self.columns: dict[str, str] = {}
        for key, column in mapping.items():
            if column not in self.names:
                raise self.fault(1, f"there is no column {one_line(column, 60)!r}{self._there(column)}")
            self.columns[key] = column
        for key in KEYS:
            for name in (key, *(short for short, long in SHORT.items() if long == key)):
                if key not in self.columns and name in self.names:
                    self.columns[key] = name
        if "correct" not in self.columns and "outcome" in self.names:
            self.columns["correct"] = "outcome"

    def fault(self, line: int, what: str) -> SelfdiagError:
        """Return an error that names the file and the line."""
        return SelfdiagError(f"{self.shown} line {line}: {what}")

    def missing(self, key: str) -> SelfdiagError:
        """Return the error that no column stands for a key."""
        return self.fault(1, f"no column {key!r}: name it with --map {key}=COLUMN{self._there(key)}")

    def rows(self, keys: Sequence[str]) -> Iterator[Row]:
        """Yield every row's values for the keys, None where it has none."""
        wanted = [self.columns[key] for key in keys]
        empty = True
        for row in self._json_rows(wanted) if self._json else self._csv_rows(wanted):
            empty = False
            yield row
        if empty:
            raise SelfdiagError(f"{self.shown} has no rows")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of every line that is not blank."""
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                    if not text.isspace():
                        yield number, text
        except OSError as error:
            raise SelfdiagError(f"{self.shown} cannot be read ({error.strerror})") from None

    def _first_line(self) -> str:
        if self.path.exists() and not self.path.is_file():
            raise SelfdiagError(f"{self.shown} is not a regular file")
        for _, line in self.lines():
            return line.decode("utf-8", "replace")
        raise SelfdiagError(f"{self.shown} is empty")

    def _members(self) -> list[str]:
        """Return the names of the first objects' members: one line may leave out what it has no value for."""
        names: dict[str, None] = {}
        for _, line in islice(self.lines(), OBJECTS_LOOKED_AT):
            # a line that is no object is told of with its number when the rows are read
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                names |= dict.fromkeys(msgspec.json.decode(line, type=dict[str, Any]))
        return list(names)

    def _header(self, first: str) -> list[str]:
        names = [name.strip() for name in next(csv.reader([first], delimiter=self._delimiter), [])]
        twice = next((name for name in names if name and names.count(name) > 1), None)
        if twice is not None:
            raise self.fault(1, f"the column {one_line(twice, 60)!r} stands there twice")
        return names

    def _there(self, column: str) -> str:
        shown = ", ".join(one_line(name, 30) for name in self.names[:12])
        return f" (there are: {shown}{', …' if len(self.names) > 12 else ''}){nearest(column, self.names)}"

    def _json_rows(self, wanted: Sequence[str]) -> Iterator[Row]:
        # only the wanted members are decoded, which makes long raw replies cheap to pass over
        fields = [(f"f{index}", Any, None) for index in range(len(wanted))]
        rename = {f"f{index}": column for index, column in enumerate(wanted)}
        decoder = msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=rename))
        for number, line in self.lines():
            try:
                row = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise self.fault(number, f"not a JSON object ({one_line(str(error), 80)})") from None
            yield number, msgspec.structs.astuple(row)

    def _csv_rows(self, wanted: Sequence[str]) -> Iterator[Row]:
        csv.field_size_limit(MAX_FIELD)
        places = [self.names.index(column) for column in wanted]
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=self._delimiter)
            try:
                for row in reader:
                    if not any(row):
                        continue
                    if [cell.strip() for cell in row] == self.names:
                        break
                for row in reader:
                    if not any(row):
                        continue
                    if len(row) != len(self.names):
                        what = f"{len(row)} values where the header has {len(self.names)} columns"
                        raise self.fault(reader.line_num, what)
                    yield reader.line_num, tuple(row[place] for place in places)
            except csv.Error as error:
                raise self.fault(reader.line_num, one_line(str(error), 80)) from None
