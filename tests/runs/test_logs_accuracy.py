"""Logs that the real tools wrote give the accuracies that these tools printed."""

import json

import numpy as np
import pytest
from tool_logs import EMBEDDED, EXPECTED, LOGS, lm_eval_log, needs_zstandard, outcomes, read


def printed(name: str, which: str) -> float:
    return EXPECTED[name]["printed"][which]


def test_no_log_has_a_word_of_the_machine_that_made_it() -> None:
    for path in LOGS.rglob("*.json*"):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in ("tmp/", "root/", "/home/", "/usr/", "site-packages") if word in text], path
        assert path.stat().st_size < 100_000, path


def test_inspect_json_gives_the_accuracy_that_inspect_printed() -> None:
    found = read("inspect_json_replies.json")
    counts = outcomes(found)
    assert sum(counts.values()) == 6
    assert counts["correct"] / 6 == pytest.approx(printed("inspect_json_replies.json", "includes"), abs=5e-4)
    assert set(found.model or ()) == {EXPECTED["inspect_json_replies.json"]["model"]}
    assert set(found.columns.bin) == {"facts"}
    assert not found.missing


def test_inspect_eval_gives_the_accuracy_that_inspect_printed() -> None:
    needs_zstandard()
    found = read("inspect_json_replies.eval")
    counts = outcomes(found)
    assert sum(counts.values()) == 16
    assert counts["correct"] / 16 == pytest.approx(printed("inspect_json_replies.eval", "includes"), abs=5e-4)
    assert int(np.isfinite(found.columns.confidence).sum()) == 15
    (silent,) = (note for note in found.notes if "no confidence" in note)
    assert silent.startswith("1 of 16 answers") and '{"answer": "Oslo"}' in silent


def test_the_two_formats_of_inspect_hold_the_same_answers() -> None:
    needs_zstandard()
    zipped, plain = read("inspect_json_replies.eval").columns, read("inspect_json_replies.json").columns
    assert zipped.outcome[:6] == plain.outcome
    assert np.array_equal(zipped.confidence[:6], plain.confidence, equal_nan=True)
    assert zipped.item[:6].tolist() == plain.item.tolist()


def test_no_answer_abstains_and_partial_credit_is_neither_right_nor_wrong() -> None:
    needs_zstandard()
    found = read("inspect_prose_two_scorers.eval")
    assert outcomes(found) == {"correct": 10, "incorrect": 6, "abstained": 2, "unparsed": 2}
    # Inspect counts no answer as wrong and partial credit as half
    assert printed("inspect_prose_two_scorers.eval", "careful") == pytest.approx((10 + 2 / 2) / 20)
    assert any("2 of 20 answers have no verdict" in note and "partial credit" in note for note in found.notes)
    assert "takes another: includes" in found.notes[0]
    assert "with no answer as wrong and partial credit as half" in found.notes[0]


def test_two_passes_over_a_sample_are_rows_of_one_item() -> None:
    needs_zstandard()
    assert np.unique(read("inspect_prose_two_scorers.eval").columns.item).size == 10


def test_another_scorer_can_be_named() -> None:
    needs_zstandard()
    counts = outcomes(read("inspect_prose_two_scorers.eval", "correct=includes"))
    assert counts["correct"] / 20 == pytest.approx(printed("inspect_prose_two_scorers.eval", "includes"))


def test_a_field_can_hold_the_confidence_and_the_topic() -> None:
    needs_zstandard()
    found = read("inspect_prose_two_scorers.eval", "confidence=sure,bin=topic")
    assert set(found.columns.bin) == {"capitals", "sums"}
    # the scorer left none where it saw no answer
    assert int(np.isnan(found.columns.confidence).sum()) == 2
    assert any(note.startswith("sure: read as fractions") for note in found.notes)
    assert any(note.startswith("2 of 20 answers state no confidence") for note in found.notes)


def test_an_eval_that_ended_in_an_error_says_what_is_not_there() -> None:
    needs_zstandard()
    found = read("inspect_ended_in_error.eval")
    counts = outcomes(found)
    assert counts["error"] == 2 and sum(counts.values()) == 6
    assert "6 of 16 samples were read, 10 are not in the log" in found.missing
    assert "the solver fails here on purpose" in found.missing


@pytest.mark.parametrize("form", ["json", "prose"])
@pytest.mark.parametrize("which", ["answer-part", "whole-reply"])
def test_lm_eval_gives_the_figure_that_the_harness_printed(form: str, which: str) -> None:
    name = lm_eval_log(form)
    for mapping in (f"correct={which}", f"correct=exact_match/{which}"):
        found = read(name, mapping)
        counts = outcomes(found)
        assert sum(counts.values()) == 16  # of 32 lines: each answer stands there once for each filter
        assert counts.get("correct", 0) / 16 == pytest.approx(printed(name, which), abs=5e-5)
        assert set(found.model or ()) == {EXPECTED[name]["model"]}


def test_lm_eval_reads_the_first_filter_and_names_the_other() -> None:
    (note, *_) = read(lm_eval_log("json")).notes
    assert "after its filter answer-part" in note and "whole-reply" in note
    assert "its own figure there is 0.6250" in note


def test_lm_eval_reads_the_confidence_from_whole_replies() -> None:
    assert int(np.isfinite(read(lm_eval_log("prose")).columns.confidence).sum()) == 14
    assert set(read(lm_eval_log("prose"), "bin=topic").columns.bin) == {"capitals", "sums", "elements"}


@pytest.mark.parametrize("name", ["promptfoo_two_models.json", "promptfoo_two_models.jsonl"])
def test_promptfoo_gives_the_counts_that_it_printed(name: str) -> None:
    found = read(name)
    counts = outcomes(found)
    shown = EXPECTED[name]["printed"]
    assert counts == {"correct": shown["passed"], "incorrect": shown["failed"], "error": shown["error"]}
    assert set(found.model or ()) == set(EXPECTED[name]["models"])
    # both models were asked the same nine things
    assert np.unique(found.columns.item).size == 9
    assert any("1 of 18 answers ended in an error" in note and "400" in note for note in found.notes)


def test_promptfoo_in_both_formats_holds_the_same(selfdiag) -> None:
    one, other = (read(f"promptfoo_two_models.{ending}").columns for ending in ("json", "jsonl"))
    assert one.outcome == other.outcome
    assert np.array_equal(one.confidence, other.confidence, equal_nan=True)
    by_model = json.loads(selfdiag("analyze", str(LOGS / "promptfoo_two_models.json"), "--json").stdout)
    models = {summary["group"]["model"] for summary in by_model["models"]}
    assert models == set(EXPECTED["promptfoo_two_models.json"]["models"])


@pytest.mark.parametrize("name", EMBEDDED)
def test_logs_of_the_embedded_model_give_what_the_tools_printed(name: str) -> None:
    if name.endswith(".eval"):
        needs_zstandard()
    found, told = read(f"embedded/{name}"), EMBEDDED[name]
    counts, shown = outcomes(found), told["printed"]
    assert set(found.model or ()) == set(told.get("models", [told.get("model")]))
    if "passed" in shown:
        assert counts == {"correct": shown["passed"], "incorrect": shown["failed"]}
        assert shown["error"] == 0
    else:
        share = shown.get("includes", shown.get("answer-part"))
        assert sum(counts.values()) == 16
        assert counts["correct"] / 16 == pytest.approx(share, abs=5.1e-4)  # printed with three digits
    # it is held to a schema, so every reply states a confidence
    assert np.isfinite(found.columns.confidence).all()


def test_the_embedded_model_was_asked_through_every_tool() -> None:
    assert [name.partition("_")[0] for name in EMBEDDED] == ["inspect", "lm", "promptfoo"]
