"""Starting is quick because little is loaded, and the rooms keep apart."""

import subprocess
import sys

import pytest

HEAVY = (
    "numpy",
    "scipy",
    "textual",
    "httpx",
    "ollama",
    "matplotlib",
    "rich",
    "msgspec",
    "asteval",
    "stamina",
)


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["probes", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    program = (
        f"import sys; sys.argv[1:] = {words!r}\n"
        "from selfdiag.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print('loaded:', *[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.strip() == "loaded:"


def test_without_a_terminal_the_app_says_so_and_loads_nothing_heavy() -> None:
    program = (
        "import sys; sys.argv[1:] = []\n"
        "from selfdiag.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 2\n"
        f"print('loaded:', *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "loaded:"
    assert done.stderr.startswith("selfdiag: the app needs a terminal")


def test_measures_battery_and_reading_touch_no_outside_world() -> None:
    program = (
        "import sys, pkgutil, importlib, selfdiag.battery, selfdiag.measure, selfdiag.elicit\n"
        "for room in (selfdiag.battery, selfdiag.measure, selfdiag.elicit):\n"
        "    for found in pkgutil.walk_packages(room.__path__, room.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
        "print(*[name for name in ('httpx', 'socket', 'textual', 'rich', 'ollama', 'aiohttp')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
