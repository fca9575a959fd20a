"""Runs the tests of the app's shell and home screen with the oldest Textual that is allowed, and with the newest.

``python tests/tui/textual_versions.py`` makes a virtual environment for each in a folder that it deletes again, which
takes minutes and a connection to a package index. The exit code is 1 when a test fails with one of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pytest", "pytest-asyncio", "pexpect", "textual-serve")
"""Of the packages that tests take, those that these take."""
TESTS = ("tests/tui/test_shell.py", "tests/tui/test_home.py")


def allowed() -> tuple[str, str]:
    """Return the oldest version that pyproject.toml allows, and the one above the newest."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = document["project"]["dependencies"]
    found = next(match for name in listed if (match := re.fullmatch(r"textual>=([\d.]+),<([\d.]+)", name)))
    return found[1], found[2]


def passes(wanted: str, place: Path) -> bool:
    """Return whether the tests pass with a version of Textual, in an environment of its own.

    Args:
        wanted: the version as pip takes it.
        place: a folder for the environment, which is not there yet.
    """
    print(f"{wanted}: installing", flush=True)
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-e", f"{ROOT}[embedded]", wanted, *NEEDED], check=True)
    asked = "from importlib.metadata import version; print(version('textual'))"
    version = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{wanted}: testing with {version}", flush=True)
    tested = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS], check=False, cwd=ROOT)
    print(f"{'✗' if tested.returncode else '✓'} textual {version}", flush=True)
    return tested.returncode == 0


def main() -> None:
    oldest, above = allowed()
    with tempfile.TemporaryDirectory() as place:
        wanted = (f"textual=={oldest}", f"textual<{above}")
        found = [passes(one, Path(place) / str(number)) for number, one in enumerate(wanted)]
    sys.exit(0 if all(found) else 1)


if __name__ == "__main__":
    main()
