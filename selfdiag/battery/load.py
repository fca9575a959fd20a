"""Reading a battery from TOML, JSONL or CSV, with one clear line for every fault."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from selfdiag.battery.items import DIFFICULTIES, Battery, Item, Kind, Probe, Trap

MAX_FILE_BYTES = 100_000_000
SUFFIXES = (".toml", ".jsonl", ".csv")
_LIST_FIELDS = ("questions", "aliases", "options")


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a battery: where, and what."""

    file: str
    line: int = 0
    item: str = ""
    fault: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (place, self.item, self.fault) if part)


class BatteryError(ValueError):
    """A battery that cannot be used; ``faults`` lists every reason found."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{faults[0]}{more}")


class Place(msgspec.Struct, frozen=True):
    """Where an item stands: file name and line (1-based, 0 when unknown)."""

    file: str
    line: int


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A battery, and for each item id the place where it stands; ``faults`` are what could not be read."""

    battery: Battery
    places: dict[str, Place]
    faults: tuple[Fault, ...] = ()


def shipped_path() -> Path:
    """Return the folder of the shipped battery: the packaged copy, else the checkout's ``probes/``."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "_probes"
    return packaged if packaged.is_dir() else package.parent / "probes"


def shipped() -> Battery:
    """Return the battery that comes with selfdiag."""
    return load(shipped_path()).battery


def load(path: Path) -> Loaded:
    """Read a battery from one file or from a folder of files.

    Args:
        path: a ``.toml``, ``.jsonl`` or ``.csv`` file, or a folder of them. In a folder, ``battery.toml``
            holds id and version; other folders and files are left alone.

    Raises:
        BatteryError: with every fault that keeps the battery from being read.
    """
    loaded = load_what_can_be_read(path)
    if loaded.faults:
        raise BatteryError(list(loaded.faults))
    if not loaded.battery.items():
        raise BatteryError([Fault(file=path.name, fault="no probe and no trap in it")])
    return loaded


def load_what_can_be_read(path: Path) -> Loaded:
    """Read a battery as ``load`` does, but keep the sound items beside the faults of the others.

    Raises:
        BatteryError: when there is no such file or folder.
    """
    files = _files(path)
    faults: list[Fault] = []
    head: dict[str, Any] = {}
    items: list[Item] = []
    places: dict[str, Place] = {}
    for file in files:
        try:
            text = _text(file)
            rows = list(_rows(file, text, head))
        except BatteryError as error:
            faults.extend(error.faults)
            continue
        for kind, row, line in rows:
            item = _item(file, kind, row, line, faults)
            if item is None:
                continue
            if item.id in places:
                first = places[item.id]
                fault = f"this id is already used in {first.file}:{first.line}"
                faults.append(Fault(file=file.name, line=line, item=item.id, fault=fault))
                continue
            places[item.id] = Place(file.name, line)
            items.append(item)
    probes = tuple(item for item in items if isinstance(item, Probe))
    traps = tuple(item for item in items if isinstance(item, Trap))
    name = str(head.get("id") or path.stem).encode("utf-8", "replace").decode("utf-8")
    battery = Battery(id=name, version=str(head.get("version") or "0"), probes=probes, traps=traps)
    return Loaded(battery=battery, places=places, faults=tuple(faults))


def _files(path: Path) -> list[Path]:
    try:
        return _found(path)
    except OSError as error:
        fault = f"cannot be read ({error.strerror or error})"
        raise BatteryError([Fault(file=str(path), fault=fault)]) from None


def _found(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(f for f in path.iterdir() if f.suffix in SUFFIXES and f.is_file())
        if not files:
            raise BatteryError([Fault(file=str(path), fault="no .toml, .jsonl or .csv file in this folder")])
        return files
    if not path.exists():
        raise BatteryError([Fault(file=str(path), fault="there is no such file or folder")])
    if path.suffix not in SUFFIXES:
        raise BatteryError([Fault(file=str(path), fault="a battery is a .toml, .jsonl or .csv file")])
    return [path]


def _text(file: Path) -> str:
    try:
        if not file.is_file():  # a pipe or a device would be read without end
            raise BatteryError([Fault(file=file.name, fault="not a regular file")])
        if file.stat().st_size > MAX_FILE_BYTES:
            raise BatteryError([Fault(file=file.name, fault="larger than 100 MB, which no battery is")])
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BatteryError([Fault(file=file.name, line=line, fault="not UTF-8 text")]) from None
    except OSError as error:
        fault = f"cannot be read ({error.strerror or error})"
        raise BatteryError([Fault(file=file.name, fault=fault)]) from None


def _rows(file: Path, text: str, head: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], int]]:
    if file.suffix == ".toml":
        yield from _toml_rows(file, text, head)
    elif file.suffix == ".jsonl":
        yield from _jsonl_rows(file, text, head)
    else:
        yield from _csv_rows(file, text)


def _toml_rows(file: Path, text: str, head: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], int]]:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a plain ValueError
        found = re.search(r"line (\d+)", str(error))
        line = int(found.group(1)) if found else 0
        raise BatteryError([Fault(file=file.name, line=line, fault=f"not valid TOML: {error}")]) from None
    head.update({key: document[key] for key in ("id", "version") if key in document})
    unknown = set(document) - {"id", "version", "description", "bin", "probe", "trap"}
    if unknown:
        first = min(unknown)
        fault = f"unknown key {first!r}; an item starts with [[probe]] or [[trap]]"
        raise BatteryError([Fault(file=file.name, line=_line_of(text, first), fault=fault)])
    for kind in ("probe", "trap"):
        header = re.compile(rf"\s*\[\[\s*{kind}\s*\]\]\s*(#.*)?")
        lines = [n for n, row in enumerate(text.split("\n"), 1) if header.fullmatch(row)]
        rows = document.get(kind, [])
        if not isinstance(rows, list):
            raise BatteryError([Fault(file=file.name, fault=f"{kind} must be a list: write [[{kind}]]")])
        for index, row in enumerate(rows):
            if not isinstance(row, dict):
                raise BatteryError([Fault(file=file.name, fault=f"{kind} {index + 1} is not a table")])
            if "bin" in document and "bin" not in row:
                row["bin"] = document["bin"]
            yield kind, row, lines[index] if index < len(lines) else 0


def _jsonl_rows(file: Path, text: str, head: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], int]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BatteryError([Fault(file=file.name, line=number, fault=f"not valid JSON: {error}")]) from None
        if not isinstance(row, dict):
            raise BatteryError([Fault(file=file.name, line=number, fault="not a JSON object")])
        if set(row) <= {"id", "version", "description"}:
            head.update(row)
            continue
        yield ("trap" if "family" in row else "probe"), row, number


def _csv_rows(file: Path, text: str) -> Iterator[tuple[str, dict[str, Any], int]]:
    # strict, because an open quote would otherwise swallow the rest of the file without a word
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="more cells than columns", strict=True)
    try:
        for cells in reader:
            row: dict[str, Any] = {key: value for key, value in cells.items() if value}
            if not row:
                continue
            for field in _LIST_FIELDS:
                if field in row:
                    row[field] = _texts(str(row[field]))
            for field in ("tolerance", "relative_tolerance"):
                if field in row:
                    row[field] = _float(file, reader.line_num, field, row[field])
            if "convert" in row:
                row["convert"] = str(row["convert"]).lower() in {"1", "true", "yes"}
            yield ("trap" if row.get("family") else "probe"), row, reader.line_num
    except csv.Error as error:
        fault = f"not valid CSV: {error}"
        raise BatteryError([Fault(file=file.name, line=reader.line_num, fault=fault)]) from None


def _texts(cell: str) -> list[Any]:
    """Return the texts of one cell: separated by bars, or a JSON list where a text holds a bar itself."""
    if cell.startswith("["):
        try:
            texts = json.loads(cell)
        except (ValueError, RecursionError):
            texts = None
        if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
            return texts
    return [part.strip() for part in cell.split("|")]


def _float(file: Path, line: int, field: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BatteryError([Fault(file=file.name, line=line, fault=f"{field} is not a number: {text!r}")]) from None


def _item(file: Path, kind: str, row: dict[str, Any], line: int, faults: list[Fault]) -> Item | None:
    name = str(row.get("id", ""))
    shape: type[Probe] | type[Trap] = Trap if kind == "trap" else Probe
    known = set(shape.__struct_fields__)
    unknown = sorted(set(row) - known)
    if unknown:
        fault = f"unknown field {unknown[0]!r}"
        faults.append(Fault(file=file.name, line=line, item=name, fault=fault))
        return None
    if isinstance(row.get("answer"), int | float) and not isinstance(row["answer"], bool):
        row["answer"] = str(row["answer"])
    try:
        item = msgspec.convert(row, shape)
        msgspec.json.encode(item)
        if reason := _unusable(item):
            faults.append(Fault(file=file.name, line=line, item=name, fault=reason))
            return None
    except msgspec.ValidationError as error:
        faults.append(Fault(file=file.name, line=line, item=name, fault=_plain(str(error))))
        return None
    except UnicodeEncodeError:
        fault = "half a surrogate pair, which is no character"
        faults.append(Fault(file=file.name, line=line, item=ascii(name)[1:-1], fault=fault))
        return None
    return item


def _unusable(item: Item) -> str:
    """Return why an item cannot even be asked, or an empty text."""
    if not item.questions:
        return "it has no question"
    if isinstance(item, Probe):
        for name in ("tolerance", "relative_tolerance"):
            if not 0 <= getattr(item, name) < math.inf:
                return f"{name} is not a number from 0 up"
    return ""


def _plain(message: str) -> str:
    found = re.search(r"missing required field `(\w+)`", message)
    if found:
        return f"the field {found.group(1)!r} is missing"
    found = re.search(r"Invalid enum value '?(.*?)'? - at `\$\.(\w+)`", message)
    allowed = {"difficulty": DIFFICULTIES, "kind": get_args(Kind)}.get(found.group(2)) if found else None
    if found and allowed:
        return f"unknown {found.group(2)} {found.group(1)!r}; one of {', '.join(allowed)}"
    found = re.search(r"Expected `array`, got `str` - at `\$\.(\w+)`", message)
    if found:
        return f'{found.group(1)!r} is a list: write ["...", "..."]'
    return message.replace("`", "'").replace(" - at '$.", " in '")


def _line_of(text: str, key: str) -> int:
    pattern = re.compile(rf"^\s*\[*\s*\"?{re.escape(key)}\b")
    return next((n for n, row in enumerate(text.split("\n"), 1) if pattern.match(row)), 0)
