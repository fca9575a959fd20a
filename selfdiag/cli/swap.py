"""``selfdiag swap``: another model's measured profile in the place of a model's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfdiag.cli.asking import folder_name
from selfdiag.cli.measuring import (
    battery_option,
    calls_of,
    experiment,
    from_option,
    label_option,
    measured_run,
    replicates_option,
    show,
    stage_options,
    stage_settings,
)
from selfdiag.cli.output import say

if TYPE_CHECKING:
    from selfdiag.protocols.own_profile import Given

HELP = """Show MODEL another model's measured accuracy by topic in the place of its own.

First its own accuracy by topic is measured, unless --from names a run that has done so. Then the same questions are
asked without values, with its own profile, and with the other one: that of a run here, or of a file. A file must be
signed by someone you trust, see 'selfdiag profile'.

\b
Examples:
  selfdiag swap embedded --profile-of latest
  selfdiag swap embedded --from RUN --profile other.json --trust colleagues.txt
"""


@click.command(help=HELP)
@click.argument("model")
@click.option("--profile-of", metavar="RUN", help="The profile that this run has measured (an id, 'latest' or a path).")
@click.option("--profile", type=click.Path(path_type=Path), metavar="FILE", help="A profile from a file.")
@click.option(
    "--trust",
    type=click.Path(path_type=Path),
    metavar="KEYS",
    help="A file of public keys, one 'NAME KEY' a line, or a folder of .pub files, by which FILE is verified.",
)
@click.option("--allow-unsigned", is_flag=True, help="Use FILE even when it is not verified; the result says so.")
@from_option
@battery_option("full")
@replicates_option(1)
@label_option
@stage_options
@click.pass_context
def swap(ctx: click.Context, /, **flags: Any) -> int:
    """Run a swap; the help text is ``HELP``."""
    from selfdiag.protocols.swap import ARMS, one_model_notes, swap_of, swap_plan
    from selfdiag.report.swap import swap_lines, swap_markdown
    from selfdiag.runs.records import SWAP
    from selfdiag.runs.store import read_run

    if (flags["profile_of"] is None) == (flags["profile"] is None):
        raise click.UsageError("name the other model's profile: either --profile-of RUN or --profile FILE", ctx)
    other = _other(flags)
    measured, code = measured_run(
        ctx, flags, then=lambda probes: calls_of(probes, arms=len(ARMS), wordings=flags["replicates"])
    )
    if measured is None:
        return code
    settings = stage_settings(flags, measured, SWAP)
    plan = swap_plan(settings, measured, other, replicates=flags["replicates"], labelled=flags["labelled"])
    for note in one_model_notes(plan.injected):
        say(f"note: {note}")
    session, code = experiment(flags, settings, plan, SWAP, so_far=code)
    run = read_run(session.folder)
    found = swap_of(run)
    show(flags, found, lambda: swap_lines(found), lambda: swap_markdown(run, found))
    return code


def _other(flags: dict[str, Any]) -> Given:
    """Return the other model's profile, once it may be used."""
    from selfdiag.protocols.own_profile import given_profile
    from selfdiag.protocols.profile_file import profile_of
    from selfdiag.protocols.profile_signature import MEASURED_HERE, admit
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run

    if flags["profile"] is not None:
        return given_profile(*admit(flags["profile"], trust=flags["trust"], allow_unsigned=flags["allow_unsigned"]))
    folder = find_run(flags["profile_of"])
    flags["profile_of"] = folder_name(folder)  # 'latest' is another run once this command has made one
    return given_profile(profile_of(read_run(folder)), MEASURED_HERE)
