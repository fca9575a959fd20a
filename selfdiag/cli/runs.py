"""``selfdiag runs``: the runs on this machine."""

from __future__ import annotations

from typing import Any

import click

from selfdiag.cli.output import json_option, print_json, table


@click.group(help="List, show, find or delete runs. RUN is an id, a unique part of it, 'latest', or a path.")
def runs() -> None:
    """Group of the commands about runs."""


@runs.command("list", help="List runs, the newest first, with their tiers.")
@json_option
def list_runs(as_json: bool) -> None:
    """List runs."""
    from selfdiag.runs.store import run_folders
    from selfdiag.safety import one_line

    rows = [row for folder in reversed(run_folders()) if (row := _row(folder))]
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("no run yet: make one with 'selfdiag run MODEL'")
        return
    shown = [("run", "tier", "model", "battery", "answered", "state")]
    for row in rows:
        model = one_line(row["model"], 40) + (" (simulated)" if row["simulated"] else "")
        answered = f"{row['answered']} of {row['planned']}"
        shown.append((row["run_id"], row["tier"], model, one_line(row["battery"], 30), answered, row["state"]))
    click.echo(table(shown))


@runs.command(help="Show the card of a run and how it was asked.")
@click.argument("run", default="latest")
@json_option
def show(run: str, as_json: bool) -> None:
    """Show one run."""
    from selfdiag.protocols.audit import summarise
    from selfdiag.report.card import card_lines, framed
    from selfdiag.runs.store import find_run, read_run
    from selfdiag.safety import one_line

    found = read_run(find_run(run))
    summary = summarise(found)
    if as_json:
        print_json(summary)
        return
    manifest = found.manifest
    click.echo("\n".join(framed(card_lines(summary))))
    click.echo(f"  run {manifest.run_id} · selfdiag {manifest.selfdiag} · in {one_line(str(found.folder))}")
    click.echo(
        f"  model {one_line(manifest.settings.model)} · digest {one_line(manifest.model.digest)[:19] or 'unknown'} · "
        f"schema {manifest.structured} · seed {manifest.settings.seed}"
    )


@runs.command("path", help="Print the folder of a run.")
@click.argument("run", default="latest")
def run_path(run: str) -> None:
    """Print a run's folder."""
    from selfdiag.runs.store import find_run

    click.echo(str(find_run(run)))


@runs.command(help="Delete a run and everything in its folder.")
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
def rm(run: str, yes: bool) -> None:
    """Delete one run."""
    from selfdiag.runs.store import find_run, remove_run
    from selfdiag.safety import one_line

    folder = find_run(run)
    if not yes:
        click.confirm(f"Delete the run in {one_line(str(folder))}?", abort=True, err=True)
    remove_run(folder)
    click.echo(f"deleted {one_line(str(folder))}", err=True)


def _row(folder: Any) -> dict[str, Any] | None:
    from selfdiag.protocols.audit import summarise
    from selfdiag.runs.store import read_run
    from selfdiag.safety import SelfdiagError

    try:
        found = read_run(folder)
    except SelfdiagError:
        return None
    summary = summarise(found, draws=400)
    planned = len(found.manifest.plan)
    missing = sum(section["not_asked"] + section["error"] for section in summary.counts.values())
    sessions = found.manifest.sessions
    ended = bool(sessions) and bool(sessions[-1].ended)
    state = "complete" if not missing else ("stopped" if ended else "not ended")
    return {
        "run_id": folder.name,
        "tier": summary.tier.letter,
        "model": found.manifest.settings.model,
        "simulated": summary.model.simulated,
        "battery": found.manifest.settings.battery,
        "answered": planned - missing,
        "planned": planned,
        "state": state,
        "started": sessions[0].started if sessions else "",
    }
