from collections import Counter
from pathlib import Path

import msgspec
import pytest

from selfdiag.elicit.prompts import CONTRACT
from selfdiag.runs.calls import call_id
from selfdiag.runs.plan import make_plan, trial_id
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session, plan_of
from selfdiag.safety import SelfdiagError

MINE = """
id = "mine"
version = "2"
[[probe]]
id = "a"
bin = "own"
difficulty = "easy"
kind = "number"
answer = "2"
questions = ["What is 1 + 1? As a number.", "Add 1 to 1. As a number."]
derivation = "1 + 1"
"""


def settings(**changes: object) -> RunSettings:
    return RunSettings(**{"model": "persona:calibrated", **changes})


def test_quick_asks_42_probes_and_21_traps_mixed() -> None:
    plan = make_plan(settings())
    sections = [call.section for call in plan.calls]
    assert Counter(sections) == {"probes": 42, "traps": 21}
    assert {"probes", "traps"} == set(sections[:10])
    assert list(plan.systems.values()) == [CONTRACT]
    assert len({call.call_id for call in plan.calls}) == len(plan.prompts) == 63
    assert plan.prompt(plan.calls[0]).sha256() == plan.calls[0].prompt


def test_the_same_settings_give_the_same_plan_and_another_seed_another() -> None:
    assert make_plan(settings()) == make_plan(settings())
    assert make_plan(settings()).calls != make_plan(settings(seed=1)).calls


def test_all_wordings_and_repeats_are_calls_of_their_own() -> None:
    plan = make_plan(settings(paraphrase="all", repeat=2, limit=1))
    assert len(plan.calls) == 2 * 3 * 2
    assert len({call.call_id for call in plan.calls}) == 12
    assert {(call.paraphrase, call.replicate) for call in plan.calls} == {(p, r) for p in range(3) for r in range(2)}


def test_a_call_id_depends_on_what_is_asked_and_on_nothing_else() -> None:
    base = {"arm": "none", "paraphrase": 0, "replicate": 0}
    first = call_id(settings(), "probes", "a", **base)
    same = settings(concurrency=9, timeout=1.0, structured="on", seed=5, battery="full", budget_seconds=3.0)
    assert call_id(same, "probes", "a", **base) == first
    others = {
        call_id(settings(model="persona:blind"), "probes", "a", **base),
        call_id(settings(example=85), "probes", "a", **base),
        call_id(settings(), "trial", "a", **base),
        call_id(settings(), "probes", "b", **base),
        call_id(settings(), "probes", "a", **{**base, "arm": "own"}),
        call_id(settings(), "probes", "a", **{**base, "paraphrase": 1}),
        call_id(settings(), "probes", "a", **{**base, "replicate": 1}),
        first,
    }
    assert len(others) == 8
    plan = make_plan(settings(limit=1))
    assert trial_id(plan.calls[0]) not in {call.call_id for call in plan.calls}


def test_one_section_alone() -> None:
    assert {call.section for call in make_plan(settings(sections=("probes",))).calls} == {"probes"}
    assert {call.section for call in make_plan(settings(sections=("traps",))).calls} == {"traps"}


def test_an_own_battery_is_asked_whole(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    plan = make_plan(settings(battery=str(file)))
    assert [call.item_id for call in plan.calls] == ["a"]
    assert (plan.battery.id, plan.battery.version) == ("mine", "2")
    assert make_plan(settings(battery=str(tmp_path))).battery == plan.battery


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"battery": "quik"}, "no battery 'quik'.*Did you mean 'quick'"),
        ({"battery": "a/b.toml"}, "there is no such file"),
        ({"sections": ("probes", "x")}, "unknown section 'x'"),
        ({"bins": ("phisics",)}, "unknown bin 'phisics'.*Did you mean 'physics'"),
        ({"items": ("physics-99",)}, "unknown item 'physics-99'"),
        ({"sections": ("probes",), "items": ("physics-t1",)}, "nothing is left to ask"),
    ],
)
def test_what_is_not_there_is_told(changes: dict, words: str) -> None:
    with pytest.raises(SelfdiagError, match=words):
        make_plan(settings(**changes))


def test_a_broken_battery_names_the_command_that_lists_its_faults(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[[probe]]\n")
    with pytest.raises(SelfdiagError, match=r"mine\.toml:1.*is missing.*selfdiag probes lint"):
        make_plan(settings(battery=str(file)))


async def _done(session: Session) -> None:
    async for _ in session.events():
        pass


async def test_the_manifest_holds_the_plan_and_a_resume_must_match_it(tmp_path: Path) -> None:
    from selfdiag.runs.store import read_manifest

    asked = settings(limit=2)
    session = Session(asked, folder=tmp_path / "run")
    await _done(session)
    manifest = read_manifest(tmp_path / "run")
    assert plan_of(manifest) == session.plan
    assert manifest.settings == asked
    assert manifest.versions["python"]
    assert manifest.sessions[0].outcome == "complete"
    free = msgspec.structs.replace(asked, concurrency=7, timeout=5.0, max_retries=0, budget_seconds=60.0)
    await _done(Session(free, resume=tmp_path / "run"))
    assert len(read_manifest(tmp_path / "run").sessions) == 2
    with pytest.raises(SelfdiagError, match="seed was 0 and is now 1; example was None and is now 85"):
        Session(msgspec.structs.replace(asked, seed=1, example=85), resume=tmp_path / "run")
    file = tmp_path / "run" / "manifest.json"
    text = file.read_text()
    file.write_text(text.replace(manifest.battery.sha256, "0" * 64))
    with pytest.raises(SelfdiagError, match="battery 'selfdiag' has changed"):
        Session(asked, resume=tmp_path / "run")
    file.write_text(text.replace('"selfdiag": "', '"selfdiag": "9.'))
    with pytest.raises(SelfdiagError, match=r"was made with selfdiag 9\."):
        Session(asked, resume=tmp_path / "run")


async def test_a_stop_before_anything_began_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from selfdiag.models.persona import Persona
    from selfdiag.runs.events import Finished

    session = Session(settings(limit=2), folder=tmp_path / "run")

    async def slow_to_load(self: Persona) -> Persona:
        asyncio.get_running_loop().call_soon(session.stop)
        await asyncio.sleep(60)
        return self

    monkeypatch.setattr(Persona, "__aenter__", slow_to_load)
    seen = [event async for event in session.events()]
    assert seen == [Finished(outcome="stopped")]
    assert not (tmp_path / "run").exists()
