"""Every test has its own home, and no key and no proxy of the person who runs it."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from selfdiag import safety
from selfdiag.cli.main import main

# a shell starts background jobs with Ctrl-C ignored, and children inherit that: the tests must not depend on it
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("SELFDIAG_HOME", str(home))
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return home


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def selfdiag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command line in an empty folder.

    It runs within this process, because starting one takes longer than most commands; in a process of its own when
    a time limit or a variable for Python itself is given.
    """

    def call(*words: str, timeout: float | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        if timeout is not None or any(name.startswith("PYTHON") for name in env):
            return process(*words, timeout=timeout, **env)
        streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdin", "stdout", "stderr")}
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "argv", ["selfdiag", *words])
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            for name, value in env.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main()
        texts = []
        for name in ("stdout", "stderr"):
            streams[name].flush()
            texts.append(streams[name].buffer.getvalue().decode("utf-8", "replace"))
        return subprocess.CompletedProcess(words, int(ended.value.code or 0), *texts)

    def process(*words: str, timeout: float | None, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "selfdiag", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout or 120,
            cwd=tmp_path,
            env={**os.environ, "PYTHONWARNINGS": "error", **env},
            check=False,
        )

    return call


@pytest.fixture(autouse=True)
def no_secret_outlives_its_test() -> Iterator[None]:
    """Forget the keys that a test made known: a later one may use their letters as words."""
    before = set(safety._known_secrets)
    yield
    safety._known_secrets.clear()
    safety._known_secrets.update(before)
