"""Runs compared as an HTML page: the verdict first, every limit told, and nothing in it that acts."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from claim_runs import asked
from made_runs import measured
from markdown_it import MarkdownIt
from pages import Page, inert

from selfdiag.battery.items import Probe
from selfdiag.protocols.compare import Comparison, compare
from selfdiag.report.comparison import comparison_markdown
from selfdiag.report.comparison_html import OPEN, comparison_html
from selfdiag.report.drawings.comparison import confidence_shift, difference_mark, differences
from selfdiag.runs.records import PlannedCall, RunSettings
from selfdiag.runs.store import Run

EVIL = '<img src=x onerror=alert(1)>"><script>alert(2)</script> [a](javascript:alert(3)) \x1b[31m\u202e'


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Run]:
    def run(persona: str, **settings: object) -> Run:
        return asked(RunSettings(model=f"persona:{persona}", **settings), tmp_path / f"{len(list(tmp_path.iterdir()))}")

    return run


@pytest.fixture
def two(ask: Callable[..., Run]) -> list[Run]:
    return [ask("calibrated"), ask("overconfident")]


def page_of(runs: list[Run]) -> tuple[Comparison, str]:
    found = compare(runs, draws=500)
    return found, comparison_html(found, runs)


def test_the_verdict_comes_first_in_words(two: list[Run]) -> None:
    _, html = page_of(two)
    page = inert(html)
    text = page.text
    order = [
        "Runs compared: A calibrated (simulated), B overconfident (simulated)",
        "Only items that are in both runs, with the same question and key, are compared.",
        "A, the baseline: calibrated simulated",
        "B against A: worse",
        "B is worse calibrated: its gap is",
        "Over 42 probes and 21 traps in common",
        "Headline differences",
        "The same as a table",
        "Probes that changed sides",
        "Traps that changed sides",
        "Confidence moved most",
        "Asked with",
        "Where the runs stand",
        "How it was compared",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert page.tags.count("svg") == 3
    assert text.count("Simulated: these replies were written by a script") == 2


def test_the_table_has_every_figure_of_the_markdown(two: list[Run]) -> None:
    found, html = page_of(two)
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    cells = {tuple(re.findall(r"<td[^>]*>(.*?)</td>", row)) for row in rows}
    markdown = comparison_markdown(found)
    for name in ("accuracy", "Brier score", "gap", "AUROC", "trap rate", "Youden index"):
        (line,) = [line for line in markdown.splitlines() if line.startswith(f"| {name} |")]
        shown = tuple(part.strip() for part in line.strip("|").split("|"))
        assert shown[:-1] in cells or shown in cells, name


def test_items_that_changed_sides_show_question_key_and_both_answers(two: list[Run]) -> None:
    found, html = page_of(two)
    text = inert(html).text
    (pair,) = found.pairs
    flipped = [*pair.probes.gained, *pair.probes.lost, *pair.traps.gained, *pair.traps.lost]
    assert len(re.findall(r'<article class="card">\s*<p class="small">[▲▼]', html)) == len(flipped) > OPEN
    for item in flipped:
        record = next(record for record in two[0].records if record.item_id == item.id)
        question = two[0].manifest.prompts[record.prompt_sha256].user
        assert " ".join(question.split()) in text
        for letter, reply in (("A", item.first), ("B", item.second)):
            assert f"{letter} ✓ {reply.answer} states" in text or f"{letter} ✗ {reply.answer} states" in text
    one = pair.probes.gained[0]
    probe = two[0].manifest.drawn.find(one.id)
    assert isinstance(probe, Probe)
    assert f"key {probe.answer}" in text
    assert re.search(rf"{one.id} .*?A ✗ {re.escape(one.first.answer or '')} states .*?B ✓ ", text)
    assert f"{len(pair.probes.gained) + len(pair.probes.lost) - OPEN} more" in text


def test_STA_25_what_is_not_alike_stands_before_the_figures(ask: Callable[..., Run], two: list[Run]) -> None:
    _, html = page_of([two[0], ask("calibrated", seed=1, example=85)])
    text = inert(html).text
    limits = text.find("Limited to the items in common: 19 of A's 63 and of B's 63")
    assert 0 < limits < text.find("Headline differences")
    assert "were asked in other wordings in B than in A." in text
    assert "Not asked alike, which may be behind a difference: example (none and 85)." in text
    assert re.search(r"example none 85", text)
    assert "B against A: no difference shown" in text


def test_a_run_with_itself_has_no_difference_and_no_width(two: list[Run]) -> None:
    found, html = page_of([two[0], two[0]])
    text = inert(html).text
    assert "B against A: no difference No difference: each of 42 probes and 21 traps comes out alike." in text
    assert "Both runs were asked with the same settings." in text
    drawing = differences(found.pairs[0])
    assert not isinstance(drawing, str)
    assert "gap +.000 [+.00, +.00], not shown" in drawing.alt
    shift = confidence_shift(found.pairs[0], [(50.0, 50.0)])
    assert not isinstance(shift, str)
    assert "higher in 0, lower in 0, the same in 1" in shift.alt
    assert "changed sides" in text and "▲ wrong to right ·" not in text


def test_every_other_run_has_its_own_section(ask: Callable[..., Run], two: list[Run]) -> None:
    _, html = page_of([*two, ask("blind"), two[0]])
    page = inert(html)
    for letter in "BCD":
        assert f"{letter} against A: " in page.text
    assert page.tags.count("svg") == 7
    assert "each pair of runs is corrected" in page.text.lower()


def test_a_difference_is_marked_as_the_verdict_has_it(two: list[Run]) -> None:
    pair = compare(two, draws=500).pairs[0]
    back = compare(two[::-1], draws=500).pairs[0]
    assert {name: difference_mark(pair, name) for name in ("brier", "gap", "trap_abstention", "accuracy")} == {
        "brier": "worse",
        "gap": "worse",
        "trap_abstention": "worse",
        "accuracy": "not shown",
    }
    assert (difference_mark(back, "brier"), difference_mark(back, "gap")) == ("better", "better")
    drawing = differences(pair)
    assert not isinstance(drawing, str)
    assert "Brier score +." in drawing.alt and ", worse;" in drawing.alt


def test_what_has_no_value_is_named_and_not_drawn(tmp_path: Path) -> None:
    def silent(call: PlannedCall, probe: Probe) -> tuple[str, int | None]:
        return "abstained", None

    runs = [measured(tmp_path / name, silent, battery="quick", limit=5) for name in ("a", "b")]
    _, html = page_of(runs)
    text = inert(html).text
    assert "Nothing to draw: no headline measure is defined in both runs." in text
    assert "Nothing to draw: no data: no probe was answered with a confidence in both runs." in text
    assert "Nothing to draw: no run has answers with a confidence." in text
    assert " nan" not in text.lower() and "None" not in text


def hostile(run: Run) -> Run:
    """Put hostile text wherever a run holds text from elsewhere."""
    manifest = run.manifest
    model = msgspec.structs.replace(manifest.model, name=EVIL, served_name=EVIL, digest=EVIL, provider=EVIL)
    settings = msgspec.structs.replace(manifest.settings, model=EVIL, battery=EVIL)
    prompts = {key: msgspec.structs.replace(text, user=EVIL) for key, text in manifest.prompts.items()}
    probes = tuple(msgspec.structs.replace(probe, answer=EVIL, unit=EVIL) for probe in manifest.drawn.probes)
    traps = tuple(msgspec.structs.replace(trap, family=EVIL) for trap in manifest.drawn.traps)
    drawn = msgspec.structs.replace(manifest.drawn, probes=probes, traps=traps)
    manifest = msgspec.structs.replace(
        manifest, run_id=EVIL, model=model, settings=settings, prompts=prompts, drawn=drawn, prompt_version=EVIL
    )
    records = tuple(msgspec.structs.replace(record, answer=EVIL, raw=EVIL, bin=EVIL) for record in run.records)
    return msgspec.structs.replace(run, manifest=manifest, records=records, problems=(EVIL,))


def test_STA_14_hostile_text_is_text_in_the_page_and_in_markdown(two: list[Run]) -> None:
    runs = [hostile(run) for run in two]
    found, html = page_of(runs)
    page = inert(html)
    assert "<img" not in html and "<script" not in html
    assert "<img src=x onerror=alert(1)>" in page.text
    markdown = comparison_markdown(found)
    assert "\x1b" not in markdown and "\u202e" not in markdown
    # a reader that would let everything through finds nothing
    shown = MarkdownIt("commonmark", {"html": True}).enable("table")
    shown.validateLink = lambda _: True
    assert {"a", "img", "script"}.isdisjoint(Page(shown.render(markdown)).tags)


def test_the_same_runs_give_the_same_bytes(two: list[Run]) -> None:
    assert page_of(two)[1] == page_of(two)[1]


def test_it_is_written_by_the_command(selfdiag, two: list[Run], tmp_path: Path) -> None:
    names = [str(run.folder) for run in two]
    done = selfdiag("compare", *names, "--format", "html", "-o", "x.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "wrote x.html\n")
    written = (tmp_path / "x.html").read_text(encoding="utf-8")
    inert(written)
    assert selfdiag("compare", *names, "--format", "html").stdout == written
    assert selfdiag("compare", *names, "--format", "html", "--json").returncode == 2
