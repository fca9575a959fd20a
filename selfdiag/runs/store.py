"""A run on disk: a manifest, and one line for every reply, written before anyone sees it."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import msgspec
from filelock import FileLock, Timeout

from selfdiag.runs.manifest_check import check_manifest, check_record
from selfdiag.runs.records import MEASURED_SECTIONS, SCHEMA, Manifest, Record
from selfdiag.safety import SelfdiagError, one_line, without_secrets

MANIFEST = "manifest.json"
RECORDS = "records.jsonl"
SYNC_SECONDS = 3.0
NAMED = 3
"""So many of the lines that are no records are named, each with its fault."""

_encoder = msgspec.json.Encoder()
_record_decoder = msgspec.json.Decoder(Record)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run as read from disk: ``records`` in file order, ``problems`` in plain sentences."""

    folder: Path
    manifest: Manifest
    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()

    def measured(self) -> list[Record]:
        """Return the record that counts of every measured call that has one, in the order of the plan."""
        latest = self.latest()
        planned = (call.call_id for call in self.manifest.plan if call.section in MEASURED_SECTIONS)
        return [latest[call_id] for call_id in planned if call_id in latest]

    def planned(self) -> list[Record]:
        """Return the record that counts of every planned call that has one, in the order of the plan."""
        latest = self.latest()
        return [latest[call.call_id] for call in self.manifest.plan if call.call_id in latest]

    def latest(self) -> dict[str, Record]:
        """Return the last record of every call id: that one counts."""
        return {record.call_id: record for record in self.records}


def new_run_id() -> str:
    """Return a name for a new run: the time, so that names sort, and four random letters."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"


class RunWriter:
    """The only one who writes to a run folder; a second one is refused."""

    def __init__(self, folder: Path, *, made_folder: bool = False) -> None:
        self.folder = folder
        self._made_folder = made_folder
        self._lock = FileLock(folder / ".lock")
        self._file: int | None = None
        self._synced = time.monotonic()

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> RunWriter:
        """Make a new run folder with its manifest.

        Raises:
            SelfdiagError: when the folder holds something already or cannot be written.
        """
        try:
            if folder.exists() and any(path.name != ".lock" and not _is_part(path) for path in folder.iterdir()):
                raise SelfdiagError(
                    f"{one_line(str(folder))} is not empty: name a new folder with --out, "
                    f"or go on with a stopped run by --resume {one_line(str(folder))}"
                )
            new = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            writer = cls(folder, made_folder=new)
            writer._acquire()
            try:
                replace_file(folder / MANIFEST, _encoded(manifest))
                writer._open()
            except OSError:
                writer.discard()
                raise
        except OSError as error:
            raise SelfdiagError(
                f"{one_line(str(folder))} cannot be written ({error.strerror}): "
                "name another folder with --out, or set SELFDIAG_HOME"
            ) from None
        return writer

    @classmethod
    def resume(cls, folder: Path) -> tuple[RunWriter, Run]:
        """Open a run to go on with it; a torn last line is cut off and reported in ``problems``.

        Raises:
            SelfdiagError: when it is no run, another process writes to it, or it cannot be written.
        """
        read_manifest(folder)
        writer = cls(folder)
        try:
            writer._acquire()
            torn = _cut_torn_line(folder / RECORDS)
            run = read_run(folder)
            writer._open()
        except OSError as error:
            writer.close()
            raise SelfdiagError(
                f"{one_line(str(folder))} cannot be written ({error.strerror}): check its permissions"
            ) from None
        except BaseException:
            writer.close()
            raise
        return writer, msgspec.structs.replace(run, problems=(*torn, *run.problems))

    def save(self, manifest: Manifest) -> None:
        """Replace the manifest in one step.

        Raises:
            SelfdiagError: when the disk takes no more; the old manifest stays.
        """
        try:
            replace_file(self.folder / MANIFEST, _encoded(manifest))
        except OSError as error:
            raise self._full(error) from None

    def append(self, *records: Record) -> None:
        """Write records, one line each, and hand them to the system at once.

        Raises:
            SelfdiagError: when the disk takes no more; what was written before stays.
        """
        assert self._file is not None, "the run is closed"  # noqa: S101
        data = b"".join(_encoder.encode(record) + b"\n" for record in records)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            if time.monotonic() - self._synced > SYNC_SECONDS:
                self.sync()
        except OSError as error:
            raise self._full(error) from None

    def sync(self) -> None:
        """Ask the system to bring everything written so far onto the disk.

        Raises:
            SelfdiagError: when the disk takes no more.
        """
        try:
            if self._file is not None:
                os.fsync(self._file)
        except OSError as error:
            raise self._full(error) from None
        self._synced = time.monotonic()

    def discard(self) -> None:
        """Take back a run that this writer has created: its own files, and the folder if it was made for them."""
        self.close()
        for name in (MANIFEST, RECORDS, ".lock"):
            (self.folder / name).unlink(missing_ok=True)
        if self._made_folder:
            with suppress(OSError):  # someone has put something into it: it stays
                self.folder.rmdir()

    def close(self) -> None:
        """Bring everything onto the disk and let others write."""
        if self._file is not None:
            with suppress(OSError):  # the lines were handed over; append has told of a full disk
                os.fsync(self._file)
            os.close(self._file)
            self._file = None
        self._lock.release()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _acquire(self) -> None:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise SelfdiagError(
                f"another process is writing to {one_line(str(self.folder))}: wait for it or stop it first"
            ) from None
        for path in filter(_is_part, self.folder.iterdir()):
            path.unlink(missing_ok=True)

    def _full(self, error: OSError) -> SelfdiagError:
        shown = one_line(str(self.folder))
        message = f"{shown} cannot be written ({error.strerror}): make room, then go on with --resume {shown}"
        return SelfdiagError(message, exit_code=4)

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.folder / RECORDS, flags, 0o666)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part.

    A link is followed, and what is no regular file (a pipe, a device) is written to as it is. A new file is as open
    to others as the person's umask says, and one that is replaced as open as it was.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            file.write(data)
        return
    before = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    part = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        # not tempfile: its files are closed to everyone else, whatever the person's umask says
        descriptor = os.open(part, flags, 0o666 if before is None else before & 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if before is not None:
                with suppress(OSError):  # not every file system has modes
                    part.chmod(before)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)  # noqa: PTH105 - replaces in one step on every platform
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _encoded(manifest: Manifest) -> bytes:
    # what a provider says of its model may be its server's words, and a server may send back the key it was sent
    told = manifest.model
    model = msgspec.structs.replace(
        told,
        served_name=without_secrets(told.served_name),
        digest=without_secrets(told.digest),
        server=without_secrets(told.server),
        details={without_secrets(name): without_secrets(words) for name, words in told.details.items()},
    )
    return msgspec.json.format(_encoder.encode(msgspec.structs.replace(manifest, model=model)), indent=1)


def _is_part(path: Path) -> bool:
    """Return whether this is a part of a manifest that was never finished, because its writer was killed."""
    return re.fullmatch(rf"\.{re.escape(MANIFEST)}-[0-9a-f]{{8}}", path.name) is not None


def read_manifest(folder: Path) -> Manifest:
    """Return a run's manifest.

    Raises:
        SelfdiagError: when the folder is no run, or its manifest is damaged or of a newer selfdiag.
    """
    path = folder / MANIFEST
    shown = one_line(str(folder))
    try:
        if path.exists() and not path.is_file():  # a pipe or a device would be read without end
            raise SelfdiagError(f"{shown}/{MANIFEST} is not a regular file")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        what = "there is no such folder" if not folder.exists() else f"it has no {MANIFEST}"
        raise SelfdiagError(f"{shown} is not a run: {what}; 'selfdiag runs list' shows the runs") from None
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be read ({error.strerror})") from None
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
        check_manifest(manifest)
        return manifest
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        schema = _schema_of(data)
        if schema not in {"", SCHEMA}:
            raise SelfdiagError(
                f"{shown} was written as {schema!r}, this selfdiag reads {SCHEMA!r}: use the selfdiag that made it"
            ) from None
        raise SelfdiagError(f"{shown}/{MANIFEST} is damaged: {one_line(str(error), 120)}") from None


def read_run(folder: Path) -> Run:
    """Return a run with all records that can be read and fit the plan; ``problems`` tells of the other lines."""
    manifest = read_manifest(folder)
    planned = {call.call_id: call for call in manifest.plan}
    records: list[Record] = []
    problems: list[str] = []
    left_out = 0
    decode = _record_decoder.decode
    for number, line in _lines(folder / RECORDS):
        try:
            record = decode(line)
            check_record(record, planned)
            records.append(record)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            if not line.endswith(b"\n"):
                problems.append(f"{RECORDS} line {number} is torn and was left out")
            elif line.strip():
                left_out += 1
                if left_out <= NAMED:
                    reason = one_line(str(error), 80)
                    problems.append(f"{RECORDS} line {number} is not a record and was left out ({reason})")
    if left_out > NAMED:
        problems.append(f"{left_out - NAMED:,} more lines of {RECORDS} are not records and were left out")
    return Run(folder=folder, manifest=manifest, records=tuple(records), problems=tuple(problems))


def check_records(folder: Path) -> None:
    """Check that the records of a run can be read; a run may have none yet.

    Raises:
        SelfdiagError: when their file is no regular one, or cannot be opened.
    """
    next(_lines(folder / RECORDS), None)


def check_output(path: Path) -> None:
    """Check that what a person wants to write is not put in the place of a run's own files.

    Raises:
        SelfdiagError: when it would be.
    """
    target = Path(os.path.realpath(path))
    # a file system may hold two spellings for one name
    if target.name.lower() in {MANIFEST, RECORDS} and _is_run(target.parent):
        raise SelfdiagError(f"{one_line(str(path))} is a file of a run, and is left as it is: choose another name")


def _is_run(folder: Path) -> bool:
    """Return whether a folder is a run, a damaged one too."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            head = file.read(200)
    except OSError:
        return False
    return SCHEMA.partition("/")[0].encode() in head or (folder / RECORDS).exists()


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each line of a file that may be missing."""
    try:
        if path.exists() and not path.is_file():
            raise SelfdiagError(f"{one_line(str(path))} is not a regular file")
        with path.open("rb") as file:
            yield from enumerate(file, 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SelfdiagError(f"{one_line(str(path))} cannot be read ({error.strerror})") from None


def _cut_torn_line(path: Path) -> tuple[str, ...]:
    try:
        with path.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            keep = _after_last_line_feed(path, end)
            if keep == end:
                return ()
            file.truncate(keep)
            return (f"the last line of {RECORDS} was torn; it is cut off and asked again",)
    except FileNotFoundError:
        return ()


def _after_last_line_feed(path: Path, end: int) -> int:
    with path.open("rb") as file:
        position = end
        while position > 0:
            start = max(position - 65536, 0)
            file.seek(start)
            found = file.read(position - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            position = start
    return 0


def _schema_of(data: bytes) -> str:
    class Head(msgspec.Struct):
        schema: str = ""

    try:
        return msgspec.json.decode(data, type=Head).schema
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
