"""Any file or folder of answers: a table, a log of another tool, or a folder of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from selfdiag.runs.columns import Answers
from selfdiag.runs.importers import read_answers
from selfdiag.runs.inspect_log import inspect_documents, read_inspect
from selfdiag.runs.lm_eval_log import read_lm_eval
from selfdiag.runs.log_kind import log_kind
from selfdiag.runs.logged import LogFile
from selfdiag.runs.promptfoo_log import read_promptfoo
from selfdiag.runs.records import MEASURED_SECTIONS
from selfdiag.runs.simpleqa_log import read_simpleqa
from selfdiag.runs.store import MANIFEST, RECORDS, read_manifest
from selfdiag.runs.table_file import TableFile
from selfdiag.safety import SelfdiagError


def read_file(path: Path, mapping: Mapping[str, str]) -> Answers:
    """Return the graded answers of a file.

    Args:
        path: a table (``importers.read_answers``), or a log of Inspect AI, lm-evaluation-harness, promptfoo or a
            SimpleQA grader; what it is, is told by what it holds.
        mapping: which column or field stands for which of ``table_file.KEYS``.

    Raises:
        SelfdiagError: when it cannot be read, in one line.
    """
    kind = log_kind(path)
    if kind in {"inspect zip", "inspect json"}:
        header, samples = inspect_documents(path, kind)
        return read_inspect(LogFile(path, mapping, "sample"), header, samples)
    if kind == "lm-eval":
        return read_lm_eval(path, mapping)
    if kind in {"promptfoo json", "promptfoo lines"}:
        return read_promptfoo(path, mapping, kind)
    if kind == "simpleqa" and "correct" not in mapping:
        return read_simpleqa(path, mapping)
    return read_answers(path, mapping)


def answers_in(folder: Path, mapping: Mapping[str, str]) -> tuple[list[Path], list[Path]]:
    """Return the runs that ask items and the files of answers below a folder, and what is something else.

    Args:
        folder: any folder; hidden files and folders in it are passed over, and so is a link to what it holds already.
        mapping: what ``--map`` says, for the tables among the files.
    """
    return _answers_below(folder, mapping, {os.path.realpath(folder)})


def _answers_below(folder: Path, mapping: Mapping[str, str], seen: set[str]) -> tuple[list[Path], list[Path]]:
    try:
        if (folder / MANIFEST).is_file():
            return ([folder], []) if _asks_items(folder) else ([], [folder])
        # links come last, so that a file is named by its own place
        paths = sorted(folder.iterdir(), key=lambda path: (path.is_symlink(), path))
    except OSError:
        return [], [folder]
    found: list[Path] = []
    others: list[Path] = []
    for path in paths:
        place = os.path.realpath(path)  # of links in a circle too, which have no other end
        if path.name.startswith(".") or place in seen:
            continue
        seen.add(place)
        if path.is_dir():
            below = _answers_below(path, mapping, seen)
            found += below[0]
            others += below[1]
        elif path.is_file():
            (found if _holds_answers(path, mapping) else others).append(path)
    return found, others


def _asks_items(folder: Path) -> bool:
    try:
        plan = read_manifest(folder).plan
    except SelfdiagError:
        return True  # whoever reads the run says what is wrong with it
    return any(call.section in MEASURED_SECTIONS for call in plan)


def _holds_answers(path: Path, mapping: Mapping[str, str]) -> bool:
    try:
        if log_kind(path) != "table":
            return True
    except SelfdiagError:
        return False
    try:
        columns = TableFile(path, mapping).columns
    except SelfdiagError:
        return path.name == RECORDS
    return "correct" in columns and ("confidence" in columns or "raw" in mapping)
