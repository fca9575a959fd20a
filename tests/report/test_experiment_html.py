"""Experiments and self-assessments as HTML pages: all of the report, with drawings, and nothing that acts."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest
from claim_runs import asked
from made_runs import Said, follower, graded, measured, unmoved, written
from pages import inert

from selfdiag.battery.items import Probe
from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.assess import SECTIONS
from selfdiag.protocols.ladder import ladder_plan
from selfdiag.protocols.own_profile import Given, experiment_settings
from selfdiag.protocols.profile_signature import Gate
from selfdiag.protocols.swap import swap_plan
from selfdiag.protocols.topicpass import measured_topicpass
from selfdiag.report.drawings.experiments import Shown, arms, differences
from selfdiag.report.html_page import from_markdown
from selfdiag.report.results import result_of
from selfdiag.runs.records import LADDER, MICROPROBE, SWAP, TOPICPASS, PlannedCall, RunSettings
from selfdiag.runs.store import Run

EVIL = '<img src=x onerror=alert(1)>"><script>alert(2)</script> [a](javascript:alert(3)) \x1b[31m\u202e'
TITLES = {
    MICROPROBE: "Microprobe: persona:suggestible (simulated)",
    LADDER: "Profile ladder: made-up",
    SWAP: "Profile swap: made-up",
    TOPICPASS: "Topic pass: made-up",
    "assess": "Self-assessment: overconfident (simulated)",
}
DRAWINGS = {MICROPROBE: 1, LADDER: 2, SWAP: 2, TOPICPASS: 2, "assess": 1}


def silent(call: PlannedCall, probe: Probe) -> None:
    """Leaves every call unasked."""


def unsaid(call: PlannedCall, probe: Probe) -> Said:
    return graded(probe), None


def experiment(kind: str, folder: Path, reply: Callable[..., Said | None] = follower) -> Run:
    run = measured(folder / "measured", unmoved, battery="standard")
    settings = experiment_settings(run, kind)
    other = Given(
        accuracy=dict.fromkeys(run.manifest.drawn.bins(), 50),
        origin="made up",
        gate=Gate(state="unsigned", note=""),
        measured=None,
    )
    plans = {
        LADDER: lambda: ladder_plan(settings, run, replicates=1, labelled=True),
        SWAP: lambda: swap_plan(settings, run, other),
        TOPICPASS: lambda: measured_topicpass(settings, run, per_topic=1),
    }
    return written(plans[kind](), settings, reply, folder / "run")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Return a run of each kind, made once."""

    @cache
    def make(kind: str) -> Run:
        folder = tmp_path_factory.mktemp(kind)
        if kind == "assess":
            settings = RunSettings(
                model="persona:overconfident", sections=SECTIONS, instances=2, ratings=5, tasks=5, limit=21
            )
            return asked(settings, folder / "run")
        if kind == MICROPROBE:
            return asked(RunSettings(model="persona:suggestible", sections=(MICROPROBE,)), folder / "run")
        return experiment(kind, folder)

    return make


@pytest.mark.parametrize("kind", TITLES)
def test_the_page_has_the_whole_report_and_its_drawings(made: Callable[[str], Run], kind: str) -> None:
    result = result_of(made(kind))
    page = inert(result.html())
    report = inert(str(from_markdown(result.markdown().partition("\n")[2]))).text
    rest = page.text
    for paragraph in report.split(". "):
        assert paragraph in rest, paragraph
    assert TITLES[kind] in page.texts
    assert page.tags.count("svg") == DRAWINGS[kind]
    assert len(page.values("aria-label")) >= DRAWINGS[kind]
    assert page.tags.count("h1") == 1
    assert "Nothing to draw" not in rest


@pytest.mark.parametrize("kind", TITLES)
def test_the_same_run_gives_the_same_bytes(made: Callable[[str], Run], kind: str) -> None:
    run = made(kind)
    assert result_of(run).html() == result_of(run).html()


@pytest.mark.parametrize("kind", TITLES)
def test_STA_14_hostile_text_is_text(made: Callable[[str], Run], kind: str) -> None:
    run = made(kind)
    manifest = run.manifest
    model = msgspec.structs.replace(manifest.model, name=EVIL, served_name=EVIL, digest=EVIL)
    settings = msgspec.structs.replace(manifest.settings, model=EVIL, battery=EVIL)
    profiles = tuple(msgspec.structs.replace(profile, origin=EVIL, gate=EVIL) for profile in manifest.injected)
    battery = msgspec.structs.replace(manifest.battery, id=EVIL, version=EVIL)
    manifest = msgspec.structs.replace(
        manifest, model=model, settings=settings, injected=profiles, battery=battery, run_id=EVIL, git=EVIL
    )
    records = tuple(msgspec.structs.replace(r, answer=r.answer and EVIL, raw=EVIL, rule=EVIL) for r in run.records)
    run = msgspec.structs.replace(run, manifest=manifest, records=records, problems=(EVIL,))
    html = result_of(run).html()
    page = inert(html)
    assert "<img" not in html and "<script" not in html
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "a" not in page.tags


@pytest.mark.parametrize("reply", [silent, unsaid])
@pytest.mark.parametrize("kind", [LADDER, SWAP, TOPICPASS])
def test_a_run_with_nothing_to_draw_says_why(tmp_path: Path, kind: str, reply) -> None:
    text = inert(result_of(experiment(kind, tmp_path, reply)).html()).text
    assert text.count("Nothing to draw: ") == 2
    assert "no arm has answers with a confidence" in text
    assert " nan" not in text.lower() and "None" not in text


def test_a_difference_is_filled_where_its_interval_is_off_zero() -> None:
    def found(value: float | None, ci: tuple[float, float] | None, note: str = "") -> Estimate:
        return Estimate(value=value, ci=ci, n=20, method="bootstrap", note=note)

    rows = [
        Shown("up", "", found(0.2, (0.1, 0.3)), better=True),
        Shown("down", "", found(-0.2, (-0.3, -0.1)), better=True),
        Shown("none", "", found(0.1, (-0.1, 0.3)), better=True),
        Shown("absent", "", found(None, None, "no data: nothing was asked")),
    ]
    drawing = differences(rows, of="AUROC", scale="share")
    assert not isinstance(drawing, str)
    assert "up +.200 [+.10, +.30]; down -.200 [-.30, -.10]; none +.100 [-.10, +.30]" in drawing.alt
    assert "Left out: absent (no data: nothing was asked)." in drawing.caption
    for colour, times in (("--right", 1), ("--wrong", 1)):
        assert drawing.svg.count(f"fill: var({colour})") == times
    assert differences(rows[3:], of="AUROC", scale="share") == "no data: nothing was asked"
    assert differences([], of="AUROC", scale="share") == "nothing was compared"
    assert arms([]) == "no arm has answers with a confidence"


def test_the_command_writes_the_page_of_an_experiment(selfdiag, made: Callable[[str], Run], tmp_path: Path) -> None:
    run = made(LADDER)
    done = selfdiag("report", str(run.folder), "--format", "html", "-o", "ladder.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "wrote ladder.html\n")
    assert (tmp_path / "ladder.html").read_text(encoding="utf-8") == result_of(run).html()
