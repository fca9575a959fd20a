import asyncio
from pathlib import Path

import pytest

from selfdiag.protocols.item_statistics import item_statistics
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    found = []
    for number, persona in enumerate(("calibrated", "blind", "underconfident", "overconfident")):
        settings = RunSettings(model=f"persona:{persona}", paraphrase="all", limit=21)
        folder = tmp_path / str(number)

        async def ask(settings: RunSettings = settings, folder: Path = folder) -> None:
            async for _ in Session(settings, folder=folder).events():
                pass

        asyncio.run(ask())
        found.append(read_run(folder))
    return found


def test_every_item_has_its_share_and_its_remarks(runs: list[Run]) -> None:
    found = item_statistics(runs)
    assert found.runs == 4
    assert len(found.items) == 42
    by_id = {item.id: item for item in found.items}
    for item in found.items:
        assert item.n <= 12
        assert item.share_right is not None
        assert ("never hit" in item.remarks) == (item.share_right == 0.0)
        assert ("never missed" in item.remarks) == (item.share_right == 1.0)
        assert item.rest_correlation is None or -1 <= item.rest_correlation <= 1
        assert item.paraphrase_spread == 0.0
    for run in runs:
        for record in run.records:
            if record.outcome == "correct":
                assert (by_id[record.item_id].share_right or 0) > 0
    assert any(item.rest_correlation is not None for item in found.items)
    assert found.notes == ()


def test_one_run_says_what_it_cannot_say(runs: list[Run]) -> None:
    found = item_statistics(runs[:1])
    assert all(item.rest_correlation is None for item in found.items)
    assert not any("never hit" in item.remarks for item in found.items)
    assert "needs 3 runs" in found.notes[0]


def test_an_item_easier_than_the_easy_ones_is_named(runs: list[Run]) -> None:
    for item in item_statistics(runs).items:
        if "difficulty out of order" in item.remarks:
            assert item.difficulty is not None
