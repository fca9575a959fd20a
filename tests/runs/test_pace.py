"""How many calls are under way at once."""

import asyncio

import pytest
from scripted import GOOD, Scripted, collect

from selfdiag.models.base import Call, ProviderError
from selfdiag.runs.pace import Pace
from selfdiag.runs.store import read_run


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 1.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("selfdiag.runs.pace.time", made)
    return made


async def rounds(pace: Pace, clock: Clock, count: int, rate_of: dict[int, float]) -> list[int]:
    """Make calls one after the other at the rate that each limit is said to bring; return the limits on the way."""
    seen = [pace.limit]
    for _ in range(count):
        async with pace:
            clock.now += 1 / rate_of[pace.limit]
        if pace.limit != seen[-1]:
            seen.append(pace.limit)
    return seen


async def test_the_limit_climbs_while_throughput_grows_and_steps_back_when_it_does_not(clock) -> None:
    pace = Pace(1, 64, finding=True)
    seen = await rounds(pace, clock, 200, {1: 1, 2: 2, 4: 4, 8: 8.1, 16: 8.2, 32: 8.2, 64: 8.2})
    assert seen == [1, 2, 4, 8, 16, 8]


async def test_the_last_limit_tried_is_kept_where_it_brings_a_little(clock) -> None:
    pace = Pace(1, 64, finding=True)
    assert await rounds(pace, clock, 200, {1: 1, 2: 2, 4: 4, 8: 4.3, 16: 9}) == [1, 2, 4, 8]


async def test_the_limit_never_passes_the_most(clock) -> None:
    pace = Pace(2, 6, finding=True)
    assert await rounds(pace, clock, 300, {2: 2, 4: 4, 6: 6}) == [2, 4, 6]


async def test_a_server_asked_too_much_gets_half_and_recovers_one_by_one(clock) -> None:
    pace = Pace(8, 8, finding=False)
    for _ in range(8):  # all that were under way are refused together
        pace.overloaded(0.5)
    assert pace.limit == 4
    seen = await rounds(pace, clock, 400, dict.fromkeys(range(1, 9), 5.0))
    assert seen == [4, 5, 6, 7, 8]
    for _ in range(6):
        clock.now += 1
        pace.overloaded(clock.now)
    assert pace.limit == 1


async def test_no_more_than_the_limit_are_under_way() -> None:
    pace, most, under_way = Pace(3, 3, finding=False), 0, 0

    async def work() -> None:
        nonlocal most, under_way
        async with pace:
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    await asyncio.gather(*(work() for _ in range(30)))
    assert most == 3


async def test_OLL_32_a_full_queue_lowers_concurrency_and_is_never_scored(start, tmp_path) -> None:
    left, limits = 3, []

    def answer(_: Call) -> str | ProviderError:
        nonlocal left
        limits.append(session._engine._pace.limit)
        if left:
            left -= 1
            return ProviderError("provider", "server busy", retry=True, retry_after=0.0, overloaded=True)
        return GOOD

    provider = Scripted(answer, takes_schema=False, concurrency=4)
    session = start(provider, concurrency=4, max_retries=4)
    await collect(session)
    assert limits[0] == 4
    assert min(limits) == 2
    records = read_run(tmp_path / "run").latest().values()
    assert {record.outcome for record in records} == {"incorrect"}


async def test_auto_begins_where_the_provider_is_and_climbs(start) -> None:
    provider = Scripted(lambda _: GOOD, takes_schema=False, concurrency=1)
    await collect(start(provider, concurrency="auto", limit=None))
    assert provider.most_at_once > 1


def test_concurrency_is_a_number_or_auto(selfdiag) -> None:
    done = selfdiag("run", "persona:blind", "--concurrency", "many")
    assert done.returncode == 2
    assert "write 'auto' or a whole number from 1 to 256" in done.stderr
