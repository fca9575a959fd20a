"""``selfdiag topicpass``: does a false profile move confidence, and must the question name its topic for it?"""

from __future__ import annotations

from typing import Any

import click

from selfdiag.cli.measuring import (
    battery_option,
    experiment,
    from_option,
    measured_run,
    show,
    stage_options,
    stage_settings,
)

HELP = """Show MODEL its true accuracy by topic and a false one, and see whether its confidence follows.

First its accuracy by topic is measured, unless --from names a run that has done so. Then other questions, one of each
topic, are asked under the true profile and under its values in reverse order, with and without the topic's name.

\b
Examples:
  selfdiag topicpass embedded
  selfdiag topicpass embedded --from latest --items-per-topic 3
  selfdiag topicpass persona:suggestible      no model: simulated replies
"""


@click.command(help=HELP)
@click.argument("model")
@from_option
@battery_option("standard")
@click.option("--items-per-topic", type=click.IntRange(1, 100), default=1, help="Questions of each topic (default 1).")
@stage_options
@click.pass_context
def topicpass(ctx: click.Context, /, **flags: Any) -> int:
    """Run a topic pass; the help text is ``HELP``."""
    from selfdiag.protocols.topicpass import measured_topicpass, topicpass_of
    from selfdiag.report.topicpass import topicpass_lines, topicpass_markdown
    from selfdiag.runs.records import TOPICPASS
    from selfdiag.runs.store import read_run

    per_topic = flags["items_per_topic"]
    measured, code = measured_run(ctx, flags, then=lambda probes: 4 * per_topic * len({probe.bin for probe in probes}))
    if measured is None:
        return code
    settings = stage_settings(flags, measured, TOPICPASS)
    plan = measured_topicpass(settings, measured, per_topic=per_topic)
    session, code = experiment(flags, settings, plan, TOPICPASS, so_far=code)
    run = read_run(session.folder)
    found = topicpass_of(run)
    show(flags, found, lambda: topicpass_lines(found), lambda: topicpass_markdown(run, found))
    return code
