"""``selfdiag assess`` as a person types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from selfdiag.elicit.citations import LookedUp
from selfdiag.runs import doi_lookup
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError

SMALL = ("--instances", "2", "--questionnaires", "4", "--tasks", "25")
NOBODY = {"OLLAMA_HOST": "http://127.0.0.1:9"}


def test_help_is_there_and_loads_nothing_heavy(selfdiag) -> None:
    done = selfdiag("assess", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")
    assert max(map(len, done.stdout.splitlines())) <= 100
    heavy = "numpy scipy textual httpx".split()
    code = f"import sys, selfdiag.cli.assess; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_one_model_prints_one_document(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("assess", "persona:calibrated", *SMALL, "--out", "run", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["schema"] == "selfdiag.assess/1"
    assert document["asked_with"]["instances"] == 2
    assert document["asked_with"]["ratings"] == 4
    assert document["asked_with"]["tasks"] == 25
    assert document["external"]["x5"]["denominator"] == 25
    run = read_run(tmp_path / "run")
    assert run.manifest.settings.sections[2:] == ("questionnaire", "self-profile", "framing", "tasks")
    assert run.manifest.looked_up == {}


def test_the_text_names_the_run_and_how_to_see_it_again(selfdiag) -> None:
    done = selfdiag("assess", "persona:overconfident", *SMALL, "--out", "run", "--plain")
    assert done.returncode == 0
    assert "not acceptable (limit .15)" in " ".join(done.stdout.split())
    assert "█" not in done.stdout
    again = done.stdout.rstrip().rpartition("shown again by: selfdiag ")[2].split()
    repeated = selfdiag(*again, "--plain")
    assert repeated.returncode == 0
    assert repeated.stdout == done.stdout.rpartition("\n\n")[0] + "\n"


def test_several_models_stand_side_by_side_each_in_its_own_run(selfdiag, tmp_path: Path) -> None:
    words = ("assess", "persona:calibrated", "persona:blind", *SMALL, "--out", "both")
    done = selfdiag(*words, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["schema"] == "selfdiag.assesses/1"
    assert [one["model"]["name"] for one in document["models"]] == ["calibrated", "blind"]
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == [
        "1-persona-calibrated",
        "2-persona-blind",
    ]
    shown = selfdiag(*words[:-1], "again")
    assert shown.stdout.count("persona:blind*") >= 3
    assert "model 2 of 2" in shown.stderr


def test_a_model_that_cannot_be_asked_does_not_stop_the_others(selfdiag) -> None:
    done = selfdiag("assess", "ollama:nobody", "persona:calibrated", *SMALL, "--max-retries", "0", "--json", **NOBODY)
    assert done.returncode == 3
    assert "ollama:nobody: " in done.stderr
    assert [one["model"]["name"] for one in json.loads(done.stdout)["models"]] == ["calibrated"]


def test_a_model_that_cannot_be_asked_comes_before_a_missed_requirement(selfdiag) -> None:
    words = ("assess", "ollama:nobody", "persona:blind", *SMALL, "--max-retries", "0", "--require", "x1=.9")
    done = selfdiag(*words, **NOBODY)
    assert done.returncode == 3
    assert "x1 is " in done.stderr


def test_alone_it_is_one_plain_line(selfdiag) -> None:
    done = selfdiag("assess", "ollama:nobody", *SMALL, "--max-retries", "0", "--json", **NOBODY)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.strip().splitlines()[-1].startswith("selfdiag: no server answers at ")


def test_requirements_gate(selfdiag) -> None:
    words = ("assess", "persona:calibrated", *SMALL, "--plain")
    assert selfdiag(*words, "--require", "x1=.5,x5=.5").returncode == 0
    missed = selfdiag(*words, "--require", "x1=.99,x5=.5,delta=.9")
    assert missed.returncode == 1
    assert "persona:calibrated (simulated): x1 is " in missed.stderr
    assert "at least 0.99 is required" in missed.stderr
    assert "x5" not in missed.stderr


def test_weights_are_shown(selfdiag) -> None:
    done = selfdiag("assess", "persona:calibrated", *SMALL, "--weights", "x1=1,x5=3", "--json")
    found = json.loads(done.stdout)
    assert found["weighted"]["weights"] == {"x1": 0.25, "x2": 0, "x3": 0, "x4": 0, "x5": 0.75}
    expected = 0.25 * found["external"]["x1"]["value"] + 0.75 * found["external"]["x5"]["value"]
    assert found["weighted"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize("options", [(), ("--weights", "research", "--years", "10")])
def test_the_report_of_its_run_is_what_it_printed(selfdiag, options: tuple[str, ...]) -> None:
    printed = selfdiag("assess", "persona:calibrated", *SMALL, *options, "--out", "run")
    reported = selfdiag("report", "run")
    assert printed.returncode == reported.returncode == 0
    above, _, below = printed.stdout.rpartition("\n\n")
    assert above + "\n" == reported.stdout
    assert "shown again by: selfdiag report " in below
    assert ("research use" if options else "general use") in reported.stdout
    as_json = selfdiag("assess", "--resume", "run", "--json")
    assert as_json.stdout == selfdiag("report", "run", "--format", "json").stdout
    document = json.loads(as_json.stdout)
    assert document["schema"] == "selfdiag.assess/1"
    assert document["external"]["x2"]["denominator"] == (10 if options else 5)
    markdown = selfdiag("assess", "--resume", "run", "--format", "md")
    assert markdown.stdout == selfdiag("report", "run", "--format", "md").stdout
    assert markdown.stdout.startswith("# Self-assessment: persona:calibrated (simulated)\n\n")
    assert markdown.stdout.endswith("\n") and not markdown.stdout.endswith("\n\n")


def test_weights_and_years_given_later_stay_with_the_run(selfdiag, tmp_path: Path) -> None:
    selfdiag("assess", "persona:calibrated", *SMALL, "--out", "run", "--json")
    other = selfdiag("assess", "--resume", "run", "--weights", "x1=1", "--years", "10", "--json")
    assert other.returncode == 0
    found = json.loads(other.stdout)
    assert (found["weighted"]["use"], found["external"]["x2"]["denominator"]) == ("own", 10)
    assert selfdiag("report", "run", "--format", "json").stdout == other.stdout
    assert selfdiag("assess", "--resume", "run", "--json").stdout == other.stdout
    settings = read_run(tmp_path / "run").manifest.settings
    assert (settings.weights, settings.years) == ("x1=1", 10)


def test_the_result_goes_into_a_file(selfdiag, tmp_path: Path) -> None:
    words = ("assess", "persona:calibrated", *SMALL, "--out", "run")
    done = selfdiag(*words, "--format", "md", "-o", "report.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote report.md" in done.stderr
    assert (tmp_path / "report.md").read_text("utf-8") == selfdiag("report", "run", "--format", "md").stdout
    for form, option in (("json", "--json"), ("text", "--plain")):
        selfdiag("assess", "--resume", "run", option, "-o", form)
        assert "shown again" not in (tmp_path / form).read_text("utf-8")
    assert json.loads((tmp_path / "json").read_text("utf-8"))["schema"] == "selfdiag.assess/1"
    assert (tmp_path / "text").read_text("utf-8").startswith("persona:calibrated (simulated), self-assessment")


def test_several_models_make_one_report(selfdiag) -> None:
    done = selfdiag("assess", "persona:calibrated", "persona:blind", *SMALL, "--format", "md")
    assert done.returncode == 0
    assert done.stdout.startswith("# Self-assessment of 2 models\n\n## Side by side\n\n")
    heads = [line for line in done.stdout.splitlines() if line.startswith("## ")]
    assert heads == ["## Side by side", "## persona:calibrated (simulated)", "## persona:blind (simulated)"]
    assert done.stdout.count("### How it was asked") == 2
    assert done.stdout.endswith("selfdiag assess persona:blind --instances 2 --questionnaires 4 --tasks 25\n")


def test_the_command_that_a_report_names_asks_the_same(selfdiag) -> None:
    first = selfdiag("assess", "persona:calibrated", *SMALL, "--seed", "2", "--years", "10", "--out", "run", "--json")
    report = selfdiag("report", "run", "--format", "md").stdout
    again = report.rstrip().rpartition("\n    selfdiag ")[2].split()
    second = selfdiag(*again, "--json")
    one, other = json.loads(first.stdout), json.loads(second.stdout)
    assert one.pop("run_id") != other.pop("run_id")
    assert one == other


def test_a_distance_over_few_criteria_is_no_verdict_and_passes_no_gate(selfdiag) -> None:
    words = ("assess", "persona:calibrated", "--tasks", "5", "--instances", "2", "--questionnaires", "2")
    done = selfdiag(*words, "--require", "delta=.15")
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "cannot say whether acceptable (limit .15); 1 of 5 criteria known on both sides" in text
    assert "left out: x2 knowledge currency, x3 formal-structure handling, x4 source validity, x5 term" in text
    assert "delta is missing (1 of 5 criteria known on both sides, a verdict needs 4; left out: x2" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a model"),
        (("persona:blind", "--json", "--format", "md"), "--json and --format md contradict each other"),
        (("persona:blind", "--years", "7"), "'7'"),
        (("persona:blind", "persona:blind"), "named twice"),
        (("nosuch:x", "persona:blind"), "unknown model"),
        (("persona:blind", "--weights", "reserch"), "research"),
        (("persona:blind", "--require", "x9=1"), "there is no 'x9'"),
        (("persona:blind", "--require", ""), "empty"),
        (("--resume", "latest", "persona:blind"), "leave MODEL away"),
        (("persona:calibrated", "persona:blind"), "add --yes"),
    ],
)
def test_bad_words_are_told_before_anything_is_asked(
    selfdiag, own_home: Path, words: tuple[str, ...], said: str
) -> None:
    done = selfdiag("assess", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (own_home / "runs").exists()


def test_a_budget_stops_it_and_resume_goes_on(selfdiag, tmp_path: Path) -> None:
    words = ("assess", "persona:calibrated", *SMALL, "--out", "run")
    stopped = selfdiag(*words, "--budget-tokens", "2000", "--json")
    assert stopped.returncode == 4
    assert "selfdiag assess --resume " in stopped.stderr
    found = json.loads(stopped.stdout)
    assert any("incomplete" in note for note in found["notes"])
    asked = len(read_run(tmp_path / "run").records)
    gated = selfdiag("assess", "--resume", "run", "--budget-tokens", "1", "--require", "msi=.1")
    assert gated.returncode == 4  # an incomplete run comes before a missed requirement
    whole = selfdiag("assess", "--resume", "run", "--json")
    assert whole.returncode == 0
    assert json.loads(whole.stdout)["notes"] == [found["notes"][0]]
    assert len(read_run(tmp_path / "run").records) > asked
    fresh = selfdiag("assess", "persona:calibrated", *SMALL, "--out", "other", "--json")
    one, other = json.loads(whole.stdout), json.loads(fresh.stdout)
    assert one.pop("run_id") != other.pop("run_id")
    assert one == other


def test_resume_takes_only_its_own_runs_and_their_settings(selfdiag) -> None:
    selfdiag("run", "persona:blind", "--limit", "2", "--out", "audit")
    done = selfdiag("assess", "--resume", "audit")
    assert done.returncode == 2
    assert "selfdiag run --resume audit" in done.stderr
    selfdiag("assess", "persona:blind", *SMALL, "--out", "run")
    changed = selfdiag("assess", "--resume", "run", "--instances", "3")
    assert changed.returncode == 2
    assert "instances was 2 and is now 3" in changed.stderr


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    async def look_up(dois: list[str], *, base_url: str) -> dict[str, LookedUp]:
        assert base_url == doi_lookup.RESOLVER
        asked.extend(dois)
        if "10.1000/down" in dois:
            raise SelfdiagError("the resolver did not answer in time", exit_code=3)
        return {doi: LookedUp(exists=False) for doi in dois}

    monkeypatch.setattr(doi_lookup, "look_up", look_up)
    return asked


def with_dois(folder: Path, doi: str) -> None:
    """Let the citations of a run on disk name a DOI."""
    lines = []
    for line in (folder / "records.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        if record["item_id"].startswith("citation-"):
            record["raw"] = json.dumps({"title": "Unheard Of", "author": "A. B.", "year": 2001, "doi": doi})
            record["outcome"] = "answered"
        lines.append(json.dumps(record))
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def test_nothing_is_looked_up_unless_asked_for(selfdiag, tmp_path: Path, resolver: list[str]) -> None:
    selfdiag("assess", "persona:calibrated", *SMALL, "--out", "run")
    with_dois(tmp_path / "run", "10.1000/none")
    offline = json.loads(selfdiag("assess", "--resume", "run", "--json").stdout)
    assert resolver == []
    assert offline["citations"]["contradicted"] == 0
    online = selfdiag("assess", "--resume", "run", "--online", "--json")
    assert online.returncode == 0
    assert resolver == ["10.1000/none"]
    found = json.loads(online.stdout)["citations"]
    assert (found["unknown"], found["looked_up"]) == (0, 1)
    assert found["contradicted"] == offline["citations"]["unknown"]
    kept = selfdiag("assess", "--resume", "run", "--json")
    assert json.loads(kept.stdout)["citations"] == found
    assert resolver == ["10.1000/none"]


def test_a_resolver_that_does_not_answer_leaves_the_rest_and_says_so(
    selfdiag, tmp_path: Path, resolver: list[str]
) -> None:
    selfdiag("assess", "persona:calibrated", *SMALL, "--out", "run")
    with_dois(tmp_path / "run", "10.1000/down")
    done = selfdiag("assess", "--resume", "run", "--online", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["citations"]["looked_up"] == 0
    assert "1 could not be looked up. the resolver did not answer in time" in done.stderr
    assert "--online" in done.stderr
