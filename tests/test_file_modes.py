"""What is written is as open to others as the umask says, keys are open to nobody, and links lead nowhere new."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selfdiag import keys
from selfdiag.models.engine_lock import EngineLock
from selfdiag.runs.store import MANIFEST, RECORDS, RunWriter, read_manifest, replace_file
from selfdiag.safety import SelfdiagError
from selfdiag.settings import api_key, keys_path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no modes")

KEY = "canary-5f1e0c77b2"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Nothing is closed to anybody unless the code says so."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The mode of each file at the moment at which it takes its place, and the name of that place."""
    found: list[tuple[str, int]] = []
    replace = os.replace

    def noted(source: Any, target: Any) -> None:
        found.append((Path(target).name, mode(Path(source))))
        replace(source, target)

    monkeypatch.setattr(os, "replace", noted)
    return found


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o027, 0o077])
def test_a_run_and_its_report_keep_to_the_umask(selfdiag: Any, tmp_path: Path, own_home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert selfdiag("run", "persona:blind", "--limit", "1", "--out", "run").returncode == 0
        assert selfdiag("run", "persona:blind", "--limit", "1").returncode == 0
        assert selfdiag("report", "run", "--format", "html", "-o", "report.html").returncode == 0
        assert selfdiag("report", "run", "--format", "csv", "-o", "replies.csv").returncode == 0
    finally:
        os.umask(before)
    (kept,) = (own_home / "runs").iterdir()
    for folder in (tmp_path / "run", own_home, own_home / "runs", kept):
        assert mode(folder) == 0o777 & ~umask
    for file in (
        *(folder / name for folder in (tmp_path / "run", kept) for name in (MANIFEST, RECORDS)),
        *(tmp_path / name for name in ("report.html", "replies.csv", "replies-columns.csv")),
    ):
        assert mode(file) == 0o666 & ~umask, file


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("private", [0o600, 0o640, 0o400])
def test_what_is_replaced_stays_as_private_as_it_was(
    tmp_path: Path, parts: list[tuple[str, int]], private: int
) -> None:
    report = tmp_path / "report.md"
    report.write_text("before", encoding="utf-8")
    report.chmod(private)
    replace_file(report, b"after")
    assert report.read_bytes() == b"after"
    assert mode(report) == private
    assert parts == [("report.md", private)]


@pytest.mark.usefixtures("open_umask")
def test_no_byte_is_written_to_a_part_that_is_wider_than_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "report.md"
    report.touch()
    report.chmod(0o600)
    made: list[int] = []
    opened = os.open

    def noted(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        made.append(mode)
        return opened(path, flags, mode, **more)

    monkeypatch.setattr(os, "open", noted)
    replace_file(report, b"after")
    keys.store(keys_path(), "OPENAI_API_KEY", KEY)
    assert made[0] == 0o600
    assert 0o600 in made[1:]  # of the keys; the lock beside them holds nothing


def test_a_run_that_was_closed_to_others_stays_closed(selfdiag: Any, tmp_path: Path) -> None:
    assert selfdiag("run", "persona:blind", "--limit", "1", "--out", "run").returncode == 0
    for name in (MANIFEST, RECORDS):
        (tmp_path / "run" / name).chmod(0o600)
    writer, run = RunWriter.resume(tmp_path / "run")
    with writer:
        writer.save(run.manifest)
        writer.append(*run.records)
    assert [mode(tmp_path / "run" / name) for name in (MANIFEST, RECORDS)] == [0o600, 0o600]


@pytest.mark.usefixtures("open_umask")
def test_keys_are_private_before_they_take_their_place(parts: list[tuple[str, int]]) -> None:
    keys.store(keys_path(), "OPENAI_API_KEY", KEY)
    keys.store(keys_path(), "OTHER_API_KEY", KEY)
    keys.remove(keys_path(), "OTHER_API_KEY")
    assert parts == [("keys.toml", 0o600)] * 3
    assert mode(keys_path()) == 0o600
    assert {path.name for path in keys_path().parent.iterdir()} <= {"keys.toml", "keys.lock"}


@pytest.mark.usefixtures("open_umask")
def test_keys_behind_a_link_are_as_private(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.toml"
    keys_path().parent.mkdir(parents=True)
    keys_path().symlink_to(real)
    keys.store(keys_path(), "OPENAI_API_KEY", KEY)
    assert keys_path().is_symlink()
    assert mode(real) == 0o600
    real.chmod(0o644)
    with pytest.raises(SelfdiagError, match="is open to others than you, so its keys are not used"):
        api_key("openai")
    with pytest.raises(SelfdiagError, match="is open to others than you"):
        keys.store(keys_path(), "OPENAI_API_KEY", "another")
    assert KEY in real.read_text(encoding="utf-8")


def test_a_manifest_behind_a_link_is_written_where_it_leads(selfdiag: Any, tmp_path: Path) -> None:
    assert selfdiag("run", "persona:blind", "--limit", "1", "--out", "run").returncode == 0
    file, real = tmp_path / "run" / MANIFEST, tmp_path / "real.json"
    file.rename(real)
    file.symlink_to(real)
    assert selfdiag("run", "--resume", "run").returncode == 0
    assert file.is_symlink()
    assert read_manifest(tmp_path / "run").run_id in real.read_text(encoding="utf-8")


def test_a_link_in_the_folder_of_everybody_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "temporary"
    shared.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    mine = tmp_path / "mine"
    mine.write_text("precious", encoding="utf-8")
    (shared / "selfdiag-engine.json").symlink_to(mine)
    lock = EngineLock()
    asyncio.run(lock.acquire("a test", None))
    lock.release()
    assert mine.read_text(encoding="utf-8") == "precious"
