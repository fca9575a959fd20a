import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from selfdiag.measure.comparison_diagrams import dose_item, dose_response_diagram, self_assessment_radar
from selfdiag.measure.counts import tabulate
from selfdiag.measure.curves import risk_coverage, roc_curve, threshold_explorer
from selfdiag.measure.diagrams import confidence_by_outcome, reliability_diagram
from selfdiag.measure.estimate import estimate
from selfdiag.measure.msi import CRITERIA, InternalCriterion
from selfdiag.measure.reliability import group_rows
from selfdiag.measure.topic_diagrams import topics
from selfdiag.protocols.anchor import Anchor, ExampleShown
from selfdiag.report.drawings import answers, claims, svg
from selfdiag.report.drawings import topics as topic_drawings
from selfdiag.report.drawings.svg import Drawing

P = [1.0, 0.95, 0.95, 0.9, 0.9, 0.9, 0.85, 0.8, 0.8, 0.7, 0.6, 0.6, 0.5, 0.3, 0.0, 0.2]
Y = [1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0]
COUNTS = tabulate(P, Y)
NONE = tabulate([], [])
FEW = tabulate([0.9, 0.8, 0.7], [1, 1, 0])
NASTY = '<b> "$x$ --> \x1b[2J \u202e日本 id="a" href="#b" #010205'


def anchored(value: float | None) -> Anchor:
    mean = estimate(value, None if value is None else (60.0, 80.0), n=5)
    shown = ExampleShown(example=85, confidence=mean, shift=mean, echoed=mean, anyway=mean)
    return Anchor(items=5, without=estimate(50.0, (40.0, 60.0), n=5), shown=(shown,), slope=mean, sentence="")


def claimed(mean: float | None) -> InternalCriterion:
    return InternalCriterion(mean=mean, sd=0.1, n=3, consistency="steady", note="" if mean is not None else "not asked")


MADE: dict[str, Callable[[], Drawing | str]] = {
    "reliability": lambda: answers.reliability(reliability_diagram(COUNTS)),
    "roc": lambda: answers.roc(roc_curve(COUNTS), threshold_explorer(COUNTS)),
    "outcomes": lambda: answers.confidence_by_outcome(
        confidence_by_outcome(["correct" if y else "incorrect" for y in Y] + ["abstained"] * 2, [*P, 0.4, float("nan")])
    ),
    "risk-coverage": lambda: answers.risk_coverage(
        risk_coverage(COUNTS, draws=50), threshold_explorer(COUNTS, draws=50)
    ),
    "topics": lambda: topic_drawings.topics(topics(group_rows({NASTY: COUNTS, "b": FEW})), groups=False),
    "traps": lambda: topic_drawings.traps({NASTY: {"asked": 5, "abstained": 2, "incorrect": 2}}),
    "radar": lambda: claims.radar(
        self_assessment_radar(
            {name: claimed(None if name == "x2" else 0.7) for name in CRITERIA},
            {name: estimate(0.4, (0.3, 0.5), n=9) for name in CRITERIA},
        )
    ),
    "dose-response": lambda: claims.dose_response(
        dose_response_diagram([dose_item(NASTY, {0: 10, 95: 80}, {0: 20, 95: 30}), dose_item("b", {0: None, 95: 90})])
    ),
    "anchor": lambda: claims.anchor(anchored(77.0)),
}
EMPTY: dict[str, Callable[[], Drawing | str]] = {
    "reliability": lambda: answers.reliability(reliability_diagram(NONE)),
    "roc": lambda: answers.roc(roc_curve(FEW), threshold_explorer(FEW)),
    "outcomes": lambda: answers.confidence_by_outcome(confidence_by_outcome([], [])),
    "risk-coverage": lambda: answers.risk_coverage(risk_coverage(NONE), threshold_explorer(NONE)),
    "topics": lambda: topic_drawings.topics(topics(group_rows({"a": NONE})), groups=False),
    "traps": lambda: topic_drawings.traps({}),
    "radar": lambda: claims.radar(self_assessment_radar({}, {})),
    "dose-response": lambda: claims.dose_response(dose_response_diagram([])),
    "anchor": lambda: claims.anchor(anchored(None)),
}


def made(name: str) -> Drawing:
    drawing = MADE[name]()
    assert isinstance(drawing, Drawing)
    return drawing


def read(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in read(svg).iter() if node.tag.endswith("}text")]


@pytest.mark.parametrize("name", MADE)
def test_a_drawing_belongs_to_its_page(name: str) -> None:
    svg = made(name).svg
    root = read(svg)
    assert root.get("viewBox") is not None and root.get("width") is None
    assert len(texts(svg)) > 2, "texts are texts"
    ids = re.findall(r'<[^>]* id="([^"]+)"', svg)
    used = re.findall(r'<[^>]*(?:href="#|url\(#)([^")]+)', svg)
    assert len(set(ids)) == len(ids) and all(one.startswith(f"{name}-") for one in ids)
    assert set(used) == set(ids)
    tags = "".join(re.findall(r"<[^>]*>", svg))
    assert "#0" not in tags and "#f" not in tags and "var(--" in tags, "every colour is the page's"
    assert "font-family" not in tags and "DejaVu" not in tags
    assert {node.tag.rpartition("}")[2] for node in root.iter()} <= set(
        "svg g path text use defs clipPath rect pattern".split()
    )


@pytest.mark.parametrize("name", MADE)
def test_a_drawing_is_the_same_bytes_again_and_has_words_for_it(name: str) -> None:
    first, second = made(name), made(name)
    assert first == second
    assert re.search(r"\d", first.alt) and first.alt.endswith(".")
    assert "n " in first.caption or re.search(r"\d+ (item|answer)", first.caption) or name == "radar"
    assert first.caption.endswith(".")


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_to_draw_is_said_in_words(name: str) -> None:
    found = EMPTY[name]()
    assert isinstance(found, str) and found


def test_a_roc_curve_of_too_few_answers_says_how_many_it_needs() -> None:
    assert EMPTY["roc"]() == "not enough data: needs 5 right answers, has 2; needs 5 wrong answers, has 1"


def test_numbers_stand_in_the_words() -> None:
    assert "AUROC .711" in made("roc").alt
    assert any("AUROC .711" in text for text in texts(made("roc").svg))
    assert "stated 80 to 90: 67 % of 3 right" in made("reliability").alt
    assert "Right: 8, stated 30 to 100" in made("outcomes").alt
    assert "Of all, 50 % are wrong" in made("risk-coverage").alt
    assert "2 of 5 spotted, 2 answered" in made("traps").alt
    assert f"x2 {CRITERIA['x2']} claims unknown, does 0.40 (n 9)" in made("radar").alt
    assert "77 with 85 shown, 50 without an example" in made("anchor").alt


def test_only_items_with_every_claim_make_the_mean() -> None:
    assert "claim about the topic of the question: 10 stated under 0 % (n 1), 80 stated under 95 % (n 1)" in (
        made("dose-response").alt
    )


@pytest.mark.parametrize("name", ["topics", "traps"])
def test_foreign_names_are_shown_as_they_are(name: str) -> None:
    shown = next(text for text in texts(made(name).svg) if text.startswith("<b>"))
    assert shown.startswith('<b> "$x$ -->') and "\x1b" not in shown and "\u202e" not in shown


def test_a_label_is_harmless_and_bounded() -> None:
    assert svg.label("a\n b\x00") == "a\\n b\\x00"
    assert svg.label("x" * 100_000, 10) == "x" * 9 + "…"


def test_a_foreign_text_that_looks_like_an_attribute_is_left_alone() -> None:
    drawn = svg.draw("probe", 100, lambda sheet: sheet.text(0.1, 0.5, svg.label(NASTY, 200)) and None)
    assert 'id="a" href="#b" #010205' in "".join(texts(drawn))


def test_topics_left_out_of_a_drawing_are_named_harmlessly_and_not_without_end() -> None:
    drawing = topic_drawings.topics(topics(group_rows({"a": FEW, NASTY: NONE, "x" * 100_000: NONE})), groups=False)
    assert isinstance(drawing, Drawing)
    assert 'Left out: no answers: <b> "$x$ --> \\x1b[2J \\u202e日本' in drawing.caption
    assert len(drawing.caption) < 2000
