"""The shape of a panel's result."""

from __future__ import annotations

import string
from typing import Literal

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.panel import Comparison, Lift
from selfdiag.protocols.panel_items import Shared
from selfdiag.protocols.summary import SummaryModel

SCHEMA = "selfdiag.panel/1"
LETTERS = string.ascii_uppercase
CANONICAL, STRICT, LENIENT = "canonical", "label_free_strict", "label_free_lenient"
CODINGS: dict[str, tuple[str, ...]] = {"label-free": (STRICT, LENIENT), "canonical": (CANONICAL,)}
"""How answers are taken for the same, and under which names the result has it."""
Word = Literal["better", "worse", "not shown", "undecided", "too few", "undefined"]
"""What the others' agreement is to a model's own confidence.

``undecided`` is when it depends on how answers that share some words are taken, ``too few`` when there are fewer than
``FEW`` right or wrong answers, ``undefined`` when there is no difference to speak of.
"""


class PanelModel(msgspec.Struct, frozen=True, kw_only=True):
    """One model of the panel: ``letter`` is what the panel calls it.

    ``outcomes`` count its replies to the shared probes, and ``stated`` those graded ones that have a confidence.
    ``verdict`` rests on the label-free coding, or on the canonical one where that alone was computed. ``notes`` say
    what must be known of its run: that it is simulated, incomplete, or how its confidence was read.
    """

    letter: str
    run_id: str
    model: SummaryModel
    outcomes: dict[str, int]
    stated: int
    verdict: Word
    notes: tuple[str, ...]


class ModelFigures(Comparison, frozen=True, kw_only=True):
    """One model in one coding: own and panel AUROC with their difference, and the lift of full agreement.

    ``holm`` is ``p`` corrected over the models of the panel, None where there is too little to test.
    """

    letter: str
    holm: float | None
    lift: Lift
    verdict: Word


class CodedPanel(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of one coding of agreement.

    ``undecided`` of ``pairs`` pairs of answers share words without being the same. The other fields are those of
    ``measure.panel.Panel``.
    """

    models: tuple[ModelFigures, ...]
    pooled: Comparison
    rank_normalised: Comparison
    mean_lift: Estimate
    replicated: int
    lifted: int
    undecided: int
    pairs: int


class SharedErrors(msgspec.Struct, frozen=True, kw_only=True):
    """Phi of the errors of two models, named by their letters."""

    first: str
    second: str
    phi: Estimate


class PanelReply(msgspec.Struct, frozen=True, kw_only=True):
    """A model's reply to a probe; ``agreeing`` counts the panel-mates with the same answer, by coding.

    ``confidence`` is in points, 0-100, None where none is stated.
    """

    answer: str | None
    outcome: str
    confidence: float | None
    agreeing: dict[str, int]


class PanelItem(msgspec.Struct, frozen=True, kw_only=True):
    """One shared probe; ``paraphrase`` is its wording, from 0, and ``replies`` are in the order of the models."""

    id: str
    bin: str
    paraphrase: int
    replies: tuple[PanelReply, ...]


class PanelResult(msgspec.Struct, frozen=True, kw_only=True):
    """A panel. ``codings`` has the figures by coding; errors are the same in every coding."""

    schema: str = SCHEMA
    draws: int
    seed: int
    models: tuple[PanelModel, ...]
    shared: Shared
    codings: dict[str, CodedPanel]
    error_correlations: tuple[SharedErrors, ...]
    mean_error_correlation: Estimate
    items: tuple[PanelItem, ...]
    notes: tuple[str, ...]


def same_answer(found: PanelResult) -> tuple[list[PanelItem], list[PanelItem]]:
    """Return the items to which all models give one answer, and those of them where it is wrong.

    Two right answers are one where the canonical coding was computed alone; else the answers are the same in the
    strict bracket.
    """
    coding, mates = STRICT if STRICT in found.codings else CANONICAL, len(found.models) - 1
    same = [item for item in found.items if all(reply.agreeing[coding] == mates for reply in item.replies)]
    return same, [item for item in same if item.replies[0].outcome == "incorrect"]
