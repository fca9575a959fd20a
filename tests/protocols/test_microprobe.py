"""What a microprobe makes of replies, of whole personas, and how the automatic choice is made."""

import asyncio
import math
import re
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
from claim_runs import Reply, answered, asked

from selfdiag.battery.draw import wording
from selfdiag.battery.items import BINS, Battery, Probe
from selfdiag.battery.load import shipped
from selfdiag.elicit.prompts import CONTRACT, SLOT_HEADING
from selfdiag.elicit.prompts import question as question_text
from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.microprobe import Microprobe, ProbedItem, has_claims, microprobe_of
from selfdiag.protocols.microprobe_plan import microprobe_plan
from selfdiag.protocols.movable import KEPT_CLAIMS, TRIES, kept_plan, nothing_kept, pick, spread_of, trial_plan
from selfdiag.report.microprobe_words import set_sentence
from selfdiag.runs.claims import DOSES
from selfdiag.runs.plan import Plan, make_plan
from selfdiag.runs.records import MICROPROBE, PlannedCall, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

SETTINGS = RunSettings(model="openai:written", battery="full", sections=(MICROPROBE,))
ONE = msgspec.structs.replace(SETTINGS, items=("geography-07",))
ARMS = ("none", "off", "placebo", "own", "shuffled", "claim", "example")


def probed(run: Run) -> Microprobe:
    found = microprobe_of(run, draws=200)
    assert found is not None
    return found


def right(confidence: float | None) -> Reply:
    return None if confidence is None else round(confidence), "the answer", "correct"


def one_item(
    on_topic: dict[int, Reply],
    off_topic: dict[int, Reply] | None = None,
    unlabelled: dict[int, Reply] | None = None,
    **asking: object,
) -> ProbedItem:
    plan = microprobe_plan(ONE, claims=tuple(on_topic), **asking)

    def reply(call: PlannedCall) -> Reply:
        assert call.claim is not None
        if call.claim_bin != "geography":
            return (off_topic or on_topic)[call.claim]
        return (on_topic if call.labelled else unlabelled or on_topic)[call.claim]

    return probed(answered(ONE, plan, reply)).items[0]


def whole_set(reply: object, settings: RunSettings = SETTINGS, **asking: object) -> Microprobe:
    return probed(answered(settings, microprobe_plan(settings, **asking), reply))


# The prompts.


def texts(settings: RunSettings, **asking: object) -> dict[tuple, tuple[str, str]]:
    plan = microprobe_plan(settings, **asking)
    return {
        (call.item_id, call.claim_bin, call.labelled, call.paraphrase, call.claim): (
            plan.prompt(call).system,
            plan.prompt(call).user,
        )
        for call in plan.calls
    }


def test_two_claims_on_an_item_differ_in_the_claimed_line_alone() -> None:
    prompts = texts(SETTINGS, claims=DOSES, wordings=2)
    compared = 0
    for (item, claim_bin, labelled, paraphrase, claim), (system, user) in prompts.items():
        lowest = prompts[item, claim_bin, labelled, paraphrase, 0]
        assert user == lowest[1]
        pairs = zip(system.split("\n"), lowest[0].split("\n"), strict=True)
        differing = [pair for pair in pairs if pair[0] != pair[1]]
        assert differing == ([] if claim == 0 else [(f"- {claim_bin}: {claim}%", f"- {claim_bin}: 0%")])
        compared += 1
    assert compared == 21 * (2 * 7 + 2 + 2)


def test_every_other_line_is_empty_and_the_control_stands_on_another_one() -> None:
    whole = shipped()
    for (item, claim_bin, labelled, paraphrase, claim), (system, user) in texts(SETTINGS).items():
        probe = whole.find(item)
        assert isinstance(probe, Probe)
        lines = system.removeprefix(f"{CONTRACT}\n\n{SLOT_HEADING}\n").split("\n")
        assert lines == [f"- {name}: {claim}%" if name == claim_bin else f"- {name}: n/a" for name in BINS]
        asked_for = question_text(probe, paraphrase)
        assert user == (f"Topic of this question: {probe.bin}\n{asked_for}" if labelled else asked_for)


def test_no_prompt_names_its_arm() -> None:
    for system, _ in texts(SETTINGS, claims=DOSES).values():
        assert not set(re.findall(r"\w+", system.lower())) & set(ARMS)


def test_the_plan_asks_one_item_of_every_topic_with_both_controls() -> None:
    plan = microprobe_plan(SETTINGS)
    assert sorted(probe.bin for probe in plan.check) == sorted(BINS)
    assert plan.drawn.items() == ()
    assert len(plan.calls) == len({call.call_id for call in plan.calls}) == 21 * 6
    assert {(call.section, call.arm) for call in plan.calls} == {(MICROPROBE, "claim")}
    bare = microprobe_plan(SETTINGS, labelled=False)
    assert len(bare.calls) == 21 * 4
    assert not any(call.labelled for call in bare.calls)


def test_a_bin_or_an_item_is_asked_alone() -> None:
    plan = microprobe_plan(msgspec.structs.replace(SETTINGS, bins=("physics",)))
    assert {probe.bin for probe in plan.check} == {"physics"} and len(plan.check) == 14
    assert [probe.id for probe in microprobe_plan(ONE).check] == ["geography-07"]
    more = microprobe_plan(ONE, wordings=9)
    assert len({call.paraphrase for call in more.calls}) == 3  # as many as it has
    assert len(more.calls) == 3 * 2 + 4


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"items": ("geografy-07",)}, "unknown item 'geografy-07' in --item. Did you mean 'geography-07'?"),
        ({"items": ("algebra-t1",)}, "'algebra-t1' is a trap"),
        ({"bins": ("fysics",)}, "unknown bin 'fysics'"),
        ({"battery": "enormous"}, "no battery 'enormous'"),
    ],
)
def test_what_is_not_there_is_told(change: dict[str, object], fault: str) -> None:
    with pytest.raises(SelfdiagError, match=re.escape(fault)):
        microprobe_plan(msgspec.structs.replace(SETTINGS, **change))


# One item.


def test_a_believed_profile() -> None:
    item = one_item({0: right(5), 95: right(95)}, {0: right(60), 95: right(70)}, {0: right(20), 95: right(80)})
    assert (item.verdict, item.mechanism, item.direction) == ("movable", "profile", "with")
    assert (item.shift, item.off_topic, item.unlabelled, item.noise) == (90, 10, 60, 0)
    assert item.differs == ("- geography: 0%", "- geography: 95%")
    assert item.key == "Himalayas"
    probe = shipped().find("geography-07")
    assert probe is not None
    assert item.question == probe.questions[wording(probe, 0)]
    assert {claim: reply.confidence for claim, reply in item.claims.items()} == {"0": 5, "95": 95}
    assert {claim: reply.confidence for claim, reply in item.off_topic_claims.items()} == {"0": 60, "95": 70}
    assert {claim: reply.confidence for claim, reply in item.unlabelled_claims.items()} == {"0": 20, "95": 80}
    assert item.off_topic_bin in BINS and item.off_topic_bin != "geography"


def test_a_copied_number() -> None:
    item = one_item({0: right(5), 95: right(95)}, {0: right(10), 95: right(70)})
    assert (item.verdict, item.mechanism, item.off_topic) == ("movable", "number", 60)


def test_against_the_claim() -> None:
    item = one_item({0: right(90), 95: right(20)}, {0: right(80), 95: right(60)})
    assert (item.verdict, item.direction, item.mechanism) == ("movable", "against", "profile")


def test_the_topic_must_be_named() -> None:
    item = one_item({0: right(5), 95: right(95)}, {0: right(50), 95: right(50)}, {0: right(50), 95: right(52)})
    assert (item.verdict, item.unlabelled) == ("unassociated", 2)


def test_without_the_label_nothing_is_compared_with_it() -> None:
    plan = microprobe_plan(ONE, labelled=False)
    found = probed(answered(ONE, plan, lambda call: right(5 + 90 * (call.claim == 95))))
    item = found.items[0]
    assert (item.verdict, item.shift, item.unlabelled, item.unlabelled_claims) == ("movable", 90, None, {})
    assert found.summary.labelled is False


def test_pinned_to_an_end_or_to_the_shown_example() -> None:
    assert one_item({0: right(98), 95: right(100)}).verdict == "pinned"
    assert one_item({0: right(83), 95: right(86)}).verdict == "unmoved"
    settings = msgspec.structs.replace(ONE, example=85)
    run = answered(settings, microprobe_plan(settings), lambda call: right(83 if call.claim == 0 else 86))
    assert probed(run).items[0].verdict == "pinned"


def test_an_abstention_or_a_missing_reading() -> None:
    abstained, refused = (90, "UNANSWERABLE", "abstained"), (90, "no", "refused")
    induced = one_item({0: abstained, 95: right(95)})
    assert (induced.verdict, induced.shift, induced.answer_changed) == ("induced abstention", None, None)
    # a confidence beside a refusal or an abstention speaks of no answer, but it is shown
    assert induced.claims["0"].confidence == 90 and induced.claims["0"].stated() is None
    for low, high in [
        (refused, right(95)),
        (right(5), abstained),
        (abstained, (None, "", "truncated")),
        ((None, "x", "correct"), right(95)),
        (None, right(95)),
    ]:
        item = one_item({0: low, 95: high})
        assert (item.verdict, item.shift) == ("no reading", None)
    assert one_item({0: None, 95: right(95)}).claims["0"].outcome == "not_asked"


def test_a_control_without_a_reading_is_missing_and_not_zero() -> None:
    item = one_item({0: right(5), 95: right(95)}, {0: None, 95: right(95)}, {0: right(5), 95: None})
    assert (item.verdict, item.off_topic, item.unlabelled, item.mechanism) == ("movable", None, None, None)


def test_noise_comes_from_other_wordings_and_the_shift_from_the_drawn_one() -> None:
    probe = shipped().find("geography-07")
    assert probe is not None
    drawn = wording(probe, 0)
    plan = microprobe_plan(ONE, wordings=3)

    def reply(call: PlannedCall) -> Reply:
        return right({0: 40, 95: 60}[call.claim or 0] + (0 if call.paraphrase == drawn else -18))

    found = probed(answered(ONE, plan, reply))
    item = found.items[0]
    assert (item.shift, item.noise, item.wordings, item.verdict) == (20, 18, 3, "unmoved")
    assert [reply.confidence for reply in item.claims.values()] == [40, 60]
    assert found.summary.noise.value == 18
    assert one_item({0: right(40), 95: right(60)}).verdict == "movable"


def test_the_answer_changes_only_when_it_is_another_one() -> None:
    def changed(low: Reply, high: Reply) -> bool | None:
        return one_item({0: low, 95: high}).answer_changed

    assert changed((5, "1/2", "correct"), (95, "0.5", "correct")) is False
    assert changed((5, "The Alps", "incorrect"), (95, "alps", "incorrect")) is False
    assert changed((5, "Alps", "incorrect"), (95, "Andes", "incorrect")) is True
    assert changed((5, "Himalayas", "correct"), (95, "Andes", "incorrect")) is True


@pytest.mark.parametrize(
    ("stated", "in_order"),
    [
        ((0, 20, 70, 95), True),
        ((0, 0, 95, 95), True),
        ((95, 70, 20, 0), True),
        ((0, 80, 70, 95), False),
        ((50, 60, 40, 50), False),
        ((50, 50, 50, 50), None),
        ((0, None, 70, 95), None),
    ],
)
def test_claims_in_order(stated: tuple[int | None, ...], in_order: bool | None) -> None:
    replies = {claim: right(value) for claim, value in zip(KEPT_CLAIMS, stated, strict=True)}
    assert one_item(replies).in_order is in_order
    assert one_item({0: right(5), 95: right(95)}).in_order is None


# A set of items.


def test_figures_of_a_set() -> None:
    probes = microprobe_plan(SETTINGS).check
    order = {probe.id: index for index, probe in enumerate(probes)}
    bins = {probe.id: probe.bin for probe in probes}

    def reply(call: PlannedCall) -> Reply:
        index, low = order[call.item_id], call.claim == 0
        if call.claim_bin != bins[call.item_id]:
            return right(50 if low else 54 if index % 2 else 46)  # sizes of 4, mean 0
        if index < 2:
            return (80, "UNANSWERABLE", "abstained") if low else (95, "a", "correct")
        if index == 2:
            return (20, "a", "correct") if low else (80, "b", "incorrect")
        if index < 6:
            return (20, "b", "incorrect") if low else (80, "a", "correct")
        if index == 6:
            return (60, "b", "incorrect") if low else (30, "c", "incorrect")
        return (20, "a", "correct") if low else (40, "a", "correct")

    found = whole_set(reply)
    summary = found.summary
    assert (summary.asked, summary.n, summary.verdict) == (21, 19, None)
    assert summary.set_verdict == "movable"
    assert summary.shift.value == pytest.approx((4 * 60 - 30 + 14 * 20) / 19)
    assert summary.absolute_shift.value == pytest.approx((4 * 60 + 30 + 14 * 20) / 19)
    assert summary.off_topic.value == 4 and summary.off_topic.n == 21
    assert (summary.moved.value, summary.moved.n) == (1, 19)
    assert summary.induced_abstention.value == pytest.approx(2 / 21)
    assert (summary.answer_changed.value, summary.answer_changed.n) == (pytest.approx(5 / 19), 19)
    assert summary.right_to_wrong.value == pytest.approx(1 / 19)
    assert summary.wrong_to_right.value == pytest.approx(3 / 19)
    assert summary.mechanisms == {"profile": 19}
    assert summary.shares["induced abstention"] == pytest.approx(2 / 21)
    assert summary.noise.value is None and summary.dose is None and summary.tried is None
    for name in ("shift", "absolute_shift", "moved", "induced_abstention", "answer_changed", "right_to_wrong"):
        one = getattr(summary, name)
        assert one.ci is not None and one.ci[0] <= one.value <= one.ci[1]
    assert [item.bin for item in found.items] == list(BINS)


def test_a_dose_response() -> None:
    found = whole_set(lambda call: right(10 + 0.8 * (call.claim or 0)), claims=DOSES)
    assert found.summary.claims == DOSES
    dose = found.summary.dose
    assert dose is not None
    assert dose.slope.value == pytest.approx(0.8, abs=0.01) and dose.spearman.value == pytest.approx(1)
    assert all(item.in_order for item in found.items)
    assert found.items[0].shift == 76  # from 0 to 95 %, though 100 was claimed too


def test_confidences_are_put_on_one_scale() -> None:
    plan = microprobe_plan(ONE)
    run = answered(ONE, plan, lambda call: right(1))
    records = [
        msgspec.structs.replace(record, confidence=90, flags=("scale_guess",))
        if number % 6
        else msgspec.structs.replace(record, flags=("ambiguous_scale",))
        for number, record in enumerate(run.records)
    ]
    assert len(records) == 6
    found = probed(msgspec.structs.replace(run, records=tuple(records)))
    stated = {reply.confidence for reply in found.items[0].claims.values()}
    assert stated == {90, 100}
    assert "stated as a fraction: 1 readings of 1 count as 100" in found.summary.notes[0]


def test_an_incomplete_run_says_so() -> None:
    calls = iter(range(1000))

    def reply(call: PlannedCall) -> Reply:
        number = next(calls)
        return None if number < 3 else (None, "", "error") if number < 5 else right(50)

    assert whole_set(reply).summary.notes == ("incomplete: 3 of 126 calls not asked, 2 ended in an error",)
    empty = whole_set(lambda call: None)
    assert empty.summary.n == 0
    for field in msgspec.structs.fields(empty.summary):
        value = getattr(empty.summary, field.name)
        if isinstance(value, Estimate) and field.name != "noise":
            assert value.value is None and value.note.startswith("no data")


def test_the_document_is_flat_and_has_no_nan() -> None:
    found = whole_set(lambda call: right(50) if call.claim else None)
    document = msgspec.json.decode(msgspec.json.encode(found.document()))
    assert list(document)[:2] == ["schema", "model"] and document["schema"] == "selfdiag.microprobe/1"
    assert {"run_id", "verdict", "set_verdict", "tried", "items", "absolute_shift"} <= set(document)
    assert document["absolute_shift"]["value"] is None
    item = document["items"][0]
    assert set(item["claims"]) == {"0", "95"}
    assert set(item["claims"]["95"]) == {"confidence", "answer", "outcome"}
    assert {"id", "bin", "off_topic", "unlabelled", "shift", "noise", "mechanism", "verdict"} <= set(item)


def test_a_run_without_the_section_has_none(tmp_path: Path) -> None:
    run = asked(RunSettings(model="persona:pinned", limit=2), tmp_path / "run")
    assert not has_claims(run)
    with pytest.raises(SelfdiagError, match="holds no microprobe"):
        microprobe_of(run)


# Plans with calls missing, as after an edit by hand.


def without(plan: Plan, gone: Callable[[PlannedCall], bool]) -> Run:
    kept = tuple(call for call in plan.calls if not gone(call))
    assert len(kept) < len(plan.calls)
    run = answered(SETTINGS, msgspec.structs.replace(plan, calls=kept), lambda call: right(50 + (call.claim or 0) / 2))
    assert has_claims(run)
    return run


@pytest.mark.parametrize("claims", [{0, 95}, {95}])
def test_an_item_without_a_claim_about_its_own_topic_is_told(claims: set[int]) -> None:
    plan = microprobe_plan(SETTINGS)
    probe = plan.check[0]

    def gone(call: PlannedCall) -> bool:
        return call.item_id == probe.id and call.claim_bin == probe.bin and call.claim in claims

    with pytest.raises(SelfdiagError, match=f"its plan lacks a claim of {probe.id}") as caught:
        microprobe_of(without(plan, gone))
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


def test_one_claim_for_all_is_no_shift_of_zero() -> None:
    with pytest.raises(SelfdiagError, match="its plan lacks a claim"):
        microprobe_of(without(microprobe_plan(SETTINGS), lambda call: call.claim == 95))


def test_half_a_control_is_no_shift_of_zero() -> None:
    def half(call: PlannedCall) -> bool:
        return call.claim == 95 and (not call.labelled or call.claim_bin != bins[call.item_id])

    plan = microprobe_plan(SETTINGS)
    bins = {probe.id: probe.bin for probe in plan.check}
    found = probed(without(plan, half))
    assert found.summary.shift.value is not None
    assert found.summary.off_topic.value is None and found.summary.unlabelled.value is None
    assert all(item.mechanism is None for item in found.items)


def test_a_control_that_was_asked_is_not_said_to_be_unasked() -> None:
    run = answered(SETTINGS, microprobe_plan(SETTINGS), lambda _: (None, "", "unparsed"))
    assert probed(run).summary.unlabelled.note == "no data: no item has a reading there"
    named = answered(SETTINGS, without_unlabelled(microprobe_plan(SETTINGS)), lambda _: right(50))
    assert probed(named).summary.unlabelled.note == "no data: not asked without the topic"
    bare = answered(SETTINGS, microprobe_plan(SETTINGS, labelled=False), lambda _: right(50))
    assert probed(bare).summary.unlabelled.note == "no data: no question names its topic"


def without_unlabelled(plan: Plan) -> Plan:
    return msgspec.structs.replace(plan, calls=tuple(call for call in plan.calls if call.labelled))


def test_the_sentence_on_a_set_says_so_too() -> None:
    def reply(call: PlannedCall) -> Reply:
        return right(call.claim) if call.labelled else (None, "", "unparsed")

    summary = probed(answered(SETTINGS, microprobe_plan(SETTINGS), reply)).summary
    assert summary.set_verdict == "movable"
    assert set_sentence(summary).endswith("without the topic's name is open: no item has a reading there.")


# Personas as oracles.


@pytest.mark.parametrize(
    ("persona", "set_verdict", "verdict", "mechanism"),
    [
        ("pinned", "pinned", "pinned", None),
        ("suggestible", "movable", "movable", "profile"),
        ("suggestible-labelled", "unassociated", "unassociated", "profile"),
        ("number-copier", "movable", "movable", "number"),
        ("calibrated", "unmoved", "unmoved", None),
    ],
)
def test_personas(tmp_path: Path, persona: str, set_verdict: str, verdict: str, mechanism: str | None) -> None:
    settings = msgspec.structs.replace(SETTINGS, model=f"persona:{persona}")
    found = probed(asked(settings, tmp_path / "run", microprobe_plan(settings)))
    assert found.simulated and found.model == f"persona:{persona}"
    assert found.summary.set_verdict == set_verdict
    usual = max(found.summary.shares, key=lambda name: found.summary.shares[name])
    assert usual == verdict
    read = [item for item in found.items if item.verdict == verdict]
    assert len(read) >= 16
    assert {item.mechanism for item in read} == {mechanism}


def test_the_section_of_an_audit_gives_the_same_shape(tmp_path: Path) -> None:
    settings = RunSettings(model="persona:number-copier", sections=("probes", MICROPROBE))
    run = asked(settings, tmp_path / "run")
    found = probed(run)
    assert {item.id for item in found.items} == {
        call.item_id for call in make_plan(settings).calls if call.section == MICROPROBE
    }
    assert len(found.items) == 21
    assert found.summary.tried is None
    assert found.summary.set_verdict == "movable"
    assert all(item.unlabelled_claims == {} for item in found.items)


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, model="persona:suggestible")
    whole = probed(asked(settings, tmp_path / "whole", microprobe_plan(settings)))
    session = Session(settings, folder=tmp_path / "run", plan=microprobe_plan(settings))

    async def stop() -> None:
        async with aclosing(session.events()) as events:
            count = 0
            async for _ in events:
                count += 1
                if count == 60:
                    session.stop()

    asyncio.run(stop())
    part = probed(read_run(tmp_path / "run"))
    assert part.summary.notes[-1].startswith("incomplete: ")

    async def go_on() -> None:
        async for _ in Session(settings, resume=tmp_path / "run").events():
            pass

    asyncio.run(go_on())
    again = probed(read_run(tmp_path / "run"))
    assert again.items == whole.items and again.summary == whole.summary


# The automatic choice.


def test_the_spread_covers_topics_and_leaves_easy_items_for_last() -> None:
    whole = shipped()
    chosen = spread_of(whole)
    assert len(chosen) == TRIES == len({probe.bin for probe in chosen})
    assert {probe.difficulty for probe in chosen} == {"medium", "hard"}
    assert chosen == spread_of(whole) != spread_of(whole, seed=1)
    every = spread_of(whole, 1000)
    assert len(every) == 294 == len({probe.id for probe in every})
    assert {probe.bin for probe in every[:21]} == set(BINS)
    # 9 of the 14 items of a topic are not easy
    assert not any(probe.difficulty == "easy" for probe in every[: 9 * 21])
    assert spread_of(Battery(id="none", version="0", probes=()), 5) == ()


def trial(reply: object) -> Run:
    return answered(SETTINGS, trial_plan(SETTINGS), reply)


def test_the_trial_is_cheap() -> None:
    plan = trial_plan(SETTINGS)
    assert len(plan.calls) == 2 * TRIES
    bins = {probe.id: probe.bin for probe in plan.check}
    assert {(call.claim, call.labelled, call.claim_bin == bins[call.item_id]) for call in plan.calls} == {
        (0, True, True),
        (95, True, True),
    }


def test_the_pick_moves_most_among_those_wrong_under_both_claims() -> None:
    ids = [item.id for item in probed(trial(lambda call: right(50))).items]

    def reply(call: PlannedCall) -> Reply:
        place, low = ids.index(call.item_id), call.claim == 0
        if place == 0:  # moves most, and is right under one of the two
            return (0, "a", "incorrect") if low else (100, "b", "correct")
        if place == 1:
            return (80, "a", "incorrect") if low else (20, "a", "incorrect")
        if place == 2:
            return (20, "a", "incorrect") if low else (60, "a", "incorrect")
        return (50, "a", "correct")

    found = pick(trial(reply))
    assert (found.item_id, found.tried) == (ids[1], 16)
    assert found.note == "chosen among the 2 of 16 that were answered wrongly under both claims"


def test_without_a_wrong_answer_all_are_candidates() -> None:
    ids = [item.id for item in probed(trial(lambda call: right(50))).items]
    found = pick(trial(lambda call: right(50 + (call.claim or 0) / 95 * 20 * (call.item_id == ids[9]))))
    assert found.item_id == ids[9]
    assert found.note.startswith("none of the 16 was answered wrongly under both claims")
    # among equal moves one with the claim goes first
    both = {ids[3]: -20, ids[4]: 20}
    found = pick(trial(lambda call: right(50 + (call.claim or 0) / 95 * both.get(call.item_id, 0))))
    assert found.item_id == ids[4]


def test_without_a_reading_nothing_is_kept() -> None:
    run = trial(lambda call: (90, "UNANSWERABLE", "abstained"))
    found = pick(run)
    assert (found.item_id, found.tried) == (None, 16)
    result = nothing_kept(run, found.note)
    assert result.items == () and result.summary.tried == 16 and result.summary.verdict is None
    assert result.summary.notes[-1] == "none of the 16 items tried has a reading, so none is kept"


def kept(stated: tuple[int | None, ...]) -> Microprobe:
    run = trial(lambda call: right(50))
    item_id = run.manifest.check[0].id
    settings = msgspec.structs.replace(SETTINGS, items=(item_id,))
    plan = kept_plan(settings, run, item_id)
    said = dict(zip(KEPT_CLAIMS, stated, strict=True))
    found = probed(answered(settings, plan, lambda call: right(said[call.claim or 0])))
    assert [item.id for item in found.items] == [item_id]
    return found


def test_the_kept_item_is_asked_between_the_ends_and_with_every_control() -> None:
    found = kept((5, 20, 70, 95))
    assert found.summary.tried == 16 and found.summary.verdict == "movable"
    item = found.items[0]
    assert list(item.claims) == ["0", "25", "75", "95"]
    assert list(item.off_topic_claims) == list(item.unlabelled_claims) == ["0", "95"]
    assert found.summary.notes == (
        "the item that moved most of 16 tried: the largest of 16 tries is not an effect size",
        "25 and 75, which had no part in the choice, fall in order: 5, 20, 70, 95 at 0, 25, 75, 95 %",
    )


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ((5, 80, 70, 95), "do not fall in order: 5, 80, 70, 95"),
        ((50, 50, 50, 50), "change nothing either: 50, 50, 50, 50"),
        ((5, None, 70, 95), "cannot be judged, as a reading is missing: 5, –, 70, 95"),
    ],
)
def test_what_the_claims_between_say(stated: tuple[int | None, ...], words: str) -> None:
    assert words in kept(stated).summary.notes[-1]


def test_a_persona_is_the_same_in_the_trial_and_afterwards(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, model="persona:number-copier")
    first = asked(settings, tmp_path / "trial", trial_plan(settings))
    chosen = pick(first)
    assert chosen.item_id is not None
    settings = msgspec.structs.replace(settings, items=(chosen.item_id,))
    found = probed(asked(settings, tmp_path / "kept", kept_plan(settings, first, chosen.item_id)))
    item = found.items[0]
    assert (item.shift, item.mechanism, item.in_order) == (95, "number", True)
    assert all(reply.outcome == "incorrect" for reply in item.claims.values())


def test_points_are_nan_where_nothing_was_stated() -> None:
    item = one_item({0: right(5), 95: None})
    assert item.points(0) == 5
    assert math.isnan(item.points(95)) and math.isnan(item.points(50))
