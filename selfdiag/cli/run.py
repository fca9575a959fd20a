"""``selfdiag run``: audit a model."""

from __future__ import annotations

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
  selfdiag run openai:qwen3 --base-url http://127.0.0.1:8080/v1 --battery standard
  selfdiag run persona:blind --json
  selfdiag run embedded --battery standard --fresh 3
  selfdiag run embedded --bins physics,history --limit 6
  selfdiag run --resume latest
"""


def _names(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())


def _example(_ctx: click.Context, _param: click.Parameter, value: str) -> int | None:
    if value == "none":
        return None
    if not value.isdigit() or int(value) > 100:
        raise click.BadParameter("write 'none' or a whole number from 0 to 100")
    return int(value)


@click.command(help=HELP)
@click.argument("model", required=False)
@click.option(
    "--battery",
    default="quick",
    metavar="NAME|PATH",
    help="quick (default), standard, full, or your own file.",
)
@click.option("--seed", default=0, type=int, help="Choose other items and wordings (default 0).")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the run's files.")
@click.option("--resume", metavar="RUN", help="Go on with a stopped run: an id, 'latest' or a path.")
@json_option
@plain_option
@click.option("--dry-run", is_flag=True, help="Print what would be asked, and ask nothing.")
@click.option("--yes", is_flag=True, help=f"Do not ask before a run of more than {MANY_CALLS:,} calls.")
@click.option("--base-url", default="", metavar="URL", help="Address of an OpenAI-compatible server.")
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
@click.option("--max-tokens", type=click.IntRange(min=1), help="Longest reply in tokens.")
@click.option("--num-ctx", type=click.IntRange(min=256), default=2048, help="Context of a local engine in tokens.")
@click.option("--concurrency", type=click.IntRange(1, 256), help="Calls at once.")
@click.option("--timeout", type=click.FloatRange(min=1), default=300.0, help="Seconds to wait for a reply.")
@click.option("--max-retries", type=click.IntRange(0, 20), default=4, help="Repetitions of a failed call.")
@click.option("--budget-seconds", type=click.FloatRange(min=0), help="Start no call after so many seconds.")
@click.option("--budget-tokens", type=click.IntRange(min=1), help="Start no call after so many tokens.")
@click.pass_context
def run(ctx: click.Context, /, **flags: Any) -> int:
    """Audit a model; the help text is ``HELP``."""
    import asyncio

    from selfdiag.cli.watch import watch
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session
    from selfdiag.runs.store import find_run, read_manifest
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
    session.provider()  # an unknown model is told before anything is asked or written
    if flags["dry_run"]:
        _dry_run(session, as_json=as_json)
        return ExitCode.OK
    _confirm(len(session.plan.calls), yes=flags["yes"])
    outcome = asyncio.run(watch(session, live=not plain and is_terminal(sys.stderr)))
    if outcome.failed is not None and not session.folder.is_dir():
        raise SelfdiagError(f"{outcome.failed.message}. No run was kept", exit_code=ExitCode.PROVIDER)
    if outcome.word == "stopped" and not session.folder.is_dir():
        say("selfdiag: stopped before the first call; nothing was written")
        return ExitCode.INTERRUPTED
    return _conclude(session, outcome, as_json=as_json, plain=plain)


def _given(ctx: click.Context) -> set[str]:
    """Return the names of the flags that the person wrote."""
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in ctx.params if ctx.get_parameter_source(name) == source}


def _resumed(before: Any, fields: dict[str, Any], given: set[str]) -> Any:
    """Return the settings of the run with the flags that were written now."""
    import msgspec

    changes = {name: fields[name] for name in fields if name in given and fields[name] is not None}
    return msgspec.structs.replace(before, **changes)


def _confirm(calls: int, *, yes: bool) -> None:
    from selfdiag.safety import SelfdiagError

    if calls <= MANY_CALLS or yes:
        return
    if not (sys.stdin.isatty() and is_terminal(sys.stderr)):
        raise SelfdiagError(f"this run makes {calls:,} calls: add --yes to start it without being asked")
    click.confirm(f"This run makes {calls:,} calls. Start it?", abort=True, err=True)


def _dry_run(session: Any, *, as_json: bool) -> None:
    plan = session.plan
    info = session.provider().info()
    leaves = f"every question goes to {info.server}" if info.remote else "nothing leaves this machine"
    per_call = 0.5 if info.provider == "embedded" else None
    seconds = None if per_call is None else per_call * len(plan.calls)
    words = sum(len(plan.prompt(call).system.split()) + len(plan.prompt(call).user.split()) for call in plan.calls)
    tokens = round(words * 1.4)
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
        estimate = {"calls": len(calls), "prompt_tokens": tokens, "seconds": seconds, "remote": info.remote}
        print_json({"schema": "selfdiag.plan/1", "estimate": estimate, "calls": calls})
        return
    time = "time depends on the server" if seconds is None else f"about {seconds:.0f} s"
    click.echo(f"{len(plan.calls)} calls, about {tokens:,} prompt tokens, {time}; {leaves}.\n")
    for system in plan.systems.values():
        click.echo(f"system:\n{system}\n")
    for call in plan.calls:
        click.echo(f"{call.section} {call.item_id}: {plan.prompt(call).user}")


def _conclude(session: Any, outcome: Any, *, as_json: bool, plain: bool) -> int:
    from selfdiag.protocols.audit import summarise
    from selfdiag.report.card import card_lines, framed
    from selfdiag.runs.store import read_run

    summary = summarise(read_run(session.folder))
    for problem in session.problems:
        say(f"selfdiag: {problem}")
    if as_json:
        print_json(summary)
    else:
        lines = card_lines(summary)
        shown = lines if plain else framed(lines)
        if colour_wanted(plain=plain):
            shown = [_painted(line, summary) for line in shown]
        click.echo("\n".join(shown))
        click.echo(f"  report: selfdiag report {_name(session)} --format md -o report.md")
    return _exit_code(session, outcome, summary)


def _painted(line: str, summary: Any) -> str:
    """Return the tier's line with its letter and name in bold; every other line as it is."""
    from selfdiag.report.words import tier_words

    words = tier_words(summary)
    if words not in line:
        return line
    head, _, tail = line.partition(words)
    frame, letter = head[:1], head[1:]
    return f"{frame}{click.style(letter + words, bold=True, fg='cyan')}{tail}"


def _exit_code(session: Any, outcome: Any, summary: Any) -> int:
    resume = f"selfdiag run --resume {_name(session)}"
    if outcome.failed is not None:
        say(f"selfdiag: {outcome.failed.message}. What was answered is kept; go on with: {resume}")
        reachable = outcome.failed.kind in {"provider", "internal", "timeout"}
        return ExitCode.INCOMPLETE if reachable else ExitCode.PROVIDER
    if outcome.word == "stopped":
        say(f"selfdiag: stopped; what was answered is kept. Go on with: {resume}")
        return ExitCode.INTERRUPTED
    if outcome.word == "budget":
        say(f"selfdiag: the budget is used up. Go on with: {resume}")
        return ExitCode.INCOMPLETE
    errors = summary.counts["probes"]["error"] + summary.counts["traps"]["error"]
    if errors:
        say(f"selfdiag: {errors} calls ended in an error. Ask them again with: {resume}")
        return ExitCode.INCOMPLETE
    return ExitCode.OK


def _name(session: Any) -> str:
    from selfdiag.safety import one_line
    from selfdiag.settings import runs_dir

    inside = session.folder.parent == runs_dir()
    return session.run_id if inside else one_line(str(session.folder))
