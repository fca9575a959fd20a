"""Every test has its own home, and no key and no proxy of the person who runs it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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
def selfdiag(tmp_path: Path) -> Command:
    """Run the command line in a process of its own, in an empty folder."""

    def call(*words: str, timeout: float = 120, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "selfdiag", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            cwd=tmp_path,
            env={**os.environ, "PYTHONWARNINGS": "error", **env},
            check=False,
        )

    return call
