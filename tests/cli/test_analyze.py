"""Graded answers in, every number out: files, runs, several models, and what is wrong with a file."""

import csv
import json
from pathlib import Path

import pytest
from http_stub import Stub, as_json

from selfdiag.runs.importers import read_answers
from selfdiag.runs.table_file import parse_mapping
from selfdiag.safety import SelfdiagError

GOLDEN = Path(__file__).parent.parent / "data" / "golden.csv"
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "stated-confidence"


def analyze(selfdiag, *words: object) -> dict:
    done = selfdiag("analyze", *map(str, words), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def refused(selfdiag, path: Path, *words: str, options: tuple[str, ...] = ()) -> None:
    done = selfdiag("analyze", str(path), *options)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    for word in words:
        assert word in lines[0], lines[0]


def test_the_golden_vector_gives_the_published_values(selfdiag) -> None:
    summary = analyze(selfdiag, GOLDEN)
    found = {name: estimate["value"] for name, estimate in summary["metrics"].items()}
    expected = {
        "accuracy": 0.5,
        "gap": 0.184375,
        "brier": 0.26421875,
        "reliability": 0.12880208,
        "resolution": 0.11458333,
        "uncertainty": 0.25,
        "brier_skill": -0.056875,
        "ece": 0.271875,
        "mce": 0.2666667,
        "auroc": 0.7109375,
        "spiegelhalter_z": 2.784662,
        "aurc": 0.3498384,
        "e_aurc": 0.1812744,
        "augrc": 0.2128906,
        "high_confidence_error_80": 3 / 9,
        "discrimination": 0.20625,
        "threshold_score_50": 0.0625,
        "threshold_score_75": -0.1875,
        "threshold_score_90": -0.875,
        "corp_miscalibration": 0.07463542,
        "corp_discrimination": 0.06041667,
        "calibration_intercept": -0.5448807,
        "calibration_slope": 0.4785207,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-7)
    assert "two-sided p = 0.00536" in summary["metrics"]["spiegelhalter_z"]["note"]
    assert summary["mean_confidence"] == pytest.approx(68.4375)
    assert summary["notes"] == ["confidence: read as percent (0-100)"]


def test_the_same_answers_in_every_form_give_the_same_numbers(selfdiag, tmp_path) -> None:
    rows = table(GOLDEN)
    fractions = [str(int(row["confidence"]) / 100) for row in rows]
    words = ["yes" if row["correct"] == "1" else "No" for row in rows]
    forms = [
        write(tmp_path / "a.csv", "p;label", *(f"{p};{w}" for p, w in zip(fractions, words, strict=True))),
        write(tmp_path / "b.tsv", "p\tlabel", *(f"{r['confidence']}%\t{w}" for r, w in zip(rows, words, strict=True))),
        write(
            tmp_path / "c.jsonl",
            *(json.dumps({"p": int(r["confidence"]), "label": r["correct"] == "1"}) for r in rows),
        ),
        write(
            tmp_path / "d.jsonl",
            *(json.dumps({"label": int(r["correct"]), "p": r["confidence"], "raw": "{"}) for r in rows),
        ),
    ]
    expected = analyze(selfdiag, GOLDEN)["metrics"]
    for path in forms:
        found = analyze(selfdiag, path, "--map", "conf=p,correct=label")
        assert found["metrics"] == expected, path


def test_several_models_give_one_table_and_what_pooling_hides(selfdiag, tmp_path) -> None:
    # each model tells nothing of its own answers, but the surer one is right more often
    lines = [f"{m},{i},{c},{int(i % 10 < right)}" for m, c, right in (("a", 90, 9), ("b", 40, 3)) for i in range(200)]
    path = write(tmp_path / "two.csv", "model,item,confidence,correct", *lines)
    found = analyze(selfdiag, path)
    assert found["schema"] == "selfdiag.summaries/1"
    assert [one["group"] for one in found["models"]] == [
        {"model": "a", "bin": None, "file": None},
        {"model": "b", "bin": None, "file": None},
    ]
    pooled = found["pooled"]["auroc"]
    assert pooled["auroc"]["value"] == pytest.approx(0.8125)
    assert pooled["rank_normalised"]["value"] == 0.5
    assert pooled["between_models"]["value"] == pytest.approx(0.3125)
    low, high = pooled["between_models"]["ci"]
    assert 0.2 < low < 0.3125 < high < 0.4
    shown = selfdiag("analyze", str(path), COLUMNS="80")
    assert shown.returncode == 0
    rows = shown.stdout.splitlines()
    assert rows[0].split() == ["n", "right", "says", "gap", "Brier", "ECE", "AUROC", "tier"]
    assert rows[1].split()[:5] == ["a", "200", "90.0", "%", "90.0"]
    assert "from telling models apart +.312" in shown.stdout
    assert max(map(len, rows)) <= 80


def test_by_divides_and_items_of_different_sets_are_not_one_item(selfdiag, tmp_path) -> None:
    lines = [f"m,{s},{i},{50 + i},{i % 2}" for s in "xy" for i in range(30)]
    path = write(tmp_path / "sets.csv", "model,bin,item,confidence,correct", *lines)
    divided = analyze(selfdiag, path, "--by", "model,bin")
    assert [(one["group"]["bin"], one["metrics"]["accuracy"]["n"]) for one in divided["models"]] == [
        ("x", 30),
        ("y", 30),
    ]
    whole = analyze(selfdiag, path)
    assert whole["metrics"]["accuracy"]["method"] == "Wilson"  # 60 items, one row each
    assert [row["bin"] for row in whole["bins"]] == ["x", "y"]


def test_rows_of_one_item_stay_together(selfdiag, tmp_path) -> None:
    lines = [f"{i % 10},{60 + i % 3},{int(i % 10 < 5)}" for i in range(100)]
    path = write(tmp_path / "repeats.csv", "item,confidence,correct", *lines)
    accuracy = analyze(selfdiag, path)["metrics"]["accuracy"]
    assert "items" in accuracy["method"]
    assert accuracy["ci"][1] - accuracy["ci"][0] > 0.5  # ten items, not a hundred answers


def test_a_run_is_analysed_like_its_report(selfdiag) -> None:
    assert selfdiag("run", "persona:overconfident", "--limit", "20").returncode == 0
    report = json.loads(selfdiag("report", "latest", "--format", "json").stdout)
    found = analyze(selfdiag, "latest")
    assert found["metrics"] == report["metrics"]
    assert found["group"] == {"model": "persona:overconfident", "bin": None, "file": None}
    records = next((Path(selfdiag("runs", "path").stdout.strip())).glob("records.jsonl"))
    assert analyze(selfdiag, records)["metrics"] == report["metrics"]


def test_two_runs_give_one_table(selfdiag) -> None:
    for persona in ("calibrated", "blind"):
        assert selfdiag("run", f"persona:{persona}", "--limit", "15").returncode == 0
    ids = [row["run_id"] for row in json.loads(selfdiag("runs", "list", "--json").stdout)]
    found = analyze(selfdiag, *ids)
    assert sorted(one["model"]["name"] for one in found["models"]) == ["blind", "calibrated"]
    assert found["pooled"]["models"] == 2


def test_attempted_counts_silence_with_a_confidence_as_wrong(selfdiag, tmp_path) -> None:
    lines = [f"{c},{o}" for c, o in [(90, "correct"), (80, "incorrect"), (70, "abstained"), (60, "refused")] * 6]
    path = write(tmp_path / "set.csv", "confidence,outcome", *lines)
    found = analyze(selfdiag, path)
    assert found["metrics"]["accuracy"]["n"] == 12
    assert found["metrics"]["accuracy"]["value"] == 0.5
    assert found["metrics_attempted"]["accuracy"]["n"] == 24
    assert found["metrics_attempted"]["accuracy"]["value"] == 0.25
    assert [found["mean_confidence"], found["mean_confidence_attempted"]] == pytest.approx([85, 75])
    shown = selfdiag("analyze", str(path), "--set", "attempted").stdout
    assert next(line for line in shown.splitlines() if line.startswith("accuracy")).split()[1] == "0.25"


def test_number_and_rule_of_bins_stand_with_the_error(selfdiag) -> None:
    note = analyze(selfdiag, GOLDEN, "--ece-bins", "5")["metrics"]["ece"]
    assert note["note"].startswith("5 equal-width bins")
    assert note["value"] != analyze(selfdiag, GOLDEN)["metrics"]["ece"]["value"]


def test_full_shows_every_metric_of_every_group(selfdiag, tmp_path) -> None:
    lines = [f"{m},{50 + i},{i % 2}" for m in "ab" for i in range(30)]
    path = write(tmp_path / "two.csv", "model,confidence,correct", *lines)
    shown = selfdiag("analyze", str(path), "--full").stdout
    assert shown.count("high_confidence_error_90") == 2
    assert "\na: " in shown


def test_the_attempted_set_is_shown_throughout(selfdiag, tmp_path) -> None:
    rows = [(90, "correct"), (80, "incorrect"), (70, "abstained"), (60, "refused")] * 6
    path = write(tmp_path / "two.csv", "model,confidence,outcome", *(f"{m},{c},{o}" for m in "ab" for c, o in rows))
    shown = selfdiag("analyze", str(path), "--set", "attempted").stdout.splitlines()
    assert [row.split()[:6] for row in shown if row.startswith(("a ", "all"))] == [
        ["a", "24", "25.0", "%", "75.0", "+50.0"],
        ["all", "together", "48", "25.0", "%", "75.0"],
    ]


def test_draws_and_seed_are_used_and_said(selfdiag) -> None:
    found = analyze(selfdiag, GOLDEN, "--draws", "300", "--seed", "7")["metrics"]["brier"]
    assert "300 draws" in found["method"]
    assert "seed 7" in found["method"]
    assert found["ci"] != analyze(selfdiag, GOLDEN)["metrics"]["brier"]["ci"]


def test_STA_24_the_same_file_twice_gives_the_same_numbers(selfdiag, tmp_path) -> None:
    first, second = analyze(selfdiag, GOLDEN), analyze(selfdiag, GOLDEN)
    assert first == second
    shuffled = GOLDEN.read_text(encoding="utf-8").splitlines()
    turned = write(tmp_path / "turned.csv", shuffled[0], *reversed(shuffled[1:]))
    assert analyze(selfdiag, turned)["metrics"] == first["metrics"]


def test_STA_15_failures_are_never_wrong_answers(selfdiag, tmp_path) -> None:
    nothing = write(tmp_path / "none.csv", "confidence,outcome", *[",error"] * 20)
    found = analyze(selfdiag, nothing)
    assert found["metrics"]["accuracy"] == {
        "value": None,
        "ci": None,
        "n": 0,
        "method": "",
        "note": "no data: no answer was graded",
    }
    assert found["tier"]["letter"] == "-"
    some = write(
        tmp_path / "some.csv",
        "confidence,outcome",
        *["90,correct"] * 12,
        *["80,incorrect"] * 3,
        *[",error"] * 5,
    )
    found = analyze(selfdiag, some)
    assert (found["metrics"]["accuracy"]["value"], found["metrics"]["accuracy"]["n"]) == (0.8, 15)
    assert found["counts"]["probes"]["error"] == 5


def test_STA_15_an_outage_ends_a_run_without_figures(selfdiag, tmp_path) -> None:
    no_credit = as_json({"error": {"message": "no credit left"}}, 402)
    with Stub(no_credit) as stub:
        done = selfdiag("run", "openai:m", "--base-url", stub.url, "--limit", "10", "--out", "run", "--plain")
    assert done.returncode == 3
    assert "no credit left" in done.stderr and "%" not in done.stdout


def test_STA_15_what_is_right_stands_beside_how_many_were_asked(selfdiag, tmp_path) -> None:
    rows = [*["90,correct"] * 12, *["80,incorrect"] * 3, *[",error"] * 5]
    done = selfdiag("analyze", str(write(tmp_path / "some.csv", "confidence,outcome", *rows)))
    shown = " ".join(done.stdout.split())
    assert "20 answers" in shown and "12 of 15" in shown and "errors 5" in shown


def test_STA_17_percent_and_fraction(selfdiag, tmp_path) -> None:
    percent = write(tmp_path / "percent.csv", "confidence,correct", "80,1")
    assert analyze(selfdiag, percent)["metrics"]["brier"]["value"] == pytest.approx(0.04)
    fraction = write(tmp_path / "fraction.csv", "confidence,correct", "0.8,1", "1,0")
    found = analyze(selfdiag, fraction)
    assert found["metrics"]["brier"]["value"] == pytest.approx(0.52)
    assert found["notes"] == ["confidence: read as fractions (0-1): no value is above 1"]
    mixed = write(tmp_path / "mixed.csv", "confidence,correct", "80,1", "0.8,1")
    refused(selfdiag, mixed, "mixed.csv", "mixes percent and fractions", "line 2", "line 3")


def test_STA_18_a_missing_confidence_is_left_out_and_counted(selfdiag, tmp_path) -> None:
    path = write(tmp_path / "gaps.csv", "confidence,correct", *["70,1"] * 3, *["60,0"] * 3, *[",1"] * 4)
    metrics = analyze(selfdiag, path)["metrics"]
    assert (metrics["accuracy"]["n"], metrics["accuracy"]["value"]) == (10, 0.7)
    assert metrics["brier"]["n"] == 6
    assert "4 graded without a confidence left out" in metrics["brier"]["note"]


def test_a_percent_sign_and_none_are_one_value(selfdiag, tmp_path) -> None:
    lines = [f"{c}{sign},{i % 2}" for i, c in enumerate(range(101)) for sign in ("", "%")]
    found = analyze(selfdiag, write(tmp_path / "signs.csv", "confidence,correct", *lines))
    assert found["metrics"]["distinct_values"]["value"] == 101


def test_token_probabilities_may_be_logarithms(selfdiag, tmp_path) -> None:
    lines = [f"80,{i % 2},{-0.1 - i / 100:.2f}" for i in range(30)]
    path = write(tmp_path / "log.csv", "confidence,correct,logprob", *lines, "70,1,0")
    found = analyze(selfdiag, path)
    assert "logprob: read as natural logarithms" in found["notes"]
    assert found["sources"]["logprob"]["n"] == 31
    for second in ("0.9", "1"):
        path = write(tmp_path / "mix.csv", "confidence,correct,logprob", "80,1,-0.2", f"80,0,{second}")
        refused(selfdiag, path, "mixes logarithms and probabilities", "line 2")


def test_labels_beside_raw_replies(selfdiag, tmp_path) -> None:
    replies = ['{"answer": "x", "confidence": 80}', '{"answer": "y", "confidence": 60}', "I think it is y."]
    lines = [json.dumps({"text": text, "right": i == 0}) for i, text in enumerate(replies)]
    found = analyze(selfdiag, write(tmp_path / "both.jsonl", *lines), "--map", "raw=text,correct=right")
    assert found["metrics"]["accuracy"]["n"] == 3
    assert found["metrics"]["brier"]["n"] == 2
    assert found["mean_confidence"] == pytest.approx(70)
    assert found["notes"] == ["confidence read from the replies"]


def test_records_with_a_mapping_are_read_by_it(selfdiag) -> None:
    assert selfdiag("run", "persona:calibrated", "--confidence", "stated,logprob").returncode == 0
    records = Path(selfdiag("runs", "path").stdout.strip()) / "records.jsonl"
    token = analyze(selfdiag, records, "--map", "conf=token_confidence")
    assert token["notes"][0].startswith("token_confidence: read as fractions")


def test_a_run_measured_by_another_source_is_analysed_by_it(selfdiag) -> None:
    assert selfdiag("run", "persona:calibrated", "--confidence", "agreement").returncode == 0
    report = json.loads(selfdiag("report", "latest", "--format", "json").stdout)
    pooled = analyze(selfdiag, "latest", "--by", "bin")["pooled"]
    assert pooled["metrics"]["brier"] == report["metrics"]["brier"]
    listed = json.loads(selfdiag("runs", "list", "--json").stdout)[0]
    assert listed["tier"] == report["tier"]["letter"]
    shown = selfdiag("report", "latest").stdout
    assert "says the same again" in " ".join(shown.replace("│", "").split())
    assert "agreement  " in shown


def test_a_row_without_a_label_is_not_graded(selfdiag, tmp_path) -> None:
    path = write(tmp_path / "open.csv", "confidence,correct", *["70,1"] * 6, *["60,"] * 4)
    found = analyze(selfdiag, path)
    assert found["metrics"]["accuracy"]["n"] == 6
    assert found["counts"]["probes"]["unparsed"] == 4
    assert "4 rows have no label and count as unparsed" in found["notes"]
    assert found["bounds"]["accuracy"] == [0.6, 1.0]


def test_traps_in_a_file_count_as_traps(selfdiag, tmp_path) -> None:
    rows = [*["70,1,0"] * 15, *["60,0,0"] * 10, *["90,abstained,1"] * 6, *["90,0,1"] * 2]
    metrics = analyze(selfdiag, write(tmp_path / "traps.csv", "confidence,correct,trap", *rows))["metrics"]
    assert metrics["trap_abstention"]["value"] == 0.75
    assert metrics["accuracy"]["n"] == 25
    assert metrics["missed_trap_confidence"]["value"] == pytest.approx(90)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], ["is empty"]),
        (["confidence,correct"], ["has no rows"]),
        (["confidence,right", "1,1"], ["line 1", "no column 'correct'", "--map correct=COLUMN", "right"]),
        (["conf,correct", "120,1"], ["line 2", "'conf'", "'120' is outside 0-100"]),
        (["conf,correct", "50,1", "-3,1"], ["line 3", "'-3' is outside 0-100"]),
        (["conf,correct", "high,1"], ["line 2", "'high' is not a number"]),
        (["conf,correct", "nan,1", "inf,1"], ["line 3", "'inf' is not a number"]),
        (["conf,correct", "50,maybe"], ["line 2", "'correct'", "'maybe' is neither right"]),
        (["conf,correct", "50,0.5"], ["line 2", "'0.5' is neither right"]),
        (["conf,correct", "50,1,7"], ["line 2", "3 values where the header has 2 columns"]),
        (["conf,conf,correct", "1,1,1"], ["line 1", "'conf' stands there twice"]),
        (["item,conf,correct", "a,50,1", ",50,1"], ["line 3", "'item' is empty"]),
        (["trap,conf,correct", "perhaps,50,1"], ["line 2", "'trap'", "'perhaps' is neither yes nor no"]),
        (['{"conf": 50, "correct": 1}', "not json"], ["line 2", "not a JSON object"]),
        (['{"conf": [50], "correct": 1}'], ["line 1", "'[50]' is not a number"]),
        (['{"conf": true, "correct": 1}'], ["line 1", "'true' is not a number"]),
        (['{"conf": 50, "correct": {}}'], ["line 1", "'{}' is neither right"]),
        (["[1, 2]"], ["line 1"]),
    ],
)
def test_bad_files_are_told_in_one_line(tmp_path, lines: list[str], words: list[str]) -> None:
    path = write(tmp_path / "bad.csv", *lines)
    with pytest.raises(SelfdiagError) as told:
        read_answers(path, {})
    assert told.value.exit_code == 2
    message = str(told.value)
    assert "\n" not in message
    for word in ("bad.csv", *words):
        assert word in message


def test_a_bad_file_ends_with_its_line_and_exit_code_2(selfdiag, tmp_path) -> None:
    path = write(tmp_path / "bad.csv", "confidence,correct", "120,1")
    refused(selfdiag, path, "bad.csv line 2: column 'confidence': '120' is outside 0-100")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--map", "conf=confidense"), ["no column 'confidense'", "Did you mean 'confidence'?"]),
        (("--by", "topic"), ["no 'topic'"]),
        (("--ece-bins", "0"), ["--ece-bins"]),
    ],
)
def test_bad_options_are_told_in_one_line(selfdiag, options: tuple[str, ...], words: list[str]) -> None:
    refused(selfdiag, GOLDEN, *words, options=options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("conf", "'conf' is not KEY=COLUMN"),
        ("certainty=p", "no key 'certainty'"),
        ("confidance=p", "Did you mean 'confidence'?"),
        ("p=confidence", "the wrong way round: write confidence=p"),
        ("conf=p,confidence=q", "confidence stands there twice"),
    ],
)
def test_a_mapping_that_cannot_be_meant(text: str, words: str) -> None:
    with pytest.raises(SelfdiagError) as told:
        parse_mapping(text)
    assert words in str(told.value)


def test_a_name_that_is_neither_file_nor_run(selfdiag) -> None:
    refused(selfdiag, Path("answers.csv"), "there is no file 'answers.csv'")
    refused(selfdiag, Path("20991231"), "no run '20991231'")


def test_a_run_that_asks_no_items_is_named_and_passed_over_in_a_folder(selfdiag, tmp_path) -> None:
    asked = selfdiag("run", "persona:calibrated", "--sections", "microprobe", "--out", "runs/other", "--plain")
    assert asked.returncode == 0, asked.stderr
    refused(
        selfdiag, Path("runs/other"), "asks no probes and no traps (microprobe alone): 'selfdiag report' shows what"
    )
    done = selfdiag("analyze", "runs")
    assert done.returncode == 2
    assert "runs holds no run, no log and no table of answers (1 other)" in done.stderr
    asked = selfdiag("run", "persona:calibrated", "--limit", "3", "--out", "runs/audit", "--plain")
    assert asked.returncode == 0, asked.stderr
    done = selfdiag("analyze", "runs", "--json")
    assert done.returncode == 0, done.stderr
    assert "1 of 2 files and runs hold answers; passed over: other" in done.stderr
    assert sum(json.loads(done.stdout)["counts"]["probes"].values()) == 3


def test_the_same_file_is_counted_once(selfdiag, tmp_path) -> None:
    path = write(tmp_path / "a.csv", "confidence,correct", "80,1", "70,0")
    done = selfdiag("analyze", str(path), f"{tmp_path}/./a.csv")
    assert done.returncode == 2
    assert "once more: name it once" in done.stderr


def test_files_whose_long_paths_begin_alike_stay_apart(selfdiag, tmp_path) -> None:
    folder = tmp_path / ("x" * 130)
    for name, row in (("a", "90,1"), ("b", "10,0")):
        (folder / name).mkdir(parents=True)
        write(folder / name / "f.csv", "confidence,correct", *[row] * 10)
    found = analyze(selfdiag, folder / "a" / "f.csv", folder / "b" / "f.csv")
    assert [one["metrics"]["accuracy"]["value"] for one in found["models"]] == [1.0, 0.0]


def test_rows_of_one_model_are_told_apart_by_the_ends_of_their_files(selfdiag, tmp_path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("first", "other"):
        path = tmp_path / "logs" / f"2026-11-30T17-08-32-00-00_questions_of_a_long_kind_{name}.csv"
        path.write_text("confidence,correct,model\n80,1,some-model-or-other\n60,0,some-model-or-other\n")
    shown = selfdiag("analyze", "logs").stdout
    assert "first.csv " in shown and "other.csv " in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_many_items_with_many_values_fit_into_memory(selfdiag, tmp_path) -> None:
    lines = [f"{i // 2},{(i * 7919 % 20011) / 20011:.6f},{i % 3 % 2}" for i in range(20_000)]
    found = analyze(selfdiag, write(tmp_path / "many.csv", "item,confidence,correct", *lines))
    brier = found["metrics"]["brier"]
    assert brier["ci"][0] < brier["value"] < brier["ci"][1]


def test_the_card_counts_traps_as_its_table_does(selfdiag, tmp_path) -> None:
    rows = ["80,1,0", "70,0,0", "90,1,1", "90,abstained,1", "90,0,1", ",error,0", ",,0"]
    shown = selfdiag("analyze", str(write(tmp_path / "t.csv", "confidence,correct,trap", *rows))).stdout
    assert "traps spotted   2 of 3" in shown
    assert "no answer      0 of 2" in shown


def test_a_simulated_or_incomplete_run_says_so_wherever_it_is_used(selfdiag) -> None:
    assert selfdiag("run", "persona:blind", "--limit", "20").returncode == 0
    divided = analyze(selfdiag, "latest", "--by", "bin")
    assert all(any("simulated" in note for note in one["notes"]) for one in divided["models"])


def test_hostile_names_stay_text(selfdiag, tmp_path) -> None:
    path = write(tmp_path / "evil.csv", "model,confidence,correct", *['"\x1b[2Jm",80,1', '"<script>",70,0'] * 12)
    shown = selfdiag("analyze", str(path))
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout
    assert "\\x1b[2Jm" in shown.stdout


def test_regrade_finds_what_a_rule_change_would_move_and_leaves_the_records(selfdiag) -> None:
    assert selfdiag("run", "persona:malformed", "--limit", "15").returncode == 0
    folder = Path(selfdiag("runs", "path").stdout.strip())
    same = selfdiag("analyze", "latest", "--regrade")
    assert same.returncode == 0
    assert "come out as recorded" in same.stdout
    records = folder / "records.jsonl"
    lines = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    changed = next(line for line in lines if line["outcome"] == "correct")
    changed["outcome"], changed["confidence"] = "incorrect", 3
    records.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    before = records.read_bytes()
    found = json.loads(selfdiag("analyze", "latest", "--regrade", "--json").stdout)
    assert found["schema"] == "selfdiag.regrade/1"
    assert found["outcomes"] == {"incorrect to correct": 1}
    assert found["confidences"] == 1
    assert [change["item_id"] for change in found["changes"]] == [changed["item_id"]]
    assert set(found["rules"]) == {"reading", "grading", "lexicon"}
    assert records.read_bytes() == before
    assert f"{changed['item_id']}: confidence 3 now" in selfdiag("analyze", "latest", "--regrade").stdout


def test_replies_asked_for_afterwards_are_no_answers_to_regrade(selfdiag) -> None:
    assert selfdiag("run", "persona:calibrated", "--limit", "6", "--confidence", "stated,posthoc").returncode == 0
    assert "come out as recorded" in selfdiag("analyze", "latest", "--regrade").stdout


def test_half_a_surrogate_pair_in_a_raw_reply_hides_nothing(selfdiag, tmp_path) -> None:
    lines = (json.dumps({"text": f'{{"answer": "{sign}", "confidence": 80}}'}) for sign in ("\ud83d", "5"))
    path = write(tmp_path / "raw.jsonl", *lines)
    found = json.loads(selfdiag("analyze", str(path), "--map", "raw=text", "--json").stdout)
    assert found["kinds"]["parsed"] == found["with_confidence"] == 2


def test_raw_replies_are_counted_by_how_they_could_be_read(selfdiag, tmp_path) -> None:
    replies = [
        '{"answer": "5", "confidence": 80}',
        'Sure: {"answer": "5", "confidence": 80,}',
        "Answer: 5\nConfidence: 80%",
        "The weather is nice.",
        '{"answer": "5", "confi',
        "",
        '{"answer": "UNANSWERABLE", "confidence": 90}',
        "I cannot help with that request.",
    ]
    path = write(tmp_path / "raw.jsonl", *(json.dumps({"text": text, "llm": "m"}) for text in replies))
    found = json.loads(selfdiag("analyze", str(path), "--map", "raw=text,model=llm", "--json").stdout)
    assert found["kinds"] == {"parsed": 2, "repaired": 1, "salvaged": 2, "unparsed": 1, "truncated": 1, "empty": 1}
    assert (found["abstained"], found["refused"], found["with_confidence"]) == (1, 1, 4)
    assert [row["line"] for row in found["examples"]["truncated"]] == [5]
    shown = selfdiag("analyze", str(path), "--map", "raw=text").stdout
    assert "truncated, for example:" in shown
    assert "line 5" in shown


@pytest.mark.skipif(not REAL.is_dir(), reason="the published answers are not on this machine")
class TestPublishedAnswers:
    def test_every_cell_of_the_reference_to_six_digits(self, selfdiag) -> None:
        mapping = "conf=stated_confidence,correct=correct,item=item,model=model,bin=set"
        found = analyze(selfdiag, REAL / "rows.csv", "--map", mapping, "--by", "model,bin")
        groups = {(one["group"]["model"], one["group"]["bin"]): one for one in found["models"]}
        cells = table(REAL / "reference.csv")
        assert len(cells) == len(groups) == 18
        for cell in cells:
            one = groups[cell["model"], cell["set"]]
            values = {name: one["metrics"][name]["value"] for name in ("accuracy", "gap", "brier", "ece", "auroc")}
            values["mean_confidence"] = one["mean_confidence"] / 100
            expected = {name: float(cell[name]) for name in values}
            assert {name: round(value, 6) for name, value in values.items()} == pytest.approx(expected, abs=1.5e-6)
            assert one["metrics"]["accuracy"]["n"] == int(cell["n"])
            assert "stated_confidence: read as fractions (0-1): no value is above 1" in one["notes"]

    def test_stated_against_token_confidence_in_pairs(self, selfdiag) -> None:
        mapping = "conf=stated_confidence,bin=set,logprob=token_confidence"
        found = analyze(selfdiag, REAL / "rows.csv", "--map", mapping)
        with_both = [one for one in found["models"] if one["sources"] is not None]
        assert [one["group"]["model"] for one in with_both] == ["Meta-Llama-3.1-8B-Instruct"]
        sources = with_both[0]["sources"]
        stated, token = sources["stated"], sources["logprob"]
        assert stated["differences"] is None
        for name, difference in token["differences"].items():
            assert difference["value"] == pytest.approx(token[name] - stated[name])
            assert difference["ci"][0] < difference["value"] < difference["ci"][1]
            assert difference["n"] == stated["n"] == token["n"] == 4388
        # its token probabilities are surer still, and yet tell right from wrong better
        assert token["differences"]["gap"]["ci"][0] > 0.08
        assert token["differences"]["auroc"]["ci"][0] > 0.03
