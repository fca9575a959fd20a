"""A log of the Inspect task comes out as a run with the same replies does, and says what is missing from it."""

from __future__ import annotations

import json
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inspect_documents import SETTINGS, Asked, documents, output, read, says

from selfdiag.models import registry
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.regrade import regrade
from selfdiag.runs.inspect_audit import error_text, is_audit, reply_of
from selfdiag.runs.outside import KEY, OutsideCall, from_log, outside_calls, to_log
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

OF_THE_PLACE = {"run_id", "usage"}


async def own_run(folder: Path, monkeypatch: pytest.MonkeyPatch, say: Any, **settings: Any) -> Run:
    chosen = msgspec.structs.replace(SETTINGS, structured="off", **settings)
    monkeypatch.setattr(registry, "build", lambda model, options: Asked(say, chosen))
    session = Session(chosen, folder=folder)
    async with aclosing(session.events()) as events:
        async for _ in events:
            pass
    return read_run(folder)


def shown(run: Run) -> dict[str, Any]:
    summary = msgspec.to_builtins(summarise(run, draws=200))
    return {name: value for name, value in summary.items() if name not in OF_THE_PLACE}


async def test_a_log_comes_out_as_a_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = read(documents())
    run = await own_run(tmp_path / "run", monkeypatch, says)
    assert len(log.records) == 6
    assert shown(log) == shown(run)
    assert summarise(log).usage.seconds == 90
    assert [record.item_id for record in log.measured()] == [record.item_id for record in run.measured()]
    assert {record.prompt_sha256 for record in log.records} == {record.prompt_sha256 for record in run.records}


async def test_passes_are_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = read(documents(epochs=3))
    run = await own_run(tmp_path / "run", monkeypatch, says, repeat=3)
    assert len(log.records) == 18
    assert shown(log) == shown(run)


def test_the_grade_given_then_counts_and_regrading_tells_what_changes() -> None:
    header, samples = documents()
    probe = next(sample for sample in samples if "probe" in sample["metadata"][KEY])
    score = probe["scores"]["audit_scorer"]
    now = score["metadata"]["outcome"]
    score["metadata"]["outcome"] = "incorrect" if now != "incorrect" else "correct"
    run = read((header, samples))
    name = probe["metadata"][KEY]["call"]["item_id"]
    assert {record.outcome for record in run.records if record.item_id == name} == {score["metadata"]["outcome"]}
    assert [change.item_id for change in regrade(run).changes] == [name]


def test_replies_without_a_score_are_graded_now() -> None:
    graded, ungraded = read(documents()), read(documents(scored=False))
    assert ungraded.records == tuple(
        msgspec.structs.replace(record, at=later.at)
        for record, later in zip(graded.records, ungraded.records, strict=True)
    )
    assert any("6 replies have no score" in note for note in ungraded.problems)


@pytest.mark.parametrize("confidence", [-1, 101, 2**70])
def test_a_score_with_a_confidence_out_of_range_counts_as_none(confidence: int) -> None:
    header, samples = documents()
    samples[0]["scores"]["audit_scorer"]["metadata"]["confidence"] = confidence
    run = read((header, samples))
    assert {record.confidence for record in run.records} <= {None, *range(101)}
    assert any("1 replies have no score" in note for note in run.problems)


def test_samples_that_are_missing_are_calls_not_asked() -> None:
    header, samples = documents()
    whole, part = read((header, samples)), read((header, samples[2:]))
    assert part.manifest.plan == whole.manifest.plan
    assert part.manifest.drawn == whole.manifest.drawn
    counts = summarise(part).counts
    assert counts["probes"]["not_asked"] + counts["traps"]["not_asked"] == 2
    assert any(note.startswith("incomplete: 2 of 6 calls") for note in summarise(part).notes)


def test_a_pass_that_was_not_begun_is_missing_too() -> None:
    header, samples = documents(epochs=2)
    run = read((header, [sample for sample in samples if sample["epoch"] == 1]))
    assert len(run.manifest.plan) == 12
    assert any(note.startswith("incomplete: 6 of 12 calls") for note in summarise(run).notes)


def test_what_is_missing_of_a_battery_that_has_changed_is_counted() -> None:
    header, samples = documents()
    for sample in samples:
        sample["metadata"][KEY]["battery"]["sha256"] = "0" * 64
    run = read((header, samples[2:]))
    assert len(run.manifest.plan) == 4
    assert any(note.startswith("2 samples that were to be asked") for note in run.problems)


def test_an_error_and_a_limit_are_errors() -> None:
    header, samples = documents()
    samples[0] |= {"error": {"message": "APIConnectionError('refused\x1b[31m')"}, "output": {}}
    samples[1] |= {"limit": {"type": "time", "limit": 3}, "output": {"choices": []}}
    run = read((header, samples))
    faults = [record.error.message for record in run.records if record.error is not None]
    assert len(faults) == 2
    assert any("refused" in fault and "\x1b" not in fault for fault in faults)
    assert any("time limit" in fault for fault in faults)


def test_a_failed_call_says_what_the_server_said_and_not_what_was_asked() -> None:
    header, samples = documents()
    request = json.dumps({"messages": [{"role": "user", "content": "Which?\n}\n\nIt's long. " * 40}]}, indent=2)
    for asked in (request, ""):
        fault = {"message": repr(RuntimeError(f"\nRequest:\n{asked}\n\nBadRequestError('Error code: 400 - no luck')"))}
        samples[0] |= {"error": fault, "output": {}}
        run = read((header | {"status": "error", "error": fault}, samples))
        (said,) = (record.error.message for record in run.records if record.error is not None)
        assert said == "BadRequestError('Error code: 400 - no luck')"
        assert run.problems[-1].endswith("'error': BadRequestError('Error code: 400 - no luck')")


@pytest.mark.parametrize("end", ["", "')"])
def test_a_megabyte_of_what_looks_like_requests_is_read_at_once(end: str) -> None:
    text = r"E('\nRequest:\n" + r"\n}\n\n" * 150_000 + end
    before = time.process_time()
    said = error_text({"message": text})
    assert time.process_time() - before < 1
    assert said == (r"\n}\n\n" * 149_999 if end else text)


def test_an_error_that_is_no_failed_call_stays_as_it_is() -> None:
    for text in (
        "",
        "no luck",
        r"E('\nRequest:\n",
        r"E('\nRequest:\n')",
        r"E('\nRequest:\n{\n}\n\n')",
        r"E('no luck')",
    ):
        assert error_text({"message": text}) == text


def test_a_prompt_that_a_solver_changed_is_told() -> None:
    header, samples = documents()
    samples[0]["messages"][1]["content"] += " Think step by step."
    assert any(note.startswith("1 of 6 prompts were changed") for note in read((header, samples)).problems)
    header["eval"]["model_generate_config"] = {"system_message": "Be brave."}
    assert any("system message" in note for note in read((header, samples)).problems)


def test_the_command_line_settings_stand_above_the_tasks() -> None:
    header, samples = documents()
    header["eval"]["model_generate_config"] = {"temperature": 0.7, "max_tokens": 64, "top_p": None}
    asked = summarise(read((header, samples))).asked_with
    assert asked is not None
    assert (asked["temperature"], asked["max_tokens"]) == (0.7, 64)


def test_made_up_replies_are_marked() -> None:
    header, samples = documents()
    header["eval"]["model"] = "mockllm/model"
    assert summarise(read((header, samples))).model.simulated


@pytest.mark.parametrize(
    ("content", "stop", "expected"),
    [
        ("yes", "max_tokens", {"text": "yes", "finish_reason": "length"}),
        ("no", "content_filter", {"text": "no", "finish_reason": "filter", "refusal": True}),
        ("too long", "model_length", {"text": "", "overflow": True}),
        ([{"type": "text", "text": "I can't", "refusal": True}], "stop", {"text": "I can't", "refusal": True}),
        (
            [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "stop",
            {"text": "a\nb", "reasoning": "hm"},
        ),
        ("attachment://ab12", "stop", {"text": "the whole text"}),
        ("attachment://other", "stop", {"text": "attachment://other"}),
        (None, "stop", {"text": ""}),
        ([3, None, {"type": "image"}], "stop", {"text": ""}),
    ],
)
def test_an_output_becomes_a_reply(content: Any, stop: str, expected: dict[str, Any]) -> None:
    reply = reply_of(output(content, stop), {"ab12": "the whole text"})
    assert {name: getattr(reply, name) for name in expected} == expected


def test_tokens_of_the_prompt_that_a_server_had_in_its_cache_count() -> None:
    said = output("yes")
    said["usage"] |= {"input_tokens_cache_read": 60, "input_tokens_cache_write": 7}
    assert reply_of(said, {}).prompt_tokens == 157
    said["usage"] = {"output_tokens": 12, "input_tokens_cache_read": 60}
    assert reply_of(said, {}).prompt_tokens is None


def test_an_output_without_a_choice_is_no_reply() -> None:
    assert reply_of({}, {}) is None
    assert reply_of({"choices": [7]}, {}).text == ""


def test_only_our_task_is_an_audit() -> None:
    header, _ = documents()
    assert is_audit(header)
    assert not is_audit({"eval": {"task": "inspect_evals/gpqa"}})
    assert is_audit({"eval": {"task": "audit", "scorers": [{"name": "audit_scorer"}]}})
    assert not is_audit({"eval": {"task": "audit", "scorers": [{"name": "match"}]}})
    assert not is_audit({"eval": 3})


def broken(change: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    header, samples = documents()
    change(samples[0])
    return header, samples


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda sample: sample["metadata"].pop(KEY), "of another task"),
        (lambda sample: sample["metadata"][KEY].update(schema="selfdiag.outside/9"), "selfdiag.outside/9"),
        (lambda sample: sample["metadata"][KEY].update(user="another question"), "does not hold what it asks"),
        (lambda sample: sample["metadata"].update({KEY: "[" * 100_000}), "is damaged"),
        (lambda sample: sample["metadata"][KEY]["call"].pop("item_id"), "item_id"),
        (lambda sample: sample["metadata"][KEY]["settings"].update(seed=9), "two different audits"),
        (lambda sample: sample["metadata"][KEY]["call"].update(section="ladder"), "damaged"),
    ],
)
def test_a_log_that_does_not_fit_is_refused_in_one_line(change: Any, words: str) -> None:
    with pytest.raises(SelfdiagError) as fault:
        read(broken(change))
    assert words in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_log_without_a_sample_is_refused() -> None:
    header, _ = documents()
    with pytest.raises(SelfdiagError, match="holds no sample"):
        read((header, []))


def test_a_call_survives_a_log() -> None:
    calls = outside_calls(RunSettings(model="inspect", example=85, seed=3))
    for call in calls:
        values = to_log(call)
        assert from_log(values) == call
        assert from_log(msgspec.json.encode(values).decode()) == call
    assert to_log(calls[0])["settings"] == {"model": "inspect", "seed": 3, "example": 85}


def test_sections_that_only_a_run_asks_are_refused() -> None:
    with pytest.raises(SelfdiagError, match="'anchor'"):
        outside_calls(RunSettings(model="inspect", sections=("probes", "anchor")))


def test_the_item_of_a_call() -> None:
    assert all(isinstance(call, OutsideCall) and call.item.id == call.call.item_id for call in outside_calls(SETTINGS))
