"""Real replies of four models, where the folder beside the checkout is there: the reader against two readings.

The labels file holds, for each of the 271 replies that the study's own parser gave up on, what a careful person
reads in it; the replies themselves are not part of this project.
"""

import json
import re
from pathlib import Path

import pytest

from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.reading import Reading, read_reply

HERE = Path(__file__).resolve()
REPLIES = HERE.parents[3] / "shared" / "data" / "stated-confidence" / "replies.jsonl"
LABELS = HERE.parents[1] / "data" / "reply_labels.jsonl"

pytestmark = pytest.mark.skipif(not REPLIES.is_file(), reason="the real replies are not on this machine")


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def folded(text: str | None) -> str | None:
    """Fold what a label does not settle: white space, case, quotes around the whole, the zeros of 89.0."""
    return None if text is None else re.sub(r"(\d)\.0+$", r"\1", " ".join(text.split()).strip('" ').casefold())


def said(reading: Reading) -> dict[str, object]:
    answer = reading.answer
    # a refusal is no answer, and neither is the half of one that the end of the reply has cut
    missing = answer is None or (not abstains(answer) and declines(answer))
    return {
        "answer": None if missing else folded(answer),
        "confidence": reading.confidence,
        "abstained": not missing and not reading.truncated and abstains(answer or "") is not None,
        "cut": reading.truncated,
    }


def test_what_the_studys_parser_gave_up_on_reads_as_a_person_reads_it() -> None:
    replies = {(row["model"], row["set"], row["item"]): row for row in rows(REPLIES)}
    labels = rows(LABELS)
    assert len(labels) == 271
    assert not any(replies[label["model"], label["set"], label["item"]]["their_parse_ok"] for label in labels)
    wrong = []
    for label in labels:
        found = said(read_reply(replies[label["model"], label["set"], label["item"]]["raw"]))
        expected = {name: label[name] for name in found} | {"answer": folded(label["answer"])}
        if found != expected:
            wrong.append((label["model"], label["item"], label["note"], expected, found))
    assert len(wrong) <= 0.02 * len(labels), wrong
    # the one that is left states answer and confidence in running prose
    assert [item for _, item, *_ in wrong] == ["8446_r"]


def test_where_the_studys_parser_succeeded_ours_agrees() -> None:
    parsed = [row for row in rows(REPLIES) if row["their_parse_ok"]]
    assert len(parsed) == 480
    wrong = []
    for row in parsed:
        reading = read_reply(row["raw"])
        stated = reading.confidence
        # its scale is a fraction, so a bare 1 is 100 there; ours decides that over a whole run
        ours = 100 if stated == 1 and "ambiguous_scale" in reading.flags else stated
        theirs = round(100 * float(row["their_confidence"])) if row["their_confidence"] else None
        # of some sets it kept the confidence alone
        same = not row["their_answer"] or folded(reading.answer) == folded(row["their_answer"])
        if not same or ours != theirs:
            wrong.append((row["model"], row["item"], row["their_answer"], reading))
    assert sum(bool(row["their_answer"]) for row in parsed) == 320
    assert len(wrong) <= 0.01 * len(parsed), wrong[:5]
