import pytest

from selfdiag.measure.estimate import Estimate
from selfdiag.report.page import cell, excerpt
from selfdiag.report.words import draw_name, duration, fraction, interval, percent, sentence, signed


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0.0, ".000"), (0.5714, ".571"), (1.0, "1.000"), (-0.0564, "-.056")]
)
def test_fractions(value: float | None, shown: str) -> None:
    assert fraction(value) == shown


def test_signs() -> None:
    assert signed(0.55) == "+.550"
    assert signed(-0.02) == "-.020"
    assert signed(None) == "–"
    assert signed(-1e-17) == "+.000"
    assert fraction(-1e-17) == ".000"


def test_percent_and_durations() -> None:
    assert percent(0.333) == "33 %"
    assert percent(None) == "–"
    assert [duration(s) for s in (0.25, 41, 200, 3900)] == ["0.2 s", "41 s", "3 min 20 s", "1 h 05 min"]


def test_intervals() -> None:
    assert interval(Estimate(value=0.3, ci=(0.21, 0.482)), kind="percent") == "[21, 48]"
    assert interval(Estimate(value=0.3, ci=(-0.001, 1.0))) == "[.00, 1.00]"
    assert interval(Estimate(value=0.3, ci=(-0.04, 0.08)), kind="signed") == "[-.04, +.08]"
    assert interval(Estimate(value=0.3)) == ""


def test_a_remark_as_a_sentence() -> None:
    assert sentence("limited to one item") == "Limited to one item."
    assert sentence("") == ""


@pytest.mark.parametrize("draw", ["quick", "/home/me/quick", "C:\\me\\quick", "quick/"])
def test_a_draw_is_named_without_its_folder(draw: str) -> None:
    assert draw_name(draw, 16) == "quick"


def test_keys_are_left_out_of_foreign_text() -> None:
    key = "sk-" + "a1" * 12
    assert cell(f"it said {key}") == "it said \\[key\\]"
    assert excerpt(f"a\n{key}\x1b", 100) == "a\n[key]\\x1b"
    assert excerpt("x" * 1500, 1000) == "x" * 1000 + "… (500 more characters)"


def test_foreign_text_means_nothing_in_markdown() -> None:
    text = "<script>|[link](x)`code`**b**\n# head\x1b smollm2-135m"
    assert cell(text) == "&lt;script>\\|\\[link\\](x)\\`code\\`\\*\\*b\\*\\* # head\\\\x1b smollm2-135m"
    assert cell("x" * 300).endswith("x…")
