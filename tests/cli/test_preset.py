"""``--impute`` and ``--preset``: what they set, that a written flag wins, and that a run keeps them."""

import json
from pathlib import Path

import pytest

from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import read_manifest


def settings(folder: Path) -> RunSettings:
    return read_manifest(folder).settings


def test_it_is_never_the_default(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:blind", "--limit", "1", "--out", "run")
    assert settings(tmp_path / "run").impute is None
    assert json.loads(selfdiag("report", "run", "--json").stdout)["imputed"] is None


def test_the_preset_asks_as_the_study_did(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("run", "persona:malformed", "--preset", "sce", "--out", "run")
    assert done.returncode == 0, done.stderr
    assert settings(tmp_path / "run") == RunSettings(model="persona:malformed", battery="full", example=85, impute=50)
    assert "294 probes, 42 traps" in done.stdout
    assert "imputed as" in done.stdout
    assert "Attempted as wrong, n " in done.stdout
    summary = json.loads(selfdiag("report", "run", "--json").stdout)
    assert summary["imputed"]["confidence"] == 50
    assert summary["asked_with"]["example"] == 85
    assert summary["metrics_attempted"]["gap"]["n"] > summary["metrics"]["gap"]["n"]
    report = selfdiag("report", "run", "--format", "md").stdout
    assert "selfdiag run persona:malformed --battery full --example 85 --impute 50" in report


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        (("--example", "none"), {"example": None}),
        (("--example", "50"), {"example": 50}),
        (("--battery", "quick"), {"battery": "quick"}),  # the default, but written
        (("--impute", "0"), {"impute": 0}),
    ],
)
def test_a_written_flag_wins(selfdiag, tmp_path: Path, written: tuple[str, ...], changed: dict[str, object]) -> None:
    selfdiag("run", "persona:blind", "--preset", "sce", *written, "--limit", "2", "--out", "run")
    study = {"battery": "full", "example": 85, "impute": 50}
    assert settings(tmp_path / "run") == RunSettings(model="persona:blind", limit=2, **study | changed)


def test_a_run_keeps_how_it_is_read(selfdiag) -> None:
    selfdiag("run", "persona:blind", "--limit", "2", "--impute", "50", "--out", "run")
    assert selfdiag("run", "--resume", "run").returncode == 0
    assert selfdiag("run", "--resume", "run", "--impute", "50").returncode == 0
    other = selfdiag("run", "--resume", "run", "--impute", "40")
    assert other.returncode == 2
    assert "impute was 50 and is now 40" in other.stderr
    preset = selfdiag("run", "--resume", "run", "--preset", "sce")
    assert preset.returncode == 2
    assert "leave --preset away" in preset.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--impute", "101"), "--impute"),
        (("--impute", "-1"), "--impute"),
        (("--impute", "50", "--confidence", "posthoc,stated"), "name stated first in --confidence"),
        (("--preset", "sce", "--confidence", "logprob"), "name stated first in --confidence"),
        (("--preset", "msi"), "--preset"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(selfdiag, own_home: Path, words: tuple[str, ...], said: str) -> None:
    done = selfdiag("run", "persona:blind", *words)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert said in line
    assert not (own_home / "runs").exists()


def test_a_manifest_with_an_impossible_value_is_damaged(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:blind", "--limit", "1", "--impute", "50", "--out", "run")
    file = tmp_path / "run" / "manifest.json"
    file.write_text(file.read_text().replace('"impute": 50', '"impute": 150'))
    done = selfdiag("report", "run")
    assert done.returncode == 2
    assert "damaged" in done.stderr
