"""What every command that asks a model shares: its flags, the asking itself, and how it ends."""

from __future__ import annotations

import asyncio
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import is_terminal, print_json, say

if TYPE_CHECKING:
    from selfdiag.cli.watch import Outcome
    from selfdiag.models.base import ModelInfo
    from selfdiag.runs.plan import Plan
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session

MANY_CALLS = 1000

F = TypeVar("F", bound=Callable[..., Any])


def names(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Return names separated by commas."""
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


def address(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    """Return a server's address, empty when none was given."""
    # an empty variable in a script must not send the questions to a service in the cloud
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty: write the server's address, or leave the flag away")
    return value or ""


_MODEL_OPTIONS = (
    click.option(
        "--base-url", callback=address, metavar="URL", help="Address of the server (openai, ollama, anthropic, gemini)."
    ),
    click.option(
        "--structured",
        type=click.Choice(["auto", "on", "off"]),
        default="auto",
        help="JSON schema: auto tries plain text first.",
    ),
    click.option("--max-tokens", type=click.IntRange(min=1), help="Longest reply in tokens."),
    click.option("--num-ctx", type=click.IntRange(min=256), default=2048, help="Context of a local engine in tokens."),
    click.option("--concurrency", callback=_concurrency, metavar="N|auto", help="Calls at once; auto finds out."),
    click.option(
        "--think",
        type=click.Choice(["off", "on", "low", "medium", "high"]),
        default="off",
        help="Let the model reason first, where it can.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(1, 86_400),
        callback=_number,
        default=300.0,
        help="Seconds to wait for a reply.",
    ),
    click.option("--max-retries", type=click.IntRange(0, 20), default=4, help="Repetitions of a failed call."),
    click.option(
        "--budget-seconds",
        type=click.FloatRange(0, 31_536_000),
        callback=_number,
        help="Start no call after so many seconds.",
    ),
    click.option("--budget-tokens", type=click.IntRange(min=1), help="Start no call after so many tokens."),
)


_ITEM_OPTIONS = (
    click.option("--fresh", type=int, metavar="SEED", help="Ask newly generated questions in the computable topics."),
    click.option("--hardness", type=click.IntRange(1, 6), help="Only generated questions, of this level."),
    click.option("--bins", callback=names, metavar="NAMES", help="Only these topics, separated by commas."),
    click.option("--items", callback=names, metavar="IDS", help="Only these items, separated by commas."),
    click.option("--limit", type=click.IntRange(min=1), help="At most so many probes, and so many traps if any."),
)


def item_options(command: F) -> F:
    """Add the flags that say which items of a battery are asked."""
    for option in reversed(_ITEM_OPTIONS):
        command = option(command)
    return command


def model_options(command: F) -> F:
    """Add the flags that say how a model is asked, whatever it is asked."""
    for option in reversed(_MODEL_OPTIONS):
        command = option(command)
    return command


def example_option(command: F) -> F:
    """Add ``--example``."""
    return click.option(
        "--example",
        default="none",
        callback=_example,
        help="Show an example confidence in the prompt: none or 0-100.",
    )(command)


def seed_option(command: F) -> F:
    """Add ``--seed``."""
    return click.option("--seed", default=0, type=int, help="Choose other items and wordings (default 0).")(command)


def out_option(command: F) -> F:
    """Add ``--out``."""
    return click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the run's files.")(
        command
    )


def yes_option(command: F) -> F:
    """Add ``--yes``."""
    return click.option("--yes", is_flag=True, help=f"Do not ask before more than {MANY_CALLS:,} calls.")(command)


def settings_from(flags: dict[str, Any], **more: Any) -> RunSettings:
    """Return settings from the flags of a command, with those fields that the command itself decides."""
    from selfdiag.runs.records import RunSettings

    return RunSettings(**{name: flags[name] for name in RunSettings.__struct_fields__ if name in flags} | more)


def resumed_settings(ctx: click.Context, flags: dict[str, Any], before: RunSettings) -> RunSettings:
    """Return the settings of a run to go on with: its own, changed by the flags that were written now."""
    import msgspec

    written = click.core.ParameterSource.COMMANDLINE
    changes = {
        name: flags[name]
        for name in before.__struct_fields__
        if name in flags and ctx.get_parameter_source(name) == written
    }
    if "judge" in changes:
        changes.setdefault("judge_base_url", "")  # an address belongs to the judge it was given for
    for spent in ("budget_seconds", "budget_tokens"):
        changes.setdefault(spent, None)  # a budget holds for the stretch it was given for
    return msgspec.structs.replace(before, **changes)


def watched(session: Session, *, plain: bool, yes: bool, judge: ModelInfo | None = None) -> Outcome:
    """Ask everything a session plans and return how the asking ended; ``judge`` is who is asked afterwards.

    Raises:
        SelfdiagError: when no run was kept.
    """
    from selfdiag.cli.watch import Outcome, watch
    from selfdiag.runs.store import MANIFEST
    from selfdiag.safety import SelfdiagError

    info = session.provider().info()  # an unknown model is told before anything is asked or written
    left = session.calls_left()
    if left == 0:
        say("nothing is left to ask")
        return Outcome(word="complete")
    confirm(left, yes=yes)
    if info.remote or (judge is not None and judge.remote):
        say(outlook(session.plan, info, judge))
    outcome = asyncio.run(watch(session, live=not plain and is_terminal(sys.stderr)))
    if not (session.folder / MANIFEST).is_file():
        if outcome.failed is not None:
            raise SelfdiagError(f"{outcome.failed.message}. No run was kept", exit_code=failure(outcome.failed.kind))
        raise SelfdiagError("stopped before the first call; nothing was written", exit_code=ExitCode.INTERRUPTED)
    return outcome


def how_it_ended(session: Session, outcome: Outcome, *, again: str = "selfdiag run --resume") -> int:
    """Tell how the asking ended, where it did not end well, and return the exit code."""
    from selfdiag.runs.store import read_run

    resume = f"{again} {run_name(session)}"
    if outcome.failed is not None:
        say(f"selfdiag: {outcome.failed.message}. What was answered is kept; go on with: {resume}")
        return failure(outcome.failed.kind)
    if outcome.word == "stopped":
        say(f"selfdiag: stopped; what was answered is kept. Go on with: {resume}")
        return ExitCode.INTERRUPTED
    if outcome.word == "budget":
        say(f"selfdiag: the budget is used up. Go on with: {resume}")
        return ExitCode.INCOMPLETE
    errors = sum(record.error is not None for record in read_run(session.folder).planned())
    if errors:
        say(f"selfdiag: {errors} calls ended in an error. Ask them again with: {resume}")
        return ExitCode.INCOMPLETE
    return ExitCode.OK


def failure(kind: str) -> int:
    """Return the exit code for a model that could not be asked: 3, unless selfdiag itself is at fault."""
    return ExitCode.INCOMPLETE if kind == "internal" else ExitCode.PROVIDER


def confirm(calls: int, *, yes: bool) -> None:
    """Ask the person before many calls.

    Raises:
        SelfdiagError: when there is nobody to ask.
    """
    from selfdiag.safety import SelfdiagError

    if calls <= MANY_CALLS or yes:
        return
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise SelfdiagError(f"this run makes {calls:,} calls: add --yes to start it without being asked")
    click.confirm(f"This run makes {calls:,} calls. Start it?", abort=True, err=True)


def outlook(plan: Plan, info: ModelInfo, judge: ModelInfo | None = None) -> str:
    """Return in one line what a run costs and what leaves this machine."""
    from selfdiag.safety import one_line

    estimate = plan.estimate(info)
    leaves = (
        f"every question goes to {one_line(info.destination(), 80)}" if info.remote else "nothing leaves this machine"
    )
    if judge is not None and judge.remote:
        leaves = leaves if info.remote else "the questions stay on this machine"
        leaves += f"; undecided answers go with question and key to {one_line(judge.destination(), 80)}"
    time = "time depends on the model" if estimate.seconds is None else f"about {estimate.seconds:.0f} s"
    return f"{estimate.calls} calls, about {estimate.prompt_tokens:,} prompt tokens, {time}; {leaves}."


def show_plan(session: Session, *, as_json: bool, judge: ModelInfo | None = None) -> None:
    """Print every call that a session plans, and ask nothing; ``judge`` would be asked afterwards."""
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
    click.echo(f"{outlook(plan, info, judge)}\n")
    for system in plan.systems.values():
        click.echo(f"system:\n{literal(system, keep_newlines=True)}\n")
    for call in plan.calls:
        question = literal(plan.prompt(call).user, keep_newlines=True).replace("\n", "\n    ")
        click.echo(f"{call.section} {literal(call.item_id)}: {question}")


def run_name(session: Session) -> str:
    """Return the name by which a session's run is found again."""
    return folder_name(session.folder)


def folder_name(folder: Path) -> str:
    """Return the name by which the run of a folder is found again: its id, or the folder when that is elsewhere."""
    from selfdiag.safety import one_line
    from selfdiag.settings import runs_dir

    return folder.name if folder.parent == runs_dir() else one_line(str(folder))
