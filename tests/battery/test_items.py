"""A battery's fingerprint: the same for the same content, another for any other."""

import msgspec
import pytest

from selfdiag.battery.items import BINS, GROUPS, Battery, Probe, Trap

FIRST = Probe(
    id="sum",
    bin="arithmetic",
    difficulty="easy",
    kind="number",
    answer="4",
    questions=("What is 2 + 2? Answer as a number.", "Wie viel ist 2 + 2? Antworte als Zahl, à la française."),
    derivation="2 + 2",
)
SECOND = Probe(
    id="capital",
    bin="geography",
    difficulty="hard",
    kind="choice",
    answer="Paris",
    options=("Paris", "Lyon"),
    questions=("Which city is the capital of France?",),
    source="an atlas",
)
TRAP = Trap(id="king", bin="history", family="no_such_entity", questions=("Who is king of Mars?",), note="Nobody is.")
TINY = Battery(id="tiny", version="1.0", probes=(FIRST, SECOND), traps=(TRAP,))


def test_sha256_of_a_tiny_battery_is_pinned() -> None:
    # runs name the battery they asked by this value: when it changes, old runs can no longer be resumed
    assert TINY.sha256() == "6a7084f15bc0100a64e9f6b287b9e93017c67db35eabe7e1599e5b4b6254877f"


def test_sha256_does_not_depend_on_the_order_of_items() -> None:
    turned = Battery(id="tiny", version="1.0", probes=(SECOND, FIRST), traps=(TRAP,))
    assert turned.sha256() == TINY.sha256()


def test_sha256_depends_on_the_order_of_wordings() -> None:
    turned = msgspec.structs.replace(FIRST, questions=FIRST.questions[::-1])
    assert msgspec.structs.replace(TINY, probes=(turned, SECOND)).sha256() != TINY.sha256()


CHANGES = {
    "id": "other",
    "bin": "logic",
    "difficulty": "medium",
    "kind": "text",
    "answer": "5",
    "questions": ("Another?",),
    "aliases": ("four",),
    "options": ("4", "5"),
    "unit": "m",
    "convert": True,
    "tolerance": 0.5,
    "relative_tolerance": 0.5,
    "derivation": "4",
    "source": "a book",
    "misconception": "22",
    "family": "contradiction",
    "note": "Another.",
}


@pytest.mark.parametrize("field", Probe.__struct_fields__)
def test_sha256_changes_with_every_field_of_a_probe(field: str) -> None:
    changed = msgspec.structs.replace(FIRST, **{field: CHANGES[field]})
    assert msgspec.structs.replace(TINY, probes=(changed, SECOND)).sha256() != TINY.sha256()


@pytest.mark.parametrize("field", Trap.__struct_fields__)
def test_sha256_changes_with_every_field_of_a_trap(field: str) -> None:
    changed = msgspec.structs.replace(TRAP, **{field: CHANGES[field]})
    assert msgspec.structs.replace(TINY, traps=(changed,)).sha256() != TINY.sha256()


@pytest.mark.parametrize("change", [{"id": "x"}, {"version": "1.1"}, {"traps": ()}, {"probes": (FIRST,)}])
def test_sha256_changes_with_the_battery(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(TINY, **change).sha256() != TINY.sha256()


def test_items_are_probes_then_traps_and_found_by_id() -> None:
    assert TINY.items() == (FIRST, SECOND, TRAP)
    assert TINY.find("king") is TRAP
    assert TINY.find("capital") is SECOND
    assert TINY.find("nobody") is None


def test_bins_come_in_the_shipped_order_and_others_by_name() -> None:
    strange = [msgspec.structs.replace(FIRST, id=name, bin=name) for name in ("zoology", "computing", "botany")]
    battery = msgspec.structs.replace(TINY, probes=(SECOND, *strange, FIRST))
    assert battery.bins() == ("arithmetic", "history", "geography", "computing", "botany", "zoology")


def test_there_are_21_bins_in_5_groups() -> None:
    assert len(set(BINS)) == 21
    assert len(GROUPS) == 5
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(BINS)
    assert (GROUPS["calculation"][-1], GROUPS["chance and counting"][-1]) == ("number_theory", "statistics")
    assert (GROUPS["structure"][-1], GROUPS["sciences"][-1]) == ("code_reading", "earth_space")
