"""An audit in the shared format: every figure with its direction, its interval and its battery, and none made up."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from selfdiag.protocols.audit import summarise
from selfdiag.report.every_eval import FIGURES, NOT_STATED, every_eval
from selfdiag.runs.store import Run, read_run

WRITTEN = 1767225600.25


@pytest.fixture
def run(tmp_path: Path, selfdiag: Any) -> Run:
    done = selfdiag("run", "persona:overconfident", "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    return read_run(tmp_path / "run")


def document(run: Run, **changes: Any) -> dict[str, Any]:
    summary = msgspec.structs.replace(summarise(run, draws=200), **changes)
    return json.loads(every_eval(run, summary, written=WRITTEN))


def by_name(found: dict[str, Any]) -> dict[str, Any]:
    return {result["evaluation_result_id"]: result for result in found["evaluation_results"]}


def test_every_figure_has_value_interval_and_direction(run: Run) -> None:
    summary = summarise(run, draws=200)
    results = by_name(document(run))
    for name in FIGURES:
        estimate = summary.metrics[name]
        if estimate.value is None:
            assert name not in results
            continue
        score = results[name]["score_details"]
        assert score["score"] == estimate.value
        assert score["uncertainty"]["num_samples"] == estimate.n
        interval = score["uncertainty"].get("confidence_interval")
        assert (interval and (interval["lower"], interval["upper"])) == estimate.ci
        config = results[name]["metric_config"]
        least = -float("inf") if config["min_score"] == "-Infinity" else config["min_score"]
        assert least <= estimate.value <= config["max_score"]
    assert not results["accuracy"]["metric_config"]["lower_is_better"]
    assert results["brier"]["metric_config"]["lower_is_better"]
    assert float(results["brier"]["score_details"]["details"]["gap"]) == pytest.approx(
        summary.metrics["gap"].value, abs=1e-5
    )


def test_the_tier_is_a_level(run: Run) -> None:
    tier = by_name(document(run))["tier"]
    names = tier["metric_config"]["level_names"]
    assert names[int(tier["score_details"]["score"])] == summarise(run, draws=200).tier.letter


def test_a_run_without_a_tier_has_none(run: Run) -> None:
    nothing = msgspec.structs.replace(summarise(run, draws=200).tier, letter="-")
    assert "tier" not in by_name(document(run, tier=nothing))


def test_what_a_run_does_not_know_is_not_stated(run: Run) -> None:
    found = document(run)
    assert found["source_metadata"]["source_organization_name"] == NOT_STATED
    assert found["model_info"]["additional_details"]["model_availability"] == "unknown"
    assert found["model_info"]["additional_details"]["simulated"] == "true"
    assert "simulated" in found["source_metadata"]["additional_details"]["notes"]


def test_the_battery_is_named_by_its_hash(run: Run) -> None:
    details = by_name(document(run))["accuracy"]["source_data"]["additional_details"]
    assert details["sha256"] == run.manifest.battery.sha256
    assert (details["draw"], details["seed"], details["probes"]) == ("quick", "0", "42")


def test_the_document_fits_the_shared_schema(run: Run) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    package = pytest.importorskip("every_eval_ever")
    schema = importlib.resources.files(package) / "schemas" / "eval.schema.json"
    jsonschema.validate(document(run), json.loads(schema.read_text()))


def test_the_command_writes_it_for_audits_alone(run: Run, selfdiag: Any, tmp_path: Path) -> None:
    done = selfdiag("report", str(run.folder), "--format", "every-eval", "-o", str(tmp_path / "eval.json"))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "eval.json").read_text())["eval_library"]["name"] == "selfdiag"
    both = selfdiag("report", str(run.folder), "--format", "every-eval", "--json")
    assert both.returncode == 2
    other = selfdiag("microprobe", "persona:suggestible", "--bin", "physics", "--out", str(tmp_path / "probe"))
    assert other.returncode in {0, 1}, other.stderr
    refused = selfdiag("report", str(tmp_path / "probe"), "--format", "every-eval")
    assert refused.returncode == 2
    assert "for audits" in refused.stderr
