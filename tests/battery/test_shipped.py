"""The shipped battery is what it says it is."""

from collections import Counter

from selfdiag.battery.items import BINS, FAMILIES, PARAPHRASES
from selfdiag.battery.load import shipped


def test_twenty_one_bins_of_fourteen_probes_and_two_traps() -> None:
    battery = shipped()
    assert Counter(probe.bin for probe in battery.probes) == dict.fromkeys(BINS, 14)
    levels = Counter((probe.bin, probe.difficulty) for probe in battery.probes)
    for name in BINS:
        assert [levels[name, level] for level in ("easy", "medium", "hard")] == [5, 5, 4]
    assert Counter(trap.bin for trap in battery.traps) == dict.fromkeys(BINS, 2)


def test_every_family_has_six_traps_or_more_and_a_bin_two_different_ones() -> None:
    battery = shipped()
    families = Counter(trap.family for trap in battery.traps)
    assert set(families) == set(FAMILIES)
    assert min(families.values()) >= 6
    for name in BINS:
        assert len({trap.family for trap in battery.traps if trap.bin == name}) == 2


def test_wordings_misconceptions_and_reasons() -> None:
    battery = shipped()
    assert all(len(item.questions) == PARAPHRASES for item in battery.items())
    assert sum(bool(probe.misconception) for probe in battery.probes) >= 12
    assert all(probe.derivation or probe.source for probe in battery.probes)


def test_the_grader_accepts_every_key_and_alias_and_no_misconception() -> None:
    from selfdiag.elicit.grading import grade
    from selfdiag.elicit.reading import Reading

    for probe in shipped().probes:
        for answer in (probe.answer, *probe.aliases):
            found = grade(probe, Reading(answer=answer, parse="strict"))
            assert found.outcome == "correct", (probe.id, answer, found)
        if probe.misconception:
            found = grade(probe, Reading(answer=probe.misconception, parse="strict"))
            assert found.outcome == "incorrect", (probe.id, probe.misconception, found)


def test_every_trap_is_spotted_by_the_token_alone() -> None:
    from selfdiag.elicit.grading import grade
    from selfdiag.elicit.reading import Reading

    for trap in shipped().traps:
        assert grade(trap, Reading(answer="UNANSWERABLE", parse="strict")).outcome == "abstained"
        assert grade(trap, Reading(answer="7", parse="strict")).outcome == "incorrect"
