"""A file of rows, CSV or one JSON object a line: which column stands for what, and its values."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from selfdiag.models.json_values import with_whole_characters
from selfdiag.runs.json_document import decode
from selfdiag.safety import SelfdiagError, nearest, one_line

KEYS = ("confidence", "correct", "item", "bin", "model", "trap", "logprob", "raw")
"""What a column can stand for. ``logprob`` is the token probability of the answer, ``raw`` the reply as it came."""
SHORT = {"conf": "confidence"}
OBJECTS_LOOKED_AT = 50
"""So many JSON objects at the start of a file tell which columns it has."""
RECORD_MEMBERS = frozenset({"call_id", "outcome", "section"})
"""By these a run's records are known."""
REPORT_COLUMNS = RECORD_MEMBERS | {"confidence", "confidence_source"}
"""By these a run's report as CSV is known."""
OF_A_REPORT = ("section", "flags", "simulated")
"""What is read of a report beside ``KEYS``, from columns of these very names."""
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

    unit = "line"

    def __init__(self, path: Path, mapping: Mapping[str, str]) -> None:
        self.path = path
        self.shown = one_line(str(path), 120)
        first = self._first_line()
        if first.lstrip().startswith("["):
            raise self.fault(1, "a JSON array: write one object a line instead")
        if "\x00" in first:
            raise self.fault(1, "no text, or text in UTF-16: save the file as UTF-8")
        self._json = first.lstrip().startswith("{")
        self._delimiter = max(",;\t", key=first.count)
        self.names = self._members() if self._json else self._header(first)
        self.is_records = self._json and set(self.names) >= RECORD_MEMBERS
        self.is_report = not self._json and set(self.names) >= REPORT_COLUMNS
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
        if self.is_report:
            self.columns |= {name: name for name in OF_A_REPORT if name in self.names}

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
        sought = {f'"{name}"'.encode() for name in (*KEYS, *SHORT, "outcome")}
        for place, (_, line) in enumerate(self.lines()):
            if place == OBJECTS_LOOKED_AT and set(names) >= RECORD_MEMBERS:
                break  # the records of a run all have the same members
            # of a long file only lines that may hold a column not seen yet
            if place < OBJECTS_LOOKED_AT or any(name in line for name in sought):
                # a line that is no object is told of with its number when the rows are read
                with suppress(ValueError):
                    names |= dict.fromkeys(decode(line, dict[str, Any]))
                    sought -= {f'"{name}"'.encode("utf-8", "replace") for name in names}
        return list(names)

    def _header(self, first: str) -> list[str]:
        csv.field_size_limit(MAX_FIELD)
        try:
            names = [name.strip() for name in next(csv.reader([first], delimiter=self._delimiter, strict=True), [])]
        except csv.Error as error:
            raise self.fault(1, f"no header can be read ({one_line(str(error), 80)})") from None
        seen = Counter(names)
        twice = next((name for name in names if name and seen[name] > 1), None)
        if twice is not None:
            raise self.fault(1, f"the column {one_line(twice, 60)!r} stands there twice")
        return names

    def _there(self, column: str) -> str:
        shown = ", ".join(one_line(name, 30) for name in self.names[:12])
        return f" (there are: {shown}{', …' if len(self.names) > 12 else ''}){nearest(column, self.names)}"

    def _json_rows(self, wanted: Sequence[str]) -> Iterator[Row]:
        columns = list(dict.fromkeys(wanted))
        odd = next((name for name in columns if not name.isprintable() or '"' in name or "\\" in name), None)
        if odd is not None:
            raise self.fault(1, f"the name {one_line(odd, 60)!r} holds characters that no column may have")
        places = [columns.index(column) for column in wanted]
        # only the wanted members are decoded, which makes long raw replies cheap to pass over
        fields = [(f"f{index}", Any, None) for index in range(len(columns))]
        rename = {f"f{index}": column for index, column in enumerate(columns)}
        decoder = msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=rename))
        written = [f'"{column}"'.encode() for column in columns]
        for number, line in self.lines():
            try:
                row = msgspec.structs.astuple(_decoded(decoder, line))
                twice = _member_twice(line, columns) if any(line.count(name) > 1 for name in written) else None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
                raise self.fault(number, f"not a JSON object ({one_line(str(error), 80)})") from None
            if twice is not None:
                raise self.fault(number, f"{one_line(twice, 60)!r} stands there twice")
            yield number, tuple(row[place] for place in places)

    def _csv_rows(self, wanted: Sequence[str]) -> Iterator[Row]:
        places = [self.names.index(column) for column in wanted]
        begins = 1
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=self._delimiter, strict=True)
            try:
                for row in reader:
                    begins = reader.line_num + 1
                    if [cell.strip() for cell in row] == self.names:
                        break
                for row in reader:
                    line, begins = begins, reader.line_num + 1
                    if not row or row == [""]:
                        continue
                    if len(row) != len(self.names):
                        what = f"{len(row)} values where the header has {len(self.names)} columns"
                        raise self.fault(line, f"{what}: put a value that holds the delimiter into double quotes")
                    yield line, tuple(row[place] for place in places)
            except csv.Error as error:
                what = f"quotes that do not fit ({one_line(str(error), 80)}): a quote inside a value is written twice"
                raise self.fault(begins, what) from None
            except UnicodeDecodeError:
                raise self.fault(begins, "from here on not UTF-8 text: save the file as UTF-8") from None


def _decoded(decoder: msgspec.json.Decoder[msgspec.Struct], line: bytes) -> msgspec.Struct:
    """Return a line as a row; half a surrogate pair, which a model may write, becomes U+FFFD."""
    try:
        return decoder.decode(line)
    except msgspec.DecodeError:
        return decoder.decode(with_whole_characters(line))


def _member_twice(line: bytes, columns: Sequence[str]) -> str | None:
    """Return a column that an object names twice, for then nobody can know which value is meant."""
    pairs: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> None:
        pairs[:] = found  # the outermost object is finished last

    json.loads(line, object_pairs_hook=keep)
    seen = Counter(name for name, _ in pairs)
    return next((column for column in columns if seen[column] > 1), None)
