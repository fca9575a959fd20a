"""SimpleQA-style results: one JSON object a line, with a grader's verdict of three grades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfdiag.runs.columns import Answers
from selfdiag.runs.confidence_column import reply_text
from selfdiag.runs.log_kind import GRADE_NAMES, GRADES
from selfdiag.runs.logged import LogFile, LoggedAnswer, LogReader, named, verdict
from selfdiag.safety import one_line

REPLY_NAMES = (
    *("predicted_answer", "model_response", "response", "prediction", "predicted", "model_answer", "completion"),
    *("generated_answer", "output", "llm_response", "model_output", "answer_text"),
)
"""Members that hold the reply, in this order; ``answer`` is the right answer in most of these files."""
ITEM_NAMES = ("original_index", "id", "question_id", "problem", "question", "query")
TOPIC_NAMES = ("topic", "metadata.topic", "category")
MODEL_NAMES = ("model", "model_name")


def read_simpleqa(path: Path, mapping: Mapping[str, str]) -> Answers:
    """Return the graded answers of a file; not attempted counts as an abstention.

    A member ``confidence`` is the confidence; without one it is read from the reply.

    Args:
        path: of the file.
        mapping: what ``--map`` says.

    Raises:
        SelfdiagError: when nothing can be read, or a name is not there.
    """
    log = LogFile(path, mapping)
    own = next((name for _, row in log.objects() for name in ("confidence", "conf") if name in row), None)
    if own is not None and not {"confidence", "raw"} & set(mapping):
        log.columns["confidence"] = own
    reader = LogReader(log)
    reader.add(_answers(log))
    return reader.answers(["SimpleQA-style results: right and wrong by their grade, not attempted abstains"], log.torn)


def _answers(log: LogFile) -> Iterator[LoggedAnswer]:
    for line, row in log.objects():
        outcome, why = _outcome(row)
        reply = next((row[name] for name in REPLY_NAMES if row.get(name) is not None), None)
        yield LoggedAnswer(
            place=line,
            item=_first(row, ITEM_NAMES) or str(line),
            outcome=outcome,
            why=why,
            reply=None if reply is None else reply_text(reply),
            model=_first(row, MODEL_NAMES),
            bin=_first(row, TOPIC_NAMES),
            fields=row,
        )


def _outcome(row: Mapping[str, Any]) -> tuple[str, str]:
    grade = next((row[name] for name in GRADE_NAMES if row.get(name) is not None), None)
    if isinstance(grade, str):
        known = GRADES.get(grade.strip().lower())
        return (known, "") if known else ("unparsed", f"grade {one_line(grade, 40)}")
    flags = {name: verdict(row.get(f"is_{name}"))[0] for name in ("correct", "incorrect", "not_attempted")}
    if flags["not_attempted"] == "correct":
        return "abstained", ""
    if flags["incorrect"] == "correct":
        return "incorrect", ""
    return verdict(row.get("is_correct"))


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = next((value for name in names if (value := named(row, name)) is not None), None)
    return reply_text(found).strip()
