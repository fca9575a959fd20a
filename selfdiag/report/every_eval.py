"""An audit in the shared result format of the package ``every-eval-ever``, as far as it fits there.

The format wants for every figure whether a lower one is better. The signed gap and the figures that only describe the
stated numbers have no such direction: they stand in the details of the Brier score. Single replies, and with them the
stated confidences, have no place beside a score there and are not written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.tiers import Tier
from selfdiag.protocols.summary import Summary, SummaryBattery, model_of
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

EVERY_EVAL_SCHEMA = "0.3.0"
CONFIDENCE_LEVEL = 0.95
NOT_STATED = "not stated"
"""Whoever shares the file knows what a run does not: which organisation measured, and how it stands to the model."""


class _Figure(NamedTuple):
    title: str
    lower_is_better: bool
    least: float | str = 0.0
    most: float = 1.0
    unit: str = "proportion"


_UNBOUNDED = "-Infinity"
FIGURES = {
    "accuracy": _Figure("Accuracy on graded probes", False),
    "brier": _Figure("Brier score of the stated confidence", True, unit="squared error"),
    "brier_skill": _Figure("Brier skill score", False, _UNBOUNDED, unit="ratio"),
    "auroc": _Figure("AUROC of the stated confidence", False),
    "ece": _Figure("Expected calibration error, 10 equal-width bins", True),
    "smooth_ece": _Figure("Smooth calibration error", True),
    "aurc": _Figure("Area under the risk-coverage curve", True),
    "high_confidence_error_80": _Figure("Wrong share of answers stated at 80 or more", True),
    "trap_abstention": _Figure("Share of unanswerable questions spotted", False),
    "non_answer": _Figure("Share of answerable questions not answered", True),
    "youden": _Figure("Abstention on traps minus on probes", False, -1.0),
    "usable_share": _Figure("Share of replies that could be read", False),
}
"""What is written, with the direction and the range that the format asks for."""
_SHARED = {"accuracy": "accuracy", "auroc": "auroc"}
"""Names that the format has for all evaluations; the others carry ours in front."""
_DESCRIBING = ("gap", "median_confidence", "modal_share", "distinct_values", "missed_trap_confidence")
_ENGINES = {"embedded": "llama.cpp", "gguf": "llama.cpp", "ollama": "Ollama"}
_SERVICES = frozenset({"anthropic", "gemini"})
TIERS = ("A", "B", "C", "D", "E", "X")


def every_eval(run: Run, summary: Summary, *, written: float) -> str:
    """Return the document as JSON text.

    Args:
        run: manifest and records.
        summary: of that run.
        written: when, in seconds since 1970.

    Raises:
        SelfdiagError: when the run has no battery, or nothing was answered.
    """
    battery = summary.battery
    figures = {name: summary.metrics[name] for name in FIGURES if summary.metrics[name].value is not None}
    if battery is None or not figures:
        raise SelfdiagError(f"{one_line(str(run.folder))} has no figure that could be written")
    source = _source(battery)
    args = _generation(summary)
    results = [_result(name, figure, summary, source, args) for name, figure in figures.items()]
    if summary.tier.letter in TIERS:
        results.append(_tier(summary.tier, source, args))
    model = _model(run)
    started = run.manifest.sessions[0].started if run.manifest.sessions else None
    document = {
        "schema_version": EVERY_EVAL_SCHEMA,
        "evaluation_id": f"selfdiag/{model['id']}/{written:.3f}",
        **({"evaluation_timestamp": started} if started else {}),
        "retrieved_timestamp": f"{written:.3f}",
        "source_metadata": {
            "source_name": "selfdiag",
            "source_type": "evaluation_run",
            "source_organization_name": NOT_STATED,
            "evaluator_relationship": "other",
            "additional_details": {"run_id": run.manifest.run_id, "notes": " | ".join(summary.notes)},
        },
        "eval_library": {
            "name": "selfdiag",
            "version": run.manifest.selfdiag,
            "additional_details": {"prompt_version": run.manifest.prompt_version, **run.manifest.versions},
        },
        "model_info": model,
        "evaluation_results": results,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def _model(run: Run) -> dict[str, Any]:
    model = model_of(run)
    local = not model.remote and model.provider not in _SERVICES
    deployed = "self_deployed" if local else "externally_managed" if model.provider in _SERVICES else "unknown"
    engine = _ENGINES.get(model.provider)
    details = {
        "deployment_type": deployed,
        "model_availability": "open_weights" if model.provider == "embedded" else "unknown",
        "simulated": "true" if model.simulated else "false",
        **{name: value for name, value in (("served_name", model.served_name), ("digest", model.digest)) if value},
        **model.details,
    }
    return {
        "name": model.name or model.provider,
        "id": f"{model.provider}/{model.name}" if model.name else model.provider,
        "inference_platform": model.provider,
        **({"inference_engine": {"name": engine}} if engine else {}),
        "additional_details": details,
    }


def _source(battery: SummaryBattery) -> dict[str, Any]:
    details = {
        "version": battery.version,
        "sha256": battery.sha256,
        "draw": battery.draw,
        "seed": str(battery.seed),
        "probes": str(battery.probes),
        "traps": str(battery.traps),
    }
    return {"dataset_name": battery.id, "source_type": "other", "additional_details": details}


def _generation(summary: Summary) -> dict[str, Any]:
    asked = summary.asked_with or {}
    args = {name: asked[name] for name in ("temperature", "max_tokens") if asked.get(name) is not None}
    if "think" in asked:
        args["reasoning"] = asked["think"] != "off"
    others = {name: str(asked[name]) for name in ("structured", "example", "prompt_version") if name in asked}
    return {"generation_args": args, "additional_details": others}


def _result(
    name: str, estimate: Estimate, summary: Summary, source: dict[str, Any], args: dict[str, Any]
) -> dict[str, Any]:
    figure = FIGURES[name]
    details = {"method": estimate.method, "note": estimate.note}
    if name == "brier":
        details |= _described(summary)
    uncertainty: dict[str, Any] = {"num_samples": estimate.n}
    if estimate.ci is not None:
        lower, upper = estimate.ci
        uncertainty["confidence_interval"] = {
            "lower": lower,
            "upper": upper,
            "confidence_level": CONFIDENCE_LEVEL,
            "method": estimate.method,
        }
    return {
        "evaluation_result_id": name,
        "evaluation_name": f"selfdiag.{name}",
        "source_data": source,
        "metric_config": {
            "evaluation_description": figure.title,
            "metric_id": _SHARED.get(name, f"selfdiag.{name}"),
            "metric_name": figure.title,
            "metric_kind": name,
            "metric_unit": figure.unit,
            "lower_is_better": figure.lower_is_better,
            "score_type": "continuous",
            "min_score": figure.least,
            "max_score": figure.most,
        },
        "score_details": {
            "score": estimate.value,
            "details": {key: text for key, text in details.items() if text},
            "uncertainty": uncertainty,
        },
        "generation_config": args,
    }


def _described(summary: Summary) -> dict[str, str]:
    """Return the figures that have no better and worse, as text."""
    found = {name: summary.metrics[name].value for name in _DESCRIBING}
    found["mean_confidence"] = summary.mean_confidence
    return {name: f"{value:.6g}" for name, value in found.items() if value is not None}


def _tier(tier: Tier, source: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    return {
        "evaluation_result_id": "tier",
        "evaluation_name": "selfdiag.tier",
        "source_data": source,
        "metric_config": {
            "evaluation_description": "Whether the stated confidence can be believed",
            "metric_id": "selfdiag.tier",
            "metric_name": "Tier",
            "lower_is_better": True,
            "score_type": "levels",
            "level_names": list(TIERS),
            "has_unknown_level": False,
        },
        "score_details": {
            "score": float(TIERS.index(tier.letter)),
            "details": {"letter": tier.letter, "provisional": "true" if tier.provisional else "false"},
        },
        "generation_config": args,
    }
