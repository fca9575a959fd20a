"""``selfdiag panel``: what a person types, and what comes back."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from selfdiag.runs.store import MANIFEST

PERSONAS = ("calibrated", "overconfident", "suggestible")


@pytest.fixture
def runs(selfdiag, tmp_path: Path) -> tuple[str, ...]:
    for persona in PERSONAS:
        done = selfdiag("run", f"persona:{persona}", "--battery", "quick", "--seed", "7", "--out", persona, "--json")
        assert done.returncode == 0, done.stderr
    return PERSONAS


def refused(selfdiag, *words: str) -> str:
    done = selfdiag("panel", *words)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    return line


def test_the_terminal_has_every_part_in_eighty_columns(selfdiag, runs) -> None:
    done = selfdiag("panel", *runs)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert lines[0].startswith("A  calibrated (simulated) · persona · ")
    told = " ".join(done.stdout.split())
    assert "42 of 42 probes were asked of all 3 models in the same words and replied to; 21 traps left out" in told
    assert told.count("! A, B, C: simulated: these replies were written by a script") == 1
    assert "Agreement is not correctness: models can be wrong alike (mean phi of their errors" in told
    assert "label-free: the same answer by its wording alone" in told
    assert "the canonical coding has the same figures" in told
    assert "A 40 .83" in told
    assert "shared errors: phi" in told
    assert "a difference is shown with Holm below .05." in told
    for letter in "ABC":
        assert any(
            line.startswith(f"{letter}  ") and "own confidence" in line + lines[at + 1]
            for at, line in enumerate(lines[:-1])
        )
    assert selfdiag("panel", *runs, "--plain").stdout == done.stdout


def test_json_is_one_document_with_every_figure(selfdiag, runs) -> None:
    done = selfdiag("panel", *runs, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))
    assert found["schema"] == "selfdiag.panel/1"
    assert [one["letter"] for one in found["models"]] == ["A", "B", "C"]
    assert found["models"][0]["model"]["simulated"] is True
    assert list(found["codings"]) == ["label_free_strict", "label_free_lenient", "canonical"]
    for coded in found["codings"].values():
        assert set(coded["models"][0]) == {"letter", "own", "panel", "difference", "p", "holm", "lift", "verdict"}
        assert set(coded["pooled"]["own"]) == {"value", "ci", "n", "method", "note"}
    assert [(one["first"], one["second"]) for one in found["error_correlations"]] == [
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    ]
    assert len(found["items"]) == found["shared"]["probes"] == 42
    assert set(found["items"][0]["replies"][0]["agreeing"]) == set(found["codings"])


@pytest.mark.parametrize(
    ("coding", "codings"),
    [("canonical", ["canonical"]), ("label-free", ["label_free_strict", "label_free_lenient"])],
)
def test_one_coding_alone(selfdiag, runs, coding: str, codings: list[str]) -> None:
    found = json.loads(selfdiag("panel", *runs, "--coding", coding, "--json").stdout)
    assert list(found["codings"]) == codings
    shown = selfdiag("panel", *runs, "--coding", coding).stdout
    assert f"\n{coding}: " in shown
    assert ("answer key" in shown) == (coding == "canonical")


def test_it_writes_each_form_to_a_file(selfdiag, runs, tmp_path: Path) -> None:
    starts = {"md": "# Panel of 3 models\n", "text": "A  calibrated", "json": "{\n", "html": "<!doctype html>"}
    for form, start in starts.items():
        done = selfdiag("panel", *runs, "--format", form, "-o", f"found.{form}")
        assert (done.returncode, done.stdout, done.stderr.strip()) == (0, "", f"wrote found.{form}")
        written = (tmp_path / f"found.{form}").read_text(encoding="utf-8")
        assert written.startswith(start)
        assert written == selfdiag("panel", *runs, "--format", form).stdout
    page = (tmp_path / "found.html").read_text(encoding="utf-8")
    assert "<title>Panel: calibrated (simulated), overconfident (simulated), suggestible (simulated) " in page
    assert page.count("<svg") == 1
    assert "<script" not in page


def test_runs_are_named_as_elsewhere(selfdiag) -> None:
    for persona in PERSONAS:
        assert selfdiag("run", f"persona:{persona}", "--limit", "3", "--json").returncode == 0
    names = [run["run_id"] for run in json.loads(selfdiag("runs", "list", "--json").stdout)]
    latest = json.loads(selfdiag("runs", "show", "latest", "--json").stdout)["run_id"]
    others = [name for name in names if name != latest]
    done = selfdiag("panel", *others, "latest", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["run_id"] for one in json.loads(done.stdout)["models"]] == [*others, latest]
    assert "3 probes are very few" in " ".join(selfdiag("panel", *others, "latest").stdout.split())


def test_what_is_no_panel_is_one_line(selfdiag, runs, tmp_path: Path) -> None:
    assert "name three runs or more, each of another model" in refused(selfdiag, "calibrated", "overconfident")
    assert "Missing argument" in refused(selfdiag)
    assert "no run 'nowhere'" in refused(selfdiag, *runs, "nowhere")
    assert "contradict each other" in refused(selfdiag, *runs, "--json", "--format", "md")
    assert "'vague' is not one of" in refused(selfdiag, *runs, "--coding", "vague")
    assert "is named twice" in refused(selfdiag, *runs, "calibrated")
    (tmp_path / "answers.csv").write_text("confidence,correct\n80,1\n", encoding="utf-8")
    assert "answers.csv is no run" in refused(selfdiag, *runs, "answers.csv")
    assert selfdiag("run", "persona:calibrated", "--seed", "1", "--out", "again").returncode == 0
    assert "(A and D) are of the same model, persona:calibrated" in refused(selfdiag, *runs, "again")
    assert selfdiag("run", "persona:blind", "--bins", "history", "--seed", "1", "--out", "history").returncode == 0
    assert selfdiag("run", "persona:pinned", "--bins", "logic", "--out", "logic").returncode == 0
    assert "have no probe in common" in refused(selfdiag, "calibrated", "history", "logic")
    done = selfdiag("run", "persona:blind", "--sections", "traps", "--limit", "2", "--out", "traps")
    assert done.returncode == 0, done.stderr
    assert "asks no probes, so there is nothing to agree on" in refused(
        selfdiag, "calibrated", "overconfident", "traps"
    )
    assert "cannot be written" in refused(selfdiag, *runs, "-o", "no/such/folder.md")
    assert "file of a run" in refused(selfdiag, *runs, "-o", f"calibrated/{MANIFEST}")


def test_its_help_says_what_it_answers_and_is_quick(selfdiag) -> None:
    loads = "import selfdiag.cli.panel, sys; sys.exit('numpy' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loads], check=False).returncode == 0
    done = selfdiag("panel", "--help")
    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    assert "Does the agreement of other models tell more about an answer than the confidence stated with it?" in told
    assert "selfdiag panel RUN RUN RUN --json" in told
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "  panel " in selfdiag("--help").stdout
