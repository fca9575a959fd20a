"""Analysis: runs and files of graded answers, divided into groups, each with every number, and all pooled."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from selfdiag.measure.calibration import BINS
from selfdiag.measure.pooled import PooledAuroc, pooled_auroc
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.measure.sources import compare_sources
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.rows import summarise_columns
from selfdiag.protocols.sources import source_of
from selfdiag.protocols.summary import Group, Pooled, Source, Summaries, SummaryModel, model_of
from selfdiag.runs.columns import Columns
from selfdiag.runs.store import Run

DIVISIONS = ("model", "bin", "file")


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One run or one file: its rows, and who answered each.

    ``model`` has one name per row; ``logprob`` a fraction or NaN per row, or is None; ``run`` is None for a file.
    ``missing`` says what a file should hold and does not.
    """

    file: str
    columns: Columns
    model: tuple[str, ...]
    logprob: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    missing: str = ""
    run: Run | None = None


def analyse(
    parts: Sequence[Part],
    by: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    ece_bins: int = BINS,
    full_intervals: bool = False,
) -> Summaries:
    """Return a summary of every group of rows, in the order of their first rows, and one of all.

    Args:
        parts: runs and files; at least one.
        by: what divides the rows, of ``DIVISIONS``; groups never mix parts when ``file`` is among them.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
        ece_bins: equal-width bins of the calibration error.
        full_intervals: refit the fitted measures in every draw, which takes seconds a group.
    """
    groups: dict[Group, list[tuple[Part, NDArray[np.int64]]]] = {}
    for part in parts:
        for group, rows in _divided(part, by).items():
            groups.setdefault(group, []).append((part, rows))
    summaries = []
    for group, members in groups.items():
        run = members[0][0].run
        if run is not None and len(members) == 1 and "bin" not in by:
            made = summarise(run, draws=draws, seed=seed, ece_bins=ece_bins, full_intervals=full_intervals)
            summaries.append(msgspec.structs.replace(made, group=group))
            continue
        made = summarise_columns(
            _joined([_rows(part, rows) for part, rows in members]),
            model=_who(members),
            draws=draws,
            seed=seed,
            ece_bins=ece_bins,
            full_intervals=full_intervals,
        )
        notes = tuple(dict.fromkeys(note for part, _ in members for note in part.notes))
        sources = _sources(members, draws, seed)
        summaries.append(msgspec.structs.replace(made, group=group, sources=sources, notes=(*notes, *made.notes)))
    pooled = _pooled(parts, draws, seed, ece_bins) if len(summaries) > 1 else None
    return Summaries(models=tuple(summaries), pooled=pooled)


def _divided(part: Part, by: Sequence[str]) -> dict[Group, NDArray[np.int64]]:
    """Return the places of the rows of each group, in their order."""
    file = part.file if "file" in by else None
    if not {"model", "bin"} & set(by):
        return {Group(file=file): np.arange(len(part.columns))}
    models = part.model if "model" in by else (None,) * len(part.columns)
    bins = part.columns.bin if "bin" in by else (None,) * len(part.columns)
    places: dict[tuple[str | None, str | None], array[int]] = {}  # a list would take five times the memory
    for row, key in enumerate(zip(models, bins, strict=True)):
        places.setdefault(key, array("q")).append(row)
    return {
        Group(model=model, bin=name, file=file): np.frombuffer(rows, dtype=np.int64)
        for (model, name), rows in places.items()
    }


def _rows(part: Part, rows: NDArray[np.int64]) -> Columns:
    return part.columns if rows.size == len(part.columns) else part.columns.rows(rows)


def _who(members: Sequence[tuple[Part, NDArray[np.int64]]]) -> SummaryModel:
    """Return the one model of a group, or an empty name when its rows are of several or of none."""
    runs = [part.run for part, _ in members if part.run is not None]
    if len(runs) == len(members) and all(model_of(run) == model_of(runs[0]) for run in runs):
        return model_of(runs[0])
    names = {part.model[row] for part, rows in members for row in rows}
    simulated = any(part.run is not None and part.run.manifest.model.simulated for part, _ in members)
    name = names.pop() if len(names) == 1 else ""
    return SummaryModel(provider="", name=name, served_name="", digest="", simulated=simulated)


def _joined(columns: Sequence[Columns]) -> Columns:
    if len(columns) == 1:
        return columns[0]
    return Columns(
        item=np.concatenate([part.item for part in columns]),
        bin=tuple(name for part in columns for name in part.bin),
        trap=np.concatenate([part.trap for part in columns]),
        outcome=tuple(outcome for part in columns for outcome in part.outcome),
        confidence=np.concatenate([part.confidence for part in columns]),
        free_text=np.concatenate([part.free_text for part in columns]),
    )


def _answered(columns: Columns) -> NDArray[np.bool_]:
    graded = np.array([outcome in {"correct", "incorrect"} for outcome in columns.outcome], dtype=np.bool_)
    return np.asarray(graded & ~columns.trap & np.isfinite(columns.confidence))


def _right(columns: Columns) -> NDArray[np.bool_]:
    return np.array([outcome == "correct" for outcome in columns.outcome], dtype=np.bool_)


def _sources(members: Sequence[tuple[Part, NDArray[np.int64]]], draws: int, seed: int) -> dict[str, Source] | None:
    """Return stated against token confidence on the answers that have both, or None where there are none."""
    given = [(part, rows) for part, rows in members if part.logprob is not None]
    if not given:
        return None
    columns = _joined([_rows(part, rows) for part, rows in given])
    token = np.concatenate([part.logprob[rows] for part, rows in given if part.logprob is not None])
    both = np.flatnonzero(_answered(columns) & np.isfinite(token))
    if not both.size:
        return None
    stated, right = columns.confidence[both], _right(columns)[both]
    against = compare_sources(stated, token[both], right, item=columns.item[both], draws=draws, seed=seed)
    return {
        "stated": source_of({name: found.first for name, found in against.items()}, both.size, None),
        "logprob": source_of({name: found.second for name, found in against.items()}, both.size, against),
    }


def _pooled(parts: Sequence[Part], draws: int, seed: int, ece_bins: int) -> Pooled:
    columns = _joined([part.columns for part in parts])
    models = [name for part in parts for name in part.model]
    answered = np.flatnonzero(_answered(columns))
    names = {name: code for code, name in enumerate(sorted(set(models)))}
    codes = np.fromiter((names[name] for name in models), dtype=np.int64, count=len(models))
    nobody = SummaryModel(provider="", name="", served_name="", digest="", simulated=False)
    whole = summarise_columns(columns, model=nobody, draws=draws, seed=seed, ece_bins=ece_bins)
    return Pooled(
        models=len(set(models)),
        mean_confidence=whole.mean_confidence,
        mean_confidence_attempted=whole.mean_confidence_attempted,
        metrics=whole.metrics,
        metrics_attempted=whole.metrics_attempted,
        auroc=_pooled_auroc(columns, answered, codes, draws, seed),
    )


def _pooled_auroc(
    columns: Columns, answered: NDArray[np.int64], codes: NDArray[np.int64], draws: int, seed: int
) -> PooledAuroc | None:
    if np.unique(codes).size < 2:
        return None
    return pooled_auroc(
        columns.confidence[answered],
        _right(columns)[answered],
        codes[answered],
        columns.item[answered],
        draws=draws,
        seed=seed,
    )
