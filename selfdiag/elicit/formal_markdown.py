"""Checking a reply that should be one Markdown table, as GitHub's dialect writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from selfdiag.elicit.formal_body import Body
from selfdiag.elicit.formal_columns import column_elements, judge_columns

_BAR = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"(:?)-+(:?)")
_ALIGNMENT = {(":", ":"): "center", (":", ""): "left", ("", ":"): "right", ("", ""): ""}


def elements(check: Mapping[str, Any]) -> list[str]:
    """Return the names of what is scored, in order."""
    align = ["align"] if "align" in check else []
    return ["only", "table", "header", "columns", "rows", *align, *column_elements(check)]


def judge(check: Mapping[str, Any], body: Body) -> dict[str, bool]:
    """Return which elements are right; one that is not named is wrong.

    Args:
        check: ``header``, ``rows`` and ``columns``, and ``align`` where it is asked for.
        body: what the reply says; a line without a bar, an empty one too, is none of the table's.
    """
    lines = body.text.split("\n")
    table = [_cells(line) for line in lines if "|" in line]
    if len(table) < 2:
        return {}
    header, delimiters, *rows = table
    marks = [_DELIMITER.fullmatch(cell) for cell in delimiters]
    alignment = [_ALIGNMENT[mark[1], mark[2]] for mark in marks if mark]
    if not 0 < len(alignment) == len(delimiters) == len(header):
        return {}
    header, rows = _plain(header), [_plain(row) for row in rows]
    return {
        "only": body.alone and len(table) == len(lines),
        "table": True,
        "header": header == check["header"],
        "columns": all(len(row) == len(check["header"]) for row in (header, *rows)),
        "rows": len(rows) == check["rows"],
        "align": alignment == check.get("align"),
    } | judge_columns(check, rows)


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in _BAR.split(line.strip())]
    # The bars at both ends of a row are optional and part nothing.
    if not cells[0]:
        del cells[0]
    if cells and not cells[-1]:
        del cells[-1]
    return cells


def _plain(cells: list[str]) -> list[str]:
    return [_without_emphasis(cell).replace("\\|", "|") for cell in cells]


def _without_emphasis(cell: str) -> str:
    width = len(cell) - len(cell.lstrip("*_`"))
    closing = cell[:width][::-1]
    return cell[width:].removesuffix(closing).strip() if cell[width:].endswith(closing) else cell
