"""The head of the results and its first three tabs, on whole runs and on runs with hardly anything in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from selfdiag.measure.comparison_diagrams import self_assessment_radar
from selfdiag.measure.curves import RocCurve
from selfdiag.measure.diagrams import confidence_by_outcome
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.msi import InternalCriterion
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.diagrams import Diagrams, diagrams_of
from selfdiag.protocols.summary import Summary
from selfdiag.runs.records import Record, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.tui import pictures
from selfdiag.tui.diagram_rows import bar, outcome_rows, radar_rows, track
from selfdiag.tui.picture import Picture
from selfdiag.tui.widgets.calibration_tab import CalibrationTab
from selfdiag.tui.widgets.discrimination_tab import DiscriminationTab
from selfdiag.tui.widgets.figures import figure, figure_rows
from selfdiag.tui.widgets.fine_plot import FinePlot
from selfdiag.tui.widgets.selective_tab import START, SelectiveTab, ThresholdBar
from selfdiag.tui.widgets.tier_head import LETTERS, TierHead
from tests.tui.test_chart import screen_lines, screen_text
from tests.tui.waiting import wait_until

SIZES = [(80, 24), (120, 40)]
Found = tuple[Summary, Diagrams]
Keep = Callable[[tuple[Record, ...]], tuple[Record, ...]]


def three_probes(records: tuple[Record, ...]) -> tuple[Record, ...]:
    return tuple(record for record in records if not record.trap)[:3]


def without_wrong(records: tuple[Record, ...]) -> tuple[Record, ...]:
    return tuple(record for record in records if record.outcome != "incorrect")


def nothing(_: tuple[Record, ...]) -> tuple[Record, ...]:
    return ()


SHORT: dict[str, Keep] = {"three": three_probes, "no wrong answer": without_wrong, "empty": nothing}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Return the runs of two personas."""

    async def ask(persona: str, folder: Path) -> None:
        settings = RunSettings(model=f"persona:{persona}", battery="quick", sections=("probes", "traps"))
        async for _ in Session(settings, folder=folder).events():
            pass

    made = {}
    for persona in ("overconfident", "calibrated"):
        folder = tmp_path_factory.mktemp("runs") / persona
        asyncio.run(ask(persona, folder))
        made[persona] = read_run(folder)
    return made


def found_in(run: Run, keep: Keep | None = None) -> Found:
    if keep is not None:
        run = msgspec.structs.replace(run, records=keep(run.records))
    return summarise(run, draws=200), diagrams_of(run, draws=50)


class Shown(App[None]):
    """One widget of the results screen, in the room it has there."""

    def __init__(self, widget: Widget, *, plain: bool = False) -> None:
        super().__init__()
        self.ascii = plain
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


def told_in(app: Shown, selector: str) -> str:
    """Return the words that stand where a widget is, with single spaces."""
    place = app.query_one(selector).region
    rows = screen_lines(app)[place.y : place.bottom]
    return " ".join(" ".join(row[place.x : place.right] for row in rows).split())


# the head


@pytest.mark.parametrize("size", SIZES)
async def test_the_head_tells_the_tier_its_chances_and_its_four_parts(
    runs: dict[str, Run], size: tuple[int, int]
) -> None:
    summary, _ = found_in(runs["overconfident"])
    head = TierHead()
    app = Shown(head)
    async with app.run_test(size=size) as pilot:
        head.show(summary)
        await wait_until(pilot, lambda: "discr." in screen_text(app))
        lines = screen_lines(app)
        for row, mark in enumerate(LETTERS[summary.tier.letter]):
            assert lines[row][1:4] == mark
        told = " ".join(screen_text(app).split())
        share = f"{summary.tier.letter} {100 * summary.tier.probabilities[summary.tier.letter]:.0f} %"
        assert share in told and "simulated" in told and summary.tier.name in told
        assert "It answers 21 of 42 right" in told
        parts = [line for line in lines if "part" in line]
        assert len(parts) == 4 and all("●" in line and "━" in line and "of 25" in line for line in parts)
        brier = summary.composite.parts["brier"].value
        assert brier is not None and f"part {25 * brier:>2.0f} of 25" in parts[0]
        head.add_class("-brief")
        await wait_until(pilot, lambda: "part" not in screen_text(app))
        assert "It answers" in screen_text(app)


async def test_the_parts_stand_beside_the_tier_where_there_is_room(runs: dict[str, Run]) -> None:
    summary, _ = found_in(runs["calibrated"])
    head = TierHead()
    app = Shown(head)
    async with app.run_test(size=(120, 40)) as pilot:
        head.show(summary)
        await wait_until(pilot, lambda: "Brier" in screen_lines(app)[0] and "━" in screen_lines(app)[0])
        await pilot.resize_terminal(80, 24)
        await wait_until(pilot, lambda: "Brier" not in screen_lines(app)[0] and "Brier" in screen_text(app))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SHORT)
async def test_a_head_of_hardly_anything_says_why(runs: dict[str, Run], size: tuple[int, int], name: str) -> None:
    summary, _ = found_in(runs["overconfident"], SHORT[name])
    head = TierHead()
    app = Shown(head)
    async with app.run_test(size=size) as pilot:
        head.show(summary)
        words = {
            "three": "20 are needed",
            "no wrong answer": "all 21 answers are right",
            "empty": "no probe got a reply",
        }
        await wait_until(pilot, lambda: words[name] in told_in(app, ".tier"))
        assert "insufficient evidence" in screen_text(app)
        # without a fourth part the others bring all points
        assert ("of 33" in screen_text(app)) is (name != "empty")
        assert ("no data: no graded answer states a confidence" in told_in(app, ".parts")) is (name == "empty")


async def test_TUI_19_a_head_of_plain_characters_is_ascii(runs: dict[str, Run]) -> None:
    head = TierHead()
    app = Shown(head, plain=True)
    async with app.run_test(size=(80, 24)) as pilot:
        head.show(found_in(runs["overconfident"])[0])
        await wait_until(pilot, lambda: "=o=" in screen_text(app))
        assert screen_lines(app)[0].startswith("  E ")
        assert not set(screen_text(app)) & set("━─●┏┗")


# calibration and discrimination


@pytest.mark.parametrize("size", SIZES)
async def test_calibration_shows_the_diagram_and_its_measures(runs: dict[str, Run], size: tuple[int, int]) -> None:
    summary, diagrams = found_in(runs["overconfident"])
    tab = CalibrationTab()
    app = Shown(tab)
    async with app.run_test(size=size) as pilot:
        assert "reading the run" in screen_text(app)
        tab.show(summary, diagrams)
        await wait_until(pilot, lambda: "┤" in screen_text(app) and "Brier" in screen_text(app))
        text = screen_text(app)
        for words in ("if calibrated", "answers", "reliability", "resolution", "n 42", "95 % below 0.", "ECE"):
            assert words in told_in(app, "Chart") + told_in(app, "Drawn")
        assert ".368  [" in text and "+.367  [" in text
        if size[1] > 24:
            assert "simulated: these replies were written by a script" in told_in(app, "Drawn")
        assert app.query(FinePlot)


@pytest.mark.parametrize("size", SIZES)
async def test_discrimination_shows_the_curve_and_confidence_by_outcome(
    runs: dict[str, Run], size: tuple[int, int]
) -> None:
    summary, diagrams = found_in(runs["overconfident"])
    tab = DiscriminationTab()
    app = Shown(tab)
    async with app.run_test(size=size) as pilot:
        tab.show(summary, diagrams)
        await wait_until(pilot, lambda: "┤" in screen_text(app) and "✗ wrong 21" in screen_text(app))
        text = screen_text(app)
        auroc = summary.metrics["auroc"]
        assert auroc.value is not None and f"{auroc.value:.3f}"[1:] in text
        for words in (
            "AUROC",
            "discrimination",
            "✓ right 21",
            "! missed trap 15",
            "✓ spotted trap 6",
            "dotted: chance",
        ):
            assert words in text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("make", [CalibrationTab, DiscriminationTab, SelectiveTab])
async def test_TUI_30_tabs_of_hardly_anything_say_why(
    runs: dict[str, Run],
    size: tuple[int, int],
    name: str,
    make: type[CalibrationTab] | type[DiscriminationTab] | type[SelectiveTab],
) -> None:
    expected = {
        (CalibrationTab, "three"): "n 3, by value",
        (CalibrationTab, "no wrong answer"): "n 21, by value",
        (CalibrationTab, "empty"): "no data",
        (DiscriminationTab, "three"): "not enough data: needs 5 right answers, has",
        (DiscriminationTab, "no wrong answer"): "needs 5 wrong answers, has 0",
        (DiscriminationTab, "empty"): "no data",
        (SelectiveTab, "three"): "n 3",
        (SelectiveTab, "no wrong answer"): "0 of 0",
        (SelectiveTab, "empty"): "no data: no graded answer states a confidence",
    }
    tab = make()
    app = Shown(tab)
    async with app.run_test(size=size) as pilot:
        tab.show(*found_in(runs["overconfident"], SHORT[name]))
        words = expected[make, name]
        await wait_until(pilot, lambda: any(words in told_in(app, part) for part in ("Chart", "Drawn")))


# selective


async def selective(pilot: Pilot[None], app: Shown, found: Found) -> ThresholdBar:
    tab = app.widget
    assert isinstance(tab, SelectiveTab)
    tab.show(*found)
    await wait_until(pilot, lambda: "act on answers" in screen_text(app))
    chosen = tab.query_one(ThresholdBar)
    chosen.focus()
    return chosen


def told_of(diagrams: Diagrams, threshold: int) -> tuple[str, ...]:
    point = diagrams.thresholds.at_threshold(threshold)
    return (
        f"stated at {threshold} or more",
        f"{point.kept} of {diagrams.thresholds.n}",
        f"{point.let_through} of {point.errors}",
    )


@pytest.mark.parametrize("size", SIZES)
async def test_keys_move_the_threshold_and_the_reading_follows(runs: dict[str, Run], size: tuple[int, int]) -> None:
    found = found_in(runs["calibrated"])
    app = Shown(SelectiveTab())
    async with app.run_test(size=size) as pilot:
        chosen = await selective(pilot, app, found)
        now = START
        steps = {"left": -1, "right": 1, "shift+left": -5, "shift+right": 5}
        for key in ("left", "left", "shift+left", "right", "shift+right", "shift+right"):
            await pilot.press(key)
            now += steps[key]
            assert chosen.threshold == now
            expected = told_of(found[1], now)
            await wait_until(pilot, lambda expected=expected: all(words in screen_text(app) for words in expected))
        await pilot.press("home", "left")
        assert chosen.threshold == 0
        await wait_until(pilot, lambda: "40 of 40" in screen_text(app))
        await pilot.press("end", "right", "shift+right")
        assert chosen.threshold == 100


async def test_a_threshold_that_keeps_nothing_says_so(runs: dict[str, Run]) -> None:
    found = found_in(runs["calibrated"], lambda records: tuple(one for one in records if (one.confidence or 0) < 95))
    left = found[1].thresholds.n
    app = Shown(SelectiveTab())
    async with app.run_test(size=(80, 24)) as pilot:
        await selective(pilot, app, found)
        await pilot.press("end")
        await wait_until(pilot, lambda: "no answer states" in screen_text(app) and f"0 of {left}" in screen_text(app))
        assert "gain" not in screen_text(app)


async def test_the_mouse_moves_the_threshold(runs: dict[str, Run]) -> None:
    found = found_in(runs["calibrated"])
    app = Shown(SelectiveTab())
    async with app.run_test(size=(80, 24)) as pilot:
        chosen = await selective(pilot, app, found)
        await pilot.click(ThresholdBar, offset=(0, 0))
        assert chosen.threshold == 0
        await pilot.click(ThresholdBar, offset=(chosen.size.width - 1, 0))
        assert chosen.threshold == 100
        await pilot.mouse_down(ThresholdBar, offset=(5, 0))
        await pilot.hover(ThresholdBar, offset=(18, 0))
        assert chosen.threshold == round(100 * 18 / (chosen.size.width - 1))
        await pilot.mouse_up(ThresholdBar, offset=(18, 0))
        await pilot.hover(ThresholdBar, offset=(2, 0))
        assert chosen.threshold == round(100 * 18 / (chosen.size.width - 1))


async def test_moving_the_threshold_computes_nothing(runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    found = found_in(runs["calibrated"])
    app = Shown(SelectiveTab())
    async with app.run_test(size=(80, 24)) as pilot:
        await selective(pilot, app, found)
        for name in ("threshold_explorer", "risk_coverage", "wilson"):
            monkeypatch.delattr(f"selfdiag.measure.curves.{name}")
        await pilot.press("shift+left")
        await wait_until(pilot, lambda: all(words in screen_text(app) for words in told_of(found[1], START - 5)))


def test_every_way_to_move_can_be_given_another_key() -> None:
    ids = [binding.id for binding in ThresholdBar.BINDINGS]  # type: ignore[union-attr]
    assert len(set(ids)) == 6 and all(name and name.startswith("selective.") for name in ids)


# pictures and rows


def test_a_reliability_picture_has_every_point_with_its_interval_and_its_band(runs: dict[str, Run]) -> None:
    diagram = found_in(runs["calibrated"])[1].reliability
    shown = pictures.reliability(diagram)
    assert isinstance(shown, Picture)
    band, diagonal, intervals, *points = shown.series
    assert band.tone == diagonal.tone == "muted" and band.low == tuple(100 * point.band[0] for point in diagram.points)
    assert intervals.high == tuple(100 * point.ci[1] for point in diagram.points)
    drawn = sorted((x, y) for series in points for x, y in zip(series.x, series.y, strict=True))
    assert drawn == sorted((100 * point.mean_confidence, 100 * point.accuracy) for point in diagram.points)
    few = next(series for series in points if series.name.startswith("<5"))
    assert len(few.x) == sum(point.few for point in diagram.points)
    assert f"n {diagram.n}" in shown.caption


def test_a_risk_picture_reaches_as_high_as_its_intervals_and_has_no_gaps(runs: dict[str, Run]) -> None:
    curve = found_in(runs["overconfident"])[1].risk_coverage
    shown = pictures.risk_coverage(curve, coverage=0.5)
    assert isinstance(shown, Picture)
    area, best, risk, upright = shown.series
    assert shown.y_range[1] >= 100 * max(curve.high) and shown.y_ticks[-1] == shown.y_range[1]
    assert max(right - left for left, right in zip(sorted(area.x), sorted(area.x)[1:], strict=False)) < 2
    assert min(area.x) == pytest.approx(100 * curve.coverage[0]) and max(area.x) == pytest.approx(100)
    assert risk.y == tuple(100 * share for share in curve.risk) and best.tone == "muted"
    assert upright.x == (50.0,)


def test_TUI_30_pictures_of_nothing_are_words() -> None:
    curve = RocCurve(n=7, note="not enough data: needs 5 wrong answers, has 2", auroc=Estimate(value=None, note=""))
    assert pictures.roc(curve) == "not enough data: needs 5 wrong answers, has 2"


def test_rows_by_outcome_count_what_was_said() -> None:
    outcome = ["correct"] * 4 + ["incorrect"] * 2 + ["abstained", "incorrect", "correct", "refused"]
    stated = [0.9, 0.9, 0.9, 0.5, 0.9, 0.5, 0.2, 0.8, float("nan"), 0.5]
    trap = [False] * 7 + [True, True, False]
    found = confidence_by_outcome(outcome, stated, trap=trap)
    for width in (28, 36, 60):
        rows = [row.plain for row in outcome_rows(found, width, plain=False)]
        assert max(len(row) for row in rows[:5]) <= width
    rows = [row.plain for row in outcome_rows(found, 40, plain=True)]
    assert rows[0].split() == ["x", "wrong", "2", "sure", "+", "right", "4"]
    assert rows[1].split()[0] == "1" and rows[1].split()[-1] == "3" and " 90 " in rows[1]
    assert "#" not in rows[2].replace(" ", "") and "80" in rows[2]
    assert "o abstained 1  stated 20" in rows and "! missed trap 1  stated 80" in rows
    assert "+ spotted trap 1  stated nothing" in rows
    assert rows[-1] == "left out: 1 refused"


def test_bars_and_tracks_are_as_long_as_their_share() -> None:
    assert bar(0.5, 8, plain=False) == "████" and bar(0.5, 8, plain=True) == "####"
    assert bar(0.0, 8, plain=False) == "" and bar(0.001, 8, plain=False) == "▏" and bar(0.001, 8, plain=True) == "#"
    assert track(0.5, (0.25, 0.74), 8, plain=True).plain == "--==o=--"
    assert track(None, None, 4, plain=True).plain == "----"
    assert track(1.0, None, 4, plain=True).plain == "---o"
    # resampling may put an interval beside its value: both stay to be seen
    assert track(0.1, (0.5, 0.9), 10, plain=True).plain == "-o---====="


def test_a_missing_measure_says_why_once() -> None:
    missing = Estimate(value=None, note="no data: nothing was said")
    told = [
        figure("AUROC", missing),
        figure("gap", missing, "signed"),
        figure("ECE", Estimate(value=0.5, n=3, note="x")),
    ]
    rows = [row.plain.rstrip() for row in figure_rows(told, 60)]
    assert rows == ["AUROC no data: nothing was said", "gap   no data", "ECE   .500", "  x"]
    assert all(len(row.plain) <= 24 for row in figure_rows(told, 24))


def test_radar_rows_set_claims_beside_deeds() -> None:
    claims = {"x1": InternalCriterion(mean=0.8, sd=0.1, n=5, consistency="high")}
    deeds = {
        "x1": Estimate(value=0.3, ci=(0.1, 0.5), n=12),
        "x2": Estimate(value=None, note="no data: [b]nothing[/b]"),
    }
    rows = [row.plain for row in radar_rows(self_assessment_radar(claims, deeds), 54, plain=True)]
    assert rows[0] == "x1  hallucination control"
    assert rows[1].split() == ["claims", "--------o-", "0.80", "±", "0.10", "n", "5"]
    assert rows[2].split() == ["does", "-==o==----", "0.30", "[0.10,", "0.50]", "n", "12"]
    assert rows[5].endswith("no data: [b]nothing[/b]") and rows[4].endswith("not asked")
    assert "internal: x2, x3, x4, x5" in rows[-1]
    assert [row.plain for row in radar_rows(self_assessment_radar({}, {}), 54, plain=False)] == [
        "no data: no criterion is known on either side"
    ]
