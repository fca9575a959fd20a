"""The exported task is complete in itself, and its sample logs come back as a run with the same replies does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inspect_documents import SETTINGS, documents, planned, read, says

from selfdiag.bridges.lm_eval_task import lm_eval_task, write_task
from selfdiag.protocols.audit import summarise
from selfdiag.runs.lm_eval_audit import is_audit_row, lm_eval_run
from selfdiag.runs.logged import LogFile
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError

EXPORTED = msgspec.structs.replace(SETTINGS, model="lm-eval")
STAMP = "2026-01-01T10-00-00.000000"


def rows() -> list[dict[str, Any]]:
    """The lines that the harness writes for the exported questions."""
    lines = lm_eval_task(EXPORTED)["questions.jsonl"].splitlines()
    said = {call.user: says(call) for call in planned(EXPORTED)}
    return [_row(number, json.loads(line), said) for number, line in enumerate(lines)]


def _row(number: int, doc: dict[str, Any], said: dict[str, str]) -> dict[str, Any]:
    asked = [{"role": "system", "content": doc["system"]}, {"role": "user", "content": doc["question"]}]
    options = {"until": [], "max_gen_toks": 512}
    return {
        "doc_id": number,
        "doc": doc,
        "target": doc["target"],
        "arguments": {"gen_args_0": {"arg_0": [json.dumps(asked)], "arg_1": options}},
        "resps": [[said[doc["question"]]]],
        "filtered_resps": ["x"],
        "filter": "answer",
        "exact_match": 0.0,
    }


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "some__model"
    folder.mkdir()
    (folder / f"results_{STAMP}.json").write_text(
        json.dumps(
            {
                "model_name": "some/model",
                "config": {"model": "hf"},
                "lm_eval_version": "0.4.13",
                "date": 1767261600.0,
                "total_evaluation_time_seconds": "12.5",
            }
        )
    )
    path = folder / f"samples_selfdiag_audit_{STAMP}.jsonl"
    write(path, rows())
    return path


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in lines), encoding="utf-8")


def run_of(log: Path, lines: list[dict[str, Any]]) -> Run:
    """The run that a log with these lines amounts to."""
    write(log, lines)
    return lm_eval_run(LogFile(log, {}))


def test_a_sample_log_comes_out_as_the_same_replies_do_elsewhere(log: Path) -> None:
    found, other = summarise(run_of(log, rows())), summarise(read(documents()))
    for name in ("counts", "metrics", "metrics_attempted", "bins", "groups", "families", "composite", "tier"):
        assert getattr(found, name) == getattr(other, name), name
    assert found.battery == other.battery
    assert found.model.name == "some/model"
    assert found.usage.seconds == 12.5
    assert found.usage.prompt_tokens is None
    assert any("does not log why a reply ended" in note for note in found.notes)


def test_without_the_results_the_folder_names_the_model(log: Path) -> None:
    next(log.parent.glob("results_*")).unlink()
    assert run_of(log, rows()).manifest.model.name == "some__model"


def test_a_prompt_that_was_sent_otherwise_is_told(log: Path) -> None:
    changed = rows()
    arguments = changed[0]["arguments"]["gen_args_0"]
    arguments["arg_0"] = [arguments["arg_0"][0].replace('"role": "system"', '"role": "user"')]
    call = planned(EXPORTED)[1]
    # the chat template of a model asked directly makes one text of both
    changed[1]["arguments"]["gen_args_0"]["arg_0"] = f"<|system|>{call.system}<|user|>{call.user}<|assistant|>"
    notes = run_of(log, changed).problems
    assert any(note.startswith("1 of 6 prompts were not sent as they are") for note in notes)
    assert not any("not sent as they are" in note for note in run_of(log, rows()).problems)


def test_a_reply_logged_once_for_each_filter_counts_once(log: Path) -> None:
    assert len(run_of(log, [*rows(), *rows()]).records) == 6


def test_a_row_without_a_reply_is_an_error(log: Path) -> None:
    silent = rows()
    silent[0]["resps"] = [[]]
    assert [record.outcome for record in run_of(log, silent).records].count("error") == 1


def test_a_row_of_another_task_is_refused_with_its_line(log: Path) -> None:
    foreign = rows()
    foreign[3]["doc"] = {"question": "?"}
    assert not is_audit_row(foreign[3])
    with pytest.raises(SelfdiagError, match="line 4: it is of another task"):
        run_of(log, foreign)


def test_a_line_is_named_as_an_editor_counts_it(log: Path) -> None:
    foreign = rows()
    foreign[3]["doc"] = {"question": "?"}
    write(log, foreign)
    log.write_text(log.read_text(encoding="utf-8").replace("\n", "\n\n"), encoding="utf-8")
    with pytest.raises(SelfdiagError, match="line 7: it is of another task"):
        lm_eval_run(LogFile(log, {}))


def test_the_command_reads_the_log(log: Path, selfdiag: Any) -> None:
    done = selfdiag("analyze", str(log), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["battery"]["probes"] == 4
    assert found["tier"]["letter"] == summarise(read(documents())).tier.letter
    again = selfdiag("analyze", "--regrade", str(log))
    assert "all 6 replies come out as recorded" in again.stdout


def test_a_last_line_that_was_cut_is_left_out_with_a_note(log: Path, selfdiag: Any) -> None:
    log.write_text(log.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    for command in ("analyze", "report"):
        done = selfdiag(command, str(log), "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["battery"]["probes"] + found["battery"]["traps"] == 5
        assert any("line 6 is torn and was left out" in note for note in found["notes"])


def test_a_line_in_the_middle_that_is_damaged_is_refused(log: Path, selfdiag: Any) -> None:
    lines = log.read_text(encoding="utf-8").splitlines()
    lines[3] = lines[3][:-200]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = selfdiag("analyze", str(log))
    assert done.returncode == 2
    assert "line 4: not a JSON object" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_task_names_what_its_questions_hold() -> None:
    files = lm_eval_task(EXPORTED)
    task = files["selfdiag_audit.yaml"]
    fields = json.loads(files["questions.jsonl"].splitlines()[0])
    for name in ("description", "doc_to_text", "doc_to_target"):
        assert re.search(rf"^{name}: (\w+)$", task, re.MULTILINE)[1] in fields
    assert "!function questions.load" in task
    compile(files["questions.py"], "questions.py", "exec")
    pattern = re.search(r"regex_pattern: '(.+)'", task)[1]
    assert re.findall(pattern, '{"answer": "Oslo", "confidence": 9}') == ["Oslo"]
    assert re.findall(pattern, '{"answer": 12.5, "confidence": 9}') == ["12.5"]


def test_the_command_writes_a_new_folder_alone(tmp_path: Path, selfdiag: Any) -> None:
    folder = tmp_path / "task"
    done = selfdiag("probes", "export", "--format", "lm-eval", str(folder), "--draw", "standard", "--seed", "3")
    assert done.returncode == 0, done.stderr
    # without a place to write to, the harness refuses to log samples
    assert "--log_samples --output_path OUT" in done.stderr
    assert {path.name for path in folder.iterdir()} == {"selfdiag_audit.yaml", "questions.jsonl", "questions.py"}
    assert len((folder / "questions.jsonl").read_text().splitlines()) == 126 + 21
    again = selfdiag("probes", "export", "--format", "lm-eval", str(folder))
    assert again.returncode == 2
    assert "holds something already" in again.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "lm-eval"), "name it"),
        (("--format", "lm-eval", "task", "-o", "x"), "name it"),
        (("--format", "lm-eval", "task", "--battery", "own.toml", "--draw", "full"), "--draw"),
        (("--format", "lm-eval", "task", "--sections", "ladder"), "'ladder'"),
        (("--draw", "full"), "--draw is for --format lm-eval"),
        (("--format", "csv", "somewhere"), "DIR is for --format lm-eval"),
    ],
)
def test_flags_that_do_not_fit_are_refused(words: tuple[str, ...], said: str, selfdiag: Any, tmp_path: Path) -> None:
    done = selfdiag("probes", "export", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "task").exists()


def test_a_file_in_the_place_of_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "task").write_text("mine")
    with pytest.raises(SelfdiagError, match="holds something already"):
        write_task(tmp_path / "task", {"a": "b"})
    assert (tmp_path / "task").read_text() == "mine"
