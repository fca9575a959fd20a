"""DOIs in a run's citations are looked up when a person says so, and what is found stays with the run."""

import asyncio
import json
from pathlib import Path

import pytest
from scripted import GOOD, Scripted, collect

from selfdiag.battery.self_assessment import self_assessment
from selfdiag.elicit.citations import LookedUp
from selfdiag.models.base import Call
from selfdiag.runs import doi_lookup
from selfdiag.runs.citation_lookup import citations_of, look_up_citations, open_dois
from selfdiag.runs.records import TASKS
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

QUESTIONS = {question: task for task in self_assessment().citations for question in task.questions}


def citing(call: Call) -> str:
    """Name a work with a DOI of its own for each task, and for one task a text that is no DOI."""
    task = QUESTIONS.get(call.user)
    if task is None:
        return GOOD
    number = int(task.id.rpartition("-")[2])
    doi = "see the library" if number == 1 else f"10.1000/{number}"
    return json.dumps({"title": f"Work {number}", "author": "A. Author", "year": 2001, "doi": doi})


class Resolver:
    """Stands in for the look-up: an even number exists, an odd one does not, and some cannot be asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, failing: set[str] | None = None) -> None:
        self.asked: list[str] = []
        self.addresses: set[str] = set()
        self.failing = failing
        monkeypatch.setattr(doi_lookup, "look_up", self.look_up)

    async def look_up(self, dois: list[str], *, base_url: str) -> dict[str, LookedUp]:
        self.addresses.add(base_url)
        self.asked += dois
        if self.failing is None or set(dois) & self.failing:
            raise SelfdiagError("the resolver did not answer in time", exit_code=3)
        return {doi: LookedUp(exists=int(doi.rpartition("/")[2]) % 2 == 0) for doi in dois}


@pytest.fixture
async def run(start) -> Run:
    session = start(Scripted(citing), sections=(TASKS,), tasks=1000, limit=None)
    await collect(session)
    return read_run(session.folder)


async def test_what_is_found_stands_in_the_run_and_is_not_asked_again(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = Resolver(monkeypatch, failing=set())
    wanted = open_dois(run)
    assert len(wanted) == len(QUESTIONS) / 3 - 1
    found = await look_up_citations(run.folder, base_url="http://resolver.test")
    assert (found.exist, found.absent, found.unanswered) == (8, 7, 0)
    assert resolver.addresses == {"http://resolver.test"}
    after = read_run(run.folder)
    assert sorted(after.manifest.looked_up) == sorted(wanted)
    assert after.records == run.records
    assert open_dois(after) == []
    await look_up_citations(run.folder)
    assert resolver.asked == wanted


async def test_one_server_out_of_order_does_not_hide_the_others(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Resolver(monkeypatch, failing={"10.1000/4", "10.1000/9"})
    found = await look_up_citations(run.folder)
    assert found.unanswered == 2
    assert found.fault == "the resolver did not answer in time"
    left = open_dois(read_run(run.folder))
    assert sorted(left) == ["10.1000/4", "10.1000/9"]
    Resolver(monkeypatch, failing=set())
    await look_up_citations(run.folder)
    assert len(read_run(run.folder).manifest.looked_up) == 15


async def test_what_was_found_before_the_end_by_ctrl_c_stays(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = Resolver(monkeypatch, failing=set())
    third = asyncio.Event()
    answer = resolver.look_up

    async def look_up(dois: list[str], *, base_url: str) -> dict[str, LookedUp]:
        if len(resolver.asked) == 2:
            third.set()
            await asyncio.Event().wait()
        return await answer(dois, base_url=base_url)

    monkeypatch.setattr(doi_lookup, "look_up", look_up)
    task = asyncio.create_task(look_up_citations(run.folder))
    await asyncio.wait_for(third.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(read_run(run.folder).manifest.looked_up) == resolver.asked
    assert len(resolver.asked) == 2


async def test_without_network_the_rest_is_left_and_the_run_stays_as_it_is(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = Resolver(monkeypatch, failing=None)
    before = (run.folder / "manifest.json").read_bytes()
    found = await look_up_citations(run.folder)
    assert len(resolver.asked) == 3
    assert (found.exist, found.unanswered) == (0, 15)
    assert resolver.addresses == {doi_lookup.RESOLVER}
    assert (run.folder / "manifest.json").read_bytes() == before


def test_only_usable_replies_to_citation_tasks_are_read(run: Run) -> None:
    found = list(citations_of(run))
    assert len(found) == len(QUESTIONS) / 3
    assert all(citation is not None and citation.title.startswith("Work ") for _, citation in found)


async def test_a_run_without_citations_looks_nothing_up(start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    resolver = Resolver(monkeypatch, failing=set())
    session = start(Scripted(lambda _: GOOD))
    await collect(session)
    found = await look_up_citations(session.folder)
    assert (found.exist, found.unanswered, resolver.asked) == (0, 0, [])
