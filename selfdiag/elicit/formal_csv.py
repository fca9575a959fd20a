"""Checking a reply that should be CSV, as RFC 4180 describes it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from selfdiag.elicit.formal_body import Body
from selfdiag.elicit.formal_columns import column_elements, judge_columns


def elements(check: Mapping[str, Any]) -> list[str]:
    """Return the names of what is scored, in order."""
    quoting = ["quoting"] if "quoting" in check else []
    return ["parses", "columns", "header", "rows", *column_elements(check), *quoting]


def judge(check: Mapping[str, Any], body: Body) -> dict[str, bool]:
    """Return which elements are right; one that is not named is wrong.

    Args:
        check: ``header``, ``rows`` and ``columns``, and ``quoting`` ("all" or "minimal") where it is asked for.
        body: what the reply says.
    """
    try:
        records = list(csv.reader(io.StringIO(body.text), strict=True))
    except csv.Error:
        return {}
    width = len(check["header"])
    if sum(len(record) == width for record in records) < 2:
        return {}
    header, *rows = records
    return {
        "parses": True,
        "columns": body.alone and all(len(record) == width for record in records),
        "header": header == check["header"],
        "rows": len(rows) == check["rows"],
        "quoting": "quoting" in check and _written(records, check["quoting"]) == body.text,
    } | judge_columns(check, rows)


def _written(records: Sequence[Sequence[str]], quoting: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL if quoting == "all" else csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerows(records)
    return text.getvalue().removesuffix("\n")
