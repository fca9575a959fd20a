"""Generated batteries: determinism, strata, wording, derivations."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from seeded import first_made

from selfdiag.battery import generators
from selfdiag.battery.derivation import derive
from selfdiag.battery.generators import DIFFICULTY_LEVELS, TEMPLATES, fresh
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.wording import counted, linear_form, listed, ordinal, polynomial
from selfdiag.battery.items import BINS, PARAPHRASES, Battery, Difficulty, Probe, Trap

STRATA: dict[Difficulty, int] = {"easy": 5, "medium": 5, "hard": 4}

PINNED = {
    (0, None): "4468ac10aeaf9211b946548004a1e02ca40c50d5d2a40de6dfbb797071998463",
    (1, None): "9a5f247e9b1469fb0a77b99d82b426e27c4f33dcb1c4a2a275eb13d3dbf7db26",
    (20260701, None): "626f49c49e619479689dbe479b17532ce4fed7d78675b75eebcf1f3436fe8913",
    (0, 1): "0e08dff4fcd2f2aa8a547a206555e4f342f24f1029725790aed38786adc6061a",
    (0, 6): "c0283e172abd307fb2a754fa0cfadc2b672558f9c98227cc6e8f708b62dceb18",
}


def stored_probe(bin_name: str, difficulty: Difficulty, number: int) -> Probe:
    name = f"{bin_name} {difficulty} {number}"
    questions = (f"What is {name}?", f"Say {name}.", f"Name {name}.")
    return Probe(
        id=f"{bin_name}-{difficulty}-{number}",
        bin=bin_name,
        difficulty=difficulty,
        kind="text",
        answer="stored",
        questions=questions,
        source="A work",
    )


STORED = Battery(
    id="stored",
    version="1",
    probes=tuple(
        stored_probe(name, difficulty, number)
        for name in BINS
        for difficulty, count in STRATA.items()
        for number in range(count)
    ),
    traps=tuple(
        Trap(id=f"{name}-t{k}", bin=name, family="unknowable", questions=("?", "??", "???"), note="n")
        for name in BINS
        for k in (1, 2)
    ),
)


@pytest.mark.parametrize(("seed", "hardness"), PINNED)
def test_the_same_seed_gives_the_same_bytes_everywhere(seed: int, hardness: int | None) -> None:
    assert fresh(STORED, seed, hardness=hardness).sha256() == PINNED[seed, hardness]


def test_every_computable_bin_has_templates_at_every_level() -> None:
    named = "arithmetic algebra geometry number_theory combinatorics probability statistics linear_algebra "
    assert set(TEMPLATES) == {*named.split(), "sequences", "logic", "code_reading"}
    for name, templates in TEMPLATES.items():
        assert len({template.name for template in templates}) == len(templates)
        levels = Counter(level for template in templates for level in template.levels)
        assert set(levels) == set(range(1, 7)), name
        assert min(levels.values()) >= 3, name
        for difficulty, count in STRATA.items():
            able = [t for t in templates if set(t.levels) & set(DIFFICULTY_LEVELS[difficulty])]
            assert len(able) >= count, (name, difficulty)


@pytest.mark.parametrize("seed", [0, 7, 123456789])
def test_fresh_keeps_strata_factual_bins_and_traps(seed: int) -> None:
    made = fresh(STORED, seed)
    assert (made.id, made.version, made.traps) == (f"stored-fresh-{seed}", "1", STORED.traps)
    assert Counter((p.bin, p.difficulty) for p in made.probes) == Counter((p.bin, p.difficulty) for p in STORED.probes)
    for old, new in zip(STORED.probes, made.probes, strict=True):
        assert (new.bin, new.difficulty) == (old.bin, old.difficulty)
        if old.bin not in TEMPLATES:
            assert new is old
            continue
        shape = rf"fresh-{old.bin.replace('_', '-')}-([1-6])-[a-z-]+-[1-9]\d*"
        match = re.fullmatch(shape, new.id)
        assert match, new.id
        assert int(match[1]) in DIFFICULTY_LEVELS[new.difficulty]
        assert len(new.questions) == PARAPHRASES
    easy = Counter(probe.id.split("-")[2] for probe in made.probes if probe.id.startswith("fresh-logic-"))
    assert max(easy["1"], easy["2"]) - min(easy["1"], easy["2"]) == 1


def test_a_template_comes_again_only_when_all_have_been_used() -> None:
    made = fresh(STORED, 3)
    for name in TEMPLATES:
        for difficulty in STRATA:
            ids = [probe.id for probe in made.probes if (probe.bin, probe.difficulty) == (name, difficulty)]
            names = [re.sub(r".*?[1-6]-(.*)-\d+$", r"\1", probe_id) for probe_id in ids]
            assert len(set(names)) == len(names), (name, difficulty, names)


@pytest.mark.parametrize("hardness", range(1, 7))
def test_hardness_draws_one_level_and_leaves_factual_bins_out(hardness: int) -> None:
    made = fresh(STORED, 5, hardness=hardness)
    assert made.id == f"stored-fresh-5-h{hardness}"
    assert made.bins() == tuple(name for name in BINS if name in TEMPLATES)
    assert {trap.bin for trap in made.traps} == set(TEMPLATES)
    assert len(made.probes) == 14 * len(TEMPLATES)
    level = {int(re.sub(r"\D*(\d).*", r"\1", probe.id)) for probe in made.probes}
    assert level == {hardness}
    assert {probe.difficulty for probe in made.probes} == {("easy", "medium", "hard")[min(2, (hardness - 1) // 2)]}


@pytest.mark.parametrize("seed", range(4))
def test_no_question_and_no_id_comes_twice(seed: int) -> None:
    for hardness in (None, 1, 5):
        probes = fresh(STORED, seed, hardness=hardness).probes
        questions = Counter(question for probe in probes for question in probe.questions)
        assert max(questions.values()) == 1
        assert max(Counter(probe.id for probe in probes).values()) == 1


def test_seeds_differ() -> None:
    first, second = (
        {probe.questions for probe in fresh(STORED, seed).probes if probe.bin in TEMPLATES} for seed in (1, 2)
    )
    assert len(first & second) <= len(first) // 20


def test_impossible_wishes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no level 7"):
        fresh(STORED, 0, hardness=7)
    few = tuple(template for template in TEMPLATES["probability"] if template.name == "heads")
    monkeypatch.setitem(TEMPLATES, "probability", few)
    many = tuple(stored_probe("probability", "easy", number) for number in range(100))
    with pytest.raises(ValueError, match="different probes can be made for probability"):
        fresh(Battery(id="many", version="1", probes=many), 0)


@pytest.mark.parametrize("bin_name", TEMPLATES)
def test_derivations_give_the_answer_to_the_character(bin_name: str) -> None:
    for template in TEMPLATES[bin_name]:
        for seed in range(max(3, len(template.levels))):
            level = template.levels[seed % len(template.levels)]
            made = first_made(bin_name, template, level, seed)
            assert derive(made.derivation) == made.answer, made.questions[0]


@pytest.mark.parametrize("bin_name", TEMPLATES)
def test_wordings_are_sound(bin_name: str) -> None:
    for template in TEMPLATES[bin_name]:
        for level in template.levels:
            for seed in range(5):
                made = first_made(bin_name, template, level, seed)
                folded = [" ".join(re.findall(r"\w+", question.casefold())) for question in made.questions]
                assert len(set(folded)) == PARAPHRASES
                assert "\n" not in made.answer
                assert made.answer.strip() == made.answer != ""
                assert (made.kind == "choice") == bool(made.options)
                if made.kind == "choice":
                    assert made.answer in made.options
                for question in made.questions:
                    prose = question.partition("\n\n")[0]
                    assert prose[-1] in ".?"
                    assert not re.search(r"  | [,;?]| \.(?!\.)|\( | \)|\+ -|- -|\b1[xyzwuv]\b", prose), prose
                    # 1 takes the singular; "is", "counts" and a few others are verbs
                    assert not re.search(r"(?<![-\d./^=] )\b1 (?:\w+[^s\W]s|people)\b(?<!is)(?<!counts)", prose), prose
                    if made.kind == "number" and "fraction" not in prose:
                        assert re.search(r"number|digits", prose), prose
                    if "/" in made.answer:
                        assert "fraction in lowest terms" in prose


def test_no_small_question_holds_its_own_answer() -> None:
    for probe in fresh(STORED, 11).probes:
        if probe.bin in TEMPLATES and probe.kind not in {"choice", "set"}:
            for question in probe.questions:
                stated = re.findall(r"-?\d+(?:/\d+)?|\w+", question)
                if len(re.findall(r"\d+", question)) <= 12:
                    assert probe.answer not in stated, question


def test_templates_need_the_standard_library_alone() -> None:
    folder = Path(generators.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                own = name.startswith("selfdiag.battery.generators")
                items = path.name == "__init__.py" and name == "selfdiag.battery.items"
                assert own or items or name.partition(".")[0] in sys.stdlib_module_names, (path.name, name)
                assert name.partition(".")[0] != "random"


def test_a_source_is_a_pure_function_of_its_seed() -> None:
    source = Source("pinned", 1)
    assert source.integers(8, 0, 99) == [25, 44, 4, 98, 30, 80, 2, 56]
    assert source.sample("abcdefgh", 3) == ["a", "g", "d"]
    assert source.integer(-(10**30), 10**30) == 298037015949793984047672627903
    assert Source("pinned", 1).integer(0, 10**9) != Source("pinned", 2).integer(0, 10**9)
    assert Source("a", "b").integer(0, 10**9) != Source("ab").integer(0, 10**9)


def test_a_source_is_uniform_and_shuffles_fairly() -> None:
    source = Source("uniform")
    counts = Counter(source.integers(6000, 1, 6))
    assert set(counts) == set(range(1, 7))
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 25
    orders = Counter(tuple(source.shuffled("abc")) for _ in range(1200))
    assert len(orders) == 6
    assert sum((n - 200) ** 2 / 200 for n in orders.values()) < 25
    assert {source.signed(2, 3) for _ in range(100)} == {-3, -2, 2, 3}


def test_numbers_stand_in_sentences_as_people_write_them() -> None:
    assert [listed([1]), listed("ab"), listed("abc")] == ["1", "a and b", "a, b and c"]
    assert [counted(1, "digit"), counted(2, "digit")] == ["1 digit", "2 digits"]
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13)] == ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th"]
    assert [ordinal(n) for n in (21, 112, 123)] == ["21st", "112th", "123rd"]
    assert polynomial([1, -1, 0, 5]) == "x^3 - x^2 + 5"
    assert polynomial([-2, 3]) == "-2x + 3"
    assert polynomial([0]) == "0"
    assert linear_form((1, -1, 0), ("x", "y", "z")) == "x - y"
