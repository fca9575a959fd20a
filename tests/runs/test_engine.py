import asyncio
from pathlib import Path

import pytest
from scripted import GOOD, Scripted, collect, kinds

from selfdiag.models import registry
from selfdiag.models.base import Call, ModelInfo, ProviderError, ProviderOptions, Reply
from selfdiag.protocols.audit import summarise
from selfdiag.runs.events import Answered, Asked, Event, Failed, Finished, Paused, Retried, Started, Structured
from selfdiag.runs.plan import trial_id
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError


async def test_plain_replies_that_hold_the_form_are_the_runs_own(start) -> None:
    provider = Scripted(lambda call: GOOD)
    session = start(provider)
    events = await collect(session)
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert events[-1].outcome == "complete"
    assert [event.on for event in kinds(events, Structured)] == [False]
    answered = [event.record for event in kinds(events, Answered)]
    assert [record.section for record in answered[:5]] == ["trial"] * 5
    assert len(answered) == 5 + 12
    assert len(provider.calls) == 13
    assert all(call.schema is None for call in provider.calls)
    assert provider.calls[0].user.startswith("What is 1 + 1")
    run = read_run(session.folder)
    assert run.manifest.structured == "off"
    own = [record for record in run.records if record.section != "trial"]
    assert len({record.call_id for record in run.records}) == 17
    assert {record.section for record in own} == {"probes", "traps"}
    assert summarise(run, draws=50).usage.calls == 12
    assert provider.closed


async def test_fewer_than_four_of_five_that_parse_turn_a_schema_on(start) -> None:
    for parsing, on in ((3, True), (4, False)):
        told: list[str] = []

        def answer(call: Call, parsing: int = parsing, told: list[str] = told) -> str:
            if call.schema is not None or call.user.startswith("What is 1 + 1"):
                return GOOD
            told.append(call.user)
            return GOOD if len(told) <= parsing or len(told) > 5 else "I would say zzz."

        session = start(Scripted(answer))
        session.folder = session.folder.with_name(f"run-{parsing}")
        events = await collect(session)
        assert [(e.on, e.parsed, e.asked) for e in kinds(events, Structured)] == [(on, parsing, 5)]
        run = read_run(session.folder)
        trial = [record for record in run.records if record.section == "trial"]
        assert len(trial) == 5
        assert len({record.call_id for record in run.records}) == 17
        assert summarise(run, draws=50).usage.calls == (17 if on else 12)
        measured = [record for record in run.records if record.section != "trial"]
        assert len(measured) == 12
        assert all(record.structured == on for record in measured)
        assert run.manifest.structured == ("on" if on else "off")


@pytest.mark.parametrize("plain", [GOOD, "prose"])
@pytest.mark.parametrize("kept", [0, 1, 3, 5, 6, 8, 12, 16])
async def test_a_run_cut_anywhere_goes_on_to_the_same_calls(start, kept: int, plain: str) -> None:
    def answer(call: Call) -> str:
        return GOOD if call.schema is not None else plain

    session = start(Scripted(answer))
    await collect(session)
    whole = read_run(session.folder)
    file = session.folder / "records.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:kept]))
    provider = Scripted(answer)
    again = start(provider, resume=session.folder)
    await collect(again)
    run = read_run(session.folder)
    assert sorted(r.call_id for r in run.records) == sorted(r.call_id for r in whole.records)
    trial = {trial_id(call) for call in again.plan.calls[:5]}
    assert {r.call_id for r in run.records if r.section == "trial"} == trial
    assert run.manifest.structured == whole.manifest.structured
    asked_again = len(whole.records) - kept + 1
    # plain replies of the trial that the run makes its own are asked once
    assert len(provider.calls) == (
        asked_again if plain == "prose" else min(asked_again - 5 + max(kept - 5, 0), asked_again)
    )


async def test_a_stop_in_the_trial_keeps_what_has_landed(start) -> None:
    session = start(Scripted(lambda call: GOOD, concurrency=1), limit=20)
    told = 0

    def stop(event: Event) -> None:
        nonlocal told
        if isinstance(event, Answered):
            told += 1
            if told == 3:
                session.stop()

    events = await collect(session, stop)
    assert events[-1].outcome == "stopped"
    assert [record.section for record in read_run(session.folder).records][:3] == ["trial"] * 3


async def test_a_budget_spent_in_the_trial_is_progress(start) -> None:
    reply = Reply(text=GOOD, prompt_tokens=30, completion_tokens=20)
    provider = Scripted(lambda call: reply, concurrency=1)
    session = start(provider, budget_tokens=150)
    await collect(session)
    before = len(read_run(session.folder).records)
    assert before > 0
    await collect(start(provider, budget_tokens=150, resume=session.folder))
    assert len(read_run(session.folder).records) > before


async def test_a_failed_run_takes_back_its_own_files_and_nothing_else(start) -> None:
    provider = Scripted(lambda call: ProviderError("model_missing", "no such model"), concurrency=1)
    session = start(provider)
    session.folder.mkdir()
    await collect(session)
    assert list(session.folder.iterdir()) == []
    good = start(Scripted(lambda call: GOOD, takes_schema=False))
    await collect(good)
    (good.folder / "records.jsonl").unlink()
    (good.folder / "notes.md").write_text("mine")
    await collect(start(provider, resume=good.folder))
    assert (good.folder / "notes.md").read_text() == "mine"
    assert (good.folder / "manifest.json").exists()


async def test_a_full_disk_is_told_through_the_whole_session(start, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    session = start(Scripted(lambda call: GOOD, takes_schema=False))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    def fill(event: Event) -> None:
        if isinstance(event, Answered):
            monkeypatch.setattr(os, "write", full)
            monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(SelfdiagError, match="make room") as caught:
        await collect(session, fill)
    assert caught.value.exit_code == 4
    monkeypatch.undo()
    assert read_run(session.folder).problems == ()


async def test_no_more_calls_at_once_than_asked_for(start) -> None:
    for limit in (1, 3):
        provider = Scripted(lambda call: GOOD, takes_schema=False)
        session = start(provider, concurrency=limit)
        session.folder = session.folder.with_name(f"run-{limit}")
        await collect(session)
        assert provider.most_at_once == limit


async def test_each_call_is_announced_and_written_before_it_is_told(start) -> None:
    session = start(Scripted(lambda call: GOOD, takes_schema=False))
    file = session.folder / "records.jsonl"
    told = 0

    def check(event: Event) -> None:
        nonlocal told
        if isinstance(event, Answered):
            told += 1
            assert file.read_bytes().count(b"\n") >= told
            assert event.record.call_id.encode() in file.read_bytes()

    events = await collect(session, check)
    asked = {event.call.call_id for event in kinds(events, Asked) if event.call is not None}
    assert asked == {event.record.call_id for event in kinds(events, Answered)}


async def test_a_fault_of_any_kind_is_an_error_record_never_a_wrong_answer(start) -> None:
    faults = iter(
        [
            ValueError("a bug of a library with sk-abcdefghijklmnopqrstuvwx inside"),
            ProviderError("timeout", "slow"),
            KeyError("x"),
        ]
    )
    count = 0

    def answer(call: Call) -> str | Exception:
        nonlocal count
        count += 1
        return next(faults, GOOD) if count % 3 == 0 else GOOD

    session = start(Scripted(answer, takes_schema=False))
    events = await collect(session)
    assert events[-1].outcome == "complete"
    errors = [record for record in read_run(session.folder).records if record.outcome == "error"]
    assert sorted(record.error.kind for record in errors if record.error) == ["internal", "internal", "timeout"]
    assert "sk-abc" not in (session.folder / "records.jsonl").read_text()
    assert all(record.answer is None and record.confidence is None for record in errors)


async def test_a_fault_of_our_own_is_raised_not_passed_over(start, monkeypatch: pytest.MonkeyPatch) -> None:
    session = start(Scripted(lambda call: GOOD, takes_schema=False))

    def broken(*_: object, **__: object) -> Call:
        raise KeyError("a fault of ours")

    with pytest.raises(KeyError, match="ours"):
        await collect(session, lambda event: monkeypatch.setattr("selfdiag.runs.turns.Turns.call", broken))


async def test_five_errors_in_a_row_stop_the_run(start) -> None:
    provider = Scripted(lambda call: ProviderError("provider", "broken"), takes_schema=False, concurrency=1)
    events = await collect(start(provider))
    failed = kinds(events, Failed)
    assert [event.kind for event in failed] == ["provider"]
    assert "5 calls in a row" in failed[0].message
    assert events[-1].outcome == "failed"
    assert len(provider.calls) <= 8


async def test_a_fault_that_does_not_heal_stops_at_once_and_leaves_no_half_made_run(start) -> None:
    provider = Scripted(lambda call: ProviderError("model_missing", "no such model"), concurrency=1)
    session = start(provider)
    events = await collect(session)
    assert [event.kind for event in kinds(events, Failed)] == ["model_missing"]
    assert len(provider.calls) == 1
    assert not session.folder.exists()


async def test_a_warm_up_that_fails_is_told_in_one_harmless_line(start) -> None:
    fault = ProviderError("unreachable", "no\nserver \x1b[2J sk-abcdefghijklmnopqrstuvwx " + "x" * 1000)
    (failure,) = kinds(await collect(start(Scripted(lambda call: fault))), Failed)
    assert failure.kind == "unreachable"
    assert failure.message.startswith("no server ")
    assert failure.message.isprintable()
    assert "sk-abc" not in failure.message
    assert len(failure.message) < 420


@pytest.mark.parametrize(
    "cut",
    [
        Reply(text="<think>hm", finish_reason="length"),
        Reply(text=" \n<THINK>hm", finish_reason="length"),
        Reply(text="<think>", finish_reason="length"),
        Reply(text='<think>hm</think>{"answer": "z', finish_reason="length"),
        Reply(text="", thought=True, finish_reason="length"),
    ],
)
async def test_thoughts_in_the_text_or_out_of_sight_get_more_room_too(start, cut: Reply) -> None:
    provider = Scripted(lambda call: cut if call.max_tokens < 8192 else GOOD, takes_schema=False, concurrency=1)
    session = start(provider)
    await collect(session)
    assert [call.max_tokens for call in provider.calls[:3]] == [100, 8192, 8192]  # the warm-up finds it out
    run = read_run(session.folder)
    assert run.manifest.max_tokens == 8192
    assert {record.outcome for record in run.records} == {"incorrect"}


async def test_a_limit_that_cuts_thoughts_is_told_with_what_helps(start) -> None:
    for number, (think, cut, note) in enumerate(
        [
            ("on", Reply(text="", finish_reason="length"), True),
            ("on", Reply(text="<think>hm", finish_reason="length"), True),
            ("on", Reply(text='{"answer": "z', finish_reason="length"), False),
            ("on", Reply(text=""), False),
            ("off", Reply(text="", finish_reason="length"), False),
        ]
    ):
        session = start(Scripted(lambda call, cut=cut: cut, takes_schema=False), think=think, limit=2)
        session.folder = session.folder.with_name(f"run-{number}")
        await collect(session)
        told = "replies were cut while the model was thinking: give it room with a larger --max-tokens"
        assert (told in summarise(read_run(session.folder), draws=50).notes) is note, (think, cut)


async def test_retries_are_told_and_counted(start) -> None:
    failed: set[str] = set()

    def answer(call: Call) -> str | Exception:
        if call.user in failed:
            return GOOD
        failed.add(call.user)
        return ProviderError("provider", "once", retry=True, retry_after=0.0)

    session = start(Scripted(answer, takes_schema=False), max_retries=2)
    events = await collect(session)
    assert kinds(events, Retried)
    assert {record.attempts for record in read_run(session.folder).records} == {2}


async def test_stop_keeps_what_has_landed(start) -> None:
    session = start(Scripted(lambda call: GOOD, takes_schema=False), limit=20)

    def stop(event: Event) -> None:
        if isinstance(event, Answered):
            session.stop()

    events = await collect(session, stop)
    assert events[-1].outcome == "stopped"
    run = read_run(session.folder)
    assert 1 <= len(run.records) < 40
    assert run.manifest.sessions[-1].outcome == "stopped"


async def test_pause_rests_until_it_goes_on(start) -> None:
    provider = Scripted(lambda call: GOOD, takes_schema=False, concurrency=4)
    session = start(provider, limit=20)
    paused_at: list[int] = []
    resting: list[int] = []
    answers = 0

    def go_on() -> None:
        resting.append(len(provider.calls))
        session.go_on()

    def react(event: Event) -> None:
        nonlocal answers
        if isinstance(event, Answered):
            answers += 1
            if answers == 3:
                session.pause()
                session.pause()  # once more changes nothing
                resting.append(len(provider.calls))
                asyncio.get_running_loop().call_later(0.05, go_on)
        elif isinstance(event, Paused) and event.paused:
            paused_at.append(answers)

    events = await collect(session, react)
    assert [event.paused for event in kinds(events, Paused)] == [True, False]
    assert resting[1] - resting[0] <= 1  # no call but one that had its leave already
    assert events[-1].outcome == "complete"
    assert answers == 40


async def test_a_pause_on_a_full_disk_is_a_pause_all_the_same(start, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    session = start(Scripted(lambda call: GOOD, takes_schema=False))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def react(event: Event) -> None:
        if isinstance(event, Answered):
            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", full)
                session.pause()
            session.go_on()

    events = await collect(session, react)
    assert events[-1].outcome == "complete"
    assert kinds(events, Paused)


async def test_budgets_end_the_run_early(start) -> None:
    reply = Reply(text=GOOD, prompt_tokens=30, completion_tokens=20)
    session = start(Scripted(lambda call: reply, takes_schema=False, concurrency=1), budget_tokens=200)
    events = await collect(session)
    assert events[-1].outcome == "budget"
    assert len(kinds(events, Answered)) == 3
    session = start(Scripted(lambda call: reply, takes_schema=False), budget_seconds=0.0)
    session.folder = session.folder.with_name("no-time")
    events = await collect(session)
    assert events[-1].outcome == "budget"
    assert kinds(events, Answered) == []


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(text=""), "empty"),
        (Reply(text=" \n"), "empty"),
        (Reply(text="", finish_reason="length"), "truncated"),
        (Reply(text='{"answer": "zzz", "confi', finish_reason="length"), "truncated"),
        (Reply(text="", overflow=True), "overflow"),
        (Reply(text="no", refusal=True), "refused"),
        (Reply(text="gibberish"), "unparsed"),
        (Reply(text="\ud800" + GOOD), "incorrect"),
    ],
)
async def test_every_reply_has_an_outcome(start, reply: Reply, outcome: str) -> None:
    session = start(Scripted(lambda call: reply, takes_schema=False), sections=("probes",), limit=2)
    await collect(session)
    run: Run = read_run(session.folder)
    assert run.problems == ()
    assert [record.outcome for record in run.records] == [outcome] * 2


async def test_a_model_that_is_another_file_now_is_not_resumed(start, monkeypatch: pytest.MonkeyPatch) -> None:
    session = start(Scripted(lambda call: GOOD))
    await collect(session)
    other = Scripted(lambda call: GOOD)
    monkeypatch.setattr(other, "info", lambda: ModelInfo(provider="openai", name="scripted", digest="sha256:2"))
    manifest = session.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"digest": ""', '"digest": "sha256:1"'))
    with pytest.raises(Exception, match="is another file now"):
        await collect(start(other, resume=session.folder))
    assert other.closed


def test_options_reach_the_provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    got: list[ProviderOptions] = []
    monkeypatch.setattr(registry, "build", lambda model, options: got.append(options))
    settings = RunSettings(model="openai:x", base_url="http://h", seed=4, timeout=9.0, num_ctx=512, limit=2)
    session = Session(settings, folder=tmp_path / "run")
    session.provider()
    assert (got[0].base_url, got[0].seed, got[0].timeout, got[0].num_ctx) == ("http://h", 4, 9.0, 512)
    assert got[0].battery == session.plan.drawn
