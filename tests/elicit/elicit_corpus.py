"""The recorded replies, what each should read and grade as, and the pin that no grade changes unseen.

After a change of rules, raise the version of the module that changed and run ``python tests/elicit/elicit_corpus.py``,
which pins the new grades. It refuses while grades differ and no version does.
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from elicit_probes import TRAP

from selfdiag.battery.items import Probe, Trap
from selfdiag.elicit.grading import GRADING_VERSION, Grade, grade
from selfdiag.elicit.lexicon import LEXICON_VERSION
from selfdiag.elicit.reading import READING_VERSION, Parse, Reading, read_reply

DATA = Path(__file__).resolve().parent.parent / "data"
CORPUS = DATA / "replies_corpus.jsonl"
PINNED = DATA / "replies_grades.json"
VERSIONS = {"reading": READING_VERSION, "grading": GRADING_VERSION, "lexicon": LEXICON_VERSION}


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person judged a reply to say; ``flags`` must be there, others may; an empty ``rule`` is any."""

    answer: str | None
    confidence: int | None
    parse: Parse
    flags: tuple[str, ...]
    truncated: bool
    outcome: str
    rule: str = ""


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One recorded reply: to which probe, as it came, whether a limit cut it, and what is expected."""

    id: str
    probe: dict[str, Any]
    raw: str
    expected: Expected
    cut: bool = False

    def item(self) -> Probe | Trap:
        """Return the probe, or the trap that stands for all of them."""
        if self.probe == {"trap": True}:
            return TRAP
        rest = {"id": "p", "bin": "history", "difficulty": "easy", "questions": ("What?",)}
        return msgspec.convert({**rest, **self.probe}, Probe)

    def read(self) -> tuple[Reading, Grade]:
        """Return what the code makes of the reply."""
        reading = read_reply(self.raw, cut=self.cut)
        return reading, grade(self.item(), reading)


class Pinned(msgspec.Struct, frozen=True, kw_only=True):
    """The versions of the rules, the SHA-256 over all readings and grades, and a short one for each reply."""

    versions: dict[str, str]
    sha256: str
    grades: dict[str, str]


@cache
def rows() -> tuple[Row, ...]:
    """Return the corpus in the order of its file."""
    # json, because a raw reply may hold lone surrogates
    lines = CORPUS.read_text(encoding="utf-8").splitlines()
    return tuple(msgspec.convert(json.loads(line), Row) for line in lines)


@cache
def current() -> Pinned:
    """Return the versions and digests of the code as it is."""
    forms = {row.id: msgspec.json.encode(row.read(), order="sorted") for row in rows()}
    whole = hashlib.sha256()
    for row_id in sorted(forms):
        whole.update(f"{row_id}\n".encode() + forms[row_id] + b"\n")
    grades = {row_id: hashlib.sha256(form).hexdigest()[:12] for row_id, form in forms.items()}
    return Pinned(versions=VERSIONS, sha256=whole.hexdigest(), grades=grades)


def pinned() -> Pinned:
    """Return what was pinned last."""
    return msgspec.json.decode(PINNED.read_bytes(), type=Pinned)


def changed_replies(old: Pinned, new: Pinned) -> tuple[str, ...]:
    """Return the ids of replies that both know and that read or grade differently."""
    return tuple(row_id for row_id, digest in new.grades.items() if old.grades.get(row_id, digest) != digest)


def fault(old: Pinned, new: Pinned) -> str:
    """Return what has to be done before the new grades are the pinned ones, or ''."""
    if old == new:
        return ""
    changed = changed_replies(old, new)
    named = f"{len(changed)} replies read or grade differently: {', '.join(changed[:40])}. " if changed else ""
    if changed and old.versions == new.versions:
        return (
            f"{named}If that is wanted, raise READING_VERSION, GRADING_VERSION or LEXICON_VERSION, "
            "then run python tests/elicit/elicit_corpus.py"
        )
    return f"{named}The corpus or a version changed: run python tests/elicit/elicit_corpus.py"


def main() -> int:
    """Pin the grades of today, unless some differ under unchanged versions."""
    new = current()
    if PINNED.exists():
        old = pinned()
        if changed_replies(old, new) and old.versions == new.versions:
            print(fault(old, new), file=sys.stderr)
            return 1
    PINNED.write_bytes(msgspec.json.format(msgspec.json.encode(new), indent=1) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
