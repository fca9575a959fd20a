"""``selfdiag runs``: the runs on this machine."""

from __future__ import annotations

import sys

import click

from selfdiag.cli.output import is_terminal, json_option, print_json, table


@click.group(help="List, show, find or delete runs. RUN is an id, a unique part of it, 'latest', or a path.")
def runs() -> None:
    """Group of the commands about runs."""


@runs.command("list", help="List runs, the newest first, with their tiers.")
@json_option
def list_runs(as_json: bool) -> None:
    """List runs."""
    from selfdiag.protocols.overview import overview
    from selfdiag.safety import one_line

    rows = overview()
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("no run yet: make one with 'selfdiag run MODEL'")
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


@runs.command(help="Delete a run and everything in its folder.")
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
def rm(run: str, yes: bool) -> None:
    """Delete one run."""
    from selfdiag.runs.shelf import find_run, remove_run
    from selfdiag.safety import SelfdiagError, one_line

    folder = find_run(run)
    if not yes:
        if not is_terminal(sys.stdin):
            raise SelfdiagError("nobody can be asked here: add --yes to delete it without being asked")
        click.confirm(f"Delete the run in {one_line(str(folder))}?", abort=True, err=True)
    remove_run(folder)
    click.echo(f"deleted {one_line(str(folder))}", err=True)
