"""Every JSON document is read by a strict parser, also of a run without answers, and says why a value lacks."""

import json
import math
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from claim_runs import asked
from made_runs import Said, graded, measured, written

from selfdiag.battery.items import Probe
from selfdiag.cli.main import COMMANDS
from selfdiag.cli.main import selfdiag as main_group
from selfdiag.protocols.ladder import ladder_plan
from selfdiag.protocols.own_profile import Given, experiment_settings
from selfdiag.protocols.profile_signature import Gate
from selfdiag.protocols.swap import swap_plan
from selfdiag.protocols.topicpass import measured_topicpass
from selfdiag.runs.records import LADDER, SWAP, TOPICPASS, PlannedCall, RunSettings
from selfdiag.runs.store import MANIFEST, Run

Command = Callable[..., subprocess.CompletedProcess[str]]
ESTIMATE = {"value", "ci", "n", "method", "note"}

COVERED = set(
    """
    run microprobe assess topicpass ladder swap selfselect report compare panel analyze runs.list runs.show runs.prune
    models doctor path probes.list probes.show probes.lint probes.grade probes.stats profile.verify keys.list
    """.split()
)
"""Every command with ``--json``; the tests below call each."""


def all_right(call: PlannedCall, probe: Probe) -> Said:
    return "correct", 90


def sure_and_wrong(call: PlannedCall, probe: Probe) -> Said:
    return "incorrect", 100


def unsaid(call: PlannedCall, probe: Probe) -> Said:
    return graded(probe), None


def unreadable(call: PlannedCall, probe: Probe) -> Said:
    return "unparsed", None


def failed(call: PlannedCall, probe: Probe) -> Said:
    return "error", None


def unasked(call: PlannedCall, probe: Probe) -> None:
    return None


REPLIES = [all_right, sure_and_wrong, unsaid, unreadable, failed, unasked]


def strict(text: str) -> Any:
    """Read a document as RFC 8259 has it: no NaN, no infinity, no name twice in an object."""

    def refuse(word: str) -> None:
        pytest.fail(f"{word} is no JSON")

    def number(word: str) -> float:
        assert math.isfinite(float(word)), word
        return float(word)

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, parse_float=number, object_pairs_hook=members)


def unexplained(found: Any, path: str = "") -> Iterator[str]:
    """Yield the place of every estimate that has no value and does not say why."""
    if isinstance(found, dict):
        if set(found) >= ESTIMATE and found["value"] is None and not found["note"]:
            yield path
        for name, part in found.items():
            yield from unexplained(part, f"{path}.{name}")
    elif isinstance(found, list):
        for place, part in enumerate(found):
            yield from unexplained(part, f"{path}[{place}]")


def check(done: subprocess.CompletedProcess[str], code: int = 0) -> Any:
    assert done.returncode == code, done.stderr
    found = strict(done.stdout)
    assert list(unexplained(found)) == []
    return found


def test_STA_12_the_parser_of_these_tests_is_strict() -> None:
    for text in ("[NaN]", "[Infinity]", "[-Infinity]", "[1e999]", '{"a": 1, "a": 2}'):
        with pytest.raises((pytest.fail.Exception, AssertionError)):
            strict(text)
    missing = {"value": None, "ci": None, "n": 0, "method": "", "note": ""}
    assert list(unexplained({"a": [missing]})) == [".a[0]"]
    assert list(unexplained([missing | {"note": "no data"}])) == []


def test_STA_12_every_command_that_prints_json_is_covered() -> None:
    context = click.Context(main_group)
    found = set()
    for name in COMMANDS:
        command = main_group.get_command(context, name)
        inner = command.commands.items() if isinstance(command, click.Group) else []
        for path, one in [(name, command), *((f"{name}.{short}", sub) for short, sub in inner)]:
            if any("--json" in parameter.opts for parameter in one.params):
                found.add(path)
    assert found == COVERED


@pytest.mark.parametrize("reply", REPLIES)
def test_STA_12_an_audit_with_one_class_or_no_answers(selfdiag: Command, tmp_path: Path, reply) -> None:
    measured(tmp_path / "one", reply, battery="quick", limit=12)
    other = measured(tmp_path / "other", all_right, battery="quick", limit=12)
    for words in (
        ("report", "one", "--format", "json"),
        ("report", "one", "--json", "--full-intervals"),
        ("runs", "show", "one", "--json"),
        ("analyze", "one", "--json"),
        ("analyze", "one", "other", "--json", "--by", "file,bin"),
        ("analyze", "one", "--json", "--regrade"),
    ):
        check(selfdiag(*words))
    compared = selfdiag("compare", "one", "other", "--json")
    if reply is not unasked:
        assert check(compared)["pairs"][0]["common"]["items"] == len(other.manifest.plan)
        check(selfdiag("probes", "stats", "one", "other", "--json"))
    else:
        assert (compared.returncode, compared.stdout) == (2, "")


@pytest.mark.parametrize("reply", REPLIES)
def test_STA_12_a_panel_with_one_class_or_no_answers(selfdiag: Command, tmp_path: Path, reply) -> None:
    for name, said in (("one", reply), ("two", all_right), ("three", sure_and_wrong)):
        run = measured(tmp_path / name, said, battery="quick", limit=12)
        model = msgspec.structs.replace(run.manifest.model, name=name)
        manifest = msgspec.structs.replace(run.manifest, model=model, run_id=name)
        (tmp_path / name / MANIFEST).write_bytes(msgspec.json.encode(manifest))
    panel = selfdiag("panel", "one", "two", "three", "--json")
    if reply in {failed, unasked}:
        assert (panel.returncode, panel.stdout) == (2, "")
        assert "12 without a reply of every model" in panel.stderr
    else:
        assert check(panel)["shared"]["probes"] == 12


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("kind", [LADDER, SWAP, TOPICPASS])
def test_STA_12_an_experiment_with_one_class_or_no_answers(
    selfdiag: Command, tmp_path: Path, measured_run: Run, kind: str, reply
) -> None:
    settings = experiment_settings(measured_run, kind)
    values = dict.fromkeys(measured_run.manifest.drawn.bins(), 50)
    other = Given(accuracy=values, origin="made up", gate=Gate(state="unsigned", note=""), measured=None)
    plans = {
        LADDER: lambda: ladder_plan(settings, measured_run, replicates=1, labelled=True),
        SWAP: lambda: swap_plan(settings, measured_run, other),
        TOPICPASS: lambda: measured_topicpass(settings, measured_run, per_topic=1),
    }
    written(plans[kind](), settings, reply, tmp_path / "run")
    found = check(selfdiag("report", "run", "--json"))
    assert found["schema"] == f"selfdiag.{kind}/1"


@pytest.fixture
def measured_run(tmp_path: Path) -> Run:
    return measured(tmp_path / "measured", battery="standard")


@pytest.mark.parametrize("persona", ["abstainer", "refuser", "pinned", "malformed", "hostile"])
def test_STA_12_claims_with_nothing_to_measure(selfdiag: Command, tmp_path: Path, persona: str) -> None:
    settings = RunSettings(model=f"persona:{persona}", limit=3, sections=("probes", "traps", "microprobe", "anchor"))
    asked(settings, tmp_path / "run")
    check(selfdiag("report", "run", "--json"))
    check(selfdiag("microprobe", f"persona:{persona}", "--item", "geography-07", "--json"))


@pytest.mark.parametrize("persona", ["abstainer", "refuser", "pinned", "malformed", "hostile", "first-picker"])
@pytest.mark.parametrize("selections", ["1", "2", "4"])
def test_STA_12_a_self_selection(selfdiag: Command, persona: str, selections: str) -> None:
    words = ("selfselect", f"persona:{persona}", "--limit", "4", "--selections", selections, "--json")
    assert check(selfdiag(*words))["schema"] == "selfdiag.selfselect/1"
    check(selfdiag(*words, "--dry-run"))


@pytest.mark.parametrize("persona", ["refuser", "calibrated"])
def test_STA_12_a_self_assessment(selfdiag: Command, persona: str) -> None:
    words = ("--instances", "1", "--questionnaires", "1", "--tasks", "5", "--json")
    check(selfdiag("assess", f"persona:{persona}", *words))
    check(selfdiag("assess", f"persona:{persona}", "persona:blind", *words))


@pytest.mark.parametrize("command", ["ladder", "topicpass", "swap"])
def test_STA_12_an_experiment_from_its_command(
    selfdiag: Command, tmp_path: Path, measured_run: Run, command: str
) -> None:
    other = ("--profile", "profile.json", "--allow-unsigned") if command == "swap" else ()
    done = selfdiag("run", "persona:blind", "--battery", "standard", "--sections", "probes", "--out", "blind")
    assert done.returncode == 0
    assert selfdiag("profile", "export", "measured", "-o", "profile.json").returncode == 0
    check(selfdiag(command, "persona:blind", "--from", "blind", *other, "--json", "--yes"))


def test_STA_12_a_run_and_what_it_would_ask(selfdiag: Command) -> None:
    for persona in ("calibrated", "abstainer", "flaky"):
        done = selfdiag("run", f"persona:{persona}", "--limit", "2", "--json", "--max-retries", "0")
        check(done, done.returncode)
        check(selfdiag("run", f"persona:{persona}", "--limit", "2", "--dry-run", "--json"))


def test_STA_12_answers_of_other_people(selfdiag: Command, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("confidence,correct\n80,1\n", encoding="utf-8")
    (tmp_path / "none.csv").write_text("confidence,correct\n,\n", encoding="utf-8")
    (tmp_path / "raw.jsonl").write_text('{"text": "NaN"}\n{"text": ""}\n', encoding="utf-8")
    for words in (("one.csv",), ("none.csv",), ("one.csv", "none.csv"), ("raw.jsonl", "--map", "raw=text")):
        check(selfdiag("analyze", *words, "--json"))
    for words in (("one.csv",), ("none.csv",), ("one.csv", "none.csv")):
        check(selfdiag("analyze", *words, "--categories", "--json"))


def test_STA_12_everything_else(selfdiag: Command, tmp_path: Path, own_home: Path) -> None:
    check(selfdiag("runs", "list", "--json"))
    measured(own_home / "runs" / "silent", unasked, battery="quick", limit=2)
    (own_home / "runs" / "damaged").mkdir()
    (own_home / "runs" / "damaged" / "manifest.json").write_text("{", encoding="utf-8")
    assert [row["state"] for row in check(selfdiag("runs", "list", "--json"))] == ["stopped", "damaged"]
    assert len(check(selfdiag("runs", "prune", "--keep", "0", "--dry-run", "--json"))) == 1
    measured(tmp_path / "measured", all_right, battery="quick")
    assert selfdiag("profile", "export", "measured", "-o", "profile.json").returncode == 0
    strict((tmp_path / "profile.json").read_text(encoding="utf-8"))
    check(selfdiag("profile", "verify", "profile.json", "--json"), 1)
    for words in (
        ("models", "--provider", "persona"),
        ("path",),
        ("keys", "list"),
        ("probes", "list"),
        ("probes", "show", "history-01"),
        ("probes", "lint"),
        ("probes", "grade", "history-01", "NaN"),
    ):
        check(selfdiag(*words, "--json"))
    done = selfdiag("doctor", "--json", OLLAMA_HOST="http://127.0.0.1:9")
    check(done, done.returncode)
