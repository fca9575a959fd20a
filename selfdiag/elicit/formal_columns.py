"""Checking the cells of a table's columns, whether the table is written in Markdown or as CSV."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any


def column_elements(check: Mapping[str, Any]) -> list[str]:
    """Return the name of the element for each column whose cells are checked."""
    return [f"column {name}" for name in check["columns"]]


def judge_columns(check: Mapping[str, Any], rows: Sequence[Sequence[str]]) -> dict[str, bool]:
    """Return for each column whose cells are checked whether all of them are right.

    Args:
        check: ``header``, the names in order, and ``columns``, which gives a ``pattern`` that every cell matches as
            a whole, or the ``values`` from top to bottom.
        rows: the cells of each row below the header; a row may be too short, there may be none.
    """
    return {
        f"column {name}": _right(wanted, rows, check["header"].index(name)) for name, wanted in check["columns"].items()
    }


def _right(wanted: Mapping[str, Any], rows: Sequence[Sequence[str]], place: int) -> bool:
    if not rows or any(len(row) <= place for row in rows):
        return False
    cells = [row[place] for row in rows]
    if "values" in wanted:
        return cells == list(wanted["values"])
    return all(re.fullmatch(wanted["pattern"], cell) for cell in cells)
