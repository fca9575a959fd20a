"""``selfdiag selfselect``: can a model pick the right one of two answers of its own?"""

from __future__ import annotations

from typing import Any

import click

from selfdiag.cli.asking import (
    how_it_ended,
    item_options,
    model_options,
    out_option,
    run_name,
    seed_option,
    settings_from,
    show_plan,
    watched,
    yes_option,
)
from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.measuring import battery_option, show
from selfdiag.cli.output import chosen_form, json_option, output_option, plain_option, say

HELP = """Let MODEL answer each question twice, and then pick the answer that is right and say how sure it is.

The two answers come from differently worded prompts. Where exactly one of them is right the picks are graded; then it
is told, topic by topic, where the model is accurate and where it knows how accurate it is. An item takes up to four
calls, two when both answers are the same text. A pick between two right or two wrong answers is told apart.

\b
Examples:
  selfdiag selfselect embedded                          126 items, up to 504 calls
  selfdiag selfselect ollama:NAME --battery full --yes
  selfdiag selfselect openai:NAME --base-url URL --selections 10
  selfdiag selfselect persona:calibrated --format md -o selfselect.md

A stopped run goes on with 'selfdiag run --resume RUN'; 'selfdiag report RUN' shows it again.
"""


def _selections(_ctx: click.Context, _param: click.Parameter, value: int) -> int:
    if value != 1 and value % 2:
        raise click.BadParameter("write 1 or an even number: half of the picks are asked in either order")
    return value


@click.command(help=HELP)
@click.argument("model")
@battery_option("standard")
@click.option(
    "--selections",
    type=click.IntRange(1, 100),
    callback=_selections,
    default=2,
    metavar="N",
    help="Picks for each item: one in each order (2, default), one in a drawn order (1), or an even number of sampled "
    "ones, whose agreement is then a confidence too (10 in the study).",
)
@click.option(
    "--grid",
    type=click.Choice(["closed", "paper"]),
    default="closed",
    help="Volumes over topics by their closed form (default) or on the 101 x 101 grid of the study.",
)
@seed_option
@out_option
@click.option(
    "--format", "form", type=click.Choice(["text", "md"]), default="text", help="Of the result (default text)."
)
@output_option
@json_option
@plain_option
@click.option("--dry-run", is_flag=True, help="Print what would be asked, and ask nothing.")
@yes_option
@item_options
@model_options
def selfselect(**flags: Any) -> int:
    """Run a self-selection; the help text is ``HELP``."""
    from selfdiag.protocols.selfselect import selfselect_of
    from selfdiag.report.selfselect import selfselect_lines, selfselect_markdown
    from selfdiag.runs.records import SELFSELECT
    from selfdiag.runs.selection_plan import selection_plan
    from selfdiag.runs.session import Session
    from selfdiag.runs.store import read_run

    chosen_form(flags["form"], as_json=flags["as_json"])
    settings = settings_from(flags, sections=(SELFSELECT,))
    plan = selection_plan(settings, selections=flags["selections"])
    session = Session(settings, folder=flags["out"], plan=plan, waiting=say)
    session.provider()  # an unknown model is told before its plan
    if flags["dry_run"]:
        show_plan(session, as_json=flags["as_json"])
        return ExitCode.OK
    outcome = watched(session, plain=flags["plain"], yes=flags["yes"])
    code = how_it_ended(session, outcome)
    say(f"kept as {run_name(session)}; show it again with: selfdiag report {run_name(session)}")
    run = read_run(session.folder)
    found = selfselect_of(run)
    show(
        flags,
        found,
        lambda: selfselect_lines(found, grid=flags["grid"]),
        lambda: selfselect_markdown(run, found),
    )
    return code
