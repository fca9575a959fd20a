"""Logs that are damaged, of another kind, of a newer version, or not whole: one line each, never a traceback."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tool_logs import (
    LOGS,
    inspect_json,
    lm_eval_log,
    needs_zstandard,
    outcomes,
    read,
    write_eval,
    write_json,
    write_lines,
)

from selfdiag.runs import json_document
from selfdiag.runs.log_kind import log_kind


def told(selfdiag, *words: object, code: int) -> str:
    """Return the one line of a refusal."""
    done = selfdiag("analyze", *map(str, words))
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert "Traceback" not in line and len(line) < 500
    return line


def log_lines() -> list[dict]:
    return [json.loads(line) for line in (LOGS / lm_eval_log("json")).read_text(encoding="utf-8").splitlines()]


def test_a_zip_of_plain_members_reads_like_the_document(tmp_path) -> None:
    found = read(write_eval(tmp_path / "any_name.zip", inspect_json()))
    assert outcomes(found) == outcomes(read("inspect_json_replies.json"))


def test_a_zip_that_is_cut_off(selfdiag, tmp_path) -> None:
    whole = (LOGS / "inspect_json_replies.eval").read_bytes()
    for length in (4, 100, len(whole) // 2, len(whole) - 10):
        path = tmp_path / "cut.eval"
        path.write_bytes(whole[:length])
        line = told(selfdiag, path, code=2)
        assert "cut off or damaged" in line and "nothing was read" in line


def test_a_zip_of_a_version_that_nobody_knows(selfdiag, tmp_path) -> None:
    written = (LOGS / "inspect_json_replies.eval").read_bytes()
    place = written.index(b"PK\x01\x02") + 6  # of the version that is needed to read the first member
    path = tmp_path / "new.eval"
    path.write_bytes(written[:place] + bytes([84]) + written[place + 1 :])
    assert "damaged (zip file version 8.4)" in told(selfdiag, path, code=2)


def test_a_zip_with_a_damaged_member(selfdiag, tmp_path) -> None:
    path = write_eval(tmp_path / "damaged.eval", inspect_json())
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("samples/q3_epoch_1.json").header_offset + 200
    content = bytearray(path.read_bytes())
    content[place : place + 40] = bytes(40)
    path.write_bytes(content)
    assert "member samples/q3_epoch_1.json is damaged" in told(selfdiag, path, code=2)


def test_a_damaged_member_that_is_packed_with_zstandard(selfdiag, tmp_path) -> None:
    needs_zstandard()
    path = tmp_path / "damaged.eval"
    content = bytearray((LOGS / "inspect_json_replies.eval").read_bytes())
    place = content.index(b"samples/q3_epoch_1.json") + 500
    content[place : place + 40] = bytes(40)
    path.write_bytes(content)
    assert "is damaged" in told(selfdiag, path, code=2)


def test_without_zstandard_a_line_says_what_to_install(selfdiag, monkeypatch) -> None:
    monkeypatch.setattr("selfdiag.runs.inspect_log._zip_module", lambda: zipfile)
    if hasattr(zipfile, "ZIP_ZSTANDARD"):
        pytest.skip("this Python knows Zstandard itself")
    line = told(selfdiag, LOGS / "inspect_json_replies.eval", code=2)
    assert "pip install 'selfdiag[inspect]'" in line


def test_a_zip_that_is_something_else(selfdiag, tmp_path) -> None:
    path = tmp_path / "book.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    assert "no log of Inspect AI" in told(selfdiag, path, code=2)


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_a_newer_version_of_inspect(selfdiag, tmp_path, ending: str) -> None:
    # a newer version may have members of another shape
    document = inspect_json() | {"version": 3, "results": [1, 2]}
    path = tmp_path / f"newer.{ending}"
    write_json(path, document) if ending == "json" else write_eval(path, document)
    line = told(selfdiag, path, code=2)
    assert "newer Inspect AI (log version 3; this selfdiag knows up to 2)" in line


def test_a_newer_version_of_promptfoo(selfdiag, tmp_path) -> None:
    document = json.loads((LOGS / "promptfoo_two_models.json").read_text(encoding="utf-8"))
    document["results"]["version"] = 4
    line = told(selfdiag, write_json(tmp_path / "newer.json", document), code=2)
    assert "newer promptfoo (results version 4; this selfdiag knows up to 3)" in line


@pytest.mark.parametrize("name", ["inspect_json_replies.json", "promptfoo_two_models.json"])
def test_a_document_that_is_cut_off(selfdiag, tmp_path, name: str) -> None:
    path = tmp_path / "cut"
    path.write_bytes((LOGS / name).read_bytes()[:20_000])
    assert "cut off or damaged" in told(selfdiag, path, code=2)


def test_documents_of_another_kind(selfdiag, tmp_path) -> None:
    (scores,) = (LOGS / lm_eval_log("json")).parent.glob("results_*.json")
    assert "--log_samples" in told(selfdiag, scores, code=2)
    other = write_json(tmp_path / "package.json", {"name": "x", "version": "1"})
    assert "no log of Inspect AI or promptfoo" in told(selfdiag, other, code=2)


def test_an_eval_that_was_never_finished(selfdiag, tmp_path) -> None:
    document = inspect_json()
    start = {name: document[name] for name in ("version", "eval", "plan")}
    path = write_eval(
        tmp_path / "killed.eval", start | {"samples": document["samples"][:4]}, header="_journal/start.json"
    )
    done = selfdiag("analyze", str(path), "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout)["counts"]["probes"]["correct"] == 3
    assert "4 of 6 samples were read, 2 are not in the log" in done.stderr


def test_an_eval_without_a_single_sample(selfdiag, tmp_path) -> None:
    document = inspect_json() | {"status": "error", "samples": [], "error": {"message": "no such model"}}
    line = told(selfdiag, write_json(tmp_path / "empty.json", document), code=4)
    assert "holds no answer: the eval ended in an error (no such model): 0 of 6" in line


def test_scores_that_are_no_numbers_are_no_verdict(tmp_path) -> None:
    document = inspect_json()
    document["samples"][0]["scores"]["includes"]["value"] = float("nan")
    document["samples"][1]["scores"]["includes"]["value"] = 0.4
    document["samples"][2]["scores"] = {}
    found = read(write_json(tmp_path / "nan.json", document))
    assert found.columns.outcome[:3] == ("unparsed",) * 3
    (note,) = (note for note in found.notes if "no verdict" in note)
    assert "sample 1: no score; sample 2: score 0.4 is neither right nor wrong; sample 3: no score" in note


def test_a_chunked_sample_is_read_too(tmp_path) -> None:
    document = inspect_json()
    path = tmp_path / "chunked.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({k: v for k, v in document.items() if k != "samples"}))
        for sample in document["samples"]:
            place = f"samples/{sample['id']}_epoch_1"
            archive.writestr(f"{place}/sample.json", json.dumps(sample | {"metadata": None}))
            archive.writestr(f"{place}/metadata.json", json.dumps(sample["metadata"]))
            archive.writestr(f"{place}/events/0.json", "[]")
    assert set(read(path, "bin=topic").columns.bin) == {"capitals"}


def test_a_torn_last_line_is_said_and_the_rest_is_read(selfdiag, tmp_path) -> None:
    path = tmp_path / "samples_facts_json.jsonl"
    path.write_bytes((LOGS / lm_eval_log("json")).read_bytes()[:6000])
    done = selfdiag("analyze", str(path), "--json")
    assert done.returncode == 4
    assert "is torn and was left out" in done.stderr
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert "not a JSON object" in told(selfdiag, path, code=2)


def test_a_field_that_is_missing_in_some_rows_is_counted(tmp_path) -> None:
    rows = [row for row in log_lines() if row["filter"] == "answer-part"]
    del rows[0]["exact_match"], rows[1]["resps"], rows[1]["filtered_resps"], rows[2]["doc"]
    found = read(write_lines(tmp_path / "some.jsonl", *rows))
    assert found.columns.outcome[0] == "unparsed" and len(found.columns) == 16
    assert np.isnan(found.columns.confidence[1])
    assert any("1 of 16 answers have no verdict" in note and "line 1: no score" in note for note in found.notes)
    assert any("line 2: no reply" in note for note in found.notes)


@pytest.mark.parametrize("said", [r"\ud83d", "NaN"])
def test_what_only_lax_readers_take_does_not_hide_what_a_log_is(tmp_path, said: str) -> None:
    first, *others = [row for row in log_lines() if row["filter"] == "answer-part"]
    first["doc"]["note"] = "NOTE"
    path = write_lines(tmp_path / "lax.jsonl", first, *others)
    note = f'"{said}"' if said.startswith("\\") else said
    path.write_text(path.read_text(encoding="utf-8").replace('"NOTE"', note), encoding="utf-8")
    assert outcomes(read(path)) == outcomes(read(lm_eval_log("json")))


@pytest.mark.parametrize("name", ["inspect_json_replies.json", "promptfoo_two_models.json"])
def test_half_a_surrogate_pair_in_a_reply_is_no_fault_of_a_document(tmp_path, name: str) -> None:
    text = (LOGS / name).read_text(encoding="utf-8")
    # a confidence follows it, which is read as before
    broken = text.replace(r"{\"answer\": \"", r"\ud83d {\"answer\": \"")
    assert broken != text
    path = tmp_path / "surrogate"
    path.write_text(broken, encoding="utf-8")
    assert np.array_equal(read(path).columns.confidence, read(name).columns.confidence, equal_nan=True)


def test_two_scales_in_one_field(selfdiag, tmp_path) -> None:
    rows = log_lines()
    for number, row in enumerate(rows):
        row["doc"]["sure"] = 80 if number % 2 else 0.8
    path = write_lines(tmp_path / "scales.jsonl", *rows)
    line = told(selfdiag, path, "--map", "confidence=sure", code=2)
    assert "mixes percent and fractions (line 2 is above 1, line 1 between 0 and 1)" in line


def test_names_that_are_not_there(selfdiag) -> None:
    for name, score in (
        ("inspect_json_replies.json", "incudes"),
        (lm_eval_log("json"), "exact"),
        ("promptfoo_two_models.json", "x"),
    ):
        line = told(selfdiag, LOGS / name, "--map", f"correct={score}", code=2)
        assert f"'{score}' (there are: " in line
    line = told(selfdiag, LOGS / "inspect_json_replies.json", "--map", "bin=topics", code=2)
    assert "no answer has a field 'topics' for bin (there are: topic)" in line and "topic'?" in line


def test_a_log_without_any_confidence(selfdiag, tmp_path) -> None:
    rows = log_lines()
    for row in rows:
        row["resps"] = [["Paris\x1b[31m"]]
    line = told(selfdiag, write_lines(tmp_path / "none.jsonl", *rows), code=2)
    assert "none of its 16 answers states a confidence" in line and "--map confidence=FIELD" in line
    assert "\x1b" not in line


def test_answers_that_were_chosen_by_likelihood_have_no_words(selfdiag, tmp_path) -> None:
    rows = log_lines()
    for row in rows:
        row |= {"resps": [[["-1.5", "True"]], [["-2.5", "False"]]], "acc": 1.0, "metrics": ["acc"]}
    line = told(selfdiag, write_lines(tmp_path / "choice.jsonl", *rows), code=2)
    assert "none of its 16 answers" in line and "no reply" in line


def test_a_document_above_the_bound_is_refused(selfdiag, monkeypatch) -> None:
    monkeypatch.setattr(json_document, "MAX_DOCUMENT", 50_000)
    assert "promptfoo .jsonl" in told(selfdiag, LOGS / "promptfoo_two_models.json", code=2)


def test_a_folder_holds_logs_runs_and_other_files(selfdiag, tmp_path) -> None:
    folder = tmp_path / "logs" / "below"
    folder.mkdir(parents=True)
    write_json(folder / "a", inspect_json())
    write_lines(folder / "b", *log_lines())
    (folder / "c.csv").write_text("confidence,correct\n80,1\n70,0\n", encoding="utf-8")
    (folder / "notes.md").write_text("# nothing\n", encoding="utf-8")
    (folder / ".hidden").write_text("x", encoding="utf-8")
    done = selfdiag("analyze", "logs", "--by", "file", "--json")
    assert done.returncode == 0, done.stderr
    assert [Path(summary["group"]["file"]).name for summary in json.loads(done.stdout)["models"]] == ["a", "b", "c.csv"]
    assert "3 of 4 files and runs hold answers; passed over: notes.md" in done.stderr
    (folder / "d.eval").write_bytes((LOGS / "inspect_json_replies.eval").read_bytes()[:900])
    done = selfdiag("analyze", "logs", "--by", "file", "--json")
    assert done.returncode == 4
    assert len(json.loads(done.stdout)["models"]) == 3
    assert "d.eval: a zip that is cut off or damaged" in done.stderr


def test_a_link_to_what_a_folder_holds_already_counts_nothing_twice(selfdiag, tmp_path) -> None:
    folder = tmp_path / "logs"
    (folder / "below").mkdir(parents=True)
    write_json(folder / "below" / "log", inspect_json())
    (folder / "a_newer_one").symlink_to(folder / "below" / "log")
    (folder / "below" / "loop").symlink_to(folder)
    (folder / "gone").symlink_to("nowhere")
    (folder / "circle").symlink_to("circle")
    done = selfdiag("analyze", "logs", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["probes"]["correct"] == 5


def test_a_folder_that_nobody_may_read_is_passed_over(selfdiag, tmp_path, monkeypatch) -> None:
    (tmp_path / "logs" / "secret").mkdir(parents=True)
    write_json(tmp_path / "logs" / "log", inspect_json())
    listed = Path.iterdir

    def iterdir(path: Path):
        if path.name == "secret":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    done = selfdiag("analyze", "logs", "--json")
    assert done.returncode == 0, done.stderr
    assert "1 of 2 files and runs hold answers; passed over: secret" in done.stderr


def test_a_folder_without_answers(selfdiag, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no run, no log and no table of answers" in told(selfdiag, "empty", code=2)


def test_a_file_that_is_named_and_in_a_named_folder_is_refused(selfdiag, tmp_path) -> None:
    (tmp_path / "logs").mkdir()
    write_json(tmp_path / "logs" / "a", inspect_json())
    assert "once more" in told(selfdiag, "logs", "logs/a", code=2)


def test_an_error_of_the_provider_is_no_wrong_answer(tmp_path) -> None:
    rows = [
        {"testIdx": n, "promptIdx": 0, "success": n > 1, "response": {"output": '{"answer": 1, "confidence": 60}'}}
        for n in range(4)
    ]
    rows[0] |= {"failureReason": 2, "error": "the assertion broke"}
    rows[1] |= {"response": None, "error": "from a version that gives no reason"}
    found = read(write_lines(tmp_path / "errors.jsonl", *rows))
    assert found.columns.outcome == ("error", "error", "correct", "correct")


@pytest.mark.parametrize("lost", [("doc", "doc_id", "doc_hash"), ("doc_id", "doc_hash"), ("doc_id",), ("doc",)])
def test_a_log_of_lm_eval_is_known_by_a_first_row_that_is_not_whole(selfdiag, tmp_path, lost: tuple[str, ...]) -> None:
    rows = [row for row in log_lines() if row["filter"] == "answer-part"]
    for name in lost:
        del rows[0][name]
    path = write_lines(tmp_path / "partial.jsonl", *rows)
    if {"doc_id", "doc_hash"} <= set(lost):
        line = told(selfdiag, path, code=2)
        assert line.endswith(
            "line 1: a row of an lm-evaluation-harness log without doc_id, so its question is not known"
        )
    else:
        assert outcomes(read(path)) == outcomes(read(lm_eval_log("json")))


def test_a_table_with_a_column_of_that_name_is_a_table(tmp_path) -> None:
    path = write_lines(tmp_path / "own.jsonl", {"resps": "x", "confidence": 50, "correct": 1}, {"confidence": 40})
    assert log_kind(path) == "table"
