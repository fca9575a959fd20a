"""The package that docs/providers.md spells out works as it stands there."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from selfdiag.models import registry

PAGE = Path(__file__).resolve().parents[2] / "docs" / "providers.md"
FILE = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANSWERS = """\
#!{python}
import json, sys
question = sys.stdin.read()
assert "confidence" in question
print(json.dumps({{"answer": "Paris", "confidence": 70}}))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the page's package has been installed."""
    project, target = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("site")
    for name, text in FILE.findall(PAGE.read_text(encoding="utf-8")):
        (project / name).write_text(text, encoding="utf-8")
    # what pip does with a pure wheel, without needing pip: build it and unpack it
    build = [sys.executable, "-c", "from hatchling.build import build_wheel; build_wheel('.')"]
    subprocess.run(build, cwd=project, check=True, capture_output=True)
    (wheel,) = project.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(target)
    return target


@pytest.fixture
def path(site: Path) -> dict[str, str]:
    """The environment in which that package is installed."""
    return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program ``x`` on the PATH that answers every question alike."""
    folder = tmp_path / "bin"
    folder.mkdir()
    file = folder / "x"
    file.write_text(ANSWERS.format(python=sys.executable), encoding="utf-8")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))
    return file


def test_the_package_is_short_and_whole() -> None:
    files = dict(FILE.findall(PAGE.read_text(encoding="utf-8")))
    assert set(files) == {"pyproject.toml", "selfdiag_program.py"}
    assert sum(text.count("\n") for text in files.values()) < 60


def test_its_models_are_listed(selfdiag, path: dict[str, str]) -> None:
    done = selfdiag("models", **path)
    assert done.returncode == 0, done.stderr
    assert ["program:NAME", "ready", "local"] in [line.split() for line in done.stdout.splitlines()]


def test_its_models_are_audited(selfdiag, path: dict[str, str], program: Path) -> None:
    done = selfdiag("run", "program:x", "--limit", "3", "--json", **path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["model"]["provider"], summary["model"]["name"]) == ("program", "x")
    probes = summary["counts"]["probes"]
    assert probes["error"] == probes["unparsed"] == 0
    assert summary["metrics"]["median_confidence"]["value"] == 70


def test_its_faults_are_told(selfdiag, path: dict[str, str], program: Path) -> None:
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    done = selfdiag("run", "program:x", "--limit", "1", "--timeout", "1", "--max-retries", "0", **path)
    assert done.returncode == 3
    assert "x gave no answer in time" in done.stderr


def test_a_program_that_is_not_there_is_one_line(selfdiag, path: dict[str, str]) -> None:
    done = selfdiag("run", "program:no-such-program-anywhere", **path)
    assert done.returncode == 2
    assert done.stderr == (
        "selfdiag: there is no program 'no-such-program-anywhere': give its path, or put it where PATH finds it\n"
    )


def test_every_built_in_provider_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(registry.providers()) <= set(rows)
    assert max(map(len, PAGE.read_text(encoding="utf-8").splitlines())) <= 125
