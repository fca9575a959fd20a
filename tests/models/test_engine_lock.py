"""One engine per machine: who waits knows for whom, and a dead holder holds nothing."""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from selfdiag.models import engine_lock
from selfdiag.models.engine_lock import EngineLock
from selfdiag.safety import SelfdiagError

HOLD = """
import asyncio, sys
from selfdiag.models.engine_lock import EngineLock
lock = EngineLock()
asyncio.run(lock.acquire("an audit of gguf:x\\x1b[2J", None))
print("held", flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
sys.stdin.readline()
"""
PATIENCE = 30.0


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep clear of the machine's real lock, in this process and in those it starts."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(engine_lock, "POLL_SECONDS", 0.01)
    return folder


@pytest.fixture
async def holder() -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process that holds the lock until it reads a line."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        assert await line_of(process) == "held"
    yield process
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def start_waiting(lock: EngineLock) -> tuple["asyncio.Task[None]", str, list[str]]:
    """Start to acquire a lock that is held; return the task, the sentence it says, and all it will say."""
    said: list[str] = []
    waits = asyncio.Event()

    def waiting(sentence: str) -> None:
        said.append(sentence)
        waits.set()

    task = asyncio.create_task(lock.acquire("a second audit", waiting))
    async with asyncio.timeout(PATIENCE):
        await waits.wait()
    return task, said[0], said


async def test_a_free_lock_is_taken_at_once(own_folder: Path) -> None:
    lock = EngineLock()
    await lock.acquire("an audit", pytest.fail)
    holder = json.loads((own_folder / "selfdiag-engine.json").read_text(encoding="utf-8"))
    assert holder["purpose"] == "an audit"
    lock.release()
    await EngineLock().acquire("another", pytest.fail)


async def test_the_second_waits_and_says_for_whom(
    holder: asyncio.subprocess.Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_lock, "POLL_SECONDS", 0)
    lock = EngineLock()
    task, sentence, said = await start_waiting(lock)
    assert sentence == (f"waiting for the engine: process {holder.pid} (an audit of gguf:x\\x1b[2J) uses it")
    for _ in range(20):  # at least as many more looks at the lock
        await asyncio.sleep(0)
    assert not task.done()
    assert len(said) == 1
    assert holder.stdin is not None
    holder.stdin.write(b"\n")
    async with asyncio.timeout(PATIENCE):
        assert await line_of(holder) == "released"
        await task
    assert len(said) == 1
    lock.release()


async def test_a_killed_holder_holds_nothing(holder: asyncio.subprocess.Process) -> None:
    lock = EngineLock()
    task, _, _ = await start_waiting(lock)
    holder.kill()
    async with asyncio.timeout(PATIENCE):
        await holder.wait()
        await task
    lock.release()


async def test_waiting_can_be_cancelled_and_takes_nothing(holder: asyncio.subprocess.Process) -> None:
    task, _, _ = await start_waiting(EngineLock())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    holder.kill()
    await holder.wait()
    async with asyncio.timeout(PATIENCE):
        await EngineLock().acquire("a third", None)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x", "purpose": 1}', '{"pid": null}', "{}"])
async def test_an_unreadable_note_names_nobody(holder: asyncio.subprocess.Process, own_folder: Path, text: str) -> None:
    (own_folder / "selfdiag-engine.json").write_text(text, encoding="utf-8")
    task, sentence, _ = await start_waiting(EngineLock())
    task.cancel()
    assert sentence == "waiting for the engine: another process uses it"


async def test_two_locks_of_one_process_exclude_each_other() -> None:
    first, second = EngineLock(), EngineLock()
    await first.acquire("the first", None)
    task, sentence, _ = await start_waiting(second)
    assert "(the first)" in sentence
    first.release()
    async with asyncio.timeout(PATIENCE):
        await task
    second.release()


async def test_a_lock_file_that_cannot_be_used_is_one_line(own_folder: Path) -> None:
    (own_folder / "selfdiag-engine.lock").mkdir()
    with pytest.raises(SelfdiagError, match=r"cannot be used \(.+\): remove that file, or set TMPDIR") as caught:
        await EngineLock().acquire("an audit", None)
    assert str(caught.value).isprintable()


async def test_a_note_that_cannot_be_written_does_not_matter(own_folder: Path) -> None:
    (own_folder / "selfdiag-engine.json").mkdir()
    lock = EngineLock()
    await lock.acquire("an audit", None)
    task, sentence, _ = await start_waiting(EngineLock())
    assert "another process uses it" in sentence
    task.cancel()
    lock.release()
