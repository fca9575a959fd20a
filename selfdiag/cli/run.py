"""``selfdiag run``: audit a model."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import colour_wanted, is_terminal, json_option, plain_option, print_json, say

MANY_CALLS = 1000

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
"""


def _names(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())


def _number(_ctx: click.Context, _param: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):  # which no range excludes
        raise click.BadParameter("it is not a number")
    return value


def _example(_ctx: click.Context, _param: click.Parameter, value: str) -> int | None:
    if value == "none":
        return None
    if not re.fullmatch(r"[0-9]{1,3}", value) or int(value) > 100:
        raise click.BadParameter("write 'none' or a whole number from 0 to 100")
    return int(value)


def _concurrency(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | str | None:
    if value is None or value == "auto":
        return value
    if not re.fullmatch(r"[0-9]{1,3}", value) or not 1 <= int(value) <= 256:
        raise click.BadParameter("write 'auto' or a whole number from 1 to 256")
    return int(value)


def _address(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    # an empty variable in a script must not send the questions to a service in the cloud
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty: write the server's address, or leave the flag away")
    return value or ""


@click.command(help=HELP)
@click.argument("model", required=False)
@click.option(
    "--battery",
    default="quick",
    metavar="NAME|PATH",
    help="quick (42 probes, 21 traps; default), standard (126, 21), full (294, 42), or your own file or folder.",
)
@click.option("--seed", default=0, type=int, help="Choose other items and wordings (default 0).")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the run's files.")
@click.option("--resume", metavar="RUN", help="Go on with a stopped run: an id, 'latest' or a path.")
@json_option
@plain_option
@click.option("--dry-run", is_flag=True, help="Print what would be asked, and ask nothing.")
@click.option("--yes", is_flag=True, help=f"Do not ask before a run of more than {MANY_CALLS:,} calls.")
@click.option(
    "--base-url", callback=_address, metavar="URL", help="Address of the server (openai, ollama, anthropic, gemini)."
)
@click.option(
    "--sections", default="probes,traps", callback=_names, help="What to ask: probes,traps (default), fresh-check."
)
@click.option("--fresh", type=int, metavar="SEED", help="Ask newly generated questions in the computable topics.")
@click.option("--hardness", type=click.IntRange(1, 6), help="Only generated questions, of this level.")
@click.option("--paper-size", is_flag=True, help="With --battery full: all probes and one trap a topic.")
@click.option("--bins", callback=_names, metavar="NAMES", help="Only these topics, separated by commas.")
@click.option("--items", callback=_names, metavar="IDS", help="Only these items, separated by commas.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many probes and so many traps.")
@click.option("--paraphrase", type=click.Choice(["one", "all"]), default="one", help="Wordings asked of each item.")
@click.option("--repeat", type=click.IntRange(1, 100), default=1, help="Ask every call so often.")
@click.option(
    "--example",
    default="none",
    callback=_example,
    help="Show an example confidence in the prompt: none or 0-100.",
)
@click.option(
    "--structured",
    type=click.Choice(["auto", "on", "off"]),
    default="auto",
    help="JSON schema: auto tries plain text first.",
)
@click.option(
    "--judge", default="", metavar="MODEL", help="Ask MODEL about answers the rules leave undecided; shown beside."
)
@click.option("--judge-base-url", callback=_address, metavar="URL", help="Address of the judge's server.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Longest reply in tokens.")
@click.option("--num-ctx", type=click.IntRange(min=256), default=2048, help="Context of a local engine in tokens.")
@click.option("--concurrency", callback=_concurrency, metavar="N|auto", help="Calls at once; auto finds out.")
@click.option(
    "--confidence",
    callback=_names,
    default="stated",
    help="Where it comes from: stated (default), posthoc, logprob, agreement; the first is measured.",
)
@click.option(
    "--think",
    type=click.Choice(["off", "on", "low", "medium", "high"]),
    default="off",
    help="Let the model reason first, where it can.",
)
@click.option(
    "--timeout", type=click.FloatRange(1, 86_400), callback=_number, default=300.0, help="Seconds to wait for a reply."
)
@click.option("--max-retries", type=click.IntRange(0, 20), default=4, help="Repetitions of a failed call.")
@click.option(
    "--budget-seconds",
    type=click.FloatRange(0, 31_536_000),
    callback=_number,
    help="Start no call after so many seconds.",
)
@click.option("--budget-tokens", type=click.IntRange(min=1), help="Start no call after so many tokens.")
@click.pass_context
def run(ctx: click.Context, /, **flags: Any) -> int:
    """Audit a model; the help text is ``HELP``."""
    import asyncio

    from selfdiag.cli.watch import Outcome, watch
    from selfdiag.runs.judging import judge_provider
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import MANIFEST, read_manifest
    from selfdiag.safety import SelfdiagError

    plain, as_json = flags["plain"], flags["as_json"]
    fields = {name: flags[name] for name in RunSettings.__struct_fields__ if name in flags}
    resume: Path | None = None
    if flags["resume"]:
        if flags["out"] is not None:
            raise SelfdiagError("--resume goes on in the run's own folder; leave --out away")
        resume = find_run(flags["resume"])
        settings = _resumed(read_manifest(resume).settings, fields, _given(ctx))
    elif flags["model"] is None:
        raise click.UsageError("name a model, for example: selfdiag run embedded", ctx)
    else:
        settings = RunSettings(**fields)
    session = Session(settings, folder=flags["out"], resume=resume, waiting=say)
    info = session.provider().info()  # an unknown model is told before anything is asked or written
    if settings.judge:
        judge_provider(_judge_settings(settings))
    if flags["dry_run"]:
        _dry_run(session, as_json=as_json)
        return ExitCode.OK
    _confirm(len(session.plan.calls), yes=flags["yes"])
    if info.remote:
        say(_outlook(session.plan, info))
    if session.nothing_left():
        say("nothing is left to ask")
        unjudged = asyncio.run(_judge(session))
        return _conclude(session, Outcome(word="complete"), unjudged, as_json=as_json, plain=plain)
    outcome = asyncio.run(watch(session, live=not plain and is_terminal(sys.stderr)))
    if not (session.folder / MANIFEST).is_file():
        if outcome.failed is not None:
            raise SelfdiagError(f"{outcome.failed.message}. No run was kept", exit_code=_failure(outcome.failed.kind))
        say("selfdiag: stopped before the first call; nothing was written")
        return ExitCode.INTERRUPTED
    unjudged = asyncio.run(_judge(session)) if outcome.word == "complete" else None
    return _conclude(session, outcome, unjudged, as_json=as_json, plain=plain)


def _judge_settings(settings: Any) -> Any:
    from selfdiag.runs.judging import JudgeSettings

    return JudgeSettings(
        model=settings.judge,
        base_url=settings.judge_base_url,
        timeout=settings.timeout,
        max_retries=settings.max_retries,
    )


async def _judge(session: Any) -> Any:
    """Ask the judge, if there is one, about the answers that the rules left undecided; return why it could not be."""
    from selfdiag.runs.judging import judge_run
    from selfdiag.safety import SelfdiagError, one_line

    chosen = session.settings
    if not chosen.judge:
        return None
    judged = unread = 0
    try:
        async for found in judge_run(session.folder, _judge_settings(chosen), waiting=say):
            judged = found.done
            unread += found.opinion is None
    except SelfdiagError as error:
        again = f"selfdiag run --resume {_name(session)} --judge {one_line(chosen.judge, 80)}"
        if chosen.judge_base_url:
            again += f" --judge-base-url {one_line(chosen.judge_base_url, 200)}"
        return SelfdiagError(f"{error}. The run is kept; ask again with: {again}", exit_code=error.exit_code)
    said = f"{judged} undecided answers judged" if judged else "no undecided answer is left to judge"
    said += f", {unread} opinions could not be read" if unread else ""
    say(f"judge {one_line(chosen.judge, 80)}: {said}")
    return None


def _given(ctx: click.Context) -> set[str]:
    """Return the names of the flags that the person wrote."""
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in ctx.params if ctx.get_parameter_source(name) == source}


def _resumed(before: Any, fields: dict[str, Any], given: set[str]) -> Any:
    """Return the settings of the run with the flags that were written now."""
    import msgspec

    changes = {name: fields[name] for name in fields if name in given}
    if "judge" in given:
        changes.setdefault("judge_base_url", "")  # an address belongs to the judge it was given for
    for spent in ("budget_seconds", "budget_tokens"):
        changes.setdefault(spent, None)  # a budget holds for the stretch it was given for
    return msgspec.structs.replace(before, **changes)


def _confirm(calls: int, *, yes: bool) -> None:
    from selfdiag.safety import SelfdiagError

    if calls <= MANY_CALLS or yes:
        return
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise SelfdiagError(f"this run makes {calls:,} calls: add --yes to start it without being asked")
    click.confirm(f"This run makes {calls:,} calls. Start it?", abort=True, err=True)


def _dry_run(session: Any, *, as_json: bool) -> None:
    from selfdiag.safety import literal

    plan = session.plan
    info = session.provider().info()
    if as_json:
        calls = [
            {
                "call_id": call.call_id,
                "item_id": call.item_id,
                "section": call.section,
                "paraphrase": call.paraphrase,
                "replicate": call.replicate,
                "system": plan.prompt(call).system,
                "user": plan.prompt(call).user,
            }
            for call in plan.calls
        ]
        print_json({"schema": "selfdiag.plan/1", "estimate": plan.estimate(info), "calls": calls})
        return
    click.echo(f"{_outlook(plan, info)}\n")
    for system in plan.systems.values():
        click.echo(f"system:\n{literal(system, keep_newlines=True)}\n")
    for call in plan.calls:
        question = literal(plan.prompt(call).user, keep_newlines=True).replace("\n", "\n    ")
        click.echo(f"{call.section} {literal(call.item_id)}: {question}")


def _outlook(plan: Any, info: Any) -> str:
    """Return in one line what a run costs and what leaves this machine."""
    estimate = plan.estimate(info)
    leaves = f"every question goes to {info.server}" if info.remote else "nothing leaves this machine"
    time = "time depends on the model" if estimate.seconds is None else f"about {estimate.seconds:.0f} s"
    return f"{estimate.calls} calls, about {estimate.prompt_tokens:,} prompt tokens, {time}; {leaves}."


def _conclude(session: Any, outcome: Any, unjudged: Any, *, as_json: bool, plain: bool) -> int:
    from selfdiag.protocols.audit import summarise
    from selfdiag.report.card import TIER_LINE, card_lines, framed
    from selfdiag.runs.store import read_run

    run = read_run(session.folder)
    summary = summarise(run)
    for problem in session.problems:
        say(f"selfdiag: {problem}")
    if as_json:
        print_json(summary)
    else:
        lines = card_lines(summary)
        shown = lines if plain else framed(lines)
        if colour_wanted(plain=plain):
            tier = shown.index(next(line for line in shown if lines[TIER_LINE] in line))
            shown[tier] = shown[tier].replace(lines[TIER_LINE], click.style(lines[TIER_LINE], bold=True, fg="cyan"))
        click.echo("\n".join(shown))
        click.echo(f"  report: selfdiag report {_name(session)} --format md -o report.md")
    if unjudged is not None:
        raise unjudged
    return _exit_code(session, outcome, sum(record.error is not None for record in run.planned()))


def _exit_code(session: Any, outcome: Any, errors: int) -> int:
    resume = f"selfdiag run --resume {_name(session)}"
    if outcome.failed is not None:
        say(f"selfdiag: {outcome.failed.message}. What was answered is kept; go on with: {resume}")
        return _failure(outcome.failed.kind)
    if outcome.word == "stopped":
        say(f"selfdiag: stopped; what was answered is kept. Go on with: {resume}")
        return ExitCode.INTERRUPTED
    if outcome.word == "budget":
        say(f"selfdiag: the budget is used up. Go on with: {resume}")
        return ExitCode.INCOMPLETE
    if errors:
        say(f"selfdiag: {errors} calls ended in an error. Ask them again with: {resume}")
        return ExitCode.INCOMPLETE
    return ExitCode.OK


def _failure(kind: str) -> int:
    """Return the exit code for a model that could not be asked: 3, unless selfdiag itself is at fault."""
    return ExitCode.INCOMPLETE if kind == "internal" else ExitCode.PROVIDER


def _name(session: Any) -> str:
    from selfdiag.safety import one_line
    from selfdiag.settings import runs_dir

    inside = session.folder.parent == runs_dir()
    return session.run_id if inside else one_line(str(session.folder))
