"""Where results go: in UTF-8 to programs, and never in the place of a run's own files."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from selfdiag.cli.main import main
from selfdiag.runs.store import MANIFEST, RECORDS, read_run
from selfdiag.safety import SelfdiagError

DOCUMENTS = ("json", "csv", "md", "html", "junit", "every-eval")


@pytest.fixture
def run(selfdiag: Any, tmp_path: Path) -> Path:
    """A run whose texts hold characters that no old code page has."""
    assert selfdiag("run", "persona:hostile", "--limit", "4", "--out", "run").returncode == 0
    text = (tmp_path / "run" / RECORDS).read_text(encoding="utf-8")
    (tmp_path / "run" / RECORDS).write_text(text.replace('"answer":"', '"answer":"日本 ✓ é ', 3), encoding="utf-8")
    return tmp_path / "run"


@pytest.mark.parametrize("encoding", ["latin-1"])
@pytest.mark.parametrize("form", DOCUMENTS)
def test_a_document_is_utf_8_in_every_code_page(run: Path, tmp_path: Path, encoding: str, form: str) -> None:
    def printed(name: str) -> bytes:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "argv", ["selfdiag", "report", "run", "--format", form])
            patch.setattr(sys, "stderr", sys.stderr)
            buffer = io.BytesIO()
            patch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding=name))
            with pytest.raises(SystemExit) as ended:
                main()
            sys.stdout.flush()
            assert ended.value.code == 0
            return buffer.getvalue()

    usual, old = printed("utf-8"), printed(encoding)
    if form == "every-eval":  # it holds the moment of writing
        assert json.loads(old).keys() == json.loads(usual).keys()
    else:
        assert old == usual
    if form in {"csv", "json"}:
        assert form == "json" or "日本 ✓ é".encode() in old
        old.decode("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "run", "run", "--format", "md"),
        ("compare", "run", "run", "--json"),
        ("report", "run", "--json"),
        ("probes", "export", "--format", "jsonl"),
        ("probes", "export"),
        ("runs", "show", "run", "--json"),
        ("models", "--json", "--provider", "persona"),
    ],
)
def test_every_command_writes_utf_8_to_a_pipe(selfdiag: Any, run: Path, words: tuple[str, ...]) -> None:
    usual = selfdiag(*words)
    old = selfdiag(*words, PYTHONIOENCODING="latin-1")  # in a process of its own
    assert (old.returncode, old.stdout) == (0, usual.stdout)


def test_what_a_person_reads_is_in_the_code_page(selfdiag: Any, run: Path) -> None:
    done = selfdiag("report", "run", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    usual = selfdiag("report", "run").stdout
    # in one byte each, with a question mark for what the code page does not have
    assert "╭" in usual and "╭" not in done.stdout
    assert done.stdout.startswith("????")


def spellings(run: Path) -> list[str]:
    (run.parent / "link.json").symlink_to(run / MANIFEST)
    (run.parent / "folder").symlink_to(run)
    return [f"run/{MANIFEST}", f"run/../run/{RECORDS}", "link.json", f"folder/{RECORDS}", f"run/{MANIFEST.upper()}"]


def test_a_result_does_not_take_the_place_of_a_run(selfdiag: Any, run: Path) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    for place in spellings(run):
        for words in (
            ("report", "run", "--format", "md"),
            ("report", "run", "--format", "csv"),
            ("compare", "run", "run"),
            ("profile", "export", "run"),
            ("probes", "export"),
            ("assess", "persona:blind"),
            ("ladder", "persona:blind"),
        ):
            done = selfdiag(*words, "-o", place)
            assert done.returncode == 2, (words, place)
            assert done.stderr == f"selfdiag: {place} is a file of a run, and is left as it is: choose another name\n"
            assert done.stdout == ""
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_damaged_run_and_one_without_records_are_runs(selfdiag: Any, run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "torn")
    (tmp_path / "torn" / MANIFEST).write_text("{", encoding="utf-8")
    shutil.copytree(run, tmp_path / "begun")
    (tmp_path / "begun" / RECORDS).unlink()
    for name in ("torn", "begun"):
        for file in (MANIFEST, RECORDS):
            done = selfdiag("report", "run", "--format", "md", "-o", f"{name}/{file}")
            assert (done.returncode, "is a file of a run" in done.stderr) == (2, True)
    assert not (tmp_path / "begun" / RECORDS).exists()


def test_the_app_leaves_them_too(run: Path) -> None:
    from selfdiag.tui.screens.save import write_text

    kept = (run / RECORDS).read_bytes()
    with pytest.raises(SelfdiagError, match="is a file of a run, and is left as it is"):
        write_text(run / RECORDS, "a picture")
    assert (run / RECORDS).read_bytes() == kept


def test_other_files_of_these_names_are_nobodys_run(selfdiag: Any, run: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / MANIFEST).write_text('{"name": "a web page"}', encoding="utf-8")
    assert selfdiag("report", "run", "--json", "-o", f"site/{MANIFEST}").returncode == 0
    assert json.loads((tmp_path / "site" / MANIFEST).read_text(encoding="utf-8"))["schema"]
    assert selfdiag("report", "run", "--json", "-o", f"run/report-{MANIFEST}").returncode == 0
    assert selfdiag("report", "run", "--json", "-o", MANIFEST).returncode == 0
    assert read_run(run).problems == ()


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop"])
def test_prune_leaves_a_run_whose_records_cannot_be_read(selfdiag: Any, own_home: Path, kind: str) -> None:
    for _ in range(2):
        assert selfdiag("run", "persona:blind", "--limit", "1").returncode == 0
    oldest = min((own_home / "runs").iterdir(), key=lambda folder: (folder / MANIFEST).stat().st_mtime_ns)
    records = oldest / RECORDS
    records.unlink()
    if kind == "pipe":
        os.mkfifo(records)
    elif kind == "folder":
        records.mkdir()
    else:
        records.symlink_to(records)
    done = selfdiag("runs", "prune", "--keep", "0", "--yes", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) and oldest.name not in json.loads(done.stdout)
    told = [line for line in done.stderr.splitlines() if line.startswith("stays: ")]
    assert len(told) == 1
    assert RECORDS in told[0]
    assert [path.name for path in (own_home / "runs").iterdir()] == [oldest.name]
    # named, it can be deleted
    assert selfdiag("runs", "rm", oldest.name, "--yes").returncode == 0
    assert not oldest.exists()
