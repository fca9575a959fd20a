"""Where a run is asked for, the log of an audit that another tool asked is taken too."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from inspect_documents import documents


def written(path: Path, found: tuple[dict[str, Any], list[dict[str, Any]]]) -> Path:
    header, samples = found
    path.write_text(json.dumps(header | {"samples": samples}), encoding="utf-8")
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return written(tmp_path / "audit.json", documents())


def test_report_gives_the_figures_that_analyze_gives(log: Path, selfdiag: Any) -> None:
    reported, analysed = (selfdiag(name, str(log), "--json") for name in ("report", "analyze"))
    assert reported.returncode == 0, reported.stderr
    found, other = json.loads(reported.stdout), json.loads(analysed.stdout)
    assert found["battery"]["probes"] == 4
    assert {name for name in found if found[name] != other[name]} == {"group"}


@pytest.mark.parametrize(("form", "start"), [("md", "# "), ("html", "<!doctype html>"), ("junit", "<?xml")])
def test_a_log_has_the_reports_of_a_run(form: str, start: str, log: Path, selfdiag: Any) -> None:
    done = selfdiag("report", log.name, "--format", form)
    assert done.returncode == 0, done.stderr
    assert done.stdout.lower().startswith(start)
    assert "some-model" in done.stdout


def test_every_reply_of_a_log_is_a_row(log: Path, selfdiag: Any) -> None:
    done = selfdiag("report", str(log), "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == 6


def test_a_gate_on_a_log_that_is_not_whole_is_not_judged(tmp_path: Path, selfdiag: Any) -> None:
    header, samples = documents()
    part = written(tmp_path / "part.json", (header, samples[2:]))
    done = selfdiag("report", str(part), "--fail-under", "C")
    assert done.returncode == 4
    assert "2 of 6 calls have no reply" in done.stderr
    assert "--resume" not in done.stderr


def test_a_log_is_compared_with_a_run(log: Path, selfdiag: Any) -> None:
    asked = selfdiag("run", "persona:calibrated", "--bins", "physics,history", "--out", "own")
    assert asked.returncode == 0, asked.stderr
    done = selfdiag("compare", str(log), "own", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (pair,) = found["pairs"]
    assert pair["probes"]["n"] == 3  # of 4: one is refused in the log
    assert pair["headline"]["trap_abstention"]["difference"]["n"] == 2


def test_a_log_sits_on_a_panel_with_runs(log: Path, selfdiag: Any) -> None:
    for persona in ("calibrated", "overconfident"):
        asked = selfdiag("run", f"persona:{persona}", "--bins", "physics,history", "--out", persona)
        assert asked.returncode == 0, asked.stderr
    done = selfdiag("panel", str(log), "calibrated", "overconfident", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["shared"]["probes"], found["shared"]["asked"]) == (4, 4)
    assert found["models"][0]["model"]["name"].endswith("some-model")
    assert sum(found["models"][0]["outcomes"].values()) == 4


def test_the_statistics_of_items_take_logs(log: Path, selfdiag: Any) -> None:
    done = selfdiag("probes", "stats", str(log), "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["items"]) == 5  # of 6: one is refused


@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_file_that_is_no_audit_is_told_in_one_line(command: str, log: Path, tmp_path: Path, selfdiag: Any) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("confidence,correct\n80,1\n", encoding="utf-8")
    header, samples = documents()
    header["eval"]["task"] = "someone/else"
    foreign = written(tmp_path / "foreign.json", (header, samples))
    for path in (table, foreign):
        done = selfdiag(command, *([str(log)] if command == "compare" else []), str(path))
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "selfdiag analyze" in line
    gone = selfdiag(command, *([str(log)] if command == "compare" else []), "gone.eval")
    assert gone.returncode == 2
    assert "no run 'gone.eval'" in gone.stderr


def test_a_run_goes_before_a_file_of_its_name(log: Path, tmp_path: Path, selfdiag: Any) -> None:
    assert selfdiag("run", "persona:calibrated", "--bins", "physics", "--limit", "2").returncode == 0
    (tmp_path / "latest").write_bytes(log.read_bytes())
    found = json.loads(selfdiag("report", "latest", "--json").stdout)
    assert found["model"]["name"] == "calibrated"
