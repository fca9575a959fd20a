"""Feeds damaged and odd files to everything that reads one: each gives a value, or one line that says what is wrong.

``python -m tests.fuzz.fuzz_files --inputs 20000 --seed 0`` runs on all cores; ``--kind run`` takes files of one kind
alone. An input is a valid file with changes; ``n`` of a seed is always the same, and ``--only n`` runs it alone and
keeps its files. The exit code is 1 when an input raised anything but a plain error, or took too long.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from selfdiag.safety import SelfdiagError, literal
from tests.fuzz.mutations import mutated
from tests.fuzz.targets import Base, bases, write

LONGEST = 1_000
"""Characters of the line that says what is wrong."""
COMPUTING, WAITING = 20.0, 120.0
"""Seconds that an input may compute, and take in all: far more than any needs, on machines that do much else."""
STRETCH = 100


class Hanging(BaseException):
    """An input takes too long; no Exception, which the code that is tested might catch."""


class Tally(NamedTuple):
    """What a stretch of inputs gave: how many were read and refused by kind, faults, and the slowest input."""

    read: Counter[str]
    refused: Counter[str]
    faults: list[str]
    slowest: tuple[float, int]


@cache
def _bases(stored: Path, kind: str) -> list[Base]:
    found: list[Base] = pickle.loads(stored.read_bytes())  # noqa: S301 - written by this very script
    return [base for base in found if kind in {"", base.kind}]


def chosen(stored: Path, kind: str, seed: int, number: int) -> tuple[Base, dict[str, bytes]]:
    """Return one input of a seed: the valid files, and those that take the place of some."""
    random = Random(f"{seed} {number}")
    base = random.choice(_bases(stored, kind))
    name = random.choice(base.changed)
    return base, {name: mutated(base.files[name], random)}


@contextmanager
def _patience() -> Iterator[None]:
    def hanging(*_: object) -> None:
        raise Hanging

    for name, timer, seconds in (
        (signal.SIGPROF, signal.ITIMER_PROF, COMPUTING),
        (signal.SIGALRM, signal.ITIMER_REAL, WAITING),
    ):
        signal.signal(name, hanging)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _tried(base: Base, folder: Path, number: int) -> str:
    """Use one input and return its refusal, empty when it was read.

    Raises:
        AssertionError: when the refusal is not one plain line.
    """
    try:
        with _patience(), warnings.catch_warnings():
            warnings.simplefilter("error")
            base.use(folder, number)
    except SelfdiagError as error:
        told = str(error)
        assert told, "an error without words"
        assert len(told) <= LONGEST, f"an error of {len(told)} characters: {told[:200]!r}"
        assert literal(told) == told, f"an error that is not one plain line: {told[:200]!r}"
        return told
    return ""


def run(numbers: range, stored: Path, kind: str, seed: int) -> Tally:
    """Run a stretch of a seed's inputs."""
    tally = Tally(Counter(), Counter(), [], (0.0, 0))
    slowest = tally.slowest
    with tempfile.TemporaryDirectory() as name:
        for number in numbers:
            base, data = chosen(stored, kind, seed, number)
            folder = Path(name) / "input"
            write(base, folder, data)
            begun = time.process_time()
            place = f"input {number} ({base.kind}, {base.name}: {', '.join(data)})"
            try:
                (tally.refused if _tried(base, folder, number) else tally.read)[base.kind] += 1
            except Hanging:
                tally.faults.append(f"{place} hangs")
            except Exception as fault:  # noqa: BLE001 - any exception is what this looks for
                frames = traceback.extract_tb(fault.__traceback__)
                at = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-2:])
                tally.faults.append(f"{place} raises {type(fault).__name__} at {at}: {str(fault)[:300]}")
            slowest = max(slowest, (time.process_time() - begun, number))
    return tally._replace(slowest=slowest)


def main() -> int:
    """Run the inputs asked for on all cores; print every fault and a line for each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="which; the same seed gives the same inputs")
    parser.add_argument("--kind", default="", help="battery, run, config, profile, answers or log alone")
    parser.add_argument("--only", type=int, help="the number of one input to run alone; its files are kept")
    asked = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        stored = Path(name) / "bases"
        place = Path(name) / "made"
        place.mkdir()
        stored.write_bytes(pickle.dumps(bases(place)))
        if not _bases(stored, asked.kind):
            parser.error(f"there is no kind {asked.kind!r}")
        if asked.only is not None:
            return _alone(stored, asked.kind, asked.seed, asked.only)
        read: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        faults = 0
        slowest = (0.0, 0)
        stretches = [range(start, min(start + STRETCH, asked.inputs)) for start in range(0, asked.inputs, STRETCH)]
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            for tally in pool.map(partial(run, stored=stored, kind=asked.kind, seed=asked.seed), stretches):
                read += tally.read
                refused += tally.refused
                faults += len(tally.faults)
                slowest = max(slowest, tally.slowest)
                for fault in tally.faults:
                    print(fault, file=sys.stderr, flush=True)
    for kind in sorted(read.keys() | refused.keys()):
        print(f"{kind}: {read[kind]} read, {refused[kind]} refused in one line")
    print(
        f"{asked.inputs} files of seed {asked.seed} in {time.monotonic() - begun:.0f} s; "
        f"slowest {1_000 * slowest[0]:.0f} ms (input {slowest[1]}); {faults} faults"
    )
    return 1 if faults else 0


def _alone(stored: Path, kind: str, seed: int, number: int) -> int:
    base, data = chosen(stored, kind, seed, number)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-")) / "input"
    write(base, folder, data)
    print(f"{base.kind}, {base.name}: {', '.join(data)} in {folder}")
    print(_tried(base, folder, number) or "read")
    return 0


if __name__ == "__main__":
    sys.exit(main())
