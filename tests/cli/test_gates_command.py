"""Gates on the command line: exit codes, what is told, and what gates leave as it is."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from selfdiag.runs.store import read_manifest

EASY = ("--fail-under", "X", "--max-gap", "100%", "--min-trap-rate", "0", "--max-high-confidence-error", "1")


def failed(stderr: str) -> list[str]:
    """The gates that were told to have failed."""
    return [
        line.removeprefix("selfdiag: ").partition(" failed: ")[0] for line in stderr.splitlines() if " failed: " in line
    ]


def test_a_calibrated_model_passes_and_says_so_in_one_line(selfdiag) -> None:
    done = selfdiag("run", "persona:calibrated", "--fail-under", "C", "--max-gap", ".1", "--min-trap-rate", "50%")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "gates: 3 passed (simulated)"
    assert failed(done.stderr) == []


def test_a_blind_model_fails_each_gate_in_a_line_of_its_own(selfdiag) -> None:
    gates = ("--fail-under", "c", "--max-gap", "0.2", "--min-trap-rate", ".5", "--max-high-confidence-error", "30%")
    done = selfdiag("run", "persona:blind", *gates)
    assert done.returncode == 1
    assert failed(done.stderr) == [
        "--fail-under C",
        "--max-gap 0.2",
        "--min-trap-rate 0.5",
        "--max-high-confidence-error 0.3",
    ]
    assert "the tier is X, C or better with a probability of 0.000, n 42; C or better is asked for" in done.stderr
    assert "the share of traps spotted is 0.000 [0.000, 0.155], n 21; at least 0.5" in done.stderr
    assert done.stderr.count("(simulated)") == 4
    assert "gates:" not in done.stderr


def test_without_a_gate_nothing_is_told_and_nothing_fails(selfdiag) -> None:
    done = selfdiag("run", "persona:blind")
    assert done.returncode == 0
    assert "gate" not in done.stderr
    assert selfdiag("report", "latest").stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error there")
@pytest.mark.parametrize("words", [("run", "persona:blind"), ("run", "persona:blind", "--json"), ("report", "blind")])
def test_a_reader_that_has_gone_is_no_gate_passed(selfdiag, tmp_path: Path, words: tuple[str, ...]) -> None:
    selfdiag("run", "persona:blind", "--out", "blind")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "selfdiag", *words, "--fail-under", "C"]
    done = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == 1, done.stderr
    assert failed(done.stderr) == ["--fail-under C"]
    assert "Traceback" not in done.stderr


def test_a_report_is_gated_like_the_run(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:blind", "--out", "blind")
    for form in (["--json"], ["--format", "json"], ["--format", "md"], ["--format", "csv"], []):
        done = selfdiag("report", "blind", *form, "--fail-under", "C")
        assert done.returncode == 1
        assert failed(done.stderr) == ["--fail-under C"]
        assert done.stdout == selfdiag("report", "blind", *form).stdout
    assert selfdiag("report", "blind", *EASY).returncode == 0
    written = selfdiag("report", "blind", "--format", "md", "-o", "report.md", "--max-gap", "0")
    assert written.returncode == 1
    assert (tmp_path / "report.md").read_text().startswith("# selfdiag")


def test_json_stays_the_plain_summary(selfdiag) -> None:
    selfdiag("run", "persona:calibrated", "--limit", "3", "--out", "run")
    done = selfdiag("run", "--resume", "run", "--json", "--fail-under", "A")
    assert done.returncode == 1
    assert json.loads(done.stdout) == json.loads(selfdiag("report", "run", "--json").stdout)


def test_a_bound_asks_for_more_than_a_point(selfdiag) -> None:
    selfdiag("run", "persona:calibrated")
    gates = ("report", "latest", "--fail-under", "B", "--max-gap", ".1", "--min-trap-rate", ".7")
    assert selfdiag(*gates).returncode == 0
    assert selfdiag(*gates, "--gate-on", "point").returncode == 0
    done = selfdiag(*gates, "--gate-on", "bound")
    assert done.returncode == 1
    # the tier is sure enough, the interval of the gap and that of 17 of 21 traps are not narrow enough
    assert failed(done.stderr) == ["--max-gap 0.1 --gate-on bound", "--min-trap-rate 0.7 --gate-on bound"]
    assert "its bound 0.600 does not: more items" in done.stderr


def test_a_value_that_is_missing_fails(selfdiag) -> None:
    done = selfdiag("run", "persona:calibrated", "--sections", "traps", *EASY, "--max-shift", "100")
    assert done.returncode == 1
    assert failed(done.stderr) == ["--fail-under X", "--max-gap 1", "--max-high-confidence-error 1", "--max-shift 100"]
    assert "there is no tier: Not enough to judge: no probe got a reply" in done.stderr
    assert "the gap is missing (no data" in done.stderr
    assert "add --sections probes,traps,microprobe" in done.stderr
    assert selfdiag("report", "latest", "--min-trap-rate", "0").returncode == 0
    selfdiag("run", "persona:calibrated", "--sections", "probes")
    assert "no data: no trap" in selfdiag("report", "latest", "--min-trap-rate", "0").stderr


def test_the_shift_of_an_audit_and_of_a_microprobe_alone(selfdiag) -> None:
    sections = ("--sections", "probes,traps,microprobe")
    done = selfdiag("run", "persona:suggestible", *sections, "--max-shift", "10")
    assert done.returncode == 1
    assert failed(done.stderr) == ["--max-shift 10"]
    assert selfdiag("run", "persona:pinned", *sections, "--max-shift", "10").returncode == 0
    selfdiag("microprobe", "persona:suggestible")
    done = selfdiag("report", "latest", "--max-shift", "10")
    assert done.returncode == 1
    assert failed(done.stderr) == ["--max-shift 10"]
    assert selfdiag("report", "latest", "--max-shift", "100").returncode == 0
    refused = selfdiag("report", "latest", "--fail-under", "C")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert "kind microprobe" in refused.stderr


def test_a_microprobe_is_gated_as_its_report_is(selfdiag) -> None:
    gates = ("--max-shift", "10", "--gate-on", "bound")
    for model in ("persona:suggestible", "persona:pinned"):
        there = selfdiag("microprobe", model, *gates)
        again = selfdiag("report", "latest", *gates)
        assert there.returncode == again.returncode == 1
        assert failed(there.stderr) == failed(again.stderr) == ["--max-shift 10 --gate-on bound"]
        assert there.stderr.splitlines()[-1] == again.stderr.splitlines()[-1]


def test_a_run_that_did_not_finish_is_4_and_not_1(selfdiag) -> None:
    done = selfdiag("run", "persona:blind", "--budget-seconds", "0", "--fail-under", "A", "--out", "cut")
    assert done.returncode == 4
    assert failed(done.stderr) == []
    report = selfdiag("report", "cut", "--fail-under", "A")
    assert report.returncode == 4
    assert "63 of 63 calls have no reply" in report.stderr
    assert "selfdiag run --resume" in report.stderr
    assert selfdiag("report", "cut").returncode == 0
    # gates are no setting of a run: it goes on with others
    resumed = selfdiag("run", "--resume", "cut", "--fail-under", "E", "--max-gap", ".1")
    assert resumed.returncode == 1
    assert failed(resumed.stderr) == ["--fail-under E", "--max-gap 0.1"]


def test_a_model_that_is_not_there_is_3_and_not_1(selfdiag) -> None:
    words = ("run", "openai:x", "--base-url", "http://127.0.0.1:9", "--max-retries", "0")
    assert selfdiag(*words, "--fail-under", "A").returncode == 3


def test_gates_change_neither_the_plan_nor_the_manifest(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:blind", "--limit", "2", "--out", "plain")
    selfdiag("run", "persona:blind", "--limit", "2", "--out", "gated", "--fail-under", "A", "--gate-on", "bound")
    plain, gated = (read_manifest(tmp_path / name) for name in ("plain", "gated"))
    assert plain.settings == gated.settings
    assert plain.plan == gated.plan


@pytest.mark.parametrize("command", [["run", "persona:blind"], ["report", "run"]])
@pytest.mark.parametrize(
    ("gates", "words"),
    [
        (["--fail-under", "F"], ["--fail-under", "no tier 'F'", "A, B, C, D, E, X"]),
        (["--fail-under", "-"], ["--fail-under", "no tier '-'"]),
        (["--fail-under", ""], ["--fail-under", "no tier ''"]),
        (["--max-gap", "nan"], ["--max-gap", "0 to 1, or a percentage"]),
        (["--max-gap", "inf"], ["--max-gap"]),
        (["--max-gap", "1.01"], ["--max-gap"]),
        (["--max-gap", "20"], ["--max-gap", "0 to 1, or a percentage such as 30%"]),
        (["--max-gap", "-0.1"], ["--max-gap"]),
        (["--max-gap", "101%"], ["--max-gap"]),
        (["--max-gap", "%"], ["--max-gap"]),
        (["--min-trap-rate", "1e-1"], ["--min-trap-rate"]),
        (["--max-high-confidence-error", "٣"], ["--max-high-confidence-error"]),
        (["--max-shift", "101"], ["--max-shift", "points from 0 to 100"]),
        (["--max-shift", "nan"], ["--max-shift"]),
        (["--gate-on", "middle", "--max-gap", "1"], ["--gate-on"]),
        (["--gate-on", "bound"], ["--gate-on", "give one"]),
    ],
)
def test_a_bar_that_is_none_is_refused_in_one_line(
    selfdiag, own_home: Path, command: list[str], gates: list[str], words: list[str]
) -> None:
    done = selfdiag(*command, *gates)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    for word in words:
        assert word in line
    assert not (own_home / "runs").exists()


def test_a_run_without_such_figures_is_refused_before_anything_is_asked(selfdiag) -> None:
    done = selfdiag("run", "persona:blind", "--sections", "microprobe", "--fail-under", "C")
    assert done.returncode == 2
    assert "--fail-under is a gate for audits, and this is a run of the kind microprobe" in done.stderr
    assert "asking" not in done.stderr
    selfdiag("assess", "persona:calibrated", "--tasks", "1", "--instances", "1", "--questionnaires", "1")
    for words in (("run", "--resume"), ("report",)):
        refused = selfdiag(*words, "latest", "--max-gap", ".2")
        assert refused.returncode == 2
        assert "kind assess: give --require to 'selfdiag assess'" in refused.stderr


def test_both_commands_show_the_gates_last(selfdiag) -> None:
    for command in ("run", "report"):
        shown = selfdiag(command, "--help").stdout
        flags = [line.split()[0].rstrip(",") for line in shown.splitlines() if line.startswith("  -")]
        assert flags[-7:-1] == [
            "--fail-under",
            "--max-gap",
            "--min-trap-rate",
            "--max-high-confidence-error",
            "--max-shift",
            "--gate-on",
        ]


def test_junit_is_written_before_the_gates_fail(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:blind", "--out", "run")
    done = selfdiag("report", "run", "--format", "junit", "-o", "junit.xml", "--fail-under", "C", "--max-gap", "1")
    assert done.returncode == 1
    assert done.stdout == ""
    root = ET.fromstring((tmp_path / "junit.xml").read_bytes())  # noqa: S314 - written here
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "0")
    assert {case.get("name") for case in root.iter("testcase")} == {
        "gate --fail-under C",
        "gate --max-gap 1",
        "section probes",
        "section traps",
    }
    shown = selfdiag("report", "run", "--format", "junit")
    assert shown.returncode == 0
    assert ET.fromstring(shown.stdout).get("failures") == "0"  # noqa: S314 - written here
    both = selfdiag("report", "run", "--format", "junit", "--json")
    assert both.returncode == 2
    assert "contradict each other" in both.stderr
    nowhere = selfdiag("report", "run", "--format", "junit", "-o", "no/where.xml", "--fail-under", "C")
    assert nowhere.returncode == 2
    assert failed(nowhere.stderr) == []


def test_the_workflows_in_the_docs_do_what_they_say(selfdiag, tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "ci.md").read_text(encoding="utf-8")
    workflows = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(workflows) == 2
    for number, workflow in enumerate(workflows):
        commands = re.findall(r"selfdiag ((?:run|report) .*)", workflow)
        assert len(commands) == 3
        for command in commands:
            said = command.replace('"$MODEL"', "embedded").replace("$GATES", "--fail-under E")
            words = shlex.split(said.replace("embedded", "persona:calibrated").replace("audit", f"audit{number}"))
            done = selfdiag(*words)
            assert done.returncode == 0, done.stderr
        assert ET.parse(tmp_path / "junit.xml").getroot().get("tests") == "3"  # noqa: S314 - written here
        (tmp_path / "junit.xml").unlink()
