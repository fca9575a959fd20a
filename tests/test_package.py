"""The wheel carries the battery and works on its own, in another folder."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_wheel_works_without_the_checkout(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    place = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    env = {**os.environ, "PYTHONPATH": str(place)}

    def python(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-P", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=env,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    shown = python("-c", "import selfdiag.battery.load as load; print(load.__file__); print(load.shipped_path())")
    assert all(Path(line).is_relative_to(place) for line in shown.splitlines())
    assert "physics-01" in python("-m", "selfdiag", "probes", "list")
    assert "well calibrated" in python("-m", "selfdiag", "run", "persona:calibrated")
