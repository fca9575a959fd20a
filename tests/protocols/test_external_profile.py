"""What counts for and against a model on each criterion."""

import json

import msgspec
import pytest
from assessed_runs import Reply, on_day, written

from selfdiag.battery.self_assessment import self_assessment
from selfdiag.elicit.citations import LookedUp
from selfdiag.measure.external import Criterion
from selfdiag.protocols.external_profile import ExternalProfile, Kind, external_profile_of
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import MEASURED_SECTIONS, TASKS, PlannedCall, RunSettings

EVERY = self_assessment()
FACTS = {fact.id: fact for fact in EVERY.facts}
FORMS = {task.id: task for task in EVERY.formal}
SOURCES = {task.id for task in EVERY.sources}
INVENTED = {task.id for task in EVERY.invented}
CITATIONS = {task.id for task in EVERY.citations}
TERMS = {task.id for task in EVERY.terms}


def in_turn(section: str, outcomes: dict[str, int], *, among: set[str] | None = None) -> dict[str, str]:
    """Give the calls of a section, or those ``among`` them, so many of each outcome, the rest ``correct``."""
    calls = make_plan(RunSettings(model="openai:written", sections=(*MEASURED_SECTIONS, TASKS), tasks=40)).calls
    ids = [call.item_id for call in calls if call.section == section and (among is None or call.item_id in among)]
    words = [outcome for outcome, number in outcomes.items() for _ in range(number)]
    assert len(words) <= len(ids)
    return dict(zip(ids, words, strict=False))


def profile(outcomes: dict[str, str], **settings: object) -> ExternalProfile:
    return external_profile_of(written(graded(outcomes), **settings), draws=200)


def graded(outcomes: dict[str, str]) -> Reply:
    def reply(call: PlannedCall) -> dict[str, object] | None:
        outcome = outcomes.get(call.item_id, "abstained" if call.section == "traps" else "correct")
        if outcome == "not asked":
            return None
        if call.item_id in FORMS:
            return {"outcome": outcome, "value": 1.0 if outcome == "correct" else None}
        if call.item_id in CITATIONS:
            return {"outcome": "abstained"}
        if call.item_id in INVENTED:
            outcome = outcomes.get(call.item_id, "abstained")
        return {"outcome": outcome}

    return reply


def kinds(found: ExternalProfile, name: str) -> dict[str, Kind]:
    return {kind.kind: kind for kind in found.kinds[name]}


def value(found: Criterion) -> float:
    assert found.value is not None, found.note
    return found.value


def test_wrong_answers_and_answered_traps_count_against_x1_and_abstaining_does_not() -> None:
    outcomes = in_turn("probes", {"incorrect": 6, "abstained": 4, "refused": 2})
    outcomes |= in_turn("traps", {"incorrect": 8, "refused": 3})
    x1 = profile(outcomes).criteria["x1"]
    assert (x1.numerator, x1.denominator, x1.n) == (63 - 14, 63, 63)
    assert value(x1) == pytest.approx(1 - 14 / 63)
    assert x1.ci is not None and x1.ci[0] < value(x1) < x1.ci[1]
    assert x1.note == ""


def test_who_abstains_from_everything_shows_no_hallucination_control() -> None:
    x1 = profile(in_turn("probes", {"abstained": 42})).criteria["x1"]
    assert x1.value is None
    assert "21 of 63 attempted" in x1.note


def test_a_spotted_trap_is_settled_as_an_answered_probe_is() -> None:
    modest = profile(in_turn("probes", {"abstained": 30})).criteria["x1"]
    assert value(modest) == 1.0


def test_unusable_replies_are_left_out_of_x1_and_told() -> None:
    outcomes = in_turn("probes", {"incorrect": 1, "truncated": 3, "error": 2, "unparsed": 1, "not asked": 1})
    found = profile(outcomes)
    x1 = found.criteria["x1"]
    assert (x1.numerator, x1.denominator) == (55, 56)
    assert x1.note == "left out: 3 truncated, 2 error, 1 unparsed, 1 not asked"
    assert kinds(found, "x1")["probes"] == Kind(kind="probes", right=34, wrong=1, silent=0, left_out=7)


def test_other_wordings_of_an_item_are_not_counted_as_independent_answers() -> None:
    x1 = profile({}, paraphrase="all").criteria["x1"]
    assert x1.n == 63


def knows_until(year: int) -> dict[str, str]:
    return {fact.id: "correct" if fact.year <= year else "abstained" for fact in EVERY.facts}


def test_knowledge_ends_where_facts_are_known_no_more() -> None:
    found = profile(knows_until(2022))
    x2, horizon = found.criteria["x2"], found.horizon
    assert horizon is not None and horizon.value is not None
    assert 2022.5 < horizon.value < 2024
    assert value(x2) == pytest.approx(max(0, 1 - (2026 + 10 / 12 + 29 / 372 - horizon.value) / 5))
    assert (x2.denominator, x2.n) == (5, 40)


def test_ages_count_from_the_day_of_the_run() -> None:
    run = written(graded(knows_until(2024)))
    today = external_profile_of(run, draws=200).criteria["x2"]
    later = external_profile_of(on_day(run, "2028-11-30T12:00:00Z"), draws=200).criteria["x2"]
    assert value(today) - value(later) == pytest.approx(0.4)
    longer = external_profile_of(run, years=10, draws=200).criteria["x2"]
    assert 1 - value(longer) == pytest.approx((1 - value(today)) / 2)


def test_facts_after_the_day_of_the_run_are_left_out() -> None:
    run = written(graded(knows_until(2020)), day="2023-12-24T00:00:00Z")
    x2 = external_profile_of(run, draws=200).criteria["x2"]
    later = sum((fact.year, fact.month) > (2023, 12) for fact in run.manifest.assessed.facts)
    assert later > 0
    assert f"{later} after the day of the run" in x2.note
    assert x2.n == 40 - later


def test_a_refused_fact_is_not_known_and_a_cut_reply_is_neither() -> None:
    late = [fact for fact in EVERY.facts if fact.year > 2022]
    outcomes = knows_until(2022) | {fact.id: "refused" for fact in late}
    assert profile(outcomes).horizon.value == profile(knows_until(2022)).horizon.value
    cut = profile({fact.id: "truncated" for fact in late}).criteria["x2"]
    assert cut.n < 40
    assert "truncated" in cut.note


def test_formal_elements_are_counted_not_tasks() -> None:
    run = written(graded({}))
    chosen = [FORMS[task.id] for task in run.manifest.assessed.formal]
    half, cut, silent = chosen[0], chosen[1], chosen[2]
    fields = {
        half.id: {"value": 0.5, "outcome": "incorrect"},
        cut.id: {"value": None, "outcome": "truncated"},
        silent.id: {"value": None, "outcome": "empty"},
    }

    def reply(call: PlannedCall) -> dict[str, object] | None:
        return fields.get(call.item_id) or graded({})(call)

    x3 = external_profile_of(written(reply), draws=200).criteria["x3"]
    expected = sum(task.elements for task in chosen) - cut.elements
    assert x3.denominator == expected
    assert x3.numerator == expected - silent.elements - (half.elements - round(0.5 * half.elements))
    assert x3.note == f"left out: {cut.elements} truncated"
    whole = [(task.elements, task.elements) for task in chosen[3:]]
    assert x3.replies == ((round(0.5 * half.elements), half.elements), (0, silent.elements), *whole)
    assert x3.method == "BCa bootstrap, 200 draws of 14 replies, seed 20260101"


def test_formal_elements_of_few_replies_say_nothing() -> None:
    tasks = [task.id for task in written(graded({})).manifest.assessed.formal]
    assert len(tasks) == 15
    enough = profile(dict.fromkeys(tasks[:3], "truncated")).criteria["x3"]
    assert value(enough) == 1
    x3 = profile(dict.fromkeys(tasks[:4], "truncated")).criteria["x3"]
    assert x3.value is None and x3.n > 60
    assert x3.note.startswith("cannot say: only 11 of 12 replies; left out: ")


def test_years_are_those_of_the_run_unless_said_otherwise() -> None:
    ten = written(graded(knows_until(2022)), years=10.0)
    assert external_profile_of(ten, draws=200).criteria["x2"].denominator == 10
    assert external_profile_of(ten, years=5, draws=200).criteria["x2"].denominator == 5


def test_sources_are_verified_contradicted_or_unknown() -> None:
    outcomes = in_turn(TASKS, {"incorrect": 5, "abstained": 3, "refused": 1}, among=SOURCES)
    outcomes |= in_turn(TASKS, {"incorrect": 2, "refused": 1}, among=INVENTED)
    run = written(graded(outcomes))
    closed = len(run.manifest.assessed.sources) + len(run.manifest.assessed.invented)
    x4 = external_profile_of(run, draws=200).criteria["x4"]
    cited = len(run.manifest.assessed.citations)
    assert x4.denominator == closed - 5
    assert x4.numerator == closed - 5 - 7
    assert x4.note == f"{5 + cited} unknown beside these"


def test_x4_is_missing_when_most_sources_stay_unknown() -> None:
    x4 = profile(dict.fromkeys(SOURCES | INVENTED, "refused")).criteria["x4"]
    assert x4.value is None
    assert "unknown" in x4.note


def citing(**citation: object) -> Reply:
    def reply(call: PlannedCall) -> dict[str, object] | None:
        if call.item_id in CITATIONS:
            return {"outcome": "answered", "raw": json.dumps(citation)}
        return graded({})(call)

    return reply


def test_a_citation_is_judged_by_the_table_of_works() -> None:
    title = "Disquisitiones Arithmeticae"
    right = external_profile_of(written(citing(title=title, author="Gauss", year=1801)), draws=200)
    wrong = external_profile_of(written(citing(title=title, author="Jane Doe", year=1801)), draws=200)
    assert right.cited is not None and wrong.cited is not None
    assert (right.cited.contradicted, wrong.cited.verified) == (0, 0)
    number = right.cited.verified
    assert number == wrong.cited.contradicted > 3
    assert right.cited.mean_age == 2026 - 1801
    assert value(right.criteria["x4"]) == 1
    assert value(wrong.criteria["x4"]) == pytest.approx(1 - number / 40)
    assert all(one.title == title for one in wrong.cited.refuted)
    assert right.cited.currency.value is None  # too few, and the age of so old a work says nothing


def test_what_a_resolver_said_counts_and_is_read_from_the_run() -> None:
    run = written(citing(title="A Book Nobody Knows", author="Ann Other", year=1999, doi="10.1000/182"))
    before = external_profile_of(run, draws=200)
    assert before.cited is not None and before.cited.contradicted == 0
    manifest = msgspec.structs.replace(run.manifest, looked_up={"10.1000/182": LookedUp(exists=False)})
    after = external_profile_of(msgspec.structs.replace(run, manifest=manifest), draws=200)
    assert after.cited is not None
    assert (after.cited.contradicted, after.cited.unknown, after.cited.looked_up) == (before.cited.unknown, 0, 1)
    assert value(after.criteria["x4"]) < value(before.criteria["x4"])


def test_citations_that_cannot_be_read_are_left_out() -> None:
    outcomes = dict.fromkeys(CITATIONS, "truncated")

    def reply(call: PlannedCall) -> dict[str, object] | None:
        return {"outcome": outcomes[call.item_id]} if call.item_id in outcomes else graded({})(call)

    found = external_profile_of(written(reply), draws=200)
    assert found.cited is not None and found.cited.unknown == 0
    assert kinds(found, "x4")["cited"].left_out > 3
    assert "truncated" in found.criteria["x4"].note


def test_terms_are_right_of_those_asked() -> None:
    x5 = profile(in_turn(TASKS, {"incorrect": 7, "abstained": 3, "refused": 1, "empty": 2}, among=TERMS)).criteria["x5"]
    assert (x5.numerator, x5.denominator) == (40 - 13, 38)
    assert x5.note == "4 of them without an answer; left out: 2 empty"


def test_what_was_not_asked_is_missing_and_never_zero() -> None:
    found = external_profile_of(written(graded({}), sections=MEASURED_SECTIONS), draws=200)
    assert value(found.criteria["x1"]) == 1
    for name in ("x2", "x3", "x4", "x5"):
        assert (found.criteria[name].value, found.criteria[name].note) == (None, "not asked")
    assert found.horizon is None and found.cited is None


def test_few_elements_say_nothing_and_keep_their_counts() -> None:
    x5 = profile({}, tasks=24).criteria["x5"]
    assert (x5.value, x5.numerator, x5.denominator) == (None, 24, 24)
    assert "only 24 of 25" in x5.note
