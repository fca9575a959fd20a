"""Charts: everything is drawn where it belongs, and nothing at all is no empty frame."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterable

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.events import MouseScrollDown
from textual.widgets import Static

from selfdiag.tui.picture import Picture, Series
from selfdiag.tui.themes import TERMINAL, THEMES
from selfdiag.tui.widgets.character_plot import character_plot, drawable, glyphs
from selfdiag.tui.widgets.chart import NOTHING, Chart
from selfdiag.tui.widgets.fine_plot import FinePlot
from tests.tui.waiting import wait_until

NAN = float("nan")
BAND = Series(kind="intervals", name="calibrated", x=(20.0, 80.0), low=(0.0, 60.0), high=(40.0, 100.0), tone="muted")
DIAGONAL = Series(kind="line", x=(0.0, 100.0), y=(0.0, 100.0), tone="muted")
INTERVALS = Series(kind="intervals", x=(20.0, 80.0), low=(10.0, 20.0), high=(90.0, 50.0))
POINTS = Series(kind="points", name="answers", x=(0.0, 20.0, 80.0, 100.0), y=(0.0, 30.0, 40.0, 100.0))


def picture(*series: Series, **axes: object) -> Picture:
    return Picture(x_label="stated, %", y_label="right, %", series=series, **{"caption": "n 42", **axes})  # type: ignore[arg-type]


FULL = picture(BAND, DIAGONAL, INTERVALS, POINTS)
DEGENERATE = {
    "no series": picture(),
    "no points": picture(Series(kind="points", x=())),
    "guides alone": picture(BAND, DIAGONAL),
    "no numbers": picture(Series(kind="points", x=(NAN, math.inf), y=(1.0, 2.0))),
    "one point": picture(Series(kind="points", x=(100.0,), y=(100.0,))),
    "one point as a line": picture(Series(kind="line", x=(50.0,), y=(50.0,))),
    "one bar": picture(Series(kind="bars", x=(50.0,), y=(3.0,))),
    "bars of nothing": picture(Series(kind="bars", x=(5.0, 15.0), y=(0.0, 0.0))),
    "all equal": picture(Series(kind="line", x=(100.0,) * 5, y=(100.0,) * 5)),
    "axes of no length": picture(Series(kind="points", x=(7.0,), y=(0.0,)), x_range=(7.0, 7.0), y_range=(0.0, 0.0)),
    "axes of no numbers": picture(Series(kind="points", x=(0.5,), y=(0.5,)), x_range=(NAN, 1.0)),
    "no ticks": picture(POINTS, x_ticks=(), y_ticks=()),
    "beyond the axes": picture(Series(kind="points", x=(-50.0, 500.0), y=(50.0, 50.0))),
    "uneven": picture(Series(kind="points", x=(1.0, 2.0, 3.0), y=(1.0, 2.0))),
    "upright": picture(Series(kind="vertical", name="threshold", x=(80.0,))),
}
EMPTY = {"no series", "no points", "guides alone", "no numbers"}


class ChartApp(App[None]):
    """One chart in a place of a given size."""

    def __init__(self, *, width: str = "100%", height: str = "100%", plain: bool = False) -> None:
        super().__init__()
        self.ascii = plain
        self.chart = Chart()
        self.chart.styles.width, self.chart.styles.height = width, height

    def compose(self) -> ComposeResult:
        yield self.chart

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name


def screen_lines(app: App[None]) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def screen_text(app: App[None]) -> str:
    return "\n".join(screen_lines(app))


def styles_of(app: App[None], sign: str) -> set[str]:
    """Return the colours in which a sign stands on the screen."""
    found = (segment for strip in app.screen._compositor.render_strips() for segment in strip)
    return {str(segment.style) for segment in found if sign in segment.text}


# the plot of characters


def plot(shown: Picture, width: int = 54, height: int = 13, *, plain: bool = False) -> list[str]:
    return character_plot(drawable(shown), width, height, plain=plain).plain.split("\n")


def test_points_on_the_ends_of_the_axes_are_drawn() -> None:
    lines = plot(picture(POINTS))
    assert sum(line.count("●") for line in lines) == 4
    assert lines[0].startswith("100┤") and lines[0].rstrip().endswith("●")
    assert lines[10].startswith("  0┤") and lines[10].index("●") < 8


def test_a_picture_takes_the_place_that_it_is_given() -> None:
    lines = plot(FULL, 40, 9)
    assert len(lines) == 9 and max(map(len, lines)) <= 40


def test_intervals_reach_from_their_low_to_their_high_end() -> None:
    lines = plot(picture(Series(kind="intervals", x=(50.0,), low=(10.0,), high=(90.0,))), height=23)
    column = lines[22].index("50")
    rows = [at for at, line in enumerate(lines[:21]) if line[column : column + 2].strip()]
    assert rows == list(range(2, 19))
    uneven = plot(picture(Series(kind="intervals", x=(50.0,), low=(50.0,), high=(100.0,))), height=23)
    assert [at for at, line in enumerate(uneven[:21]) if "│" in line[4:]] == list(range(11))


def test_bars_stand_on_the_axis_and_do_not_touch() -> None:
    bars = Series(kind="bars", x=(5.0, 15.0, 25.0), y=(0.0, 50.0, 100.0))
    lines = plot(picture(bars), 104, 12)
    lowest = lines[9][4:]
    assert "█ " in lowest.strip() and lowest.count("█") == lines[9].count("█") > 8
    assert 0 < lines[0].count("█") < lowest.count("█")


def test_where_there_is_little_room_there_are_few_ticks() -> None:
    assert [line[:3].strip() for line in plot(FULL, 54, 6)[:4]] == ["100", "", "", "0"]
    assert plot(FULL, 20, 8)[-1].split() == ["0", "50", "100"]


def test_TUI_19_plain_characters_are_ascii_and_tell_series_apart() -> None:
    series = (
        POINTS,
        Series(kind="points", name="others", x=(50.0,), y=(50.0,), glyph="●"),
        Series(kind="points", name="third", x=(60.0,), y=(50.0,), glyph="★"),
        Series(kind="bars", name="bars", x=(5.0,), y=(10.0,)),
        INTERVALS,
        BAND,
    )
    assert all(line.isascii() for line in plot(picture(*series), plain=True))
    signs = glyphs(series[:3], plain=True)
    assert len(set(signs)) == 3 and signs[0] == "o"


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("size", [(1, 1), (6, 3), (19, 5), (80, 24)])
def test_TUI_30_no_picture_is_too_little_to_draw(name: str, size: tuple[int, int]) -> None:
    for plain in (False, True):
        assert plot(DEGENERATE[name], *size, plain=plain)


def test_what_is_no_number_is_left_out_with_all_that_belongs_to_it() -> None:
    mixed = Series(kind="intervals", x=(1.0, NAN, 3.0), low=(0.0, 0.0, 0.0), high=(1.0, 1.0, math.inf))
    assert drawable(picture(mixed)).series[0] == Series(kind="intervals", x=(1.0,), low=(0.0,), high=(1.0,))
    assert drawable(picture(Series(kind="points", x=(NAN,), y=(1.0,)))).series == ()


# the widget


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_chart_is_drawn_finely_with_legend_and_caption(size: tuple[int, int]) -> None:
    app = ChartApp()
    async with app.run_test(size=size) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: screen_text(app).count("●") == 5)
        text = screen_text(app)
        assert app.query(FinePlot)
        for words in ("right, % ↑", "stated, % →", "● answers", "   calibrated", "n 42", "100 ┤", "┬"):
            assert words in text
        rows = [line for line in screen_lines(app) if "●" in line and "answers" not in line]
        assert rows[0].startswith("100 ┤") and rows[0].rstrip().endswith("●")
        assert rows[-1].startswith("  0 ┤") and rows[-1].index("●") < 10


async def test_bands_lie_behind_what_is_drawn_on_them() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: "┤" in screen_text(app))
        grounds = {style.rpartition(" on ")[2] for style in styles_of(app, "│")}
        assert len(grounds) == 2
        blank = picture(DIAGONAL, INTERVALS, POINTS)
        app.chart.show(blank)
        await wait_until(pilot, lambda: "calibrated" not in screen_text(app))
        assert len({style.rpartition(" on ")[2] for style in styles_of(app, "│")}) == 1


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("plain", [False, True])
async def test_TUI_30_a_degenerate_picture_is_drawn_or_told(name: str, plain: bool) -> None:
    app = ChartApp(plain=plain)
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(DEGENERATE[name])
        words = "n 42"
        await wait_until(pilot, lambda: words in screen_text(app))
        text = screen_text(app)
        framed = "└" in text or "+-" in text
        assert framed is (name not in EMPTY)
        if name in EMPTY:
            middle = screen_lines(app)[12] if words in screen_lines(app)[12] else screen_lines(app)[11]
            assert middle.strip() == words and middle.index(words) == 38


async def test_TUI_01_words_stand_in_the_middle_and_foreign_ones_are_literal() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        assert NOTHING in screen_text(app)
        app.chart.show("needs 5 wrong answers, has 2")
        await wait_until(pilot, lambda: "needs 5 wrong answers, has 2" in screen_text(app))
        app.chart.show(FULL)
        await wait_until(pilot, lambda: "┤" in screen_text(app))
        app.chart.show("[/] [@click=app.quit]x[/] \x1b[2J")
        await wait_until(pilot, lambda: "[/] [@click=app.quit]x[/]" in screen_text(app))
        assert "\x1b" not in screen_text(app) and "└" not in screen_text(app)


async def test_TUI_01_names_and_captions_are_literal() -> None:
    name = "[link=http://x]y 日本語👩‍👩‍👧"
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(
            picture(Series(kind="points", name=name, x=(5.0,), y=(5.0,)), caption="[@click=app.quit]x[/]\x1b[2J")
        )
        await wait_until(pilot, lambda: "[@click=app.quit]x[/]" in screen_text(app))
        assert "[link=http://x]y 日本語" in screen_text(app) and "\x1b" not in screen_text(app)


@pytest.mark.parametrize(("width", "height", "fine"), [("20", "12", True), ("19", "12", False), ("40", "5", False)])
async def test_a_small_place_gets_characters(width: str, height: str, fine: bool) -> None:
    app = ChartApp(width=width, height=height)
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: "┤" in screen_text(app))
        assert bool(app.query(FinePlot)) is fine


async def test_TUI_16_a_terminal_without_colours_gets_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: "┤" in screen_text(app))
        assert not app.query(FinePlot)
        assert "░ calibrated" in screen_text(app)


async def test_plain_characters_come_and_go_with_the_app() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: "┤" in screen_text(app))
        app.ascii = True
        app.screen.refresh(layout=True)
        app.chart.refresh()
        await wait_until(pilot, lambda: "o answers" in screen_text(app))
        assert screen_text(app).isascii()
        app.ascii = False
        app.chart.refresh()
        await wait_until(pilot, lambda: "● answers" in screen_text(app))


async def test_another_theme_has_its_own_colours() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: any("#7dcfff" in style for style in styles_of(app, "●")))
        app.theme = "selfdiag-light"
        await wait_until(pilot, lambda: {"#0b6e99" in style for style in styles_of(app, "●")} == {True})


async def test_TUI_18_a_terminal_with_its_own_colours_has_no_shades() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = TERMINAL
        app.chart.show(FULL)
        await wait_until(pilot, lambda: "░ calibrated" in screen_text(app))
        await wait_until(pilot, lambda: screen_text(app).count("░") > 10)


async def test_a_chart_takes_no_key_and_no_wheel() -> None:
    class Scrolled(ChartApp):
        def compose(self) -> Iterable[VerticalScroll]:
            self.chart.styles.height = 20
            yield VerticalScroll(self.chart, Static("\n" * 40), can_focus=False)

    app = Scrolled()
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: app.query(FinePlot) and "●" in screen_text(app))
        await pilot.press("tab", "tab")
        assert app.focused is None
        assert not any(name in {"plus", "minus", "r"} for name in app.screen.active_bindings)
        scroll = app.query_one(VerticalScroll)
        await pilot._post_mouse_events([MouseScrollDown], app.chart, (30, 8), 0)
        await wait_until(pilot, lambda: scroll.scroll_offset.y > 0)


async def test_a_picture_that_is_there_already_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(FULL)
        await wait_until(pilot, lambda: "┤" in screen_text(app))
        await pilot.pause()
        drawn = []
        monkeypatch.setattr(FinePlot, "show", lambda *_: drawn.append(1))
        for _ in range(20):
            app.chart.show(picture(BAND, DIAGONAL, INTERVALS, POINTS))
        assert not drawn
        app.chart.show(picture(POINTS))
        assert drawn == [1]


async def test_a_low_place_has_both_labels_above_the_plot_and_keeps_the_plot() -> None:
    app = ChartApp(width="44", height="12")
    async with app.run_test(size=(80, 24)) as pilot:
        app.chart.show(picture(*FULL.series, caption="n 42, " + "and much that has to be said besides " * 5))
        await wait_until(pilot, lambda: "┤" in screen_text(app))
        lines = screen_lines(app)
        assert "right, % ↑   stated, % →" in lines[0]
        assert sum("│" in line or "┤" in line for line in lines) >= 6
        assert any(line.startswith("n 42, and much") and "…" in line for line in lines)


def test_importing_a_chart_loads_no_numpy() -> None:
    code = "import sys, selfdiag.tui.widgets.chart; sys.exit('numpy' in sys.modules or 'textual_plot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
