"""The panel: several models answered the same probes, and their agreement stands beside each one's own confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from selfdiag.elicit.grading import GRADED
from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.graded import FEW
from selfdiag.measure.panel import (
    INDETERMINATE,
    LEAST_MODELS,
    Agreement,
    Bracket,
    Comparison,
    Panel,
    canonical_agreement,
    label_free_agreement,
    panel,
    panel_signal,
)
from selfdiag.measure.resampling import ALPHA, DRAWS, SEED, holm
from selfdiag.protocols.audit import standing
from selfdiag.protocols.compare_settings import CHANGE_ANSWERS, CONFIDENCE, RULES, asked_with
from selfdiag.protocols.panel_answers import answer_codes, given_answer, shared_words
from selfdiag.protocols.panel_items import Shared, SharedProbe, left_out, shared_probes
from selfdiag.protocols.panel_result import (
    CANONICAL,
    CODINGS,
    LENIENT,
    LETTERS,
    STRICT,
    CodedPanel,
    ModelFigures,
    PanelItem,
    PanelModel,
    PanelReply,
    PanelResult,
    SharedErrors,
    Word,
)
from selfdiag.protocols.rows import OUTCOMES
from selfdiag.protocols.summary import model_of
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

_DRAWN = ("battery", "battery SHA-256", "draw", "seed", "fresh", "hardness", "bins", "items", "limit")
"""Settings that decide which probes are asked, and in which words."""
SMALL = 20
"""Below so many shared probes the panel says next to nothing."""


def panel_of(
    runs: Sequence[Run],
    *,
    codings: Sequence[str] = tuple(CODINGS),
    draws: int = DRAWS,
    seed: int = SEED,
) -> PanelResult:
    """Return what the agreement of the other models says about each model's answers.

    Graded answers alone give a signal and count in it: who abstains, refuses or cannot be read agrees with nobody.

    Args:
        runs: one run each of three or more different models, complete or not.
        codings: at least one of ``CODINGS``.
        draws: bootstrap draws over items.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when there are too few or too many runs, two are of one model, one has asked no probes, or no
            probe was asked of all in the same words and replied to by all.
    """
    if not LEAST_MODELS <= len(runs) <= len(LETTERS):
        raise SelfdiagError(
            f"a panel takes {LEAST_MODELS} to {len(LETTERS)} runs, each of another model, not {len(runs)}"
        )
    _must_differ(runs)
    probes, shared, scale_notes = shared_probes(runs)
    if not probes:
        raise SelfdiagError(_nothing_shared(runs, shared))
    right, stated = _grades(probes), _confidences(probes)
    agreement = _agreements(probes, right, [name for coding in codings for name in CODINGS[coding]])
    signals = {name: panel_signal(pairs, bracket) for name, (pairs, bracket) in agreement.items()}
    panels = {name: panel(signal, right, stated, draws=draws, seed=seed) for name, signal in signals.items()}
    coded = {name: _coded(panels[name], agreement[name][0], right, stated) for name in panels}
    any_panel = next(iter(panels.values()))
    return PanelResult(
        draws=draws,
        seed=seed,
        models=tuple(
            _model(place, run, probes, coded, [scale_notes[place]] if scale_notes[place] else [])
            for place, run in enumerate(runs)
        ),
        shared=shared,
        codings=coded,
        error_correlations=tuple(
            SharedErrors(first=LETTERS[one.first], second=LETTERS[one.second], phi=one.phi)
            for one in any_panel.error_correlations
        ),
        mean_error_correlation=any_panel.mean_error_correlation,
        items=tuple(_item(at, probe, signals) for at, probe in enumerate(probes)),
        notes=(*_few(probes), *_near_copies(runs), *_asked_otherwise(runs, shared)),
    )


def _must_differ(runs: Sequence[Run]) -> None:
    for (one, first), (other, second) in combinations(enumerate(runs), 2):
        if first.manifest.run_id == second.manifest.run_id:
            raise SelfdiagError(f"run {_named(first)} is named twice: a panel needs runs of different models")
        if _same_model(first, second):
            raise SelfdiagError(
                f"runs {_named(first)} and {_named(second)} ({LETTERS[one]} and {LETTERS[other]}) are of the same "
                f"model, {_model_name(first)}: it would only agree with itself, so name one of them and other models"
            )


def _same_model(first: Run, second: Run) -> bool:
    one, other = first.manifest.model, second.manifest.model
    if one.digest and other.digest:
        return one.digest == other.digest
    return (one.provider, one.name, one.server) == (other.provider, other.name, other.server)


def _nothing_shared(runs: Sequence[Run], shared: Shared) -> str:
    for run in runs:
        if not any(call.section == "probes" for call in run.manifest.plan):
            return (
                f"run {_named(run)} asks no probes, so there is nothing to agree on: name runs with the section probes"
            )
    reasons = "; ".join(left_out(shared))
    return f"these {len(runs)} runs have no probe in common ({reasons}): ask every model with the same battery and seed"


def _grades(probes: Sequence[SharedProbe]) -> Ints:
    """Return 1 for a right answer, 0 for a wrong one and -1 for none; shape (models, items)."""
    values = {"correct": 1, "incorrect": 0}
    return np.array([[values.get(one.record.outcome, -1) for one in probe.replies] for probe in probes]).T


def _confidences(probes: Sequence[SharedProbe]) -> Floats:
    return np.array([[one.confidence for one in probe.replies] for probe in probes], dtype=np.float64).T


def _agreements(
    probes: Sequence[SharedProbe], right: Ints, names: Sequence[str]
) -> dict[str, tuple[Agreement, Bracket]]:
    given = [
        [
            given_answer(one.probe, reply.record.answer or "") if reply.record.outcome in GRADED else None
            for one in probes
            for reply in [one.replies[place]]
        ]
        for place in range(len(right))
    ]
    codes = answer_codes(given)
    made: dict[str, Callable[[], tuple[Agreement, Bracket]]] = {
        CANONICAL: lambda: (canonical_agreement(codes, right), "strict"),
        STRICT: lambda: (label_free_agreement(codes, shared_words(given)), "strict"),
        LENIENT: lambda: (label_free_agreement(codes, shared_words(given)), "lenient"),
    }
    return {name: made[name]() for name in names}


def _coded(found: Panel, agreement: Agreement, right: Ints, stated: Floats) -> CodedPanel:
    used = (right >= 0) & np.isfinite(stated)
    fewest = np.minimum(((right == 1) & used).sum(axis=1), ((right == 0) & used).sum(axis=1))
    tested = [place for place, one in enumerate(found.models) if one.p is not None and fewest[place] >= FEW]
    corrected = dict(zip(tested, holm([found.models[place].p or 0.0 for place in tested]), strict=True))
    pairs = list(combinations(range(len(right)), 2))
    both = [(right[one] >= 0) & (right[other] >= 0) for one, other in pairs]
    return CodedPanel(
        models=tuple(
            ModelFigures(
                **msgspec.structs.asdict(one),
                letter=LETTERS[place],
                holm=corrected.get(place),
                lift=found.lifts[place],
                verdict=_word(one, corrected.get(place)),
            )
            for place, one in enumerate(found.models)
        ),
        pooled=found.pooled,
        rank_normalised=found.rank_normalised,
        mean_lift=found.mean_lift,
        replicated=found.replicated,
        lifted=found.lifted,
        undecided=sum(int((agreement[pair] == INDETERMINATE).sum()) for pair in pairs),
        pairs=int(np.sum(both)),
    )


def _word(found: Comparison, corrected: float | None) -> Word:
    if found.difference.value is None:
        return "undefined"
    if corrected is None:
        return "too few"
    if corrected >= ALPHA:
        return "not shown"
    return "better" if found.difference.value > 0 else "worse"


def _model(
    place: int, run: Run, probes: Sequence[SharedProbe], coded: Mapping[str, CodedPanel], notes: Sequence[str]
) -> PanelModel:
    replies = [probe.replies[place] for probe in probes]
    counted: Counter[str] = Counter(reply.record.outcome for reply in replies)
    said = [one.models[place].verdict for name, one in coded.items() if name != CANONICAL]
    said = said or [coded[CANONICAL].models[place].verdict]
    return PanelModel(
        letter=LETTERS[place],
        run_id=run.manifest.run_id,
        model=model_of(run),
        outcomes={name: count for name in OUTCOMES if (count := counted[name])},
        stated=sum(reply.record.outcome in GRADED and bool(np.isfinite(reply.confidence)) for reply in replies),
        verdict=said[0] if len(set(said)) == 1 else "undecided",
        notes=(*standing(run), *notes, *run.problems),
    )


def _item(at: int, shared: SharedProbe, signals: Mapping[str, Ints]) -> PanelItem:
    replies = []
    for place, (record, confidence) in enumerate(shared.replies):
        stated = round(100 * confidence, 6) if np.isfinite(confidence) else None
        agreeing = {name: int(signal[place, at]) for name, signal in signals.items()}
        replies.append(PanelReply(answer=record.answer, outcome=record.outcome, confidence=stated, agreeing=agreeing))
    probe = shared.probe
    return PanelItem(id=probe.id, bin=probe.bin, paraphrase=shared.paraphrase, replies=tuple(replies))


def _few(probes: Sequence[SharedProbe]) -> tuple[str, ...]:
    if len(probes) >= SMALL:
        return ()
    told = "1 probe is" if len(probes) == 1 else f"{len(probes)} probes are"
    return (f"{told} very few: with fewer than {SMALL} a panel says next to nothing",)


def _near_copies(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a note for each name that stands for several models, such as two versions of one."""
    letters: dict[str, list[str]] = {}
    for letter, run in zip(LETTERS, runs, strict=False):
        letters.setdefault(_model_name(run), []).append(letter)
    return tuple(
        f"{' and '.join(those)} are both called {name}: near copies of a model err alike, and their agreement says less"
        for name, those in letters.items()
        if len(those) > 1
    )


def _asked_otherwise(runs: Sequence[Run], shared: Shared) -> tuple[str, ...]:
    """Return in which settings the runs differ that change which probes are shared, or answers, and how."""
    settings = [asked_with(run) for run in runs]
    for one in settings:
        one[CONFIDENCE] = one[CONFIDENCE].partition(", ")[0]  # the first source is the one that counts
    notes = []
    drawn = _DRAWN if shared.probes < shared.asked else ()
    for names, said in (
        (drawn, "not the same probes were drawn"),
        ((CONFIDENCE,), "the confidences are of different sources"),
        (CHANGE_ANSWERS, "not asked alike, which can change answers"),
        (RULES, "read and graded by other rules"),
    ):
        differing = [name for name in names if len({one.get(name, "") for one in settings}) > 1]
        if differing:
            notes.append(f"{said}: {'; '.join(_values(name, settings) for name in differing)}")
    return tuple(notes)


def _values(name: str, settings: Sequence[Mapping[str, str]]) -> str:
    letters: dict[str, list[str]] = {}
    for letter, one in zip(LETTERS, settings, strict=False):
        letters.setdefault(one_line(one.get(name, ""), 40) or "unknown", []).append(letter)
    said = [f"{value} ({' '.join(those)})" for value, those in letters.items()]
    return f"{name} {', '.join(said)}"


def _model_name(run: Run) -> str:
    model = run.manifest.model
    return one_line(f"{model.provider}:{model.name}", 80)


def _named(run: Run) -> str:
    return one_line(run.manifest.run_id, 60)
