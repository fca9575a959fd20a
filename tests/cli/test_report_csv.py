"""A run as CSV from the command, and back again."""

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest

from selfdiag.report.records_csv import columns_csv
from selfdiag.runs.store import RECORDS, read_run

HEADLINE = ("accuracy", "brier", "gap", "auroc", "discrimination", "trap_abstention", "youden", "non_answer")


@pytest.fixture
def run(selfdiag) -> str:
    done = selfdiag("run", "persona:overconfident", "--sections", "probes,traps,questionnaire,anchor", "--out", "run")
    assert done.returncode == 0, done.stderr
    return "run"


def test_it_is_written_with_the_dictionary_of_its_columns_beside_it(selfdiag, run: str, tmp_path: Path) -> None:
    done = selfdiag("report", run, "--format", "csv", "-o", "replies.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == ["wrote replies.csv", "wrote replies-columns.csv"]
    written = (tmp_path / "replies.csv").read_bytes()
    assert (tmp_path / "replies-columns.csv").read_text(encoding="utf-8") == columns_csv()
    rows = list(csv.DictReader(io.StringIO(written.decode("utf-8")), strict=True))
    assert len(rows) == len(read_run(tmp_path / run).planned())
    assert {row["section"] for row in rows} == {"probes", "traps", "questionnaire", "anchor"}
    assert selfdiag("report", run, "--format", "csv").stdout.encode() == written


def test_a_device_gets_the_table_alone(selfdiag, run: str, tmp_path: Path) -> None:
    done = selfdiag("report", run, "--format", "csv", "-o", "/dev/null")
    assert (done.returncode, done.stderr) == (0, "wrote /dev/null\n")
    done = selfdiag("report", run, "--format", "csv", "--json")
    assert (done.returncode, done.stdout) == (2, "")


def test_it_comes_back_with_the_same_headline(selfdiag, run: str) -> None:
    assert selfdiag("report", run, "--format", "csv", "-o", "replies.csv").returncode == 0
    there = json.loads(selfdiag("analyze", run, "--json").stdout)
    done = selfdiag("analyze", "replies.csv", "--json")
    assert done.returncode == 0, done.stderr
    back = json.loads(done.stdout)
    assert back["group"]["model"] == "persona:overconfident"
    assert {name: back["metrics"][name] for name in HEADLINE} == {name: there["metrics"][name] for name in HEADLINE}
    assert back["mean_confidence"] == there["mean_confidence"]
    assert back["tier"] == there["tier"]
    assert "simulated: these replies were written by a script, not by a model" in back["notes"]


def test_the_records_file_of_such_a_run_can_be_analysed_too(selfdiag, run: str) -> None:
    found = json.loads(selfdiag("analyze", f"{run}/{RECORDS}", "--json").stdout)
    there = json.loads(selfdiag("analyze", run, "--json").stdout)
    assert {name: found["metrics"][name] for name in HEADLINE} == {name: there["metrics"][name] for name in HEADLINE}


def test_STA_13_answers_that_begin_like_a_formula(selfdiag, run: str, tmp_path: Path) -> None:
    answers = ["=1+1", "+3", "-5", "@x"]
    records = [
        msgspec.structs.replace(record, answer=answers[place % 4] if record.answer else None)
        for place, record in enumerate(read_run(tmp_path / run).records)
    ]
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "manifest.json").write_bytes((tmp_path / run / "manifest.json").read_bytes())
    path = tmp_path / "plain" / RECORDS
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    rows = list(csv.DictReader(io.StringIO(selfdiag("report", "plain", "--format", "csv").stdout)))
    assert {row["answer"] for row in rows if row["answer"]} == {f"'{answer}" for answer in answers}
    assert all(row["confidence"] == "" or 0 <= float(row["confidence"]) <= 100 for row in rows)
    assert selfdiag("run", "persona:calibrated", "--out", "other", "--json").returncode == 0
    pair = json.loads(selfdiag("compare", "plain", "other", "--json").stdout)["pairs"][0]
    changed = [item["first"]["answer"] for way in ("gained", "lost") for item in pair["probes"][way]]
    assert changed and set(changed) <= set(answers)
