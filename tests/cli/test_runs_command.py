"""Runs found again, and cleared away: filters, sorting, and deleting more than one."""

import json
from pathlib import Path
from typing import get_args

import msgspec
import pexpect
import pytest
from filelock import FileLock
from made_runs import measured, unmoved

from selfdiag.cli.runs import KINDS, STATES
from selfdiag.protocols.overview import RunRow, State, chosen, ordered
from selfdiag.runs.records import EXPERIMENTS, TASKS, Stretch, kind_of
from selfdiag.runs.store import MANIFEST, Run, read_manifest


def row(run_id: str, **fields: object) -> RunRow:
    return RunRow(run_id=run_id, **{"state": "complete", **fields})


ROWS = [
    row("5", model="openai:Qwen3", tier="X", started="2026-11-30T23:30:00-02:00"),
    row("4", model="embedded", tier="A", state="stopped", started="2026-11-30T12:00:00Z"),
    row("3", model="openai:qwen2", tier="C", started="2026-11-02T00:00:00Z"),
    row("2", model="embedded", kind="ladder", started="2026-11-01T23:59:59Z"),
    row("1", state="damaged", kind=""),
]


@pytest.mark.parametrize(
    ("wishes", "ids"),
    [
        ({}, "54321"),
        ({"model": "qwen"}, "53"),
        ({"tiers": ("A", "C")}, "43"),
        ({"kind": "audit"}, "543"),
        ({"kind": "ladder"}, "2"),
        ({"state": "stopped"}, "4"),
        ({"state": "damaged"}, "1"),
        ({"model": "qwen", "tiers": ("X",)}, "5"),
    ],
)
def test_a_run_is_shown_when_it_fits_every_filter(wishes: dict, ids: str) -> None:
    assert "".join(found.run_id for found in chosen(ROWS, **wishes)) == ids


def test_every_kind_and_every_state_can_be_asked_for() -> None:
    assert set(KINDS) == {*EXPERIMENTS, kind_of((TASKS,)), kind_of(("probes", "traps"))}
    assert set(STATES.values()) == set(get_args(State))


def test_a_day_is_a_day_in_utc() -> None:
    from datetime import date

    assert [found.run_id for found in chosen(ROWS, since=date(2026, 11, 2))] == ["5", "4", "3"]
    assert [found.run_id for found in chosen(ROWS, since=date(2026, 12, 1))] == ["5"]


def test_sorting_keeps_the_newest_first_among_equals() -> None:
    assert [found.run_id for found in ordered(ROWS, "newest")] == ["5", "4", "3", "2", "1"]
    assert [found.run_id for found in ordered(ROWS, "tier")] == ["4", "3", "5", "2", "1"]
    assert [found.run_id for found in ordered(ROWS, "model")] == ["1", "4", "2", "5", "3"]


@pytest.fixture
def runs(own_home: Path) -> list[Run]:
    """Four runs, the oldest first."""
    made = [measured(own_home / "runs" / f"2026010{day}-000000-aaaa", unmoved, limit=4 * day) for day in (1, 2, 3, 4)]
    manifest = made[-1].manifest
    model = msgspec.structs.replace(manifest.settings, model="openai:other")
    started = (Stretch(started="2026-02-01T00:00:00Z"),)
    changed = msgspec.structs.replace(manifest, settings=model, sessions=started)
    (made[-1].folder / MANIFEST).write_bytes(msgspec.json.encode(changed))
    return made


def listed(selfdiag, *words: str) -> list[str]:
    done = selfdiag("runs", "list", *words, "--json")
    assert done.returncode == 0, done.stderr
    return [found["run_id"][:8] for found in json.loads(done.stdout)]


def test_the_list_is_filtered_sorted_and_cut(selfdiag, runs: list[Run]) -> None:
    newest_first = ["20260104", "20260103", "20260102", "20260101"]
    assert listed(selfdiag) == newest_first
    assert listed(selfdiag, "--model", "OTHER") == ["20260104"]
    assert listed(selfdiag, "--since", "2026-01-02") == ["20260104"]
    assert listed(selfdiag, "--state", "complete", "--limit", "2") == newest_first[:2]
    assert listed(selfdiag, "--kind", "ladder") == []
    assert listed(selfdiag, "--sort", "model", "--limit", "3") == newest_first[1:]
    tiers = {found["run_id"][:8]: found["tier"] for found in json.loads(selfdiag("runs", "list", "--json").stdout)}
    letter = tiers["20260104"]
    assert listed(selfdiag, "--tier", f" {letter.lower()},x") == [
        name for name in newest_first if tiers[name] == letter
    ]
    shown = selfdiag("runs", "list", "--limit", "1").stdout
    assert [line.split()[0] for line in shown.splitlines()] == ["run", "20260104-000000-aaaa"]
    assert selfdiag("runs", "list", "--model", "nobody").stdout == "no run fits; without filters there are 4\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--tier", "Q"), "no tier 'Q'; there are: A, B, C, D, E, X, -"),
        (("--tier", "AB"), "no tier 'AB'"),
        (("--since", "yesterday"), "'yesterday' does not match the format '%Y-%m-%d'"),
        (("--state", "odd"), "'odd' is not one of"),
        (("--limit", "0"), "0 is not in the range"),
    ],
)
def test_a_filter_that_is_none_is_one_line(selfdiag, words: tuple[str, ...], told: str) -> None:
    done = selfdiag("runs", "list", *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert told in line


def test_several_runs_are_deleted_at_once_or_none(selfdiag, runs: list[Run]) -> None:
    first, second, third, fourth = (run.folder for run in runs)
    done = selfdiag("runs", "rm", first.name, "nowhere", "--yes")
    assert done.returncode == 2 and first.is_dir()
    with FileLock(second / ".lock"):
        done = selfdiag("runs", "rm", first.name, second.name, "--yes")
        assert done.returncode == 2 and first.is_dir()
        assert "another process is writing to" in done.stderr
    done = selfdiag("runs", "rm", first.name, str(first), second.name, "--yes")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [f"deleted {first}", f"deleted {second}"]
    assert third.is_dir() and fourth.is_dir()


def test_pruning_keeps_the_newest(selfdiag, own_home: Path, runs: list[Run]) -> None:
    done = selfdiag("runs", "prune", "--keep", "2", "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [run.folder.name for run in runs[:2]]
    assert all(run.folder.is_dir() for run in runs)
    asked = selfdiag("runs", "prune", "--keep", "2")
    assert asked.returncode == 2 and "add --yes" in asked.stderr
    assert all(run.folder.is_dir() for run in runs)
    done = selfdiag("runs", "prune", "--keep", "2", "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, [run.folder.name for run in runs[:2]])
    assert [run.folder.is_dir() for run in runs] == [False, False, True, True]
    again = selfdiag("runs", "prune", "--keep", "2", "--yes")
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr == "nothing to delete: there are 2 runs\n"
    assert selfdiag("runs", "prune", "--keep", "0", "--yes").returncode == 0
    assert list((own_home / "runs").iterdir()) == []


def test_pruning_leaves_what_is_being_written_and_what_it_cannot_read(
    selfdiag, own_home: Path, runs: list[Run]
) -> None:
    (runs[1].folder / MANIFEST).write_text("{", encoding="utf-8")
    linked = own_home / "runs" / "20250101-000000-aaaa"
    linked.symlink_to(runs[3].folder)
    with FileLock(runs[0].folder / ".lock"):
        done = selfdiag("runs", "prune", "--keep", "1", "--yes")
    assert done.returncode == 0
    told = done.stderr.splitlines()
    assert sum(line.startswith("stays: ") for line in told) == 3
    assert any("another process is writing to" in line for line in told)
    assert any("is damaged" in line for line in told)
    assert any("is a link" in line for line in told)
    assert [run.folder.is_dir() for run in runs] == [True, True, False, True]
    assert linked.is_symlink() and read_manifest(runs[3].folder)


def test_pruning_needs_a_number(selfdiag) -> None:
    assert selfdiag("runs", "prune").returncode == 2
    assert selfdiag("runs", "prune", "--keep", "-1").returncode == 2
    empty = selfdiag("runs", "prune", "--keep", "3")
    assert (empty.returncode, empty.stderr) == (0, "nothing to delete: there are 0 runs\n")


@pytest.mark.parametrize(("answer", "left"), [("n", 4), ("y", 1)])
def test_a_person_is_asked_what_is_deleted(own_home: Path, runs: list[Run], answer: str, left: int) -> None:
    import sys

    child = pexpect.spawn(
        sys.executable, ["-m", "selfdiag", "runs", "prune", "--keep", "1"], timeout=60, encoding="utf-8"
    )
    child.expect_exact("Delete 3 of 4 runs (20260101-000000-aaaa, ")
    child.expect_exact("[y/N]: ")
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == (0 if answer == "y" else 130)
    assert len(list((own_home / "runs").iterdir())) == left
