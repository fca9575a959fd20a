"""Logs of Inspect AI: ``.eval`` (a zip whose members are compressed with Zstandard) and ``.json``.

The two formats hold the same documents, and these are few and plain; they are read here without the package
inspect_ai, whose import takes seconds.
"""

from __future__ import annotations

import importlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from selfdiag.runs.columns import Answers
from selfdiag.runs.inspect_audit import error_text, reply_of
from selfdiag.runs.json_document import MAX_DOCUMENT, Shape, decode, read_document
from selfdiag.runs.log_kind import Kind
from selfdiag.runs.logged import LogFile, LoggedAnswer, LogReader, verdict
from selfdiag.safety import SelfdiagError, nearest, one_line

NEWEST = 2
"""The newest version of the log format that is known."""
INSTALL = "python -m pip install 'selfdiag[inspect]'"
_SAMPLE = re.compile(r"samples/.+_epoch_\d+(?:\.json|/sample\.json)", re.DOTALL)
_SHELL = "/sample.json"
_LETTERS = {"C": ("correct", ""), "I": ("incorrect", ""), "N": ("abstained", ""), "P": ("unparsed", "partial credit")}
_COUNTED_THERE = {"N": "no answer as wrong", "P": "partial credit as half"}


class Sample(msgspec.Struct):
    """What is read of a sample; its events, most of a log, are passed over."""

    id: Any = None
    epoch: Any = None
    messages: Any = None
    output: Any = None
    scores: Any = None
    metadata: Any = None
    error: Any = None
    limit: Any = None
    attachments: Any = None


class _Version(msgspec.Struct):
    version: int = NEWEST


class Header(msgspec.Struct):
    """What is read of a log beside its samples."""

    version: int = NEWEST
    status: str = "started"
    eval: dict[str, Any] = {}
    plan: dict[str, Any] = {}
    results: dict[str, Any] | None = None
    stats: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class _Document(Header):
    samples: list[Sample] | None = None


Samples = Iterator[dict[str, Any]]


def inspect_documents(path: Path, kind: Kind) -> tuple[dict[str, Any], Samples]:
    """Return a log's header, and its samples one by one.

    Args:
        path: of the log.
        kind: ``inspect zip`` or ``inspect json``.

    Raises:
        SelfdiagError: when it is damaged, cut off, of a newer version or no log; the samples may raise it too.
    """
    log = LogFile(path, {}, "sample")
    if kind == "inspect zip":
        archive = _Archive(log)
        header = archive.header()
        samples: Samples = archive.samples()
    else:
        try:
            document = read_document(path, _Document)
        except ValueError as error:
            with suppress(ValueError):
                _refuse_newer(log, read_document(path, _Version))
            raise log.damaged(f"an Inspect AI log that is cut off or damaged ({one_line(str(error), 80)})") from None
        _refuse_newer(log, document)
        header = document
        samples = (msgspec.structs.asdict(sample) for sample in document.samples or ())
    plain = {name: getattr(header, name) for name in Header.__struct_fields__}
    return plain, samples


def _refuse_newer(log: LogFile, found: _Version | Header) -> None:
    if found.version > NEWEST:
        raise log.damaged(
            f"written by a newer Inspect AI (log version {found.version}; this selfdiag knows up to {NEWEST})"
        )


def read_inspect(log: LogFile, header: Mapping[str, Any], samples: Iterable[Mapping[str, Any]]) -> Answers:
    """Return the graded answers of a log; each is right or wrong as the log's own scorer has it.

    Args:
        log: with what ``--map`` says; ``correct`` names one of several scorers.
        header: from ``inspect_documents``, like ``samples``.
        samples: one document each.

    Raises:
        SelfdiagError: when nothing can be read, or a name is not there.
    """
    task = str(header["eval"].get("task", ""))
    model = str(header["eval"].get("model", ""))
    scorer = _Scorer(header, log)
    count = 0

    def answers() -> Iterator[LoggedAnswer]:
        nonlocal count
        for count, sample in enumerate(samples, 1):
            yield _answer(count, sample, task, model, scorer)

    reader = LogReader(log)
    reader.add(answers())
    return reader.answers(scorer.notes(task), _missing(header, count))


def _answer(place: int, sample: Mapping[str, Any], task: str, model: str, scorer: _Scorer) -> LoggedAnswer:
    reply = reply_of(_mapping(sample["output"]), _mapping(sample["attachments"]))
    if sample["error"]:
        outcome, why = "error", error_text(sample["error"])
    else:
        outcome, why = scorer.outcome(_mapping(sample["scores"]))
    return LoggedAnswer(
        place=place,
        item=f"{task}\x1f{sample['id']}",
        outcome=outcome,
        why=why,
        reply=None if reply is None else reply.text,
        cut=reply is not None and reply.finish_reason == "length",
        model=model,
        bin=task,
        fields=_fields(sample),
    )


def _fields(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sample's own metadata, and that of its scores where it has no such name."""
    fields = dict(_mapping(sample["metadata"]))
    for name, score in _mapping(sample["scores"]).items():
        extra = _mapping(_mapping(score).get("metadata"))
        fields = {**extra, **fields, **{f"{name}.{key}": value for key, value in extra.items()}}
    return fields


class _Scorer:
    """The scorer whose word counts: the one that is named, else the log's first."""

    def __init__(self, header: Mapping[str, Any], log: LogFile) -> None:
        self._log = log
        scores = _mapping(header["results"]).get("scores")
        self._results = [_mapping(score) for score in scores] if isinstance(scores, list) else []
        self._name = log.columns.get("correct", "")
        self._others: dict[str, None] = {}
        self._letters: set[str] = set()

    def outcome(self, scores: Mapping[str, Any]) -> tuple[str, str]:
        """Return what a sample's scores say, and why they say neither right nor wrong."""
        self._others |= dict.fromkeys(scores)
        if not self._name and scores:
            listed = [str(score.get("scorer")) for score in self._results]
            self._name = next((name for name in listed if name in scores), next(iter(scores)))
        scorer, _, part = self._name.partition(".")
        score = _mapping(scores.get(self._name, scores.get(scorer)))
        value = score.get("value")
        if isinstance(value, Mapping) and part:
            value = value.get(part)
        if isinstance(value, Mapping):
            parts = ", ".join(one_line(f"{scorer}.{key}", 40) for key in list(value)[:6])
            return "unparsed", f"the score has several parts: --map correct=NAME, one of {parts}"
        if isinstance(value, str) and value in _LETTERS:
            self._letters.add(value)
            return _LETTERS[value]
        return verdict(value)

    def notes(self, task: str) -> list[str]:
        """Return how the log was read, and the accuracy that the tool itself printed."""
        names = list(self._others)
        if self._name and self._name.partition(".")[0] not in {*names, *(name.partition(".")[0] for name in names)}:
            raise SelfdiagError(
                f"{self._log.shown}: no scorer {one_line(self._name, 60)!r} (there are: "
                f"{', '.join(one_line(name, 40) for name in names)}){nearest(self._name, names)}"
            )
        said = f"Inspect AI log of {one_line(task, 60)}"
        if self._name:
            said += f", right and wrong by its scorer {one_line(self._name, 40)}"
        others = [name for name in names if name != self._name.partition(".")[0]]
        if others:
            said += f" (--map correct=NAME takes another: {', '.join(one_line(name, 40) for name in others)})"
        own = next((score for score in self._results if score.get("name") == self._name), {})
        accuracy = _mapping(_mapping(own.get("metrics")).get("accuracy")).get("value")
        if isinstance(accuracy, int | float):
            counted = [words for letter, words in _COUNTED_THERE.items() if letter in self._letters]
            said += f"; its own accuracy there is {accuracy:.3f}{', with ' if counted else ''}{' and '.join(counted)}"
        return [said]


def _missing(header: Mapping[str, Any], count: int) -> str:
    """Return what an eval that did not come to its end left out, empty when it did."""
    status = str(header["status"])
    if status == "success":
        return ""
    spec = header["eval"]
    names = _mapping(spec.get("dataset")).get("sample_ids")
    epochs = _mapping(spec.get("config")).get("epochs") or 1
    said = {"error": "ended in an error", "cancelled": "was cancelled"}.get(status, "has not come to its end")
    message = error_text(header["error"])
    why = f" ({one_line(message, 100)})" if message else ""
    if isinstance(names, list) and isinstance(epochs, int) and len(names) * epochs >= count:
        planned = len(names) * epochs
        return f"the eval {said}{why}: {count} of {planned} samples were read, {planned - count} are not in the log"
    return f"the eval {said}{why}: {count} samples were read, the others are not in the log"


class _Archive:
    """A log in a zip: its header, and one member a sample."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._zip = _zip_module()
        try:
            self._file = self._zip.ZipFile(log.path)
        except (self._zip.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            raise log.damaged(f"a zip that is cut off or damaged ({one_line(str(error), 80)})") from None
        # a member that was written again counts as it was written last
        self._members = {member.filename: member for member in self._file.infolist()}

    def header(self) -> Header:
        """Return the log's header, or what was written at the start of an eval that never ended."""
        for name in ("header.json", "_journal/start.json"):
            if name in self._members:
                _refuse_newer(self._log, self._read(name, _Version))
                return self._read(name, Header)
        raise self._log.damaged("a zip, but no log of Inspect AI")

    def samples(self) -> Samples:
        """Yield every sample."""
        with self._file:
            for name in self._members:
                if not _SAMPLE.fullmatch(name):
                    continue
                sample = self._read(name, Sample)
                apart = name.removesuffix(_SHELL) + "/metadata.json"
                if name.endswith(_SHELL) and apart in self._members:
                    sample.metadata = self._read(apart, dict[str, Any])
                yield msgspec.structs.asdict(sample)

    def _read(self, name: str, shape: type[Shape]) -> Shape:
        member = self._members[name]
        shown = one_line(name, 80)
        if member.file_size > MAX_DOCUMENT:
            raise self._log.damaged(f"its member {shown} has {member.file_size / 1e6:.0f} MB, which is too much")
        try:
            return decode(self._file.read(member), shape)
        except NotImplementedError:
            raise SelfdiagError(f"{self._log.shown} is compressed with Zstandard, which needs: {INSTALL}") from None
        except self._faults() as error:
            raise self._log.damaged(f"its member {shown} is damaged ({one_line(str(error), 80)})") from None

    def _faults(self) -> tuple[type[Exception], ...]:
        zstd = getattr(self._zip, "zstd", None)
        more = () if zstd is None else (zstd.ZstdError,)
        return (self._zip.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, *more)


def _zip_module() -> ModuleType:
    """Return a ``zipfile`` that knows Zstandard where there is one; Python's own does from 3.14 on."""
    try:
        return importlib.import_module("backports.zstd.zipfile")
    except ImportError:
        return importlib.import_module("zipfile")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
