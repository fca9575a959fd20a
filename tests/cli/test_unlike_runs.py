"""STA-25: runs that were not asked alike are refused, or compared over what they share, and the limit is told."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from selfdiag.runs.records import Stretch
from selfdiag.runs.store import MANIFEST, read_manifest

FORMS = ("text", "md", "html", "json")
ENGLISH = "What is {} plus 100? As a number."
GERMAN = "Wie viel ist {} plus 100? Als Zahl."


def battery(path: Path, numbers: range, *, german: range = range(0)) -> str:
    """Write questions with these numbers, some of them in German under the same ids."""
    rows: list[dict[str, object]] = [
        {
            "id": f"p{number}",
            "bin": "sums",
            "difficulty": "easy",
            "kind": "number",
            "answer": str(number + 100),
            "questions": [(GERMAN if number in german else ENGLISH).format(number)],
            "derivation": f"{number} + 100",
        }
        for number in numbers
    ]
    rows.insert(0, {"id": "own", "version": "1"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path.name


@pytest.fixture
def run(selfdiag, tmp_path: Path) -> Callable[..., str]:
    def make(name: str, numbers: range, *words: str, persona: str = "calibrated", german: range = range(0)) -> str:
        own = battery(tmp_path / f"{name}.jsonl", numbers, german=german)
        done = selfdiag("run", f"persona:{persona}", "--battery", own, "--out", name, *words, "--json")
        assert done.returncode == 0, done.stderr
        return name

    return make


def change(folder: Path, **changes: object) -> None:
    manifest = msgspec.structs.replace(read_manifest(folder), **changes)
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))


def compared(selfdiag, first: str, second: str) -> tuple[dict, dict[str, str]]:
    """Return the one pair as JSON, and every form of the comparison as text on one line."""
    texts = {}
    for form in FORMS:
        done = selfdiag("compare", first, second, "--format", form)
        assert done.returncode == 0, done.stderr
        texts[form] = " ".join(done.stdout.split())
    (pair,) = json.loads(selfdiag("compare", first, second, "--json").stdout)["pairs"]
    return pair, texts


def told(texts: dict[str, str], words: str) -> None:
    """Check that every form says these words, whatever its capitals and marks."""
    for form, text in texts.items():
        plain = text.replace("&#39;", "'").replace("\\", "").replace("! ", "").lower()
        assert words.lower() in plain, (form, words)


@pytest.mark.parametrize("form", FORMS)
def test_STA_25_nothing_in_common_is_refused(selfdiag, run, tmp_path: Path, form: str) -> None:
    names = run("low", range(1, 6)), run("high", range(6, 11))
    done = selfdiag("compare", *names, "--format", form, "-o", "found")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "have no item in common: compare runs of one battery" in line
    assert not (tmp_path / "found").exists()


def test_STA_25_only_what_both_were_asked_is_compared(selfdiag, run) -> None:
    pair, texts = compared(selfdiag, run("many", range(1, 31)), run("some", range(11, 41)))
    assert pair["common"] == {
        "first": 30, "second": 30, "items": 20, "changed": 0, "unanswered": 0, "reworded": 0, "probes": 20, "traps": 0,
    }  # fmt: skip
    assert pair["headline"]["accuracy"]["difference"]["n"] == 20
    told(texts, "limited to the items in common: 20 of A's 30 and of B's 30; the tiers are of all items of each")


def test_STA_25_a_question_in_another_language_is_another_question(selfdiag, run) -> None:
    names = run("english", range(1, 21)), run("german", range(1, 21), german=range(1, 9))
    pair, texts = compared(selfdiag, *names)
    assert (pair["common"]["changed"], pair["common"]["items"], pair["common"]["probes"]) == (8, 12, 12)
    told(texts, "8 items have the same id in both, but another question or key: left out")
    names = run("english-too", range(1, 6)), run("all-german", range(1, 6), german=range(1, 6))
    done = selfdiag("compare", *names)
    assert done.returncode == 2
    assert "no item in common (5 have the same id, but another question or key)" in done.stderr


def test_STA_25_another_prompt_thinking_or_concurrency_is_told(selfdiag, run, tmp_path: Path) -> None:
    names = run("plain", range(1, 13)), run("other", range(1, 13))
    settings = msgspec.structs.replace(read_manifest(tmp_path / "other").settings, think="high", temperature=0.7)
    sessions = (Stretch(started="2026-01-01T00:00:00Z", ended="2026-01-01T00:01:00Z", concurrency="8"),)
    change(tmp_path / "other", settings=settings, prompt_version="99", sessions=sessions)
    pair, texts = compared(selfdiag, *names)
    assert {"prompt version", "think", "temperature", "calls at once"} <= {one["name"] for one in pair["settings"]}
    told(texts, "not asked alike, which may be behind a difference: prompt version (")
    told(texts, "think (off and high)")
    told(texts, "calls at once (1 and 8): on some servers that changes answers")


def test_STA_25_an_experiment_is_refused(selfdiag, run) -> None:
    audit = run("audit", range(1, 6))
    done = selfdiag("run", "persona:suggestible", "--sections", "microprobe", "--limit", "2", "--out", "claims")
    assert done.returncode == 0
    for names in ((audit, "claims"), ("claims", audit)):
        done = selfdiag("compare", *names)
        assert (done.returncode, done.stdout) == (2, "")
        assert "asks no probes and no traps (microprobe alone)" in done.stderr


def test_STA_25_a_run_with_itself_does_not_differ(selfdiag, run) -> None:
    name = run("same", range(1, 13))
    pair, texts = compared(selfdiag, name, name)
    assert pair["verdict"]["word"] == "no difference"
    defined = [one for one in pair["headline"].values() if one["first"] is not None]
    assert len(defined) >= 3
    assert all((one["difference"]["value"], one["difference"]["ci"]) == (0.0, [0.0, 0.0]) for one in defined)
    told(texts, "no difference: each of 12 probes comes out alike")


def test_STA_25_a_gap_that_is_there_is_found(selfdiag) -> None:
    for persona in ("calibrated", "overconfident"):
        assert selfdiag("run", f"persona:{persona}", "--out", persona, "--json").returncode == 0
    pair, texts = compared(selfdiag, "calibrated", "overconfident")
    low, high = pair["headline"]["gap"]["difference"]["ci"]
    assert 0 < low < 0.37 < high
    assert pair["headline"]["gap"]["holm"] < 0.05
    told(texts, "B is worse calibrated: its gap is")
