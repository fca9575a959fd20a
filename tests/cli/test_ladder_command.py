"""Ladder, topic pass and swap as a person types them: two runs, one question, one result."""

import json
import shlex
from pathlib import Path

import pytest

from selfdiag.runs.records import LADDER, SWAP, TOPICPASS
from selfdiag.runs.store import read_run


@pytest.mark.parametrize("command", ["ladder", "topicpass", "swap"])
def test_help_fits_and_loads_no_numbers(selfdiag, command: str) -> None:
    done = selfdiag(command, "--help")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "--from RUN" in done.stdout and "--base-url" in done.stdout


def test_a_ladder_measures_first_and_keeps_two_ordinary_runs(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("ladder", "persona:suggestible", "--battery", "standard", "--replicates", "1", "--out", "both")
    assert done.returncode == 0, done.stderr
    assert "first 126 calls that measure the accuracy by topic, then 504 with profiles" in done.stderr
    assert done.stdout.startswith("Demonstration, it confirms nothing: 126 items")
    assert "simulated" in done.stdout
    first, second = (read_run(tmp_path / "both" / name) for name in ("measured", "ladder"))
    assert {record.section for record in first.records} == {"probes"}
    assert {record.section for record in second.records} == {LADDER}
    assert len(first.records) == 126 and len(second.records) == 504
    assert second.manifest.settings.sections == (LADDER,)
    assert first.manifest.run_id in next(p.origin for p in second.manifest.injected if p.arm == "own")
    assert "kept as both/ladder; show it again with: selfdiag report both/ladder" in done.stderr.splitlines()[-1]
    assert selfdiag("report", "both/ladder").stdout == done.stdout


def test_json_is_one_document_and_the_same_from_the_kept_run(selfdiag, tmp_path: Path) -> None:
    words = ("ladder", "persona:calibrated", "--battery", "standard", "--json", "--no-label")
    done = selfdiag(*words, "--replicates", "1", "--out", "a")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "selfdiag.ladder/1"
    assert [arm["arm"] for arm in found["arms"]] == ["off", "placebo", "own", "shuffled"]
    assert found["sentence"].startswith("In this demonstration its own profile is not shown")
    assert found["measured_run"] == read_run(tmp_path / "a" / "measured").manifest.run_id
    assert (found["labelled"], found["wordings"], found["standing"]["label"]) == (False, 1, "demonstration")
    assert "NaN" not in done.stdout
    again = selfdiag(
        "ladder", "persona:calibrated", "--from", "a/measured", "--json", "--no-label", "--replicates", "1"
    )
    assert again.returncode == 0, again.stderr
    assert "first 126 calls" not in again.stderr
    second = json.loads(again.stdout)
    assert second["run_id"] != found["run_id"]
    assert {key: second[key] for key in ("arms", "contrasts", "ceiling")} == {
        key: found[key] for key in ("arms", "contrasts", "ceiling")
    }


def test_the_result_is_written_to_a_file(selfdiag, tmp_path: Path) -> None:
    words = ("ladder", "persona:suggestible", "--battery", "standard", "--replicates", "1")
    done = selfdiag(*words, "--format", "md", "-o", "ladder.md")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    text = (tmp_path / "ladder.md").read_text(encoding="utf-8")
    assert text.startswith("# Profile ladder: suggestible (simulated)\n\n**Demonstration")


def test_json_decides_the_form_and_goes_to_the_file(selfdiag, own_home: Path, tmp_path: Path) -> None:
    words = ("topicpass", "persona:suggestible", "--bins", "physics,history")
    done = selfdiag(*words, "--json", "-o", "found.txt")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.splitlines()[-1] == "wrote found.txt"
    found = json.loads((tmp_path / "found.txt").read_text(encoding="utf-8"))
    assert found["sentence"].startswith("Too few for a verdict: 2 of 2 items")
    before = len(list((own_home / "runs").iterdir()))
    both = selfdiag(*words, "--json", "--format", "md")
    assert (both.returncode, both.stdout) == (2, "")
    (line,) = both.stderr.splitlines()
    assert "--json and --format md contradict each other: give one of them" in line
    assert len(list((own_home / "runs").iterdir())) == before


def test_many_calls_are_confirmed_once_for_both_stages(selfdiag, own_home: Path) -> None:
    done = selfdiag("ladder", "persona:suggestible")
    assert done.returncode == 2
    assert done.stderr == "selfdiag: this run makes 2,646 calls: add --yes to start it without being asked\n"
    assert not (own_home / "runs").exists()
    passing = selfdiag("topicpass", "persona:suggestible", "--battery", "full", "--items-per-topic", "9")
    assert "this run makes 1,050 calls" in passing.stderr  # 294, and 4 for each of 189 items
    yes = selfdiag("ladder", "persona:suggestible", "--replicates", "1", "--yes", "--plain")
    assert yes.returncode == 0, yes.stderr
    assert yes.stdout.startswith("Confirmatory: 294 items")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--bins", "logic,physics"), "a placebo needs 4 topics with 2 or more items each, here are 2; ask more"),
        (("--limit", "12"), "here are 0; ask more of them (leave --bins, --items and --limit away"),
        (("--battery", "quik"), "no battery 'quik'"),
        (("--from", "nowhere"), "no run 'nowhere'"),
        (("--judge", "persona:nobody"), "the judge: no persona 'nobody'"),
        (("--replicates", "0"), "0 is not in the range"),
    ],
)
def test_wrong_input_is_told_before_anything_is_asked(selfdiag, own_home: Path, words: tuple[str, ...], told) -> None:
    done = selfdiag("ladder", "persona:suggestible", *words, "--yes")
    assert done.returncode == 2
    assert told in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (own_home / "runs").exists()


def test_what_was_measured_otherwise_is_refused(selfdiag) -> None:
    assert selfdiag("run", "persona:blind", "--battery", "standard", "--seed", "4", "--out", "run").returncode == 0
    other = selfdiag("ladder", "persona:calibrated", "--from", "run")
    assert other.returncode == 2 and "the run run asked persona:blind, not persona:calibrated" in other.stderr
    seed = selfdiag("ladder", "persona:blind", "--from", "run", "--seed", "5")
    assert seed.returncode == 2
    assert "--seed is 5 and was 4 in the run of --from, as which everything is asked: leave --seed away" in seed.stderr
    same = selfdiag("ladder", "persona:blind", "--from", "run", "--seed", "4", "--replicates", "1", "--timeout", "9")
    assert same.returncode == 0, same.stderr
    assert "seed 4" in same.stdout


def test_a_flat_profile_keeps_the_measured_run_and_says_what_to_do(selfdiag, tmp_path: Path) -> None:
    battery = tmp_path / "flat.toml"
    names = ("logic", "physics", "history", "algebra")
    battery.write_text(
        'id = "flat"\nversion = "1"\n'
        + "".join(
            f'[[probe]]\nid = "{name}-{number}"\nbin = "{name}"\ndifficulty = "easy"\nkind = "text"\nanswer = "x"\n'
            f'source = "a book"\nquestions = ["Which letter is {name} {number}?"]\n'
            for name in names
            for number in range(2)
        ),
        encoding="utf-8",
    )
    done = selfdiag("ladder", "persona:malformed", "--battery", "flat.toml", "--out", "both")
    assert done.returncode == 2
    assert "no ladder can be made from this run: " in done.stderr
    assert (tmp_path / "both" / "measured" / "manifest.json").is_file()
    assert not (tmp_path / "both" / "ladder").exists()


def test_a_stopped_ladder_is_finished_by_resuming_the_run(selfdiag, tmp_path: Path) -> None:
    words = ("ladder", "persona:suggestible", "--battery", "standard", "--replicates", "1", "--out", "both")
    assert selfdiag(*words).returncode == 0
    folder = tmp_path / "both" / "ladder"
    whole = read_run(folder)
    records = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(b"".join(records[:100]))
    assert selfdiag("run", "--resume", "both/ladder").returncode == 0
    again = read_run(folder)
    assert set(again.latest()) == set(whole.latest())
    assert [(r.call_id, r.answer, r.confidence) for r in again.planned()] == [
        (r.call_id, r.answer, r.confidence) for r in whole.planned()
    ]


def test_an_unfinished_measuring_run_says_how_to_go_on(selfdiag) -> None:
    done = selfdiag(
        "ladder", "persona:suggestible", "--battery", "standard", "--budget-tokens", "500", "--yes", "--out", "both"
    )
    assert done.returncode == 4
    assert "selfdiag run --resume both/measured" in done.stderr
    assert done.stderr.endswith(
        "go on with: selfdiag ladder persona:suggestible --from both/measured --out both --yes\n"
    )
    assert done.stdout == ""
    early = selfdiag("ladder", "persona:suggestible", "--from", "both/measured")
    assert early.returncode == 2 and "is not complete" in early.stderr
    assert selfdiag("run", "--resume", "both/measured").returncode == 0
    assert selfdiag("ladder", "persona:suggestible", "--from", "both/measured", "--yes").returncode == 0


def go_on(selfdiag, *words: str) -> list[str]:
    """What is printed to go on with, where measuring is stopped by its budget."""
    done = selfdiag(*words, "--battery", "standard", "--seed", "3", "--budget-tokens", "500")
    assert done.returncode == 4, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if "once it is complete" in line)
    return shlex.split(line.partition("go on with: selfdiag ")[2])


def test_what_to_go_on_with_is_the_same_experiment(selfdiag, theirs: Path, own_home: Path) -> None:
    words = ("ladder", "persona:suggestible", "--replicates", "1", "--no-label", "--judge", "persona:calibrated")
    shown = go_on(selfdiag, *words, "--max-retries", "0", "--format", "md", "-o", "my ladder.md")
    run = shown.pop(shown.index("--from") + 1)
    assert (own_home / "runs" / run).is_dir()
    assert set(shown) == {*words, "--from", "--max-retries", "0", "--format", "md", "--output", "my ladder.md"}
    passing = go_on(selfdiag, "topicpass", "persona:suggestible", "--items-per-topic", "2", "--plain")
    assert passing[:3] == ["topicpass", "persona:suggestible", "--from"]
    assert passing[4:] == ["--items-per-topic", "2", "--plain"]
    swapping = go_on(
        selfdiag, "swap", "persona:suggestible", "--profile", "theirs.json", "--allow-unsigned", "--out", "s w"
    )
    expected = ["--from", "s w/measured", "--profile", "theirs.json", "--allow-unsigned", "--out", "s w"]
    assert swapping[2:] == expected
    assert selfdiag("run", "--resume", "s w/measured").returncode == 0
    done = selfdiag(*swapping)
    assert done.returncode == 0, done.stderr
    assert "kept as s w/swap" in done.stderr


def test_the_latest_run_is_named_by_its_id_to_go_on_with(selfdiag, own_home: Path) -> None:
    assert selfdiag("run", "persona:calibrated", "--battery", "standard").returncode == 0
    (folder,) = (own_home / "runs").iterdir()
    shown = go_on(selfdiag, "swap", "persona:suggestible", "--profile-of", "latest")
    assert shown[shown.index("--profile-of") + 1] == folder.name


def test_a_judge_is_asked_and_its_faults_leave_the_ladder(selfdiag) -> None:
    words = ("ladder", "persona:suggestible", "--battery", "standard", "--replicates", "1")
    done = selfdiag(*words, "--judge", "persona:calibrated")
    assert done.returncode == 0, done.stderr
    # a persona knows no such question
    told = " ".join(done.stdout.split())
    assert "none of its 4 opinions could be read" in told
    assert "! 4 of 4 opinions of the judge persona:calibrated could not be read" in told
    gone = selfdiag(*words, "--judge", "ollama:none", "--judge-base-url", "http://127.0.0.1:9", "--max-retries", "0")
    assert gone.returncode == 3
    assert gone.stdout.startswith("Demonstration")
    assert "The ladder is kept, without the judge" in gone.stderr


def test_a_topic_pass(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("topicpass", "persona:suggestible", "--out", "both", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["schema"], found["items"]) == ("selfdiag.topicpass/1", 21)
    assert found["labelled"]["followed"]["value"] > 5
    assert found["labelled"]["true"]["arm"] == "true" and found["labelled"]["false"]["arm"] == "false"
    assert found["sentence"].startswith("Its confidence follows the false profile, with the topic's name and without")
    run = read_run(tmp_path / "both" / "topicpass")
    assert {record.section for record in run.records} == {TOPICPASS} and len(run.records) == 84
    assert {record.arm for record in run.records} == {"true", "false"}
    assert found["measured_run"] == read_run(tmp_path / "both" / "measured").manifest.run_id
    assert len(read_run(tmp_path / "both" / "measured").records) == 126
    text = selfdiag("topicpass", "persona:calibrated", "--items-per-topic", "2", "--format", "md")
    assert text.returncode == 0, text.stderr
    assert text.stdout.startswith("# Topic pass: calibrated (simulated)")
    assert "42 items, each under" in text.stdout


@pytest.fixture
def theirs(selfdiag, tmp_path: Path) -> Path:
    assert selfdiag("run", "persona:calibrated", "--battery", "standard", "--out", "theirs").returncode == 0
    assert selfdiag("profile", "export", "theirs", "-o", "theirs.json").returncode == 0
    return tmp_path / "theirs.json"


SWAP_WORDS = ("swap", "persona:suggestible", "--battery", "standard")


def test_a_swap_with_the_profile_of_a_run(selfdiag, theirs: Path, tmp_path: Path) -> None:
    done = selfdiag(*SWAP_WORDS, "--profile-of", "theirs", "--out", "both", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "selfdiag.swap/1"
    assert [arm["arm"] for arm in found["arms"]] == ["off", "own", "other"]
    assert found["other_run"] == read_run(tmp_path / "theirs").manifest.run_id
    assert found["sentence"].startswith("Under the other model's profile its confidence")
    gates = {profile["arm"]: profile["gate"] for profile in found["profiles"]}
    assert gates["other"] == gates["own"]
    assert gates["own"] == "measured here: selfdiag has measured it itself, from a run on this machine"
    run = read_run(tmp_path / "both" / "swap")
    assert {record.section for record in run.records} == {SWAP} and len(run.records) == 378


def test_an_unsigned_or_altered_profile_is_refused_unless_allowed(selfdiag, theirs: Path, own_home: Path) -> None:
    before = set((own_home / "runs").iterdir()) if (own_home / "runs").exists() else set()
    refused = selfdiag(*SWAP_WORDS, "--profile", "theirs.json")
    assert refused.returncode == 1
    assert "theirs.json is not used: it is unsigned" in refused.stderr
    assert (set((own_home / "runs").iterdir()) if (own_home / "runs").exists() else set()) == before
    allowed = selfdiag(*SWAP_WORDS, "--profile", "theirs.json", "--allow-unsigned")
    assert allowed.returncode == 0, allowed.stderr
    assert "Its signature: unsigned:" in " ".join(allowed.stdout.split())


def test_a_verified_profile_passes_and_the_result_says_so(selfdiag, theirs: Path) -> None:
    assert selfdiag("profile", "keygen", "--signer", "Ada Example", "--key", "keys/ada.pem").returncode == 0
    assert selfdiag("profile", "sign", "theirs.json", "--key", "keys/ada.pem").returncode == 0
    assert selfdiag(*SWAP_WORDS, "--profile", "theirs.json").returncode == 1  # nobody trusts her here
    done = selfdiag(*SWAP_WORDS, "--profile", "theirs.json", "--trust", "keys", "--format", "md")
    assert done.returncode == 0, done.stderr
    assert "Its signature: verified: it is as Ada Example has signed it." in done.stdout


def test_a_swap_names_one_other_profile(selfdiag) -> None:
    for words in ((), ("--profile-of", "a", "--profile", "b")):
        done = selfdiag(*SWAP_WORDS, *words)
        assert done.returncode == 2
        assert "either --profile-of RUN or --profile FILE" in done.stderr


def test_a_run_is_not_swapped_with_itself_and_one_model_is_told(selfdiag) -> None:
    for seed in ("1", "2"):
        words = ("run", "persona:suggestible", "--battery", "standard", "--seed", seed, "--out", f"run-{seed}")
        assert selfdiag(*words).returncode == 0
    same = selfdiag("swap", "persona:suggestible", "--from", "run-1", "--profile-of", "run-1")
    assert same.returncode == 2 and len(same.stderr.splitlines()) == 1
    assert "which gives the own one too: name another model's" in same.stderr
    other = selfdiag("swap", "persona:suggestible", "--from", "run-1", "--profile-of", "run-2")
    assert other.returncode == 0, other.stderr
    told = "both profiles are of one model (persona:suggestible): no other model's is tried here"
    assert f"note: {told}" in other.stderr
    assert f"! {told}" in " ".join(other.stdout.split())
