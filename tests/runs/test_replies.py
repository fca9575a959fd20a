"""What the reply to a formal task comes to."""

import pytest

from selfdiag.battery.self_assessment import FormalTask, self_assessment
from selfdiag.runs.replies import GradedReply, check_formal_reply

REFUSAL = "I'm sorry, but I can't help with that."
FORMATS = ("json", "markdown", "latex", "csv", "python")


def task_of(form: str) -> FormalTask:
    return next(task for task in self_assessment().formal if task.format == form)


def checked(form: str, text: str, finish_reason: str = "stop") -> GradedReply:
    return check_formal_reply(task_of(form), text, finish_reason)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "text", [REFUSAL, f"<think>It wants a file.</think>\n{REFUSAL}", f"{REFUSAL}\n\nAsk me something else."]
)
def test_a_formal_task_refused_in_plain_words_is_refused(form: str, text: str) -> None:
    found = checked(form, text)
    assert (found.outcome, found.value, found.rule) == ("refused", None, "refusal")


@pytest.mark.parametrize("form", FORMATS)
def test_words_that_decline_nothing_are_a_wrong_form(form: str) -> None:
    found = checked(form, "Sure! Here you go:")
    assert (found.outcome, found.value) == ("incorrect", 0)


@pytest.mark.parametrize("form", FORMATS)
def test_a_form_that_is_there_counts_whatever_stands_before_it(form: str) -> None:
    found = checked(form, f"{REFUSAL} But here it is:\n```\n{task_of(form).sample}\n```")
    assert found.outcome in {"correct", "incorrect"}
    assert found.value is not None and found.value > 0.5


def test_a_refusal_that_was_cut_is_cut() -> None:
    found = checked("json", REFUSAL, "length")
    assert (found.outcome, found.value) == ("truncated", None)
