"""``selfdiag runs``: the runs on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from selfdiag.cli.output import is_terminal, json_option, print_json, say, table

KINDS = ("audit", "assess", "microprobe", "ladder", "topicpass", "swap", "selfselect")
STATES = {"complete": "complete", "stopped": "stopped", "not-ended": "not ended", "damaged": "damaged"}
"""States by their names on the command line."""
FEW = 4
"""So many runs are named one by one when a person is asked about them."""

LIST_HELP = """List runs, the newest first, with their tiers.

\b
Examples:
  selfdiag runs list --model qwen --tier A,B
  selfdiag runs list --state stopped
  selfdiag runs list --kind audit --since 2026-11-01 --sort tier
"""
PRUNE_HELP = """Delete all runs but the newest N in the folder that 'selfdiag path runs' prints.

A run that another process is writing to stays, and so does a damaged one. It asks before it deletes.

\b
Examples:
  selfdiag runs prune --keep 20 --dry-run
  selfdiag runs prune --keep 20
"""


@click.group(help="List, show, find or delete runs. RUN is an id, its beginning or its end, 'latest', or a path.")
def runs() -> None:
    """Group of the commands about runs."""


def _letters(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    if value is None:
        return ()
    from selfdiag.measure.tiers import ORDER

    letters = tuple(dict.fromkeys(part.strip().upper() for part in value.split(",") if part.strip()))
    unknown = next((letter for letter in letters if letter not in tuple(ORDER)), None)
    if unknown is not None:
        raise click.BadParameter(f"no tier {unknown!r}; there are: {', '.join(ORDER)}")
    return letters


@runs.command("list", help=LIST_HELP)
@click.option("--model", default="", metavar="TEXT", help="Only models with this in their name.")
@click.option("--tier", "tiers", callback=_letters, metavar="LETTERS", help="Only these tiers, as in A,B,X.")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of run.")
@click.option("--state", type=click.Choice([*STATES]), help="Only runs in this state.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD", help="Started on this day or later.")
@click.option(
    "--sort", "order", type=click.Choice(["newest", "tier", "model"]), default="newest", help="Default newest first."
)
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@json_option
def list_runs(**flags: Any) -> None:
    """List runs; the help text is ``LIST_HELP``."""
    from selfdiag.protocols.overview import chosen, ordered, overview
    from selfdiag.safety import one_line

    there = overview()
    rows = chosen(
        there,
        model=flags["model"],
        tiers=flags["tiers"],
        kind=flags["kind"] or "",
        state=STATES.get(flags["state"], ""),
        since=flags["since"] and flags["since"].date(),
    )
    rows = ordered(rows, flags["order"])[: flags["limit"]]
    if flags["as_json"]:
        print_json(rows)
        return
    if not rows:
        none_fits = f"no run fits; without filters there {'is 1' if len(there) == 1 else f'are {len(there)}'}"
        click.echo(none_fits if there else "no run yet: make one with 'selfdiag run MODEL'")
        return
    shown = [("run", "kind", "tier", "model", "answered", "state")]
    for row in rows:
        model = one_line(row.model, 18 if row.simulated else 30) + (" (simulated)" if row.simulated else "")
        # a letter in brackets speaks of a part of the run only
        tier = row.tier if row.state == "complete" or not row.tier else f"({row.tier})"
        shown.append((one_line(row.run_id, 40), row.kind, tier, model, f"{row.answered} of {row.planned}", row.state))
    click.echo(table(shown))


@runs.command(help="Show the card of a run and how it was asked.")
@click.argument("run", default="latest")
@json_option
def show(run: str, as_json: bool) -> None:
    """Show one run."""
    from selfdiag.protocols.audit import structured_mode
    from selfdiag.report.results import result_of
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run
    from selfdiag.safety import one_line

    found = read_run(find_run(run))
    result = result_of(found)
    if as_json:
        print_json(result.document)
        return
    manifest = found.manifest
    click.echo("\n".join(result.lines(False)))
    version = one_line(manifest.selfdiag, 20)
    click.echo(f"  run {one_line(manifest.run_id, 40)} · selfdiag {version} · in {one_line(str(found.folder))}")
    click.echo(
        f"  model {one_line(manifest.settings.model)} · digest {one_line(manifest.model.digest)[:19] or 'unknown'} · "
        f"schema {structured_mode(found)} · seed {manifest.settings.seed}"
    )


@runs.command("path", help="Print the folder of a run.")
@click.argument("run", default="latest")
def run_path(run: str) -> None:
    """Print a run's folder."""
    from selfdiag.runs.shelf import find_run
    from selfdiag.safety import literal

    click.echo(literal(str(find_run(run))))


@runs.command(help="Delete runs, each with everything in its folder.")
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def rm(names: tuple[str, ...], yes: bool) -> None:
    """Delete the runs named."""
    from selfdiag.runs.shelf import check_removable, find_run
    from selfdiag.safety import one_line

    folders = list(dict.fromkeys(find_run(name) for name in names))
    for folder in folders:
        check_removable(folder)
    if len(folders) == 1:
        _agreed(f"Delete the run in {one_line(str(folders[0]))}?", yes=yes)
    else:
        _agreed(f"Delete {len(folders)} runs ({_named(folders)})?", yes=yes)
    _delete(folders)


@runs.command(help=PRUNE_HELP)
@click.option("--keep", type=click.IntRange(min=0), required=True, metavar="N", help="How many of the newest stay.")
@click.option("--dry-run", is_flag=True, help="Say which would be deleted, and delete none.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def prune(keep: int, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Delete all but the newest runs; the help text is ``PRUNE_HELP``."""
    from selfdiag.runs.shelf import check_removable, run_folders
    from selfdiag.runs.store import check_records
    from selfdiag.safety import SelfdiagError, one_line

    there = run_folders()
    going = []
    for folder in there[: max(len(there) - keep, 0)]:
        try:
            check_removable(folder)
            check_records(folder)
            going.append(folder)
        except SelfdiagError as error:
            say(f"stays: {error}")
    if going and not dry_run:
        _agreed(f"Delete {len(going)} of {len(there)} runs ({_named(going)})?", yes=yes)
        _delete(going)
    if as_json:
        print_json([folder.name for folder in going])
    elif dry_run:
        click.echo("".join(f"{one_line(folder.name)}\n" for folder in going), nl=False)
    if not going:
        say(f"nothing to delete: there {'is 1 run' if len(there) == 1 else f'are {len(there)} runs'}")


def _agreed(question: str, *, yes: bool) -> None:
    from selfdiag.safety import SelfdiagError

    if yes:
        return
    if not is_terminal(sys.stdin):
        raise SelfdiagError("nobody can be asked here: add --yes to delete without being asked")
    click.confirm(question, abort=True, err=True)


def _named(folders: Sequence[Path]) -> str:
    from selfdiag.safety import one_line

    shown = [one_line(folder.name, 40) for folder in folders]
    return ", ".join(shown) if len(shown) <= FEW else f"{shown[0]} to {shown[-1]}"


def _delete(folders: Sequence[Path]) -> None:
    from selfdiag.runs.shelf import remove_run
    from selfdiag.safety import one_line

    for folder in folders:
        remove_run(folder)
        say(f"deleted {one_line(str(folder))}")
