"""What kind of file answers stand in, told by what it holds and never by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from selfdiag.runs.json_document import MAX_DOCUMENT, decode, read_document
from selfdiag.runs.table_file import RECORD_MEMBERS
from selfdiag.safety import SelfdiagError, one_line

Kind = Literal["inspect zip", "inspect json", "lm-eval", "promptfoo json", "promptfoo lines", "simpleqa", "table"]

GRADE_NAMES = ("grade", "grade_str", "grade_letter", "score_name")
"""Members under which a SimpleQA grader leaves its verdict."""
GRADES = {
    **dict.fromkeys(("correct", "is_correct", "a"), "correct"),
    **dict.fromkeys(("incorrect", "is_incorrect", "b"), "incorrect"),
    **dict.fromkeys(("not_attempted", "is_not_attempted", "not attempted", "c"), "abstained"),
}
"""SimpleQA's three grades and their letters, in lower case."""
_LM_EVAL_MEMBERS = frozenset(
    {"arguments", "doc", "doc_hash", "filter", "metrics", "prompt_hash", "target", "target_hash"}
)
"""Members of the harness's sample logs, by two of which one is known whose first line is not whole."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_BEGINS_LIKE: dict[Kind, re.Pattern[bytes]] = {
    "inspect json": re.compile(rb'"eval"\s*:\s*\{\s*"(?:eval_id|run_id|created|task)"'),
    "promptfoo json": re.compile(rb'"evalId"\s*:\s*(?:"|null)[^{}]*"results"\s*:\s*\{'),
}
"""How the logs begin, by which one that is cut off is known."""
_HEAD = 65_536


def log_kind(path: Path) -> Kind:
    """Return what kind of file this is; ``table`` for every file that is no log of a known tool.

    Raises:
        SelfdiagError: when it is one JSON document of another kind.
    """
    try:
        with path.open("rb") as file:
            first = file.readline(MAX_DOCUMENT + 1)
            while first and not first.removeprefix(b"\xef\xbb\xbf").strip():
                first = file.readline(MAX_DOCUMENT + 1)
            several = bool(file.readline(MAX_DOCUMENT + 1).strip())
    except OSError:
        return "table"  # whose reader says what is wrong
    if first.startswith(_ZIP):
        return "inspect zip"
    first = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not first.startswith(b"{"):
        return "table"
    try:
        members = decode(first, dict[str, Any])
    except ValueError:
        kind = _document_kind(path)
        if kind is None:
            shown = one_line(str(path), 120)
            raise SelfdiagError(f"{shown} is one JSON document, but no log of Inspect AI or promptfoo") from None
        return kind
    return _line_kind(members) or ("table" if several else _document_kind(path) or "table")


def _line_kind(members: Mapping[str, Any]) -> Kind | None:
    """Return the kind of a file by its first object, None when it may be a whole document on one line."""
    names = set(members)
    if names >= RECORD_MEMBERS:
        return "table"
    if names & {"resps", "filtered_resps"} and ("doc_id" in names or len(names & _LM_EVAL_MEMBERS) > 1):
        return "lm-eval"
    if names >= {"testIdx", "promptIdx", "success"}:
        return "promptfoo lines"
    if "correct" not in names and _is_simpleqa(members):
        return "simpleqa"
    return None if names & {"eval", "results"} else "table"


def _is_simpleqa(members: Mapping[str, Any]) -> bool:
    grades = [members[name] for name in GRADE_NAMES if isinstance(members.get(name), str)]
    if any(str(grade).strip().lower() in GRADES for grade in grades):
        return True
    return "is_correct" in members and bool({"is_incorrect", "is_not_attempted"} & set(members))


def _document_kind(path: Path) -> Kind | None:
    """Return the kind of a file that is one document, None when it is of no known tool."""
    try:
        names = set(read_document(path, dict[str, msgspec.Raw]))
    except ValueError:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        # the log's reader says that it is damaged, the table's reader which line is no JSON
        return next((kind for kind, begins in _BEGINS_LIKE.items() if begins.search(head)), "table")
    if names >= {"eval", "status"}:
        return "inspect json"
    if "lm_eval_version" in names or names >= {"results", "configs"}:
        raise SelfdiagError(
            f"{one_line(str(path), 120)} holds the scores of an lm-evaluation-harness run, not its answers: run it "
            "with --log_samples and name the samples_*.jsonl beside it"
        )
    return "promptfoo json" if "results" in names else None
