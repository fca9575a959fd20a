"""A panel as lines for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.graded import FEW
from selfdiag.measure.panel import Comparison
from selfdiag.protocols.panel_items import Shared, left_out
from selfdiag.protocols.panel_result import (
    CANONICAL,
    LENIENT,
    STRICT,
    CodedPanel,
    ModelFigures,
    PanelItem,
    PanelModel,
    PanelResult,
    same_answer,
)
from selfdiag.report import words
from selfdiag.report.page import WIDTH, cell, notes_lines, table, wrapped
from selfdiag.safety import one_line

SHOWN = 10
"""So many rows of a list stand in the terminal; Markdown and JSON have all."""

VERDICTS = {
    "better": "better than its own confidence",
    "worse": "worse than its own confidence",
    "not shown": "no difference shown",
    "undecided": "it depends on the bracket",
    "too few": "too few answers to say",
    "undefined": "not defined",
}
"""What the words of a verdict mean to a reader."""
_CODINGS = {
    STRICT: ("label-free, strict", "answers that share only some words disagree"),
    LENIENT: ("label-free, lenient", "answers that share only some words agree"),
    CANONICAL: ("canonical", "two right answers count as the same, for which the answer key is needed"),
}
_LIFT = ("all others agree", "all its answers", "lift")


def panel_lines(found: PanelResult) -> list[str]:
    """Return the panel as lines, none wider than ``WIDTH`` characters."""
    lines = [line for one in found.models for line in _model_lines(one)]
    lines += notes_lines(_model_notes(found), "   ")
    lines += ["", *wrapped(what_is_shared(found)), *notes_lines(found.notes), ""]
    for one in found.models:
        first, *rest = wrapped(verdict_sentence(found, one), "   ")
        lines += [f"{one.letter}{first[1:]}", *rest]
    lines += ["", *wrapped(limits_sentence(found))]
    for name, remark, coded in _shown_codings(found):
        lines += ["", *wrapped(f"{name}: {remark}"), *_coding_lines(coded)]
    lines += ["", *_error_lines(found), *_item_lines(found)]
    return [*lines, "", *wrapped(how_computed(found))]


def panel_markdown(found: PanelResult) -> str:
    """Return the panel as Markdown that reads well raw; the same runs give the same bytes."""
    verdicts = [f"- **{one.letter}, {cell(model_words(one))}**: {verdict_sentence(found, one)}" for one in found.models]
    models = [
        [
            one.letter,
            *map(cell, (model_words(one), one.model.provider, one.run_id)),
            _outcomes(one),
            str(one.stated),
        ]
        for one in found.models
    ]
    parts = [
        f"# Panel of {len(found.models)} models",
        "\n".join(verdicts),
        limits_sentence(found),
        "## Models",
        table(["", "model", "provider", "run", "replies", "graded with a confidence"], models),
        _listed(_model_notes(found)),
        what_is_shared(found),
        _listed(found.notes),
    ]
    for name, remark, coded in _shown_codings(found):
        parts += [f"## {name.capitalize()}", words.sentence(remark), *_coding_markdown(coded)]
    return "\n\n".join(part for part in [*parts, *_error_markdown(found), *_end_markdown(found)] if part) + "\n"


def model_words(one: PanelModel) -> str:
    """Return the model's name, marked where it is simulated."""
    return f"{one_line(one.model.name, 30)}{words.if_simulated(one.model.simulated)}"


def what_is_shared(found: PanelResult) -> str:
    """Return how many probes the panel speaks of, and what is left out and why."""
    shared, models = found.shared, len(found.models)
    said = (
        f"{shared.probes} of {words.several(shared.asked, 'probe')} {'was' if shared.probes == 1 else 'were'} asked of "
        f"all {models} models in the same words and replied to"
    )
    return f"{'; '.join([said, *_left_out(shared)])}."


def _left_out(shared: Shared) -> Iterator[str]:
    if reasons := left_out(shared):
        yield f"left out: {', '.join(reasons)}"
    if shared.traps:
        yield f"{words.several(shared.traps, 'trap')} left out (no right answer to agree on)"
    if shared.repeats:
        again = words.several(shared.repeats, "further reply", "further replies")
        yield f"{again} left out: one wording of a probe, and its first reply, count"


def verdict_sentence(found: PanelResult, one: PanelModel) -> str:
    """Return in a sentence what the others' agreement is to a model's own confidence."""
    place = [model.letter for model in found.models].index(one.letter)
    figures = {name: coded.models[place] for name, coded in found.codings.items()}
    chosen = figures.get(STRICT, figures.get(CANONICAL))
    assert chosen is not None, "a panel has a coding"  # noqa: S101
    if one.verdict == "undefined":
        return f"no verdict: {chosen.difference.note}."
    values = f"AUROC {words.fraction(chosen.panel.value)} against {words.fraction(chosen.own.value)}"
    tested = "" if chosen.holm is None else f", Holm p {words.p_value(chosen.holm)}"
    said = f"{values}, {_difference(chosen)}{tested}"
    if one.verdict in {"better", "worse"}:
        return (
            f"the others' agreement tells its right answers from its wrong ones {one.verdict} than its own confidence "
            f"does: {said}."
        )
    if one.verdict == "undecided":
        lenient = _difference(figures[LENIENT])
        return (
            "it depends on whether answers that share only some words agree: panel - own "
            f"{_difference(chosen)} when they do not, {lenient} when they do."
        )
    if one.verdict == "too few":
        return f"too few to say, it takes {FEW} right and {FEW} wrong answers with a confidence: {said}."
    return f"no difference shown between the others' agreement and its own confidence: {said}."


def limits_sentence(found: PanelResult) -> str:
    """Return what the verdicts do not mean, with how often all were wrong alike."""
    same, wrong = same_answer(found)
    phi = found.mean_error_correlation
    together = (
        f"mean phi of their errors {_signed(phi)} over {words.several(phi.n, 'pair')} of models"
        if phi.value is not None
        else f"how far their errors go together is {phi.note}"
    )
    probes, models = words.several(len(found.items), "probe"), len(found.models)
    alike = f"All {models} give the same answer to {len(same)} of {probes}, and {len(wrong)} of these answers "
    alike += f"{'is' if len(wrong) == 1 else 'are'} wrong."
    return (
        f"Agreement is not correctness: models can be wrong alike ({together}; 0 when errors are independent, 1 when "
        f"they fall on the same probes). {alike if same else f'To no probe do all {models} give the same answer.'}"
    )


def how_computed(found: PanelResult) -> str:
    """Return what the figures are."""
    return (
        "Panel: the number of other models whose answer is the same; a model's own record never counts for itself, and "
        "who abstains, refuses or cannot be read agrees with nobody. AUROCs are over graded answers with a confidence. "
        "Lift: accuracy where all others agree, less that of all its graded answers. Pooled: the answers of all models "
        "together; ranked: the same after ranking within each model, so that which model answered does not count. "
        "95 % intervals: DeLong for a model's own and panel AUROC, Wilson for shares, else from "
        f"{found.draws} draws of items with the answers of all models, seed {found.seed}. Holm: p corrected over the "
        "models; a difference is shown with Holm below .05."
    )


def _shown_codings(found: PanelResult) -> list[tuple[str, str, CodedPanel]]:
    """Return each coding with its name and what it is; codings with the same figures stand once."""
    named, shown = dict(_CODINGS), dict(found.codings)
    if STRICT in shown:
        strict = shown[STRICT]
        pairs = f"{words.several(strict.pairs, 'pair')} of answers"
        name, remark = named[STRICT]
        if strict.undecided:
            remark += f" ({strict.undecided} of {pairs})"
        else:
            del shown[LENIENT]
            name, remark = "label-free", f"the same answer by its wording alone; none of {pairs} shares only some words"
        if CANONICAL in shown and shown[CANONICAL].models == strict.models:
            del shown[CANONICAL]
            remark += "; the canonical coding has the same figures"
        named[STRICT] = name, remark
    return [(*named[coding], coded) for coding, coded in shown.items()]


def _model_lines(one: PanelModel) -> list[str]:
    head = f"{one.letter}  {model_words(one)} · {one_line(one.model.provider, 12)} · {one_line(one.run_id, 30)}"
    said = f"{_outcomes(one)}; {one.stated} graded with a confidence"
    return [_fitting(head), *wrapped(said, "   ")]


def _model_notes(found: PanelResult) -> list[str]:
    return _once([(one.letter, one.notes) for one in found.models])


def _outcomes(one: PanelModel) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in one.outcomes.items())


def _coding_lines(coded: CodedPanel) -> list[str]:
    lines = ["", _line("", "n", "own AUROC", "panel AUROC", "panel - own", "Holm")]
    lines += [_line(name, *_figures(one), _holm(one)) for name, one in _rows(coded)]
    lines += notes_lines(_auroc_notes(coded), "  ")
    lines += ["", _lift_line("", *_LIFT)]
    lines += [_lift_line(one.letter, *_lift_figures(one)) for one in coded.models]
    return [*lines, *notes_lines(_lift_notes(coded), "  "), *wrapped(_mean_lift(coded), "  ")]


def _rows(coded: CodedPanel) -> list[tuple[str, Comparison]]:
    models: list[tuple[str, Comparison]] = [(one.letter, one) for one in coded.models]
    return [*models, ("pooled", coded.pooled), ("ranked", coded.rank_normalised)]


def _figures(one: Comparison) -> tuple[str, str, str, str]:
    return str(one.difference.n), _fraction(one.own), _fraction(one.panel), _signed(one.difference)


def _lift_figures(one: ModelFigures) -> tuple[str, str, str]:
    lift = one.lift
    return _share(lift.agreed), _share(lift.base), _signed(lift.lift)


def _mean_lift(coded: CodedPanel) -> str:
    mean = coded.mean_lift
    if mean.value is None:
        return f"mean lift: {mean.note}"
    note = f" ({mean.note})" if mean.note else ""
    return (
        f"mean lift {_signed(mean)} of {words.several(mean.n, 'model')}{note}; interval above 0 in {coded.replicated} "
        f"of {coded.lifted}"
    )


def _auroc_notes(coded: CodedPanel) -> list[str]:
    return _notes([(name, (one.own, one.panel, one.difference)) for name, one in _rows(coded)])


def _lift_notes(coded: CodedPanel) -> list[str]:
    return _notes([(one.letter, (one.lift.agreed, one.lift.lift)) for one in coded.models])


def _notes(rows: Sequence[tuple[str, Sequence[Estimate]]]) -> list[str]:
    return _once([(name, [one.note for one in figures]) for name, figures in rows])


def _once(rows: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return each remark once, after the names of the rows that it is made of."""
    about: dict[str, list[str]] = {}
    for name, notes in rows:
        for note in dict.fromkeys(filter(None, notes)):
            about.setdefault(note, []).append(name)
    return [f"{', '.join(names)}: {note}" for note, names in about.items()]


def _error_lines(found: PanelResult) -> list[str]:
    phis = sorted(found.error_correlations, key=lambda one: -abs(one.phi.value or 0.0))
    lines = ["shared errors: phi of the errors of two models, 0 when they are independent", ""]
    for one in phis[:SHOWN]:
        shown = _signed(one.phi) if one.phi.value is not None else "–"
        note = f" ({one.phi.note})" if one.phi.note else ""
        lines += wrapped(f"{one.first} {one.second}  {shown}, n {one.phi.n}{note}", "  ")
    if len(phis) > SHOWN:
        lines.append(f"  and {len(phis) - SHOWN} nearer to 0; --format md has all")
    return [*lines, *wrapped(_mean_phi(found), "  ")]


def _mean_phi(found: PanelResult) -> str:
    mean = found.mean_error_correlation
    if mean.value is None:
        return f"mean: {mean.note}"
    note = f" ({mean.note})" if mean.note else ""
    return f"mean {_signed(mean)} of {words.several(mean.n, 'pair')}{note}"


def _item_lines(found: PanelResult) -> list[str]:
    _, wrong = same_answer(found)
    if not wrong:
        return []
    letters = " ".join(f"{one.letter:>3}" for one in found.models)
    lines = ["", "all alike and wrong: each model gives this answer, and states so much", ""]
    lines.append(_item_line("item", "topic", "answer", letters))
    for item in wrong[:SHOWN]:
        stated = " ".join(f"{one:>3}" for one in _stated(item))
        lines.append(_item_line(item.id, item.bin, item.replies[0].answer or "", stated))
    if len(wrong) > SHOWN:
        lines.append(f"  and {len(wrong) - SHOWN} more; --format md has all")
    return lines


def _coding_markdown(coded: CodedPanel) -> list[str]:
    rows = [
        [name, n, own, mates, difference, words.p_value(one.p), _holm(one) or "–"]
        for name, one in _rows(coded)
        for n, own, mates, difference in [_figures(one)]
    ]
    lifts = [[one.letter, *_lift_figures(one)] for one in coded.models]
    return [
        table(["", "n", "own AUROC", "panel AUROC", "panel - own", "p", "Holm"], rows),
        _listed(_auroc_notes(coded)),
        table(["", *_LIFT], lifts),
        _listed(_lift_notes(coded)),
        words.sentence(_mean_lift(coded)),
    ]


def _error_markdown(found: PanelResult) -> list[str]:
    rows = [
        [f"{one.first} {one.second}", _signed(one.phi), str(one.phi.n), cell(one.phi.note)]
        for one in found.error_correlations
    ]
    return [
        "## Shared errors",
        "Phi of the errors of two models: 0 when they are independent, 1 when they fall on the same probes.",
        table(["models", "phi", "n", "note"], rows),
        words.sentence(_mean_phi(found)),
    ]


def _end_markdown(found: PanelResult) -> list[str]:
    parts = []
    if wrong := same_answer(found)[1]:
        head = ["item", "topic", "all answer", f"stated by {' '.join(one.letter for one in found.models)}"]
        rows = [
            [cell(item.id, 60), cell(item.bin, 40), cell(item.replies[0].answer or "", 80), " ".join(_stated(item))]
            for item in wrong
        ]
        parts = ["## All alike and wrong", table(head, rows)]
    return [*parts, "## How it was computed", how_computed(found)]


def _stated(item: PanelItem) -> list[str]:
    return ["–" if one.confidence is None else f"{one.confidence:.0f}" for one in item.replies]


def _fraction(one: Estimate) -> str:
    return f"{words.fraction(one.value)} {words.interval(one)}".rstrip()


def _signed(one: Estimate) -> str:
    return f"{words.signed(one.value)} {words.interval(one, kind='signed')}".rstrip()


def _difference(one: Comparison) -> str:
    return f"{_signed(one.difference)}, n {one.difference.n}"


def _share(one: Estimate) -> str:
    return "–" if one.value is None else f"{words.percent(one.value)} of {one.n} {words.interval(one, kind='percent')}"


def _holm(one: Comparison) -> str:
    return words.p_value(one.holm) if isinstance(one, ModelFigures) and one.holm is not None else ""


def _line(name: str, n: str, own: str, mates: str, difference: str, corrected: str) -> str:
    return f"  {name:<7}{n:>5}  {own:<16}  {mates:<16}  {difference:<20}{corrected:>6}".rstrip()


def _lift_line(name: str, agreed: str, base: str, lift: str) -> str:
    return f"  {name:<7}     {agreed:<24}{base:<24}{lift}".rstrip()


def _item_line(item: str, topic: str, answer: str, stated: str) -> str:
    named = "".join(_fit(one_line(text, room - 1), room) for text, room in ((item, 20), (topic, 16), (answer, 26)))
    return _fitting(f"  {named}{stated}".rstrip())


def _listed(notes: Sequence[str]) -> str:
    return "\n".join(f"- {cell(note, 400)}" for note in notes)


def _fit(text: str, cells: int) -> str:
    """Return the text cut or padded to a width on the screen."""
    from rich.cells import set_cell_size

    return set_cell_size(text, cells)


def _fitting(line: str) -> str:
    from rich.cells import cell_len

    return line if cell_len(line) <= WIDTH else _fit(line, WIDTH).rstrip()
