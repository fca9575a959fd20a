"""``selfdiag compare``: what a person types, and what comes back."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def runs(selfdiag, tmp_path: Path) -> tuple[str, str]:
    for persona in ("calibrated", "overconfident"):
        done = selfdiag("run", f"persona:{persona}", "--limit", "12", "--out", persona, "--json")
        assert done.returncode == 0, done.stderr
    return "calibrated", "overconfident"


def refused(selfdiag, *words: str) -> str:
    done = selfdiag("compare", *words)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    return line


def test_text_is_the_default(selfdiag, runs) -> None:
    done = selfdiag("compare", *runs)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("A  calibrated (simulated)")
    assert "B against A · 12 probes and 12 traps in common" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("words", [("--json",), ("--format", "json"), ("--json", "--format", "json")])
def test_json_is_one_document(selfdiag, runs, words: tuple[str, ...]) -> None:
    done = selfdiag("compare", *runs, *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))
    assert found["schema"] == "selfdiag.comparison/1"
    assert found["draws"] == 2000
    assert [run["letter"] for run in found["runs"]] == ["A", "B"]
    (pair,) = found["pairs"]
    assert set(pair["headline"]["gap"]) == {"first", "second", "difference", "p", "holm"}
    assert set(pair["headline"]["gap"]["difference"]) == {"value", "ci", "n", "method", "note"}
    assert set(pair["probes"]) == {"gained", "lost", "n", "p"}


def test_it_writes_each_form_to_a_file(selfdiag, runs, tmp_path: Path) -> None:
    for form, start in (("md", "# selfdiag: runs compared\n"), ("text", "A  calibrated"), ("json", "{\n")):
        done = selfdiag("compare", *runs, "--format", form, "-o", f"found.{form}")
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        assert done.stderr.strip() == f"wrote found.{form}"
        written = (tmp_path / f"found.{form}").read_text(encoding="utf-8")
        assert written.startswith(start)
        assert written.endswith("\n")
    shown = selfdiag("compare", *runs, "--format", "md").stdout
    assert shown == (tmp_path / "found.md").read_text(encoding="utf-8")


def test_json_goes_to_the_file_and_nothing_to_standard_output(selfdiag, runs, tmp_path: Path) -> None:
    done = selfdiag("compare", *runs, "--json", "-o", "found.md")
    assert (done.returncode, done.stdout, done.stderr.strip()) == (0, "", "wrote found.md")
    written = (tmp_path / "found.md").read_text(encoding="utf-8")
    assert written == selfdiag("compare", *runs, "--json").stdout


def test_runs_are_named_as_elsewhere(selfdiag) -> None:
    for persona in ("calibrated", "blind"):
        assert selfdiag("run", f"persona:{persona}", "--limit", "2", "--json").returncode == 0
    names = [run["run_id"] for run in json.loads(selfdiag("runs", "list", "--json").stdout)]
    done = selfdiag("compare", *names, "latest", "--json")
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)["runs"]
    assert [run["run_id"] for run in compared[:2]] == names
    assert compared[2]["model"]["name"] == "blind"


def test_what_cannot_be_compared_is_one_line(selfdiag, runs, tmp_path: Path) -> None:
    assert "name two runs or more" in refused(selfdiag, "calibrated")
    assert "Missing argument" in refused(selfdiag)
    assert "no run 'nowhere'" in refused(selfdiag, "calibrated", "nowhere")
    assert "contradict each other" in refused(selfdiag, *runs, "--json", "--format", "md")
    (tmp_path / "answers.csv").write_text("confidence,correct\n80,1\n", encoding="utf-8")
    assert "answers.csv is no run" in refused(selfdiag, "calibrated", "answers.csv")
    assert selfdiag("run", "persona:calibrated", "--bins", "history", "--out", "history").returncode == 0
    assert selfdiag("run", "persona:calibrated", "--bins", "logic", "--out", "logic").returncode == 0
    assert "have no item in common: compare runs of one battery" in refused(selfdiag, "history", "logic")
    done = selfdiag("run", "persona:suggestible", "--sections", "microprobe", "--limit", "2", "--out", "claims")
    assert done.returncode == 0, done.stderr
    told = refused(selfdiag, "calibrated", "claims")
    assert "asks no probes and no traps (microprobe alone)" in told
    assert told.endswith("name runs with the sections probes or traps")


def test_a_place_that_cannot_be_written_is_one_line(selfdiag, runs) -> None:
    assert "cannot be written" in refused(selfdiag, *runs, "-o", "no/such/folder.md")


def test_its_help_has_examples_and_is_quick(selfdiag) -> None:
    loads = "import selfdiag.cli.compare, sys; sys.exit('numpy' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loads], check=False).returncode == 0
    done = selfdiag("compare", "--help")
    assert done.returncode == 0
    assert "selfdiag compare RUN RUN" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
