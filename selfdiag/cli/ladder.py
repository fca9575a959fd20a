"""``selfdiag ladder``: does a model's own measured profile make its confidence better?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from selfdiag.cli.asking import address
from selfdiag.cli.exit_codes import ExitCode
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
    from selfdiag.battery.items import Probe

HELP = """Show MODEL its own measured accuracy by topic, and find out whether its confidence gets better by it.

First its accuracy by topic is measured, unless --from names a run that has done so. Then the same questions are asked
four times over: without values, with a made-up profile, with its own, and with its own on the wrong topics.

\b
Examples:
  selfdiag ladder embedded                        294 + 2,352 calls
  selfdiag ladder ollama:NAME --from latest --format md -o ladder.md
  selfdiag ladder persona:suggestible --yes       no model: simulated replies

A stopped ladder is finished with 'selfdiag run --resume RUN'; 'selfdiag report RUN' shows it again.
"""


@click.command(help=HELP)
@click.argument("model")
@from_option
@battery_option("full")
@replicates_option(2)
@label_option
@click.option(
    "--judge",
    "profile_judge",
    default="",
    metavar="MODEL",
    help="Ask MODEL, 4 calls, whether it can tell the own profile from the one on wrong topics.",
)
@click.option("--judge-base-url", "profile_judge_url", callback=address, metavar="URL", help="Address of its server.")
@stage_options
@click.pass_context
def ladder(ctx: click.Context, /, **flags: Any) -> int:
    """Run a ladder; the help text is ``HELP``."""
    from selfdiag.protocols.ladder import ARMS, enough_topics, ladder_of, ladder_plan
    from selfdiag.report.ladder import ladder_lines, ladder_markdown
    from selfdiag.runs.judging import judge_provider
    from selfdiag.runs.records import LADDER
    from selfdiag.runs.store import read_run

    if flags["profile_judge"]:
        judge_provider(_judge(flags))  # an unknown one is told before anything is asked

    def later(probes: Sequence[Probe]) -> int:
        enough_topics(probes)  # too few are told before anything is asked
        return calls_of(probes, arms=len(ARMS), wordings=flags["replicates"])

    measured, code = measured_run(ctx, flags, then=later)
    if measured is None:
        return code
    settings = stage_settings(flags, measured, LADDER)
    plan = ladder_plan(settings, measured, replicates=flags["replicates"], labelled=flags["labelled"])
    session, code = experiment(flags, settings, plan, LADDER, so_far=code)
    unjudged = _judged(session.folder, flags) if code in {ExitCode.OK, ExitCode.INCOMPLETE} else None
    run = read_run(session.folder)
    found = ladder_of(run)
    show(flags, found, lambda: ladder_lines(found), lambda: ladder_markdown(run, found))
    if unjudged is not None:
        raise unjudged
    return code


def _judge(flags: dict[str, Any]) -> Any:
    from selfdiag.runs.judging import JudgeSettings

    return JudgeSettings(
        model=flags["profile_judge"],
        base_url=flags["profile_judge_url"],
        timeout=flags["timeout"],
        max_retries=flags["max_retries"],
    )


def _judged(folder: Any, flags: dict[str, Any]) -> Any:
    """Ask the judge, if there is one, and return why it could not be asked."""
    from selfdiag.runs.profile_judging import judge_profiles
    from selfdiag.safety import SelfdiagError

    if not flags["profile_judge"]:
        return None
    try:
        asyncio.run(judge_profiles(folder, _judge(flags), waiting=say))
    except SelfdiagError as error:
        return SelfdiagError(f"{error}. The ladder is kept, without the judge", exit_code=error.exit_code)
    except KeyboardInterrupt:
        return SelfdiagError(
            "stopped while the judge was asked. The ladder is kept, without it", exit_code=ExitCode.INTERRUPTED
        )
    return None
