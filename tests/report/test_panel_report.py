"""A panel in words: every verdict, every coding, and hostile texts as text."""

import asyncio
import re

import msgspec
import pytest
from rich.cells import cell_len

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.panel import panel_of
from selfdiag.protocols.panel_result import CANONICAL, LENIENT, STRICT, CodedPanel, PanelResult
from selfdiag.report.experiment_html import panel_html
from selfdiag.report.panel import panel_lines, panel_markdown, verdict_sentence
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import read_run


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> PanelResult:
    folder = tmp_path_factory.mktemp("runs")

    async def events(persona: str) -> None:
        settings = RunSettings(model=f"persona:{persona}", sections=("probes",))
        async for _ in Session(settings, folder=folder / persona).events():
            pass

    names = ("calibrated", "overconfident", "suggestible")
    for name in names:
        asyncio.run(events(name))
    return panel_of([read_run(folder / name) for name in names], draws=100)


def with_coding(found: PanelResult, name: str, coded: CodedPanel) -> PanelResult:
    return msgspec.structs.replace(found, codings={**found.codings, name: coded})


def verdict(found: PanelResult, word: str) -> str:
    one = msgspec.structs.replace(found.models[0], verdict=word)
    return verdict_sentence(found, one)


def test_each_verdict_has_its_sentence_with_figures(found: PanelResult) -> None:
    first = found.codings[STRICT].models[0]
    difference = first.difference.value
    assert difference is not None
    shown = f"{difference:+.3f}".replace("0.", ".", 1)
    for word, start in (
        ("better", "the others' agreement tells its right answers from its wrong ones better than its own confidence"),
        ("worse", "the others' agreement tells its right answers from its wrong ones worse than its own confidence"),
        ("not shown", "no difference shown between the others' agreement and its own confidence: AUROC ."),
        ("too few", "too few to say, it takes 10 right and 10 wrong answers with a confidence: AUROC ."),
        ("undecided", "it depends on whether answers that share only some words agree: panel - own "),
    ):
        sentence = verdict(found, word)
        assert sentence.startswith(start)
        assert f"{shown} [" in sentence
        assert "n 40" in sentence
        assert ("Holm p ." in sentence) == (word != "undecided")
    gone = msgspec.structs.replace(first, difference=Estimate(value=None, note="not defined: all answers were right"))
    coded = msgspec.structs.replace(found.codings[STRICT], models=(gone, *found.codings[STRICT].models[1:]))
    assert verdict(with_coding(found, STRICT, coded), "undefined") == "no verdict: not defined: all answers were right."


def test_brackets_and_codings_stand_apart_where_they_differ(found: PanelResult) -> None:
    text = "\n".join(panel_lines(found))
    assert (text.count("own AUROC"), text.count("label-free, strict")) == (1, 0)
    strict = msgspec.structs.replace(found.codings[STRICT], undecided=7)
    changed = with_coding(found, STRICT, strict)
    other = msgspec.structs.replace(found.codings[CANONICAL], models=found.codings[CANONICAL].models[::-1])
    text = "\n".join(panel_lines(with_coding(changed, CANONICAL, other)))
    told = " ".join(text.split())
    assert text.count("own AUROC") == 3
    assert (
        f"label-free, strict: answers that share only some words disagree (7 of {strict.pairs} pairs of answers)"
        in told
    )
    assert "label-free, lenient: answers that share only some words agree" in told
    assert "canonical: two right answers count as the same, for which the answer key is needed" in told
    assert STRICT in changed.codings and LENIENT in changed.codings


def test_what_is_missing_says_why(found: PanelResult) -> None:
    none = Estimate(value=None, note="not defined: no pair of models has a correlation")
    changed = msgspec.structs.replace(found, mean_error_correlation=none)
    for text in ("\n".join(panel_lines(changed)), panel_markdown(changed)):
        told = " ".join(text.split())
        assert "how far their errors go together is not defined: no pair of models has a correlation" in told
    nobody = msgspec.structs.replace(found, items=found.items[:0])
    assert "To no probe do all 3 give the same answer." in " ".join("\n".join(panel_lines(nobody)).split())


def test_a_correlation_without_an_interval_says_why_and_one_probe_is_one(found: PanelResult) -> None:
    why = "no interval: undefined in 686 of 2000 draws"
    first = found.error_correlations[0]
    bare = msgspec.structs.replace(first, phi=Estimate(value=0.5, n=8, note=why))
    shared = msgspec.structs.replace(found.shared, probes=1)
    told = "\n".join(panel_lines(msgspec.structs.replace(found, error_correlations=(bare,), shared=shared)))
    assert f"{first.first} {first.second} +.500, n 8 ({why})" in told
    assert re.search(r"\b1 of \d+ probes was asked of", told)


def test_hostile_names_and_answers_are_text_in_every_form(found: PanelResult) -> None:
    evil = "\x1b[31m<script>alert(1)</script> | [x](http://x) " + "長" * 60
    model = msgspec.structs.replace(found.models[0].model, name=evil, provider=evil)
    named = msgspec.structs.replace(found.models[0], model=model, run_id=evil, notes=(evil[:50],))
    wrong = [
        msgspec.structs.replace(
            item,
            id=evil,
            bin=evil,
            replies=tuple(
                msgspec.structs.replace(one, outcome="incorrect", answer=evil, agreeing=dict.fromkeys(one.agreeing, 2))
                for one in item.replies
            ),
        )
        for item in found.items[:12]
    ]
    changed = msgspec.structs.replace(found, models=(named, *found.models[1:]), items=tuple(wrong), notes=(evil[:50],))
    lines = panel_lines(changed)
    assert all(cell_len(line) <= 80 and line.isprintable() for line in lines)
    assert "  and 2 more; --format md has all" in lines
    text = panel_markdown(changed)
    assert "<script" not in text and "\x1b" not in text
    assert "\\[x\\](http://x)" in text
    page = panel_html(changed, text)
    assert "<script" not in page and "\x1b" not in page


def test_the_same_panel_gives_the_same_bytes(found: PanelResult) -> None:
    assert panel_markdown(found) == panel_markdown(found)
    assert panel_html(found, panel_markdown(found)) == panel_html(found, panel_markdown(found))
