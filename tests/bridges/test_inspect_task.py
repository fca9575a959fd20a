"""The task inside Inspect itself; without the extra ``inspect`` there is nothing to test here."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the packages that Inspect brings
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from selfdiag.bridges.inspect_task import audit

from inspect_documents import SETTINGS, documents, planned, read, says

from selfdiag.protocols.audit import summarise
from selfdiag.runs.audit_log import audit_in
from selfdiag.runs.inspect_audit import SCORER

pytestmark = pytest.mark.filterwarnings("default")


def evaluated(folder: Path, kind: str = "json", stop: str = "stop", **flags: Any) -> tuple[Any, Path]:
    """Run the task on the replies of ``documents`` and return the log, and where it lies."""
    replies = {call.user: says(call) for call in planned(SETTINGS)}

    def answer(messages: Any, *rest: Any) -> ModelOutput:
        said = ModelOutput.from_content("served", replies[messages[-1].text], stop_reason=stop)
        # otherwise Inspect counts the tokens, with a table from the network
        said.usage = ModelUsage(input_tokens=90, output_tokens=12, total_tokens=102)
        return said

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    task = audit(bins="physics,history")
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), log_format=kind, display="none", **flags)
    return log, next(folder.glob(f"*.{kind}"))


@pytest.mark.parametrize("kind", ["json", "eval"])
def test_the_log_is_the_run_with_the_same_replies(tmp_path: Path, kind: str) -> None:
    log, path = evaluated(tmp_path, kind)
    assert log.status == "success", log.error
    run = audit_in(path)
    assert run is not None
    found, other = summarise(run), summarise(read(documents()))
    for name in ("counts", "metrics", "metrics_attempted", "bins", "groups", "families", "composite", "tier"):
        assert getattr(found, name) == getattr(other, name), name
    assert found.battery == other.battery
    assert found.asked_with == other.asked_with
    assert found.model.simulated
    assert run.problems == ()


def test_inspect_prints_the_figures_of_the_summary(tmp_path: Path) -> None:
    log, path = evaluated(tmp_path, epochs=2)
    printed = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    summary = summarise(audit_in(path))
    assert printed == {
        "accuracy": summary.metrics["accuracy"].value,
        "gap": summary.metrics["gap"].value,
        "brier": summary.metrics["brier"].value,
        "trap_rate": summary.metrics["trap_abstention"].value,
        "mean_confidence": summary.mean_confidence,
    }


def test_a_figure_without_a_value_is_left_out(tmp_path: Path) -> None:
    log, _ = evaluated(tmp_path, stop="max_tokens", limit=1)
    assert "brier" not in log.results.scores[0].metrics


def test_a_cut_reply_has_no_answer(tmp_path: Path) -> None:
    log, path = evaluated(tmp_path, stop="max_tokens")
    assert {sample.scores[SCORER].metadata["outcome"] for sample in log.samples} <= {
        "truncated",
        "correct",
        "incorrect",
    }
    run = audit_in(path)
    assert {record.finish_reason for record in run.records} == {"length"}


def test_samples_hold_key_and_topic_for_people(tmp_path: Path) -> None:
    log, _ = evaluated(tmp_path)
    calls = {f"{call.call.item_id}.{call.call.paraphrase + 1}": call for call in planned(SETTINGS)}
    assert {sample.id for sample in log.samples} == set(calls)
    for sample in log.samples:
        call = calls[sample.id]
        assert sample.target == (call.probe.answer if call.probe else "UNANSWERABLE")
        assert sample.metadata["bin"] == call.item.bin
        right = "abstained" if call.trap else "correct"
        outcome = sample.scores[SCORER].metadata["outcome"]
        assert sample.scores[SCORER].value == {right: "C", "incorrect": "I"}.get(outcome, "N")


def test_a_limit_of_inspects_own_is_the_whole_plan(tmp_path: Path) -> None:
    _, path = evaluated(tmp_path, limit=3)
    run = audit_in(path)
    assert len(run.manifest.plan) == len(run.records) == 3
    assert not any("incomplete" in note for note in summarise(run).notes)


def test_the_schema_allows_what_that_of_a_run_allows_and_is_sent_whole() -> None:
    from inspect_ai.util._json import JSON_SCHEMA_EXTENDED_FIELDS, json_schema_dump

    from selfdiag.elicit.prompts import RESPONSE_SCHEMA

    schema = audit(structured=True).config.response_schema.json_schema
    sent = json_schema_dump(schema)
    assert json_schema_dump(schema, exclude=JSON_SCHEMA_EXTENDED_FIELDS) == sent
    assert list(sent["properties"]) == ["answer", "confidence"]
    assert sent["properties"].pop("confidence") == {"type": "integer", "enum": [*range(101)]}
    bounds = RESPONSE_SCHEMA["properties"]["confidence"]
    assert bounds == {"type": "integer", "minimum": 0, "maximum": 100}
    assert sent | {"properties": {**sent["properties"], "confidence": bounds}} == RESPONSE_SCHEMA
    assert audit(structured="off").config.response_schema is None


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"battery": "huge"}, "no battery 'huge'"),
        ({"sections": ["probes", "ladder"]}, "'ladder'"),
        ({"paraphrase": "some"}, "one or all"),
        ({"structured": "auto"}, "on or off"),
        ({"bins": "alchemy"}, "unknown bin 'alchemy'"),
    ],
)
def test_a_wrong_parameter_is_one_line(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(click.ClickException) as fault:
        audit(**flags)
    assert words in fault.value.message
    assert "\n" not in fault.value.message
