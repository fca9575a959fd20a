"""``selfdiag run``: audit a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfdiag.cli.asking import (
    address,
    example_option,
    how_it_ended,
    item_options,
    model_options,
    names,
    out_option,
    resumed_settings,
    run_name,
    seed_option,
    settings_from,
    show_plan,
    watched,
    yes_option,
)
from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.gating import gate_options, gates_from, results_of, tell
from selfdiag.cli.output import colour_wanted, json_option, plain_option, print_json, say, show

if TYPE_CHECKING:
    from selfdiag.cli.watch import Outcome
    from selfdiag.protocols.gates import Gates
    from selfdiag.runs.judging import JudgeSettings
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session
    from selfdiag.safety import SelfdiagError

HELP = """Audit a model: ask it short questions with a stated confidence, and trap questions without an answer.

MODEL is PROVIDER:NAME, for example embedded, gguf:model.gguf, openai:NAME (with --base-url) or
persona:calibrated. A stopped run goes on with --resume, and asks only what is missing.

\b
Examples:
  selfdiag run embedded
  selfdiag run openai:qwen3 --base-url http://127.0.0.1:8080/v1
  selfdiag run persona:blind --json
  selfdiag run embedded --battery standard --fresh 3
  selfdiag run embedded --bins physics,history --limit 6
  selfdiag run --resume latest
  selfdiag run embedded --fail-under C --max-gap 20%
"""

PRESETS: dict[str, dict[str, Any]] = {"sce": {"battery": "full", "example": 85, "impute": 50}}
"""The settings of published studies by the name of a flag."""


@click.command(help=HELP)
@click.argument("model", required=False)
@click.option(
    "--battery",
    default="quick",
    metavar="NAME|PATH",
    help="quick (42 probes, 21 traps; default), standard (126, 21), full (294, 42), or your own file or folder.",
)
@seed_option
@out_option
@click.option("--resume", metavar="RUN", help="Go on with a stopped run: an id, 'latest' or a path.")
@json_option
@plain_option
@click.option("--dry-run", is_flag=True, help="Print what would be asked, and ask nothing.")
@yes_option
@click.option(
    "--sections",
    default="probes,traps",
    callback=names,
    help="What to ask: probes,traps (default), questionnaire, microprobe, anchor, fresh-check.",
)
@item_options
@click.option("--paper-size", is_flag=True, help="With --battery full: all probes and one trap a topic.")
@click.option("--paraphrase", type=click.Choice(["one", "all"]), default="one", help="Wordings asked of each item.")
@click.option("--repeat", type=click.IntRange(1, 100), default=1, help="Ask every call so often.")
@click.option(
    "--judge", default="", metavar="MODEL", help="Ask MODEL about answers the rules leave undecided; shown beside."
)
@click.option("--judge-base-url", callback=address, metavar="URL", help="Address of the judge's server.")
@click.option(
    "--confidence",
    callback=names,
    default="stated",
    help="Where it comes from: stated (default), posthoc, logprob, agreement; the first is measured.",
)
@example_option
@click.option(
    "--impute",
    type=click.IntRange(0, 100),
    metavar="N",
    help="Put N where no confidence can be read, in the attempted-as-wrong figures alone.",
)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="sce: as that study asked, --battery full --example 85 --impute 50; flags that you write win.",
)
@model_options
@gate_options
@click.pass_context
def run(ctx: click.Context, /, **flags: Any) -> int:
    """Audit a model; the help text is ``HELP``."""
    from selfdiag.protocols.gates import check_kind
    from selfdiag.runs.judging import judge_provider
    from selfdiag.runs.records import kind_of
    from selfdiag.runs.session import Session
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_manifest
    from selfdiag.safety import SelfdiagError

    plain, as_json = flags["plain"], flags["as_json"]
    gates = gates_from(ctx, flags)
    resume: Path | None = None
    if flags["resume"] is not None:
        if flags["out"] is not None:
            raise SelfdiagError("--resume goes on in the run's own folder; leave --out away")
        if flags["preset"]:
            raise SelfdiagError("--resume goes on with the run's own settings; leave --preset away")
        resume = find_run(flags["resume"])
        settings = resumed_settings(ctx, flags, read_manifest(resume).settings)
    elif flags["model"] is None:
        raise click.UsageError("name a model, for example: selfdiag run embedded", ctx)
    else:
        settings = settings_from(_with_preset(ctx, flags))
    if settings.impute is not None and settings.confidence[:1] != ("stated",):
        raise SelfdiagError("--impute stands in for a stated confidence: name stated first in --confidence")
    check_kind(gates, kind_of(settings.sections))
    session = Session(settings, folder=flags["out"], resume=resume, waiting=say)
    session.provider()  # an unknown model is told before its plan
    judge = judge_provider(_judge_settings(settings)).info() if settings.judge else None
    if flags["dry_run"]:
        show_plan(session, as_json=as_json, judge=judge)
        return ExitCode.OK
    outcome = watched(session, plain=plain, yes=flags["yes"], judge=judge)
    unjudged = _judged(session) if outcome.word == "complete" else None
    return _conclude(session, outcome, unjudged, gates, as_json=as_json, plain=plain)


def _with_preset(ctx: click.Context, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the flags with those of the preset in the place of every one that was not written."""
    written = click.core.ParameterSource.COMMANDLINE
    preset = PRESETS.get(flags["preset"] or "", {})
    return flags | {name: value for name, value in preset.items() if ctx.get_parameter_source(name) != written}


def _judge_settings(settings: RunSettings) -> JudgeSettings:
    from selfdiag.runs.judging import JudgeSettings

    return JudgeSettings(
        model=settings.judge,
        base_url=settings.judge_base_url,
        timeout=settings.timeout,
        max_retries=settings.max_retries,
        concurrency=settings.concurrency if isinstance(settings.concurrency, int) else None,
    )


def _judged(session: Session) -> SelfdiagError | None:
    """Ask the judge, if there is one, about the answers that the rules left undecided; return why it could not be."""
    import asyncio

    from selfdiag.safety import SelfdiagError, one_line

    chosen = session.settings
    if not chosen.judge:
        return None
    try:
        asyncio.run(_judge(session))
    except KeyboardInterrupt:
        why, code = "stopped while the judge was asked", int(ExitCode.INTERRUPTED)
    except SelfdiagError as error:
        why, code = str(error), error.exit_code
    else:
        return None
    again = f"selfdiag run --resume {run_name(session)} --judge {one_line(chosen.judge, 80)}"
    if chosen.judge_base_url:
        again += f" --judge-base-url {one_line(chosen.judge_base_url, 200)}"
    return SelfdiagError(f"{why}. The run is kept; ask again with: {again}", exit_code=code)


async def _judge(session: Session) -> None:
    from selfdiag.runs.judging import judge_run
    from selfdiag.safety import one_line

    chosen = session.settings
    judged = unread = 0
    async for found in judge_run(session.folder, _judge_settings(chosen), waiting=say):
        judged = found.done
        unread += found.opinion is None
    said = f"{judged} undecided answers judged" if judged else "no undecided answer is left to judge"
    said += f", {unread} opinions could not be read" if unread else ""
    say(f"judge {one_line(chosen.judge, 80)}: {said}")


def _conclude(
    session: Session, outcome: Outcome, unjudged: SelfdiagError | None, gates: Gates, *, as_json: bool, plain: bool
) -> int:
    from selfdiag.report.card import painted
    from selfdiag.report.results import result_of
    from selfdiag.runs.store import read_run

    asked = read_run(session.folder)
    result = result_of(asked)
    for problem in session.problems:
        say(f"selfdiag: {problem}")
    if as_json:
        print_json(result.document)
    else:
        lines = result.lines(plain)
        show("\n".join(painted(lines) if colour_wanted(plain=plain) else lines))
        show(f"  report: selfdiag report {run_name(session)} --format md -o report.md")
    if unjudged is not None:
        raise unjudged
    ended = how_it_ended(session, outcome)
    if ended != ExitCode.OK:
        return ended
    return tell(results_of(gates, asked, result.document), simulated=asked.manifest.model.simulated)
