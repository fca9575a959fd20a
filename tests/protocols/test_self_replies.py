"""Which replies of a model about itself count, and why the others are missing."""

import pytest
from assessed_runs import written

from selfdiag.protocols.self_replies import self_replies
from selfdiag.runs.records import FRAMING, QUESTIONNAIRE, SELF_PROFILE

EACH = {QUESTIONNAIRE: 15, SELF_PROFILE: 5, FRAMING: 20}


@pytest.mark.parametrize("section", EACH)
@pytest.mark.parametrize("outcome", ["refused", "error", "truncated", "incorrect"])
def test_a_value_beside_another_outcome_than_an_answer_is_missing(section: str, outcome: str) -> None:
    run = written(lambda _: {"outcome": outcome, "value": 0.0}, sections=(section,), instances=1, ratings=1)
    found = self_replies(run, section)
    assert found.answered == ()
    assert found.missing == {outcome: found.asked} and found.asked == EACH[section]


@pytest.mark.parametrize(
    ("section", "value", "counts"),
    [
        (QUESTIONNAIRE, 0.0, True),
        (QUESTIONNAIRE, 0.5, True),
        (QUESTIONNAIRE, 1.0, True),
        (QUESTIONNAIRE, 0.25, False),
        (SELF_PROFILE, 0.25, True),
        (SELF_PROFILE, None, False),
    ],
)
def test_a_statement_has_one_of_three_values(section: str, value: float | None, counts: bool) -> None:
    run = written(lambda _: {"outcome": "answered", "value": value}, sections=(section,), instances=1, ratings=1)
    found = self_replies(run, section)
    assert [given for _, given in found.answered] == ([value] * EACH[section] if counts else [])
    assert found.missing == ({} if counts else {"without a value": EACH[section]})
