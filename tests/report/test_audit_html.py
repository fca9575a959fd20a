"""The HTML report of an audit: what it says, and that no foreign text in it does anything."""

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from selfdiag.protocols.audit import summarise
from selfdiag.report import words
from selfdiag.report.audit_html import audit_html
from selfdiag.report.measure_words import measure_meaning
from selfdiag.report.results import result_of
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import Run, read_run
from tests.claim_runs import asked
from tests.conftest import ROOT, Command
from tests.report.pages import Page, inert
from tests.tui.result_runs import HOSTILE, MEGABYTE, audit_run

NASTY = (
    *HOSTILE,
    '"><script>alert(1)</script>',
    "<img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "[x](javascript:alert(1))",
    "=cmd()",
    "</style></details><b>",
    "--> <!-- ]]>",
    "$\\frac{a}{b}$",
    "| a | b |\n\n# c",
)


def page_of(run: Run) -> str:
    made = result_of(run).html
    assert made is not None
    return made()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = audit_run(
        tmp_path_factory.mktemp("runs") / "hostile",
        probes=60,
        traps=20,
        texts=NASTY,
        long_reply=True,
        model='openai:"><script>alert(1)</script><img src=x onerror=alert(2)>',
    )
    return page_of(read_run(folder))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of every section that an audit has."""
    sections = ("probes", "traps", "questionnaire", "microprobe", "anchor", "fresh-check")
    settings = RunSettings(
        model="persona:suggestible", sections=sections, repeat=2, confidence=("stated", "posthoc"), instances=2
    )
    return asked(settings, tmp_path_factory.mktemp("runs") / "whole")


@pytest.fixture(scope="module")
def page(whole: Run) -> str:
    return page_of(whole)


def test_STA_14_no_foreign_text_does_anything(hostile: str) -> None:
    found = inert(hostile)
    assert "a" not in found.tags, "no foreign text makes a link"
    for tag, name, value in found.attributes:
        if name == "style":
            assert re.fullmatch(r"[\w\s:;.,#%()-]*", value), (tag, value)
    assert "Content-Security-Policy" in found.values("http-equiv")
    assert "javascript:alert(1)" in found.text and "</style></details><b>" in found.text
    assert '"><script>alert(1)</script>' in found.text and "<img src=x onerror=alert(1)>" in found.text


def test_STA_14_the_name_of_a_model_is_text_in_the_title_too(hostile: str) -> None:
    title = re.search("<title>(.*?)</title>", hostile)
    assert title is not None
    assert title[1].startswith(
        "openai:&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;"
    )


def test_a_reply_of_a_megabyte_is_bounded_and_says_so(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "long", probes=30, traps=4)
    run = read_run(folder)
    wrong = next(record for record in run.records if record.outcome == "incorrect")
    long = msgspec.structs.replace(wrong, raw="x<" * (MEGABYTE // 2), confidence=100, answer="y" * MEGABYTE)
    records = tuple(long if record is wrong else record for record in run.records)
    made = page_of(msgspec.structs.replace(run, records=records))
    assert len(made) < 300_000
    assert "(996,000 more characters)" in made


def test_key_figures_are_those_of_the_summary(whole: Run, page: str) -> None:
    summary = summarise(whole)
    text = Page(page).text
    for name, kind in (("accuracy", "percent"), ("gap", "signed"), ("brier", "fraction"), ("auroc", "fraction")):
        found = summary.metrics[name]
        shown = {"percent": words.percent, "signed": words.signed, "fraction": words.fraction}[kind](found.value)
        assert f"{shown} {words.interval(found, kind=kind)} · n {found.n}" in text
    assert f"Tier {summary.tier.letter}: {words.tier_words(summary)}" in text
    assert words.headline(summary) in text and summary.tier.advice in text
    assert f"{summary.composite.value:.0f} of 100" in text
    spotted = summary.metrics["trap_abstention"]
    assert f"{round((spotted.value or 0) * spotted.n)} of {spotted.n}" in text
    for name, found in summary.metrics.items():
        assert re.search(rf"<code>{name}</code></td><td[^>]*>{re.escape(_four(found.value))}</td>", page), name


def _four(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def test_every_section_and_drawing_is_there(page: str) -> None:
    heads = re.findall(r"<h2>(.*?)</h2>", page)
    for part in (
        "Calibration",
        "Discrimination",
        "Acting on confidence",
        "Topics",
        "Traps",
        "What it says of itself",
        "Microprobe",
        "Anchor",
        "Fresh check",
        "Asked again",
        "Sources of confidence",
        "Confident errors",
        "All measures",
        "How it was asked",
    ):
        assert any(head.startswith(part) for head in heads), part
    assert page.count('role="img"') == page.count("<svg ") == 8
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert "simulated: these replies were written by a script" in page.lower()
    assert '<span class="badge">simulated</span>' in page


def test_the_command_that_asks_the_same_again_and_the_manifest_are_there(page: str) -> None:
    text = Page(page).text
    assert "selfdiag run persona:suggestible --sections probes,traps,questionnaire" in text
    for field in ("settings.seed", "battery.sha256", "drawn.sha256", "sessions.0.started", "versions.numpy"):
        assert field in text


def test_the_page_is_the_same_bytes_whatever_the_order_of_hashes(whole: Run, page: str) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom selfdiag.report.results import result_of\n"
        "from selfdiag.runs.store import read_run\n"
        "sys.stdout.buffer.write(result_of(read_run(Path(sys.argv[1]))).html().encode())"
    )
    for seed in ("1", "2"):
        again = subprocess.run(
            [sys.executable, "-W", "error", "-c", script, str(whole.folder)],
            capture_output=True,
            check=True,
            timeout=120,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        )
        assert again.stdout.decode() == page
        assert again.stderr == b""


def test_the_moment_is_told_in_utc(whole: Run) -> None:
    (first, *_) = whole.manifest.sessions
    elsewhere = msgspec.structs.replace(first, started="2026-01-01T01:30:00+02:00")
    manifest = msgspec.structs.replace(whole.manifest, sessions=(elsewhere,))
    made = page_of(msgspec.structs.replace(whole, manifest=manifest))
    assert "2025-12-31, 23:30 UTC" in made


def test_every_measure_of_a_summary_is_explained(whole: Run) -> None:
    for name in summarise(whole, draws=100).metrics:
        assert measure_meaning(name), name


def test_the_page_names_no_place_on_this_machine(whole: Run, page: str) -> None:
    assert str(whole.folder.parent) not in page and str(Path.home()) not in page and str(ROOT) not in page


def test_a_run_without_a_graded_answer_is_a_page_of_words(tmp_path: Path) -> None:
    run = read_run(audit_run(tmp_path / "none", probes=8, traps=2, unasked=10))
    made = audit_html(run, summarise(run))
    assert "<svg" not in made and not re.search(r"\bnan\b", Page(made).text, re.IGNORECASE)
    text = Page(made).text
    assert "Insufficient evidence" in text and "No probe has been asked." in text
    assert text.count("Nothing to draw: no data: no graded answer states a confidence.") == 3
    assert "No answer was graded." in text and "There is none: no data" in text
    assert "10 of 10 calls not asked" in text


def test_too_few_errors_for_a_curve_are_told(tmp_path: Path) -> None:
    run = asked(RunSettings(model="persona:calibrated", limit=4, sections=("probes",)), tmp_path / "few")
    text = Page(page_of(run)).text
    assert re.search(r"Nothing to draw: not enough data: needs 5 right answers, has \d", text)
    assert "No traps were asked." in text and "without traps" in text


def test_the_command_writes_the_page(selfdiag: Command, tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=30, traps=4)
    done = selfdiag("report", str(folder), "--format", "html", "-o", "report.html")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").rstrip() == page_of(read_run(folder)).rstrip()
    refused = selfdiag("report", str(folder), "--format", "html", "--json")
    assert refused.returncode == 2 and "contradict each other" in refused.stderr
