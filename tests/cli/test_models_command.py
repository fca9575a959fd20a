"""What ``selfdiag models`` lists, how it fits, and that no provider holds it up."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from selfdiag.cli.models import lines
from selfdiag.models.base import Listing

CANARY = "canary-5f1e0c77b2"
COMMON = """\
import asyncio, time
from selfdiag.models.base import Listing, ProviderError
from selfdiag.safety import SelfdiagError

def provider(name, options): ...

"""
LISTINGS = [
    Listing(model="embedded", ready=True, remark="SmolLM2-135M-Instruct, here", details={"size": "135M"}),
    Listing(
        model="ollama:qwen3:8b",
        ready=True,
        details={"size": "8.2B", "quantisation": "Q4_K_M", "context": "40960", "capabilities": "completion, thinking"},
    ),
    Listing(
        model="ollama:hf.co/somebody/A-Model-With-A-Name-Of-Many-Words-Instruct-GGUF:Q4_K_M",
        ready=True,
        remote=True,
        remark="it runs on another machine, and this remark is longer than any window is wide, to see it wrapped",
    ),
    Listing(model="ollama:日本語モデル", ready=False, remark="cannot chat"),
    Listing(model="openai:…", ready=False, remark="no server answers"),
]


@pytest.fixture(autouse=True)
def no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no window of the person who runs the tests wrap what they read."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def installed(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Install a package with these providers, name to the source of its module; return the environment for it."""

    def install(**sources: str) -> dict[str, str]:
        site = tmp_path / "site"
        info = site / "foreign-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n", encoding="utf-8")
        points = [f"{name} = foreign_{name}:provider" for name in sources]
        (info / "entry_points.txt").write_text("\n".join(["[selfdiag.providers]", *points]), encoding="utf-8")
        for name, source in sources.items():
            (site / f"foreign_{name}.py").write_text(COMMON + source, encoding="utf-8")
        return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}

    return install


def test_every_provider_is_asked_and_one_that_fails_says_why(selfdiag, installed) -> None:
    env = installed(
        asked="async def discover(name):\n"
        '    details = {"size": "7B", "quantisation": "Q4_0", "context": "4096", "capabilities": "completion"}\n'
        '    return [Listing(model=f"{name}:a", ready=True, remote=True, remark="far away", details=details)]\n'
        "def offer(name): raise AssertionError\n",
        offering='def offer(name): return [Listing(model=f"{name}:b", ready=False, remark="only offered")]\n',
        silent="",
        nothing="async def discover(name): return []\n",
        refused="async def discover(name): raise ProviderError('unreachable', 'no server\\nanswers \\x1b[2J')\n",
        wordless="async def discover(name): raise ValueError\n",
        odd="async def discover(name): return [3]\n",
        half="def offer(name): return [Listing(model='half:x', ready=True, details=None)]\n",
        broken="import no_such_module_anywhere\n",
    )
    done = selfdiag("models", "--json", **env)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = {line["model"]: line for line in json.loads(done.stdout)}
    assert found["asked:a"] == {
        "model": "asked:a",
        "ready": True,
        "remark": "far away",
        "remote": True,
        "details": {"size": "7B", "quantisation": "Q4_0", "context": "4096", "capabilities": "completion"},
    }
    assert found["offering:b"]["remark"] == "only offered"
    assert found["silent:NAME"]["ready"]
    assert found["nothing:…"]["remark"] == "no models there"
    assert found["refused:…"] == {
        "model": "refused:…",
        "ready": False,
        "remark": "no server answers \\x1b[2J",
        "remote": False,
        "details": {},
    }
    assert found["wordless:…"]["remark"] == "ValueError"
    assert "Expected `object`, got `int`" in found["odd:…"]["remark"]
    assert "Expected `object`, got `null`" in found["half:…"]["remark"]
    assert "no_such_module_anywhere" in found["broken:…"]["remark"]
    assert found["persona:blind"]["remark"] == "simulated"

    shown = selfdiag("models", **env).stdout
    row = next(line for line in shown.splitlines() if line.startswith("asked:a "))
    assert row.split()[1:6] == ["ready", "7B", "Q4_0", "4096", "remote"]
    assert row.endswith("completion · far away")
    assert "\x1b" not in shown


def test_a_provider_that_never_answers_is_not_waited_for(selfdiag, installed) -> None:
    env = installed(
        blocking="async def discover(name): time.sleep(600)\n",
        waiting="async def discover(name): await asyncio.sleep(600)\n",
        # as resolving a host name does
        threaded="async def discover(name): await asyncio.to_thread(time.sleep, 600)\n",
        loading="time.sleep(600)\n",
    )
    done = selfdiag("models", timeout=60, **env)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if line)
    for name in ("blocking", "waiting", "threaded", "loading"):
        assert found[f"{name}:…"].split(maxsplit=1)[1] == "no answer within 4 seconds"
    assert found["persona:blind"].split()[0] == "ready"


def test_no_key_is_in_what_a_provider_says(selfdiag, installed) -> None:
    env = installed(
        telling="from selfdiag.settings import api_key\n"
        "async def discover(name):\n"
        "    raise RuntimeError('wrong key ' + api_key(name))\n",
        listing="from selfdiag.settings import api_key\n"
        "def offer(name):\n"
        "    return [Listing(model=name + ':x', ready=True, remark=api_key(name), details={'size': api_key(name)})]\n",
    )
    for words in (("models",), ("models", "--json")):
        done = selfdiag(*words, TELLING_API_KEY=CANARY, LISTING_API_KEY=CANARY, **env)
        assert done.returncode == 0
        assert "wrong key [key]" in done.stdout
        assert CANARY not in done.stdout + done.stderr


def test_a_refused_file_of_keys_does_not_hide_the_other_models(selfdiag, own_home: Path) -> None:
    file = own_home / "config" / "keys.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'OPENAI_API_KEY = "{CANARY}"\n', encoding="utf-8")
    file.chmod(0o644)
    done = selfdiag("models")
    assert done.returncode == 0, done.stderr
    assert "persona:blind" in done.stdout
    assert "chmod 600" in " ".join(done.stdout.split())
    assert CANARY not in done.stdout


def test_one_provider_alone(selfdiag) -> None:
    found = json.loads(selfdiag("models", "--provider", "persona", "--json").stdout)
    assert {line["model"].partition(":")[0] for line in found} == {"persona"}
    done = selfdiag("models", "--provider", "persna")
    assert done.returncode == 2
    assert done.stderr.startswith("selfdiag: unknown provider 'persna': there are ")
    assert done.stderr.endswith("Did you mean 'persona'?\n")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_the_table_fits_its_width(width: int) -> None:
    shown = lines(LISTINGS, width)
    assert max(map(cell_len, shown)) <= width
    assert shown[0].split()[:2] == ["model", "ready"]
    text = "".join("".join(shown).split())
    for listing in LISTINGS:
        assert listing.model in text
        assert "".join(listing.remark.split()) in text or listing.model.endswith("Q4_K_M")
    assert shown.count("") == 2  # between three providers


def test_without_a_window_nothing_is_wrapped(selfdiag) -> None:
    shown = lines(LISTINGS, 10_000)
    assert len(shown) == 1 + len(LISTINGS) + 2
    assert shown[4].endswith(LISTINGS[2].remark)


def test_columns_that_hold_nothing_are_left_out() -> None:
    assert lines(LISTINGS[-1:], 80)[0].split() == ["model", "ready", "notes"]
    assert "quantisation" in lines(LISTINGS, 80)[0]


def test_foreign_text_is_made_visible() -> None:
    listing = Listing(model="x:\x1b[2Jy", ready=True, details={"size": "\x1b[31m", "capabilities": "a"})
    assert "\x1b" not in "".join(lines([listing], 80))
