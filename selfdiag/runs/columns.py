"""The rows of an audit as columns of one length, whatever file they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfdiag.elicit.confidence import run_scale
from selfdiag.runs.records import Record


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """One entry per reply in every column.

    ``item`` holds the item's number (``item_number``), ``bin`` its topic or an empty text, ``trap`` whether it
    has no answer, ``outcome`` an outcome word, ``confidence`` the stated confidence as a fraction in [0, 1] or
    NaN, ``free_text`` whether it abstained in own words.
    """

    item: NDArray[np.int64]
    bin: tuple[str, ...]
    trap: NDArray[np.bool_]
    outcome: tuple[str, ...]
    confidence: NDArray[np.float64]
    free_text: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.outcome)

    def stating(self, confidence: Sequence[float]) -> Columns:
        """Return the same rows with other confidences, fractions or NaN."""
        return replace(self, confidence=np.array(confidence, dtype=np.float64))

    def rows(self, chosen: NDArray[np.int64]) -> Columns:
        """Return the rows with the given places, in that order."""
        return Columns(
            item=self.item[chosen],
            bin=tuple(self.bin[row] for row in chosen),
            trap=self.trap[chosen],
            outcome=tuple(self.outcome[row] for row in chosen),
            confidence=self.confidence[chosen],
            free_text=self.free_text[chosen],
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Graded answers of one file; ``model`` and ``logprob`` have one entry per row or are None.

    ``logprob`` is a fraction in [0, 1] or NaN. ``notes`` say in plain sentences how the file was read, and
    ``missing`` what should be in it and is not.
    """

    columns: Columns
    model: tuple[str, ...] | None = None
    logprob: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    missing: str = ""


def item_number(bin_name: str, item: str) -> int:
    """Return a number that stands for an item: the same everywhere, another for every other item.

    A million items as texts would take a hundred times the memory. The bin is part of it, because files with
    several question sets number the items of each from the start.
    """
    digest = hashlib.blake2b(f"{bin_name}\x1f{item}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def columns_of(records: Sequence[Record]) -> tuple[Columns, str]:
    """Return records as columns, with their confidences on one scale, and a note on the scale."""
    flags = [record.flags for record in records]
    stated, note = run_scale([record.confidence for record in records], flags)
    columns = Columns(
        item=np.array([item_number(record.bin, record.item_id) for record in records], dtype=np.int64),
        bin=tuple(record.bin for record in records),
        trap=np.array([record.trap for record in records], dtype=np.bool_),
        outcome=tuple(record.outcome for record in records),
        confidence=fractions(stated),
        free_text=np.array(["free_text" in marks for marks in flags], dtype=np.bool_),
    )
    return columns, note


def fractions(stated: Sequence[Any]) -> NDArray[np.float64]:
    """Return confidences of 0-100 or None as fractions or NaN."""
    return np.array(stated, dtype=np.float64) / 100  # None becomes NaN
