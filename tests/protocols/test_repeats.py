"""A run that asks every wording, or everything twice, says how alike the answers are."""

import json


def summary(selfdiag, *words: str) -> dict:
    done = selfdiag("run", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_wording_asked_once_says_nothing(selfdiag) -> None:
    assert summary(selfdiag, "persona:calibrated", "--limit", "6")["consistency"] is None


def test_a_repeat_of_a_deterministic_model_is_a_copy(selfdiag) -> None:
    found = summary(selfdiag, "persona:overconfident", "--limit", "12", "--repeat", "3")["consistency"]
    assert found["paraphrases"] is None
    repeats = found["repeats"]
    assert (repeats["items"], repeats["rows"]) == (12, 36)
    assert repeats["same_answer"]["value"] == repeats["same_outcome"]["value"] == 1.0
    assert repeats["same_answer"]["ci"][0] < 0.8  # twelve items, however often they are asked
    assert repeats["confidence_range"]["value"] == 0.0


def test_wordings_are_compared_within_their_item(selfdiag) -> None:
    found = summary(selfdiag, "persona:calibrated", "--limit", "20", "--paraphrase", "all")
    wordings = found["consistency"]["paraphrases"]
    assert found["consistency"]["repeats"] is None
    assert (wordings["items"], wordings["rows"]) == (20, 60)
    assert found["metrics"]["accuracy"]["n"] <= 60
    report = selfdiag("report", "latest", "--format", "md").stdout
    assert "## Asked again" in report
    assert "| other wordings | 20 |" in report
