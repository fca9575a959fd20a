"""The shapes of a battery: probes, traps and the fixed vocabulary they use."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

BINS: tuple[str, ...] = (
    "arithmetic",
    "algebra",
    "geometry",
    "calculus",
    "number_theory",
    "combinatorics",
    "probability",
    "statistics",
    "linear_algebra",
    "sequences",
    "logic",
    "code_reading",
    "physics",
    "chemistry",
    "biology",
    "earth_space",
    "history",
    "geography",
    "literature_arts",
    "language",
    "computing",
)
"""The 21 topics of the shipped battery, in the order in which they are shown."""

GROUPS: dict[str, tuple[str, ...]] = {
    "calculation": BINS[0:5],
    "chance and counting": BINS[5:8],
    "structure": BINS[8:12],
    "sciences": BINS[12:16],
    "humanities and language": BINS[16:21],
}
"""Five groups of bins, for samples too small to speak of single bins."""

FAMILIES: tuple[str, ...] = (
    "false_premise",
    "no_such_entity",
    "missing_information",
    "unknowable",
    "contradiction",
)
"""The reasons why a trap has no answer."""

Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")

Kind = Literal["number", "text", "choice", "set", "sequence", "date", "expression", "code"]
"""How an answer is graded; see ``selfdiag.elicit.grading``."""

ABSTENTION_TOKEN = "UNANSWERABLE"  # noqa: S105 - a word to write, no secret
"""What a model puts in place of an answer when a question has none."""

PARAPHRASES = 3
"""How many wordings every shipped probe and trap has."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """A short question whose answer is graded deterministically.

    ``questions`` holds the wordings (paraphrases) of the same question. ``tolerance`` is absolute and
    ``relative_tolerance`` relative; both are 0 by default, which means the exact value. ``convert`` allows
    an answer in another unit than ``unit``. ``derivation`` is a short program that computes the answer,
    ``source`` a work that states it; every probe has at least one of the two.
    """

    id: str
    bin: str
    difficulty: Difficulty
    kind: Kind
    answer: str
    questions: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    unit: str = ""
    convert: bool = False
    tolerance: float = 0.0
    relative_tolerance: float = 0.0
    derivation: str = ""
    source: str = ""
    misconception: str = ""


class Trap(msgspec.Struct, frozen=True, kw_only=True):
    """A question without an answer; the right reply is the abstention token.

    ``note`` says why there is no answer; it is shown to people, never to a model.
    """

    id: str
    bin: str
    family: str
    questions: tuple[str, ...]
    note: str


Item = Probe | Trap


class Battery(msgspec.Struct, frozen=True, kw_only=True):
    """A versioned set of probes and traps."""

    id: str
    version: str
    probes: tuple[Probe, ...]
    traps: tuple[Trap, ...] = ()

    def items(self) -> tuple[Item, ...]:
        """Return probes, then traps."""
        return (*self.probes, *self.traps)

    def find(self, item_id: str) -> Item | None:
        """Return the item with this id, or None."""
        return next((item for item in self.items() if item.id == item_id), None)

    def bins(self) -> tuple[str, ...]:
        """Return the bins present, the shipped ones in their own order first, then others by name."""
        present = {item.bin for item in self.items()}
        return (*(b for b in BINS if b in present), *sorted(present - set(BINS)))

    def sha256(self) -> str:
        """Return the SHA-256 of the canonical form: items sorted by id, keys sorted, UTF-8 JSON."""
        form = {
            "id": self.id,
            "version": self.version,
            "probes": sorted(self.probes, key=lambda item: item.id),
            "traps": sorted(self.traps, key=lambda item: item.id),
        }
        return hashlib.sha256(msgspec.json.encode(form, order="sorted")).hexdigest()
