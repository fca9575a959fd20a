"""Panels of runs: which probes they share, which answers are the same, and what their agreement says."""

import asyncio
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from selfdiag.battery.items import Probe
from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.panel import panel_of
from selfdiag.protocols.panel_answers import given_answer
from selfdiag.protocols.panel_result import CANONICAL, LENIENT, STRICT, PanelResult, same_answer
from selfdiag.runs.records import Fault, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

Said = tuple[str, str | None, int | None]
"""Outcome, answer and confidence of a reply."""

R, W, BLUE = "correct", "incorrect", "blue cat"
SAID: list[list[Said]] = [
    [
        (R, "Red lion", 90),
        (R, "Red lion", 80),
        (W, BLUE, 70),
        (R, "crimson lion", 60),
        (W, BLUE, 95),
        (R, "red lion", 40),
    ],
    [
        (R, "red lion", 80),
        (R, "red lion.", 60),
        (W, BLUE, 50),
        (R, "red lion", 70),
        (R, "red lion", 90),
        (W, "an owl", 80),
    ],
    [
        (R, "RED LION", 70),
        (W, BLUE, 90),
        (W, "Blue Cat", 60),
        (W, "green lion", 50),
        ("abstained", "UNANSWERABLE", 10),
        (R, "The red lion", 30),
    ],
]
"""Three models on six probes with the key 'red lion' and the alias 'crimson lion'."""


def asked(folder: Path, persona: str, **chosen: object) -> Run:
    async def events() -> None:
        async for _ in Session(RunSettings(model=f"persona:{persona}", **chosen), folder=folder).events():
            pass

    asyncio.run(events())
    return read_run(folder)


def battery(path: Path, **changed: dict[str, object]) -> str:
    rows: list[dict[str, object]] = [{"id": "own", "version": "1"}]
    rows += [
        {
            "id": f"p{number}",
            "bin": "animals",
            "difficulty": "easy",
            "kind": "text",
            "answer": "red lion",
            "aliases": ["crimson lion"],
            "questions": [f"Which animal is on sign {number}? In two words.", f"Name the animal of sign {number}."],
            "source": "the signs",
        }
        for number in range(1, 7)
    ]
    rows.append(
        {
            "id": "t1",
            "bin": "animals",
            "family": "unknowable",
            "questions": ["What does it think?"],
            "note": "nobody knows",
        }
    )
    rows = [row | changed.get(str(row["id"]), {}) for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def renamed(run: Run, name: str, **model: str) -> Run:
    info = msgspec.structs.replace(run.manifest.model, **{"name": name, **model})
    return msgspec.structs.replace(
        run, manifest=msgspec.structs.replace(run.manifest, model=info, run_id=f"run-{name}")
    )


def saying(run: Run, name: str, said: list[Said]) -> Run:
    """Return the run as another model that replies so to the probes p1, p2 and so on."""
    records = []
    for record in run.records:
        if not record.trap:
            outcome, answer, confidence = said[int(record.item_id[1:]) - 1]
            record = msgspec.structs.replace(record, outcome=outcome, answer=answer, confidence=confidence, flags=())  # noqa: PLW2901
        records.append(record)
    return msgspec.structs.replace(renamed(run, name), records=tuple(records))


@cache
def base() -> Run:
    with TemporaryDirectory() as folder:
        return asked(Path(folder) / "run", "calibrated", battery=battery(Path(folder) / "own.jsonl"))


def made(said: list[list[Said]], draws: int = 50) -> PanelResult:
    return panel_of([saying(base(), name, one) for name, one in zip("abcdef", said, strict=False)], draws=draws)


@pytest.fixture(scope="module")
def personas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("personas")
    names = ("calibrated", "overconfident", "suggestible")
    return {name: asked(folder / name, name, battery="standard", sections=("probes",)) for name in names}


def signals(found: PanelResult, coding: str) -> list[list[int]]:
    return [[item.replies[place].agreeing[coding] for item in found.items] for place in range(len(found.models))]


def test_a_small_panel_worked_out_by_hand() -> None:
    found = made(SAID)
    assert found.schema == "selfdiag.panel/1"
    assert [item.id for item in found.items] == ["p1", "p2", "p3", "p4", "p5", "p6"]
    # p4: "crimson lion", "red lion" and "green lion" share a word, and the first two are right
    assert signals(found, STRICT) == [[2, 1, 2, 0, 0, 1], [2, 1, 2, 0, 0, 0], [2, 0, 2, 0, 0, 1]]
    assert signals(found, LENIENT) == [[2, 1, 2, 2, 0, 1], [2, 1, 2, 2, 0, 0], [2, 0, 2, 2, 0, 1]]
    assert signals(found, CANONICAL) == [[2, 1, 2, 1, 0, 1], [2, 1, 2, 1, 0, 0], [2, 0, 2, 0, 0, 1]]
    strict = found.codings[STRICT]
    assert (strict.undecided, strict.pairs) == (3, 16)
    first = strict.models[0]
    # right at 90 80 60 40 against wrong at 70 95: 2 of 8 pairs; signals 2 1 0 1 against 2 0: 4 of 8 with ties halved
    assert (first.own.value, first.panel.value, first.difference.value) == pytest.approx((0.25, 0.5, 0.25))
    assert first.difference.n == 6
    assert found.codings[CANONICAL].models[0].panel.value == pytest.approx(4.5 / 8)
    assert found.codings[LENIENT].models[0].panel.value == pytest.approx(5 / 8)
    # all agree on p1 and p3, of which one is right; 4 of 6 are right at all
    assert (first.lift.agreed.value, first.lift.agreed.n) == (0.5, 2)
    assert (first.lift.base.value, first.lift.lift.value) == pytest.approx((4 / 6, -1 / 6))
    # errors on p3 p5, on p3 p6, and on p2 p3 p4 of the five that C answers
    phis = {(one.first, one.second): one.phi for one in found.error_correlations}
    assert phis["A", "B"].value == pytest.approx((6 * 1 - 2 * 2) / np.sqrt(2 * 4 * 2 * 4))
    assert phis["A", "C"].value == pytest.approx((5 * 1 - 1 * 3) / np.sqrt(1 * 4 * 3 * 2))
    assert (phis["A", "B"].n, phis["A", "C"].n) == (6, 5)
    assert [one.verdict for one in found.models] == ["too few"] * 3
    assert [one.holm for one in strict.models] == [None] * 3
    assert found.models[2].outcomes == {"correct": 2, "incorrect": 3, "abstained": 1}
    assert [one.stated for one in found.models] == [6, 6, 5]
    same, wrong = same_answer(found)
    assert [item.id for item in same] == ["p1", "p3"]
    assert [item.id for item in wrong] == ["p3"]
    assert found.notes == ("6 probes are very few: with fewer than 20 a panel says next to nothing",)


def test_codings_are_computed_as_asked() -> None:
    runs = [saying(base(), name, one) for name, one in zip("abc", SAID, strict=True)]
    assert list(panel_of(runs, codings=["canonical"], draws=5).codings) == [CANONICAL]
    assert list(panel_of(runs, codings=["label-free"], draws=5).codings) == [STRICT, LENIENT]


REPLY = st.tuples(st.sampled_from([R, W]), st.sampled_from([BLUE, "red lion", "lion", "owl"]), st.integers(0, 100))
MODEL = st.lists(REPLY, min_size=6, max_size=6)


@settings(max_examples=40, deadline=None, phases=(Phase.generate, Phase.shrink))
@given(
    st.lists(MODEL, min_size=3, max_size=5),
    st.lists(st.tuples(st.sampled_from([R, W]), st.integers(0, 100)), min_size=6, max_size=6),
)
def test_a_models_own_record_never_enters_its_own_signal(
    said: list[list[Said]], otherwise: list[tuple[str, int]]
) -> None:
    found = made(said, draws=1)
    graded_otherwise = [
        (outcome, one[1], confidence) for one, (outcome, confidence) in zip(said[0], otherwise, strict=True)
    ]
    again = made([graded_otherwise, *said[1:]], draws=1)
    for coding in (STRICT, LENIENT):
        # neither how its answers are graded nor how sure it is of them changes anybody's count
        assert signals(again, coding) == signals(found, coding)
    unsure = made([[(outcome, answer, 0) for outcome, answer, _ in said[0]], *said[1:]], draws=1)
    assert signals(unsure, CANONICAL) == signals(found, CANONICAL)
    for place, own in enumerate(said):
        mates = [one for other, one in enumerate(said) if other != place]
        assert signals(found, STRICT)[place] == [
            sum(mate[at][1] == reply[1] for mate in mates) for at, reply in enumerate(own)
        ]
        assert signals(found, CANONICAL)[place] == [
            sum(mate[at][1] == reply[1] or mate[at][0] == reply[0] == R for mate in mates)
            for at, reply in enumerate(own)
        ]


@settings(max_examples=15, deadline=None, phases=(Phase.generate, Phase.shrink))
@given(st.lists(MODEL, min_size=4, max_size=4), st.permutations(range(4)))
def test_the_order_of_the_runs_does_not_matter(said: list[list[Said]], order: list[int]) -> None:
    found, again = made(said, draws=20), made([said[place] for place in order], draws=20)
    for coding, coded in found.codings.items():
        for place, origin in enumerate(order):
            one, other = again.codings[coding].models[place], coded.models[origin]
            assert (one.own, one.panel, one.difference, one.lift) == (
                other.own,
                other.panel,
                other.difference,
                other.lift,
            )


def test_personas_that_err_apart_gain_little_from_each_other(personas: dict[str, Run]) -> None:
    found = panel_of(list(personas.values()), draws=500)
    assert (found.shared.asked, found.shared.probes, found.shared.traps) == (126, 126, 0)
    assert found.mean_error_correlation.value == pytest.approx(0, abs=0.1)
    strict = found.codings[STRICT]
    assert strict.models == found.codings[CANONICAL].models
    assert strict.undecided == 0
    for one, run in zip(strict.models, personas.values(), strict=True):
        # the same answers, the same confidences: the audit's own figure
        audited = summarise(run, draws=20).metrics["auroc"]
        assert (one.own.value, one.own.ci, one.own.n) == (audited.value, audited.ci, audited.n)
    # the calibrated one knows more of its own answers than others whose errors have nothing to do with its own
    assert [one.verdict for one in found.models] == ["worse", "not shown", "not shown"]
    assert all(any(note.startswith("simulated") for note in one.notes) for one in found.models)
    assert found.notes == ()


def test_copies_of_a_model_agree_on_everything_and_say_nothing(personas: dict[str, Run]) -> None:
    run = personas["calibrated"]
    found = panel_of([run, renamed(run, "copy"), renamed(run, "other")], draws=100)
    assert [one.panel.value for one in found.codings[STRICT].models] == [0.5] * 3
    assert found.mean_error_correlation.value == pytest.approx(1)
    same, wrong = same_answer(found)
    assert len(wrong) == found.models[0].outcomes["incorrect"]
    assert len(same) == len(wrong) + found.models[0].outcomes["correct"]


def test_a_pinned_model_gains_from_mates_that_know_more(personas: dict[str, Run]) -> None:
    key = {item.id: item.answer for item in personas["calibrated"].manifest.drawn.probes}
    knowing = [
        msgspec.structs.replace(
            renamed(personas["calibrated"], name),
            records=tuple(
                msgspec.structs.replace(one, outcome=R, answer=key[one.item_id], confidence=90)
                for one in personas["calibrated"].records
                if one.item_id in key
            ),
        )
        for name in ("one", "two")
    ]
    found = panel_of([personas["suggestible"], *knowing], draws=500)
    assert [one.verdict for one in found.models] == ["better", "undefined", "undefined"]
    first = found.codings[STRICT].models[0]
    assert first.panel.value == 1.0
    assert first.holm == first.p
    assert found.codings[STRICT].models[1].difference.note == "not defined: all answers were right"


def test_the_verdict_depends_on_the_bracket_where_they_differ() -> None:
    with TemporaryDirectory() as folder:
        run = asked(Path(folder) / "run", "calibrated", battery="quick", sections=("probes",))
    places = {item.id: place for place, item in enumerate(run.manifest.drawn.probes)}

    def model(name: str, answer: Callable[[int], str], right: Callable[[int], bool]) -> Run:
        records = [
            msgspec.structs.replace(
                one,
                answer=answer(places[one.item_id]),
                outcome=R if right(places[one.item_id]) else W,
                confidence=50 + places[one.item_id] % 2,
            )
            for one in run.records
            if one.item_id in places
        ]
        return msgspec.structs.replace(renamed(run, name), records=tuple(records))

    first = model("first", lambda _: "grey lion", lambda at: at % 4 < 2)
    # where the first is right the others share a word with it
    others = [
        model(name, lambda at, name=name: f"{name} lion" if at % 4 < 2 else f"{name} owl", lambda at: at % 3 == 0)
        for name in ("brown", "white")
    ]
    texts = [
        msgspec.structs.replace(
            one,
            manifest=msgspec.structs.replace(
                one.manifest,
                drawn=msgspec.structs.replace(
                    one.manifest.drawn,
                    probes=tuple(
                        msgspec.structs.replace(probe, kind="text", options=()) for probe in one.manifest.drawn.probes
                    ),
                ),
            ),
        )
        for one in (first, *others)
    ]
    found = panel_of(texts, draws=400)
    assert found.codings[STRICT].models[0].verdict == "not shown"
    assert found.codings[LENIENT].models[0].verdict == "better"
    assert found.models[0].verdict == "undecided"


def failing(run: Run, item_id: str) -> Run:
    fault = Fault(kind="timeout", message="no reply")
    records = [
        msgspec.structs.replace(one, outcome="error", answer=None, confidence=None, error=fault)
        if one.item_id == item_id
        else one
        for one in run.records
    ]
    return msgspec.structs.replace(run, records=tuple(records))


def test_what_is_not_shared_is_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    battery(path)
    first = asked(tmp_path / "a", "calibrated", battery=str(path))
    second = asked(tmp_path / "b", "overconfident", battery=str(path), paraphrase="all", repeat=2)
    battery(path, p2={"answer": "red lions"})
    third = asked(tmp_path / "c", "suggestible", battery=str(path), items=("p1", "p2", "p3", "p4", "t1"))
    found = panel_of([first, failing(second, "p3"), third], draws=20)
    shared = found.shared
    assert (shared.asked, shared.not_asked_of_all, shared.changed, shared.unanswered, shared.traps) == (6, 2, 1, 1, 1)
    # the first and the third were asked one wording each, by the same seed
    assert (shared.probes, shared.reworded) == (2, 0)
    assert [item.id for item in found.items] == ["p1", "p4"]
    assert shared.repeats == 2 * 3  # the second replied four times to each
    told = " ".join(found.notes)
    assert "not the same probes were drawn" in told
    assert "items all (A B), p1, p2, p3, p4, t1 (C)" in told
    assert "not asked alike, which can change answers: paraphrase one (A C), all (B); repeat 1 (A C), 2 (B)" in told
    assert any(note.startswith("incomplete") for note in found.models[1].notes)


def test_other_wordings_are_not_the_same_question(tmp_path: Path) -> None:
    path = battery(tmp_path / "own.jsonl")
    runs = [
        asked(tmp_path / name, name, battery=path, seed=seed)
        for name, seed in (("calibrated", 0), ("overconfident", 0), ("suggestible", 1))
    ]
    wordings = [{one.item_id: one.paraphrase for one in run.records if not one.trap} for run in (runs[0], runs[2])]
    alike = {item_id for item_id in wordings[0] if wordings[0][item_id] == wordings[1][item_id]}
    assert 0 < len(alike) < 6
    found = panel_of(runs, draws=5)
    assert {item.id for item in found.items} == alike
    assert found.shared.reworded == 6 - len(alike)


def test_the_first_source_of_confidence_counts(personas: dict[str, Run], tmp_path: Path) -> None:
    first = asked(tmp_path / "a", "calibrated", limit=20, confidence=("posthoc",), sections=("probes",))
    rest = [asked(tmp_path / name, name, limit=20, sections=("probes",)) for name in ("overconfident", "suggestible")]
    found = panel_of([first, *rest], draws=5)
    assert any("what the model says afterwards" in note for note in found.models[0].notes)
    assert "the confidences are of different sources: confidence posthoc (A), stated (B C)" in found.notes
    both = asked(tmp_path / "both", "calibrated", limit=20, confidence=("stated", "posthoc"), sections=("probes",))
    assert not any("sources" in note for note in panel_of([both, *rest], draws=5).notes)


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (lambda p, r: [r, p["overconfident"]], "a panel takes 3 to 26 runs, each of another model, not 2"),
        (lambda p, r: [r, p["overconfident"], r], "is named twice"),
        (
            lambda p, r: [r, p["overconfident"], renamed(r, "calibrated")],
            r"\(A and C\) are of the same model, persona:calibrated",
        ),
        (
            lambda p, r: [renamed(r, "x", digest="d"), p["overconfident"], renamed(r, "y", digest="d")],
            r"\(A and C\) are of the same model, persona:x",
        ),
        (
            lambda p, r: [
                r,
                p["overconfident"],
                msgspec.structs.replace(
                    p["suggestible"], manifest=msgspec.structs.replace(p["suggestible"].manifest, plan=())
                ),
            ],
            "asks no probes, so there is nothing to agree on",
        ),
        (
            lambda p, r: [r, p["overconfident"], renamed(base(), "own")],
            r"have no probe in common \(132 not asked of every model\): ask every model with the same battery and seed",
        ),
    ],
)
def test_what_is_no_panel_is_refused_in_one_line(
    personas: dict[str, Run], runs: Callable[[dict[str, Run], Run], list[Run]], message: str
) -> None:
    with pytest.raises(SelfdiagError, match=message) as refused:
        panel_of(runs(personas, personas["calibrated"]))
    assert refused.value.exit_code == 2
    assert "\n" not in str(refused.value)


def test_two_versions_of_a_model_are_told(personas: dict[str, Run]) -> None:
    run = personas["calibrated"]
    runs = [renamed(run, "one", digest="d1"), personas["overconfident"], renamed(run, "one", digest="d2")]
    runs[2] = msgspec.structs.replace(runs[2], manifest=msgspec.structs.replace(runs[2].manifest, run_id="third"))
    found = panel_of(runs, draws=5)
    assert (
        "A and C are both called persona:one: near copies of a model err alike, and their agreement says less"
        in found.notes
    )


def test_everything_undefined_says_why() -> None:
    silent: list[Said] = [("abstained", "UNANSWERABLE", 10)] * 6
    found = made([silent, silent, SAID[0]])
    estimates = []

    def walk(part: object) -> None:
        if isinstance(part, Estimate):
            estimates.append(part)
        elif isinstance(part, msgspec.Struct):
            walk(list(msgspec.structs.asdict(part).values()))
        elif isinstance(part, dict):
            walk(list(part.values()))
        elif isinstance(part, (list, tuple)):
            for one in part:
                walk(one)

    walk(found)
    assert len(estimates) > 40
    assert all(one.note for one in estimates if one.value is None)
    assert [one.verdict for one in found.models] == ["undefined", "undefined", "too few"]


def probe(kind: str, **fields: object) -> Probe:
    return Probe(id="p", bin="b", difficulty="easy", kind=kind, answer="4", questions=("?",), **fields)  # type: ignore[arg-type]


CHOICE = probe("choice", options=("Mars", "Venus", "Pluto"))


@pytest.mark.parametrize(
    ("item", "first", "second", "same", "sharing"),
    [
        (CHOICE, "B", "Venus", True, True),
        (CHOICE, "A", "Venus", False, False),
        (CHOICE, "neither", "Neither.", True, True),
        (probe("number"), "1,234", "The answer is 1234.0", True, True),
        (probe("number"), "1/2", "50%", True, True),
        (probe("number"), "50", "50%", False, True),
        (probe("number"), "4", "5", False, False),
        (probe("number", unit="m"), "4 m", "4", True, True),
        (probe("number", unit="m", convert=True), "4 m", "400 cm", True, True),
        (probe("number", unit="%"), "4 %", "4", True, True),
        (probe("set"), "1, 2 and 3", "{3, 2, 1}", True, True),
        (probe("sequence"), "1, 2, 3", "3, 2, 1", False, True),
        (probe("set"), "1, 2", "3, 4", False, False),
        (probe("date"), "3 May 2001", "2001-05-03", True, True),
        (probe("date"), "2001", "2001-05-03", False, True),
        (probe("date"), "3 May 2001", "3 May 1999", False, False),
        (probe("code"), "[1, 2]", "[1, 2] \n", True, True),
        (probe("code"), "[1, 2]", "(1, 2)", False, True),
        (probe("text"), "The Nile", "nile", True, True),
        (probe("text"), "Paris, because it is large", "paris", True, True),
        (probe("text"), "White Nile", "Blue Nile", False, True),
        (probe("text"), "Rhine", "Danube", False, False),
        (probe("expression"), "x^2 + 1", "x² + 1", True, True),
    ],
)
def test_answers_are_compared_by_the_kind_of_their_question(
    item: Probe, first: str, second: str, same: bool, sharing: bool
) -> None:
    one, other = given_answer(item, first), given_answer(item, second)
    assert (one.form == other.form) is same
    assert bool(one.words & other.words) is sharing


KINDS = ("number", "text", "choice", "set", "sequence", "date", "expression", "code")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(KINDS), st.text(max_size=60), st.text(max_size=20))
def test_an_answer_has_a_form_whatever_it_is_and_whatever_the_key(kind: str, answer: str, key: str) -> None:
    item = probe(kind, options=("Mars", "Venus"))
    found = given_answer(item, answer)
    assert found.form or not answer
    assert given_answer(msgspec.structs.replace(item, answer=key, aliases=(key,)), answer) == found
