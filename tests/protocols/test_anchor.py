"""What an example value does to the stated confidence."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from claim_runs import Reply, answered, asked

from selfdiag.measure.resampling import wilson
from selfdiag.protocols.anchor import Anchor, anchor_of
from selfdiag.report.microprobe import anchor_lines, anchor_markdown
from selfdiag.report.page import WIDTH
from selfdiag.runs.claims import EXAMPLES
from selfdiag.runs.plan import Plan, make_plan
from selfdiag.runs.records import ANCHOR, PlannedCall, RunSettings

SETTINGS = RunSettings(model="openai:written", sections=(ANCHOR,))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(SETTINGS)


def anchor(plan: Plan, reply: object) -> Anchor:
    found = anchor_of(answered(SETTINGS, plan, reply), draws=300)
    assert found is not None
    return found


def test_the_same_items_are_asked_without_an_example_and_with_each(plan: Plan) -> None:
    assert len(plan.calls) == 21 * 4
    by_item: dict[str, list[int | None]] = {}
    for call in plan.calls:
        by_item.setdefault(call.item_id, []).append(call.claim)
        system = plan.prompt(call).system
        shown = [value for value in EXAMPLES if f'"confidence": {value}}}' in system]
        assert shown == ([] if call.claim is None else [call.claim])
        assert "example" not in system.lower() and "none" not in system.lower()
    assert all(values == [None, *EXAMPLES] for values in by_item.values())


def test_a_model_that_repeats_what_it_is_shown(plan: Plan) -> None:
    found = anchor(plan, lambda call: (60 if call.claim is None else call.claim, "a", "correct"))
    assert (found.items, found.without.value) == (21, 60)
    for one in found.shown:
        assert one.confidence.value == one.example and one.confidence.n == 21
        assert one.shift.value == one.example - 60
        assert one.echoed.value == 1 and one.echoed.ci == pytest.approx(wilson(21, 21))
        assert one.anyway.value == 0
    assert found.slope.value == pytest.approx(1)
    assert found.sentence == (
        "Shown 15, 50 and 85 it says 15, 50 and 85 on average, 60 without an example, and repeats the value shown in "
        "63 of 63 replies: an example pulls it by 10.0 points for every 10."
    )
    assert found.notes == ()


def test_a_model_that_says_85_anyway_is_not_pulled(plan: Plan) -> None:
    found = anchor(plan, lambda call: (85, "a", "incorrect"))
    last = found.shown[-1]
    assert (last.example, last.echoed.value, last.anyway.value, last.shift.value) == (85, 1, 1, 0)
    assert found.slope.value == 0
    assert found.sentence.endswith(
        "in 21 of 63 replies: no more often than without it, so no pull of the example shows."
    )


def test_repeating_more_often_than_without_an_example_is_not_called_as_often(plan: Plan) -> None:
    found = anchor(plan, lambda call: (50 if call.claim == 50 else 60, "a", "correct"))
    assert [one.echoed.value for one in found.shown] == [0, 1, 0] and found.slope.value == pytest.approx(0, abs=0.02)
    assert found.sentence.endswith(
        "in 21 of 63 replies: more often than without it, but no pull of the example on the mean shows."
    )
    half = sorted({call.item_id for call in plan.calls})[::2]
    fewer = anchor(plan, lambda call: (85 if call.claim is None or call.item_id in half else 20, "a", "correct"))
    assert fewer.sentence.endswith(
        "in 11 of 63 replies: no more often than without it, so no pull of the example shows."
    )


def test_the_shift_is_paired_and_only_answers_count(plan: Plan) -> None:
    items = sorted({call.item_id for call in plan.calls})

    def reply(call: PlannedCall) -> Reply:
        place = items.index(call.item_id)
        own = 10 + 2 * place
        if place == 0 and call.claim is None:
            return 99, "UNANSWERABLE", "abstained"
        if place == 1 and call.claim == 15:
            return None
        if place == 2 and call.claim == 15:
            return None, "a", "correct"
        return own + (0 if call.claim is None else round(0.2 * call.claim)), "a", "correct"

    found = anchor(plan, reply)
    assert found.without.n == 20 and found.without.value == pytest.approx(10 + 2 * 10.5)
    first, second, last = found.shown
    assert (first.confidence.n, first.shift.n, first.shift.value) == (19, 18, 3)
    assert (second.shift.n, second.shift.value) == (20, 10)
    assert (last.shift.n, last.shift.value) == (20, 17)
    assert last.echoed.n == 21
    assert found.slope.value == pytest.approx(0.2) and found.slope.n == 19
    assert found.notes == ("replies without an answer and a confidence left out: 3 of 84",)


def test_noise_is_no_pull(plan: Plan) -> None:
    items = sorted({call.item_id for call in plan.calls})
    found = anchor(
        plan, lambda call: (50 + (items.index(call.item_id) % 5 - 2) * (call.claim or 50) // 10, "a", "correct")
    )
    assert found.slope.ci is not None and found.slope.ci[0] < 0 < found.slope.ci[1]
    assert found.sentence.endswith("no pull of the example shows.")


def test_nothing_to_say_without_replies(plan: Plan) -> None:
    found = anchor(plan, lambda call: (None, "", "unparsed"))
    assert found.without.value is None and found.slope.value is None
    assert all(one.shift.value is None and one.echoed.value is None for one in found.shown)
    assert found.sentence.startswith("What an example does to the confidence cannot be said")
    assert "| 15 | – |" in anchor_markdown(found)


def asked_some(plan: Plan, kept: Callable[[PlannedCall], bool]) -> Anchor:
    """The check over the calls that are kept, each answered with 40 more than half the example."""
    part = msgspec.structs.replace(plan, calls=tuple(call for call in plan.calls if kept(call)))
    return anchor(part, lambda call: (40 + (call.claim or 0) // 2, "a", "correct"))


def test_a_plan_without_the_plain_calls_has_figures_missing_with_a_reason(plan: Plan) -> None:
    found = asked_some(plan, lambda call: call.claim is not None)
    assert found.items == 21 and found.without.value is None
    for missing in (found.without, *(one.shift for one in found.shown), *(one.anyway for one in found.shown)):
        assert missing.value is None and missing.note == "no data: not asked without an example"
    assert [one.confidence.value for one in found.shown] == [47, 65, 82]
    assert found.slope.value == pytest.approx(0.5, abs=0.01) and found.slope.n == 21
    assert found.sentence.endswith("cannot be said: it was not asked without an example.")
    assert "| none | – |" in anchor_markdown(found)


def test_a_plan_without_the_examples_has_figures_missing(plan: Plan) -> None:
    found = asked_some(plan, lambda call: call.claim is None)
    assert (found.items, found.without.value, found.shown, found.slope.value) == (21, 40, (), None)
    assert found.slope.note
    assert anchor_lines(found)


def test_an_item_without_its_plain_call_still_has_a_slope(plan: Plan) -> None:
    first = plan.calls[0].item_id
    found = asked_some(plan, lambda call: call.claim is not None or call.item_id != first)
    assert (found.items, found.without.n, found.slope.n) == (21, 20, 21)
    assert [one.shift.n for one in found.shown] == [20, 20, 20]


def test_a_run_without_the_section_has_none(tmp_path: Path) -> None:
    assert anchor_of(asked(RunSettings(model="persona:pinned", limit=2), tmp_path / "run")) is None


def test_a_persona_that_looks_at_no_example(tmp_path: Path) -> None:
    settings = RunSettings(model="persona:pinned", sections=(ANCHOR,))
    found = anchor_of(asked(settings, tmp_path / "run"))
    assert found is not None
    assert [one.shift.value for one in found.shown] == [0, 0, 0]
    assert found.slope.value == 0


def test_its_words(plan: Plan) -> None:
    found = anchor(plan, lambda call: (60 if call.claim is None else call.claim, "a", "correct"))
    lines = anchor_lines(found)
    assert " ".join(lines) == found.sentence and max(map(len, lines)) <= WIDTH
    text = anchor_markdown(found)
    assert text.startswith("## Anchor\n\n21 items asked ")
    assert "| 85 | 85 |  | +25 | 100 % | [85, 100] | 0 % | 21 |" in text
    assert found.sentence in text
