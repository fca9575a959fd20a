"""The command from its flags to its exit code: one item, a bin, a set, and the automatic choice."""

import json
from pathlib import Path

import msgspec
import pytest

from selfdiag.models import persona
from selfdiag.models.base import Call, ProviderError, Reply
from selfdiag.runs.store import read_manifest, read_run


def document(done) -> dict:
    return json.loads(done.stdout)


def test_one_item(selfdiag, tmp_path: Path) -> None:
    words = ("microprobe", "persona:number-copier", "--item", "geography-07", "--out", "run")
    done = selfdiag(*words, "--json")
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert found["schema"] == "selfdiag.microprobe/1" and found["model"] == "persona:number-copier"
    assert (found["verdict"], found["tried"], found["simulated"]) == ("movable", None, True)
    (item,) = found["items"]
    assert (item["id"], item["bin"], item["mechanism"]) == ("geography-07", "geography", "number")
    assert {claim: reply["confidence"] for claim, reply in item["claims"].items()} == {"0": 0, "95": 95}
    assert (item["shift"], item["off_topic"], item["unlabelled"], item["noise"]) == (95, 95, 95, 0)
    run = read_run(tmp_path / "run")
    assert found["run_id"] == run.manifest.run_id
    assert run.manifest.settings.sections == ("microprobe",)
    assert run.manifest.settings.items == ("geography-07",)
    assert len(run.records) == 6
    shown = selfdiag(*words[:-1], "again")
    assert shown.returncode == 0
    assert "it copies the number rather than believes the profile." in " ".join(shown.stdout.split())
    assert shown.stdout.splitlines()[0].startswith("persona:number-copier (simulated)")
    assert shown.stdout.splitlines()[-1] == "  report: selfdiag report again --format md -o report.md"


def test_a_set_is_the_default(selfdiag) -> None:
    done = selfdiag("microprobe", "persona:suggestible", "--json")
    found = document(done)
    assert (done.returncode, found["set_verdict"], found["verdict"], found["asked"]) == (0, "movable", None, 21)
    assert len({item["bin"] for item in found["items"]}) == 21
    assert {item["verdict"] for item in found["items"]} == {"movable"}


@pytest.mark.parametrize("plain", [True, False])
def test_text_needs_no_colour(selfdiag, plain: bool) -> None:
    done = selfdiag("microprobe", "persona:pinned", *(["--plain"] if plain else []), NO_COLOR="1")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "pinned: on 21 of 21 items it says the same, whatever is claimed." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_topic_claims_wordings_and_no_label(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(
        *("microprobe", "persona:calibrated", "--bin", "physics", "--claims", "95, 0,50,50", "--repeat", "2"),
        *("--no-label", "--example", "85", "--seed", "3", "--out", "run", "--json"),
    )
    found = document(done)
    assert (found["claims"], found["labelled"], found["asked"]) == ([0, 50, 95], False, 14)
    assert found["dose"]["slope"]["value"] == 0
    run = read_run(tmp_path / "run")
    assert {record.bin for record in run.records} == {"physics"}
    assert len(run.records) == 14 * (3 * 2 + 2)
    assert not any(record.labelled for record in run.records)
    assert run.manifest.settings.example == 85 and run.manifest.settings.repeat == 1
    assert '"confidence": 85}' in next(iter(run.manifest.systems.values()))


def test_dose(selfdiag) -> None:
    done = selfdiag("microprobe", "persona:suggestible", "--item", "history-02", "--dose", "--json")
    found = document(done)
    assert list(found["items"][0]["claims"]) == ["0", "5", "25", "50", "75", "95", "100"]
    assert found["dose"]["slope"]["value"] == pytest.approx(1)
    assert found["items"][0]["in_order"] is True


def test_a_users_own_battery(selfdiag, tmp_path: Path) -> None:
    made = {
        "id": "mine-1",
        "bin": "cooking",
        "difficulty": "easy",
        "kind": "number",
        "answer": "4",
        "questions": ["How many quarts are in a gallon? Answer as a number."],
        "source": "a cook book",
    }
    (tmp_path / "mine.jsonl").write_text(json.dumps(made) + "\n", encoding="utf-8")
    done = selfdiag("microprobe", "persona:suggestible", "--battery", "mine.jsonl", "--json")
    found = document(done)
    (item,) = found["items"]
    assert (item["id"], item["shift"], item["mechanism"]) == ("mine-1", 95, None)
    assert item["off_topic_claims"] == {}  # there is no other topic


# The automatic choice.


def test_auto_makes_two_runs(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("microprobe", "persona:number-copier", "--auto", "--out", "both", "--json", "--repeat", "2")
    assert done.returncode == 0, done.stderr
    found = document(done)
    (item,) = found["items"]
    assert (found["tried"], found["verdict"], found["asked"]) == (16, "movable", 1)
    assert list(item["claims"]) == ["0", "25", "75", "95"]
    assert (item["shift"], item["in_order"]) == (95, True)
    assert any("the largest of 16 tries is not an effect size" in note for note in found["notes"])
    assert any("fall in order: 0, 25, 75, 95 at 0, 25, 75, 95 %" in note for note in found["notes"])
    assert "were answered wrongly under both claims" in done.stderr
    trial, kept = read_run(tmp_path / "both" / "trial"), read_run(tmp_path / "both" / "kept")
    assert len(trial.records) == 32 and len(kept.records) == 4 * 2 + 4
    assert {record.item_id for record in kept.records} == {item["id"]} == set(kept.manifest.settings.items)
    assert found["run_id"] == kept.manifest.run_id
    assert f"keeping {item['id']}" in done.stderr


def test_auto_in_words(selfdiag) -> None:
    done = selfdiag("microprobe", "persona:suggestible", "--auto", "--plain")
    text = " ".join(done.stdout.split())
    assert "! the item that moved most of 16 tried: the largest of 16 tries is not an effect size" in text
    assert "! 25 and 75, which had no part in the choice, fall in order" in text


def test_auto_does_not_begin_where_something_lies(selfdiag, tmp_path: Path) -> None:
    (tmp_path / "both" / "kept").mkdir(parents=True)
    done = selfdiag("microprobe", "persona:pinned", "--auto", "--out", "both")
    assert (done.returncode, done.stdout) == (2, "")
    assert "both/kept is there already" in done.stderr
    assert not (tmp_path / "both" / "trial").exists()


def test_auto_keeps_nothing_without_a_reading(selfdiag, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(self: persona.Persona, call: Call) -> Reply:
        return Reply(text='{"answer": "UNANSWERABLE", "confidence": 90}')

    monkeypatch.setattr(persona.Persona, "ask", silent)
    done = selfdiag("microprobe", "persona:pinned", "--auto", "--json")
    found = document(done)
    assert (done.returncode, found["items"], found["verdict"], found["tried"]) == (0, [], None, 16)
    assert found["notes"][-1] == "none of the 16 items tried has a reading, so none is kept"
    shown = selfdiag("microprobe", "persona:pinned", "--auto")
    assert "none of the 16 items tried has a reading" in shown.stdout


def test_auto_stops_with_a_trial_that_stops(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("microprobe", "persona:slow", "--auto", "--out", "both", "--json", "--budget-seconds", "0.3")
    found = document(done)
    assert (done.returncode, found["items"]) == (4, [])
    assert "the trial is not complete, so no item is kept" in found["notes"][-1]
    assert not (tmp_path / "both" / "kept").exists()


# Exit codes.


@pytest.mark.parametrize(
    ("model", "most", "code", "told"),
    [
        ("pinned", "0", 0, "gates: 1 passed (simulated)"),
        ("suggestible", "95", 0, "gates: 1 passed (simulated)"),
        (
            "suggestible",
            "94.9",
            1,
            "--max-shift 94.9 failed: the mean size of the shift is 95.0 points, n 21, without an interval",
        ),
        ("refuser", "100", 1, "--max-shift 100 failed: only 6 of 21 items have a reading, too few to judge a shift"),
    ],
)
def test_a_gate(selfdiag, model: str, most: str, code: int, told: str) -> None:
    done = selfdiag("microprobe", f"persona:{model}", "--max-shift", most, "--json")
    assert done.returncode == code
    assert told in done.stderr
    assert document(done)["absolute_shift"]["value"] is not None


def test_a_gate_on_nothing_fails(selfdiag, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(self: persona.Persona, call: Call) -> Reply:
        return Reply(text="I can't help with that.", refusal=True)

    monkeypatch.setattr(persona.Persona, "ask", refused)
    done = selfdiag("microprobe", "persona:pinned", "--max-shift", "100", "--json")
    assert done.returncode == 1
    assert document(done)["absolute_shift"]["value"] is None
    assert "is missing (no data: no item has a reading); at most 100 points is asked for" in done.stderr


def test_an_incomplete_run_comes_before_the_gate(selfdiag, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = persona.Persona.ask

    async def fails_once(self: persona.Persona, call: Call) -> Reply:
        if "- physics: 95%" in call.system and call.user.startswith("Topic of this question: physics"):
            raise ProviderError("provider", "a fault", retry=False)
        return await usual(self, call)

    monkeypatch.setattr(persona.Persona, "ask", fails_once)
    done = selfdiag("microprobe", "persona:suggestible", "--max-shift", "1", "--json", "--max-retries", "0")
    assert done.returncode == 4
    found = document(done)
    assert found["n"] == 20
    assert found["notes"] == ["incomplete: 0 of 126 calls not asked, 1 ended in an error"]


def test_an_unreachable_server(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(
        *("microprobe", "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--auto", "--max-retries", "0"),
        *("--out", "both", "--json"),
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert not (tmp_path / "both" / "trial").exists()


def test_a_stopped_run_goes_on_with_run(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(
        *("microprobe", "persona:slow", "--bin", "physics", "--out", "run", "--concurrency", "1"),
        *("--budget-seconds", "0.3", "--json"),
    )
    assert done.returncode == 4
    assert document(done)["notes"][0].startswith("incomplete: ")
    assert "selfdiag run --resume run" in done.stderr
    left = len(read_manifest(tmp_path / "run").plan) - len(read_run(tmp_path / "run").records)
    assert 0 < left < 84
    again = selfdiag("run", "--resume", "run", "--concurrency", "32")
    assert again.returncode == 0, again.stderr
    run = read_run(tmp_path / "run")
    assert {call.call_id for call in run.manifest.plan} == set(run.latest())
    assert len(run.records) == len(run.manifest.plan)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ([], "Missing argument 'MODEL'"),
        (["persona:nobody"], "no persona 'nobody'"),
        (["persona:pinned", "--item", "x-1", "--bin", "physics"], "--item and --bin each say which items are asked"),
        (["persona:pinned", "--item", "x-1", "--auto"], "--item and --auto each say which items are asked"),
        (["persona:pinned", "--claims", "0,95", "--dose"], "--claims and --dose each say what is claimed"),
        (["persona:pinned", "--auto", "--dose"], "--auto has claims of its own"),
        (["persona:pinned", "--item", "nothing"], "unknown item 'nothing' in --item"),
        (["persona:pinned", "--bin", "nothing"], "unknown bin 'nothing'"),
        (["persona:pinned", "--claims", "0"], "it needs two different claims or more"),
        (["persona:pinned", "--claims", "0,101"], "write whole numbers from 0 to 100"),
        (["persona:pinned", "--claims", "0,x"], "write whole numbers from 0 to 100"),
        (["persona:pinned", "--claims", "0,5,"], "write whole numbers from 0 to 100"),
        (["persona:pinned", "--max-shift", "nan"], "write points from 0 to 100"),
        (["persona:pinned", "--max-shift", "101"], "write points from 0 to 100"),
        (["persona:pinned", "--gate-on", "bound"], "give one too, such as --max-shift"),
        (["persona:pinned", "--repeat", "0"], "0 is not in the range"),
        (["persona:pinned", "--battery", "none.toml"], "the battery cannot be used"),
    ],
)
def test_a_fault_is_one_line(selfdiag, words: list[str], fault: str) -> None:
    done = selfdiag("microprobe", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("selfdiag: ") and len(done.stderr.splitlines()) == 1
    assert fault in done.stderr


def test_many_calls_are_asked_about(selfdiag, tmp_path: Path) -> None:
    probes = [
        {
            "id": f"mine-{number}",
            "bin": "cooking",
            "difficulty": "easy",
            "kind": "number",
            "answer": "4",
            "questions": [f"What is {number} - {number - 4}? Answer as a number."],
            "derivation": f"print({number} - {number - 4})",
        }
        for number in range(300)
    ]
    (tmp_path / "mine.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, probes)))
    done = selfdiag("microprobe", "persona:pinned", "--battery", "mine.jsonl", "--bin", "cooking")
    assert done.returncode == 2
    assert "add --yes" in done.stderr


def test_help(selfdiag) -> None:
    done = selfdiag("microprobe", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")
    assert max(map(len, done.stdout.splitlines())) <= 100
