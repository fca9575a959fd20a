"""Self-selection as a person types it: one run, one result, and the same run after any kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from selfdiag.runs.records import CANDIDATES, SELFSELECT
from selfdiag.runs.store import read_run

WORDS = ("selfselect", "persona:calibrated", "--battery", "quick")


def test_help_fits_and_loads_no_numbers(selfdiag) -> None:
    done = selfdiag("selfselect", "--help")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "selfdiag selfselect embedded" in done.stdout and "--base-url" in done.stdout
    code = "import sys\nfrom selfdiag.cli.selfselect import selfselect\nassert 'numpy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_self_selection_is_an_ordinary_run(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(*WORDS, "--out", "run")
    assert done.returncode == 0, done.stderr
    assert "asking 168 questions" in done.stderr and "kept as run" in done.stderr
    assert "simulated" in done.stdout.splitlines()[0]
    assert max(map(len, done.stdout.splitlines())) <= 80
    run = read_run(tmp_path / "run")
    assert run.manifest.settings.sections == (SELFSELECT,)
    assert Counter(record.section for record in run.records)[CANDIDATES] == 84
    assert selfdiag("report", "run").stdout == done.stdout
    assert "all 84 replies come out as recorded" in selfdiag("analyze", "run", "--regrade").stdout
    found = json.loads(selfdiag("report", "run", "--json").stdout)
    assert found["schema"] == "selfdiag.selfselect/1" and found["model"]["simulated"] is True
    page = selfdiag("report", "run", "--format", "html").stdout
    assert page.startswith("<!doctype html>") and "Self-selection" in page and "no VC dimension" in page
    assert 'name="section selfselect"' in selfdiag("report", "run", "--format", "junit").stdout
    assert len(selfdiag("report", "run", "--format", "csv").stdout.splitlines()) == len(run.records) + 1
    gated = selfdiag("report", "run", "--fail-under", "C")
    assert gated.returncode == 2 and "kind selfselect" in gated.stderr


def test_json_and_markdown_are_documents(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(*WORDS, "--json", "--selections", "4", "--grid", "paper")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "selfdiag.selfselect/1"
    assert (found["selections"], found["sampled"]) == (4, True)
    assert set(found["categories"]["volumes"]) == set(found["categories"]["paper"])
    assert found["consistency"]["metrics"]["accuracy"]["n"] == found["consistency"]["pairs"]
    assert "NaN" not in done.stdout
    written = selfdiag(*WORDS, "--format", "md", "-o", "report.md", "--selections", "1")
    assert written.returncode == 0 and written.stdout == ""
    text = (tmp_path / "report.md").read_text()
    assert text.startswith("# Self-selection: calibrated (simulated)")
    assert "selfdiag selfselect persona:calibrated --battery quick --selections 1" in text
    assert "| – | – |" not in text


def test_a_dry_run_asks_nothing(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(*WORDS, "--dry-run", "--json", "--out", "run")
    assert done.returncode == 0
    plan = json.loads(done.stdout)
    assert plan["schema"] == "selfdiag.plan/1" and plan["estimate"]["calls"] == len(plan["calls"]) == 168
    assert not (tmp_path / "run").exists()
    assert "cut at 400 characters" in selfdiag(*WORDS, "--dry-run", "--limit", "1").stdout


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--selections", "3"), "write 1 or an even number"),
        (("--selections", "0"), "selections"),
        (("--json", "--format", "md"), "contradict each other"),
        (("--items", "nope"), "no item of this battery"),
        (("--battery", "full", "--selections", "10"), "add --yes"),
    ],
)
def test_wrong_input_is_one_line(selfdiag, tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    done = selfdiag("selfselect", "persona:blind", "--out", "run", *flags)
    assert done.returncode == 2 and done.stdout == ""
    assert words in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_an_audit_and_a_file_have_the_same_table_of_categories(selfdiag, tmp_path: Path) -> None:
    assert selfdiag("run", "persona:blind", "--battery", "full", "--out", "audit").returncode == 0
    shown = selfdiag("analyze", "audit", "--categories")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("persona:blind (simulated)") and "simulated: these replies" in shown.stdout
    assert "  arithmetic                  14" in shown.stdout and "over 21 categories, closed form" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    rows = ["model,bin,item,confidence,correct"]
    rows += [f"m,{name},{number},{50 + number},{number % 2}" for name in ("a", "b") for number in range(4)]
    rows += [f"n,a,{number},90,1" for number in range(4)]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    done = selfdiag("analyze", "log.csv", "--categories", "--json", "--draws", "200")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "selfdiag.categories/1"
    first, second = found["models"]
    assert (first["model"], second["model"], first["simulated"]) == ("m", "n", False)
    assert [row["name"] for row in first["diagnostics"]["categories"]] == ["a", "b"]
    # s is .5 and q .515 in both topics
    assert first["diagnostics"]["volumes"]["c_pvc_vus"]["value"] == pytest.approx(2 * 0.5 * (1 - 0.015))
    assert first["diagnostics"]["volumes"]["pvc_vus"]["ci"] is not None
    assert second["diagnostics"]["worst_gap"]["p"] is None


def test_a_run_without_answers_to_probes_has_no_table_of_its_own(selfdiag) -> None:
    assert selfdiag(*WORDS, "--out", "picks").returncode == 0
    alone = selfdiag("analyze", "picks", "--categories")
    assert alone.returncode == 2 and alone.stdout == ""
    assert "asks no probes and no traps (selfselect alone): 'selfdiag report' shows" in alone.stderr
    assert len(alone.stderr.splitlines()) == 1
    assert selfdiag("run", "persona:blind", "--limit", "6", "--out", "audit").returncode == 0
    beside = selfdiag("analyze", "audit", "picks", "--categories")
    assert (beside.returncode, beside.stderr) == (2, alone.stderr)


def test_a_budget_stops_it_and_a_resume_finishes_it(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(*WORDS, "--out", "run", "--budget-tokens", "4000")
    assert done.returncode == 4
    assert "go on with: selfdiag run --resume run" in done.stderr.lower()
    assert "incomplete" in done.stdout
    resumed = selfdiag("run", "--resume", "run")
    assert resumed.returncode == 0, resumed.stderr
    whole = selfdiag(*WORDS, "--out", "whole")
    assert read_run(tmp_path / "run").latest().keys() == read_run(tmp_path / "whole").latest().keys()
    assert resumed.stdout.startswith(whole.stdout)


def test_errors_are_asked_again_before_the_picks(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("selfselect", "persona:flaky", "--battery", "quick", "--out", "run", "--max-retries", "0")
    assert done.returncode == 4
    failed = {record.call_id for record in read_run(tmp_path / "run").records if record.error is not None}
    assert failed
    assert selfdiag("run", "--resume", "run", "--max-retries", "4").returncode == 0
    run = read_run(tmp_path / "run")
    assert not any(record.error for record in run.latest().values())
    whole = selfdiag("selfselect", "persona:flaky", "--battery", "quick", "--out", "whole")
    assert whole.returncode == 0
    assert run.latest().keys() == read_run(tmp_path / "whole").latest().keys()


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def test_killed_again_and_again_it_comes_to_the_same(selfdiag, tmp_path: Path) -> None:
    words = ["selfselect", "persona:slow", "--battery", "quick", "--out"]
    assert selfdiag(*words, "whole", "--concurrency", "60").returncode == 0
    undisturbed = read_run(tmp_path / "whole")
    folder = tmp_path / "killed"
    file = folder / "records.jsonl"
    command = [*words, str(folder), "--concurrency", "8"]
    # in the first stage, at its end, and in the second
    for target in (5, 40, 82, 90, 110):
        process = subprocess.Popen(
            [sys.executable, "-m", "selfdiag", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while _lines(file) < target:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        command = ["run", "--resume", str(folder), "--concurrency", "8"]
    last = selfdiag("run", "--resume", str(folder), "--concurrency", "60")
    assert last.returncode == 0, last.stderr
    resumed = read_run(folder)
    assert set(Counter(record.call_id for record in resumed.records).values()) == {1}
    before, after = undisturbed.latest(), resumed.latest()
    assert {key: (one.raw, one.outcome, one.answer) for key, one in after.items()} == {
        key: (one.raw, one.outcome, one.answer) for key, one in before.items()
    }
