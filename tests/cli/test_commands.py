"""What a person types, and what comes back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from selfdiag.runs.store import read_run

SUMMARY_KEYS = set(
    """
    schema run_id model battery counts metrics bins composite tier groups questionnaire microprobe anchor
    fresh_check consistency sources bounds usage
    """.split()
)
METRICS = set(
    """
    accuracy brier brier_skill reliability resolution uncertainty corp_miscalibration corp_discrimination gap ece
    ece_equal_mass mce ece_sweep smooth_ece spiegelhalter_z calibration_slope calibration_intercept discrimination
    auroc aurc e_aurc augrc error_at_coverage_80 error_at_coverage_60 error_at_coverage_40 error_at_coverage_20
    high_confidence_error_80 high_confidence_error_90 high_confidence_error_95 threshold_score_50
    threshold_score_75 threshold_score_90 trap_abstention trap_abstention_token_only non_answer youden
    abstention_f1 missed_trap_confidence simpleqa_f omniscience usable_share modal_share distinct_values
    median_confidence
    """.split()
)


@pytest.mark.parametrize("words", [(), ("persona:blind",), ("--base-url", "http://127.0.0.1:9", "openai:x")])
def test_the_app_without_a_terminal_says_what_to_run(selfdiag, words: tuple[str, ...]) -> None:
    done = selfdiag(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "selfdiag run MODEL" in done.stderr and "\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_in_place_of_a_command_opens_the_app_on_it(selfdiag, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr("selfdiag.cli.app.open_app", lambda model, base_url: opened.append((model, base_url)) or 0)
    assert selfdiag("--base-url", "http://127.0.0.1:9", "openai:a:b").returncode == 0
    assert selfdiag("embedded").returncode == 0
    assert selfdiag().returncode == 0
    assert opened == [("openai:a:b", "http://127.0.0.1:9"), ("embedded", ""), ("", "")]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run"],
        ["report"],
        ["runs"],
        ["runs", "rm"],
        ["models"],
        ["analyze"],
        ["keys"],
        ["doctor"],
        ["probes"],
        ["probes", "lint"],
        ["pull"],
    ],
)
def test_every_command_has_help(selfdiag, words: list[str]) -> None:
    done = selfdiag(*words, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_json_is_the_summary_and_nothing_else_on_stdout(selfdiag) -> None:
    done = selfdiag("run", "persona:overconfident", "--json")
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    assert summary["schema"] == "selfdiag.summary/1"
    assert set(summary) >= SUMMARY_KEYS
    assert set(summary["metrics"]) == METRICS
    assert summary["tier"].keys() == {
        "letter",
        "name",
        "direction",
        "range",
        "provisional",
        "probabilities",
        "advice",
    }
    assert summary["battery"] | {"sha256": ""} == {
        "id": "selfdiag",
        "version": summary["battery"]["version"],
        "sha256": "",
        "draw": "quick",
        "probes": 42,
        "traps": 21,
        "seed": 0,
    }
    for name, metric in summary["metrics"].items():
        assert set(metric) == {"value", "ci", "n", "method", "note"}, name
        assert metric["value"] is not None or metric["note"], name
        assert metric["ci"] is None or metric["ci"][0] <= metric["ci"][1]
        assert metric["ci"] is not None or metric["note"], name
    assert "asking 63 questions" in done.stderr
    assert json.loads(selfdiag("report", "latest", "--format", "json").stdout) == summary


def test_nothing_measured_is_null_with_a_reason_never_nan(selfdiag) -> None:
    done = selfdiag("run", "persona:abstainer", "--limit", "1", "--json")
    assert done.returncode == 0
    assert "NaN" not in done.stdout
    summary = json.loads(done.stdout)
    assert summary["tier"]["letter"] == "-"
    assert all(metric["note"] for metric in summary["metrics"].values() if metric["value"] is None)


def test_TUI_17_output_of_a_pipe_has_no_escape(selfdiag) -> None:
    for words in (("run", "persona:hostile"), ("report",), ("runs", "show"), ("runs", "list")):
        done = selfdiag(*words)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout + done.stderr


def test_TUI_20_an_old_code_page_is_no_crash(selfdiag) -> None:
    for words in (("run", "persona:blind"), ("report", "--format", "md"), ("runs", "list")):
        done = selfdiag(*words, PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
        assert done.returncode == 0, done.stderr
        assert "confidently" in done.stdout or "X" in done.stdout


def test_plain_text_has_no_frame(selfdiag) -> None:
    done = selfdiag("run", "persona:blind", "--plain")
    assert "│" not in done.stdout
    assert "confidently blind" in done.stdout


def test_the_card_fits_in_eighty_columns(selfdiag) -> None:
    from rich.cells import cell_len

    for persona in ("calibrated", "blind", "abstainer", "malformed", "hostile", "refuser"):
        done = selfdiag("run", f"persona:{persona}")
        assert {cell_len(line) for line in done.stdout.splitlines() if line[:1] in "╭│╰"} == {80}


@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
def test_a_plan_says_where_questions_go_and_that_others_can_read_them(selfdiag, provider: str) -> None:
    plan = ("--dry-run", "--limit", "1")
    done = selfdiag("run", f"{provider}:m", "--base-url", "http://far.example:99", *plan)
    assert "every question goes to far.example:99, unencrypted." in done.stdout
    done = selfdiag("run", f"{provider}:m", "--base-url", "https://far.example:99", *plan)
    assert "every question goes to far.example:99." in done.stdout


@pytest.mark.parametrize("word", ["", " "])
def test_API_24_the_app_takes_no_empty_address_for_the_cloud(selfdiag, word: str) -> None:
    done = selfdiag("--base-url", word, "openai:x", OPENAI_API_KEY="sk-not-a-real-key-0123456789")
    assert done.returncode == 2
    assert "'--base-url': it is empty" in done.stderr


def test_a_plan_says_where_a_judge_gets_answers(selfdiag) -> None:
    plan = ("--dry-run", "--limit", "1", "--judge", "openai:j", "--judge-base-url", "http://far.example/v1")
    done = selfdiag("run", "persona:blind", *plan)
    told = "undecided answers go with question and key to far.example, unencrypted."
    assert f"the questions stay on this machine; {told}" in done.stdout
    done = selfdiag("run", "openai:m", "--base-url", "https://near.example/v1", *plan)
    assert f"every question goes to near.example; {told}" in done.stdout


def test_a_dry_run_asks_and_writes_nothing(selfdiag, own_home: Path) -> None:
    done = selfdiag("run", "persona:calibrated", "--dry-run", "--limit", "2")
    assert done.returncode == 0
    assert done.stdout.startswith("4 calls, about ")
    assert "nothing leaves this machine" in done.stdout
    assert "UNANSWERABLE" in done.stdout
    assert not own_home.exists()
    plan = json.loads(selfdiag("run", "persona:calibrated", "--dry-run", "--limit", "2", "--json").stdout)
    assert plan["schema"] == "selfdiag.plan/1"
    assert plan["estimate"]["calls"] == len(plan["calls"]) == 4
    remote = selfdiag("run", "openai:x", "--base-url", "http://example.invalid:80", "--dry-run", "--limit", "1")
    assert "every question goes to example.invalid:80" in remote.stdout


def test_bins_limit_seed_and_items_choose_what_is_asked(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("run", "persona:calibrated", "--bins", "physics,history", "--out", "two", "--battery", "full")
    assert done.returncode == 0
    assert {record.bin for record in read_run(tmp_path / "two").records} == {"physics", "history"}
    done = selfdiag("run", "persona:calibrated", "--items", "physics-01,logic-t1", "--out", "items")
    assert done.returncode == 0
    assert {record.item_id for record in read_run(tmp_path / "items").records} == {"physics-01", "logic-t1"}


def test_runs_are_listed_shown_found_and_deleted(selfdiag, tmp_path: Path) -> None:
    assert "no run yet" in selfdiag("runs", "list").stdout
    assert selfdiag("runs", "list", "--json").stdout.strip() == "[]"
    selfdiag("run", "persona:blind", "--limit", "25")
    rows = json.loads(selfdiag("runs", "list", "--json").stdout)
    assert [(row["tier"], row["state"], row["simulated"]) for row in rows] == [("X", "complete", True)]
    assert "persona:blind (simulated)" in selfdiag("runs", "list").stdout
    folder = Path(selfdiag("runs", "path", "latest").stdout.strip())
    assert folder.is_dir()
    assert "confidently blind" in selfdiag("runs", "show", rows[0]["run_id"][:17]).stdout
    assert selfdiag("runs", "rm", "latest", "--yes").returncode == 0
    assert not folder.exists()
    assert selfdiag("runs", "rm", "latest", "--yes").returncode == 2


def test_deleting_asks_first(selfdiag) -> None:
    selfdiag("run", "persona:blind", "--limit", "1")
    done = selfdiag("runs", "rm", "latest")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert Path(selfdiag("runs", "path").stdout.strip()).is_dir()


def test_path_prints_the_folders(selfdiag, own_home: Path) -> None:
    assert selfdiag("path", "runs").stdout.strip() == str(own_home / "runs")
    assert json.loads(selfdiag("path", "--json").stdout)["data"] == str(own_home)


def test_models_lists_providers(selfdiag) -> None:
    listed = selfdiag("models").stdout
    for model in ("embedded", "gguf:PATH", "openai:NAME", "persona:blind"):
        assert model in listed
    assert {"model", "ready", "remark", "remote", "details"} == set(json.loads(selfdiag("models", "--json").stdout)[0])


def test_probes_are_listed_shown_graded_and_checked(selfdiag, tmp_path: Path) -> None:
    items = json.loads(selfdiag("probes", "list", "--json").stdout)
    assert set(items[0]) == {"id", "bin", "difficulty", "kind", "trap", "family", "paraphrases", "source"}
    assert len({item["bin"] for item in items}) == 21
    assert "wording 3:" in selfdiag("probes", "show", "physics-01").stdout
    graded = selfdiag("probes", "grade", "geography-01", "**paris**.")
    assert graded.stdout.startswith("correct: ")
    assert len(graded.stdout.splitlines()) == 2
    clean = selfdiag("probes", "lint")
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "")
    broken = tmp_path / "broken.toml"
    broken.write_text('[[trap]]\nid = "t"\nbin = "logic"\nfamily = "riddle"\nquestions = ["Why?"]\nnote = ""\n')
    faults = selfdiag("probes", "lint", "broken.toml")
    assert faults.returncode == 2
    assert faults.stdout.startswith("broken.toml:1: t: unknown trap family 'riddle'")


def test_a_report_is_written_to_a_file(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:overconfident")
    done = selfdiag("report", "latest", "--format", "md", "-o", "report.md")
    assert done.returncode == 0
    assert done.stdout == ""
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# selfdiag: overconfident (simulated)\n")
    assert text == selfdiag("report", "--format", "md").stdout


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "selfdiag", "probes", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stderr is not None
    with child.stderr:
        child.stdout.close()
        told = child.stderr.read()
    assert child.wait(30) == 0
    assert told == ""


def test_a_terminal_shows_progress_and_the_card(tmp_path: Path) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "selfdiag", "run", "persona:slow", "--limit", "8", "--concurrency", "4"],
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 80),
        env={**os.environ, "TERM": "xterm-256color"},
    )
    child.expect("probes")
    child.expect("8/8")
    child.expect("insufficient evidence")
    child.expect("report: selfdiag report")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "selfdiag", "run", "persona:slow", "--concurrency", "1", "--plain"],
        encoding="utf-8",
        timeout=60,
    )
    child.expect("asking 63")
    child.sendintr()
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_fresh_hard_and_paper_size_batteries(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("run", "persona:calibrated", "--battery", "standard", "--fresh", "3", "--out", "fresh", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["battery"]["id"] == "selfdiag-fresh-3"
    again = selfdiag("run", "--resume", "fresh")
    assert again.returncode == 0
    assert "126 probes" in again.stdout
    refused = selfdiag("run", "--resume", "fresh", "--fresh", "4")
    assert "fresh was 3 and is now 4" in refused.stderr
    hard = json.loads(selfdiag("run", "persona:calibrated", "--hardness", "6", "--json").stdout)
    assert hard["battery"]["id"] == "selfdiag-fresh-0-h6"
    paper = json.loads(selfdiag("run", "persona:calibrated", "--battery", "full", "--paper-size", "--json").stdout)
    assert (paper["battery"]["probes"], paper["battery"]["traps"]) == (294, 21)
    full = json.loads(selfdiag("run", "persona:calibrated", "--battery", "full", "--json").stdout)
    assert (full["battery"]["probes"], full["battery"]["traps"]) == (294, 42)
    assert selfdiag("run", "persona:calibrated", "--paper-size").returncode == 2


def test_batteries_are_exported_started_and_judged_by_runs(selfdiag, tmp_path: Path) -> None:
    text = selfdiag("probes", "export", "--fresh", "7").stdout
    assert text == selfdiag("probes", "export", "--fresh", "7").stdout
    (tmp_path / "seven.toml").write_text(text, encoding="utf-8")
    asked = json.loads(selfdiag("run", "persona:calibrated", "--battery", "seven.toml", "--json").stdout)
    assert asked["battery"]["probes"] == 294
    assert selfdiag("probes", "export", "--format", "jsonl", "-o", "all.jsonl").returncode == 0
    assert selfdiag("probes", "lint", "all.jsonl").returncode == 0
    assert selfdiag("probes", "new", "mine.toml").returncode == 0
    assert selfdiag("probes", "lint", "mine.toml").returncode == 0
    assert selfdiag("probes", "new", "mine.toml").returncode == 2
    stats = json.loads(selfdiag("probes", "stats", "latest", "--json").stdout)
    assert stats["schema"] == "selfdiag.items/1"
    assert len(stats["items"]) == 336
    assert "with the rest" in selfdiag("probes", "stats", "latest").stdout
