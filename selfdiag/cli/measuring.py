"""Experiments in two stages: one run measures a model's accuracy by topic, the next puts profiles before it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from selfdiag.cli.asking import (
    confirm,
    example_option,
    how_it_ended,
    item_options,
    model_options,
    run_name,
    seed_option,
    settings_from,
    watched,
    yes_option,
)
from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import chosen_form, deliver, json_option, output_option, plain_option, say

if TYPE_CHECKING:
    from selfdiag.battery.items import Probe
    from selfdiag.runs.plan import Plan
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session
    from selfdiag.runs.store import Run

MEASURED = "measured"
"""Folder of the first stage below ``--out``."""

F = TypeVar("F", bound=Callable[..., Any])


def from_option(command: F) -> F:
    """Add ``--from``."""
    return click.option(
        "--from",
        "measured",
        metavar="RUN",
        help="Take the accuracy by topic from this run of MODEL (an id, 'latest' or a path) and ask as it did.",
    )(command)


def battery_option(default: str) -> Callable[[F], F]:
    """Return what adds ``--battery`` with a default draw."""
    return click.option(
        "--battery",
        default=default,
        metavar="NAME|PATH",
        help=f"quick (42 probes), standard (126), full (294), or your own file or folder. Default {default}.",
    )


def label_option(command: F) -> F:
    """Add ``--label`` and ``--no-label``."""
    return click.option(
        "--label/--no-label",
        "labelled",
        default=True,
        help="Name the topic of the question in every arm (default), so that a small model finds its line.",
    )(command)


def replicates_option(default: int) -> Callable[[F], F]:
    """Return what adds ``--replicates`` with a default number of wordings."""
    return click.option(
        "--replicates",
        type=click.IntRange(1, 10),
        default=default,
        help=f"Ask so many wordings of each item, as far as it has them (default {default}).",
    )


def stage_options(command: F) -> F:
    """Add the flags that both stages share, and those that say where the result goes."""
    command = model_options(command)
    command = example_option(command)
    command = item_options(command)
    command = yes_option(command)
    command = plain_option(command)
    command = json_option(command)
    command = output_option(command)
    command = click.option(
        "--format", "form", type=click.Choice(["text", "md"]), default="text", help="Of the result (default text)."
    )(command)
    command = click.option(
        "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for both runs, each in one of its own."
    )(command)
    return seed_option(command)


def measured_run(
    ctx: click.Context, flags: dict[str, Any], *, then: Callable[[Sequence[Probe]], int]
) -> tuple[Run | None, int]:
    """Return the run that gives the model's accuracy by topic, and the exit code that it came to.

    It is the one of ``--from``, or made now; then the person is asked once for the calls of both stages. None when it
    was made and could not be finished.

    Args:
        ctx: of the command.
        flags: its parameters.
        then: returns the calls of the second stage for the probes of the first.

    Raises:
        SelfdiagError: when the run of ``--from`` is not of this model or not complete, flags say otherwise than it, or
            they name two forms of the result.
    """
    from selfdiag.protocols.own_profile import measured_probes
    from selfdiag.runs.session import Session
    from selfdiag.runs.store import read_run

    chosen_form(flags["form"], as_json=flags["as_json"])
    if flags["measured"]:
        found = _named_run(ctx, flags)
        confirm(then(measured_probes(found)), yes=flags["yes"])
        return found, ExitCode.OK
    settings = settings_from(flags, sections=("probes",))
    session = Session(settings, folder=_below(flags["out"], MEASURED), waiting=say)
    session.provider()  # an unknown model is told before the question
    later = then(session.plan.drawn.probes)
    first = len(session.plan.calls)
    confirm(first + later, yes=flags["yes"])
    say(f"first {first:,} calls that measure the accuracy by topic, then {later:,} with profiles")
    outcome = watched(session, plain=flags["plain"], yes=True)
    code = how_it_ended(session, outcome)
    if outcome.word != "complete":
        say(f"selfdiag: once it is complete, go on with: {_same_experiment(ctx, flags, run_name(session))}")
        return None, code
    return read_run(session.folder), code


def experiment(
    flags: dict[str, Any], settings: RunSettings, plan: Plan, section: str, *, so_far: int
) -> tuple[Session, int]:
    """Ask the second stage and return its session, and the exit code of both stages.

    Args:
        flags: the command's parameters.
        settings: of the second stage.
        plan: its calls.
        section: names its folder below ``--out``.
        so_far: exit code of the first stage.
    """
    from selfdiag.runs.session import Session

    session = Session(settings, folder=_below(flags["out"], section), plan=plan, waiting=say)
    outcome = watched(session, plain=flags["plain"], yes=True)
    code = how_it_ended(session, outcome)
    say(f"kept as {run_name(session)}; show it again with: selfdiag report {run_name(session)}")
    return session, code or so_far


def stage_settings(flags: dict[str, Any], found: Run, section: str) -> RunSettings:
    """Return the settings of the second stage: those of the measured run, with the budgets and limits given now."""
    import msgspec

    from selfdiag.protocols.own_profile import experiment_settings
    from selfdiag.runs.records import FREE

    given = {name: flags[name] for name in FREE if name in flags}
    return msgspec.structs.replace(experiment_settings(found, section), **given)


def show(flags: dict[str, Any], result: Any, lines: Callable[[], list[str]], markdown: Callable[[], str]) -> None:
    """Print a result as JSON, text or Markdown, or write it to a file.

    Raises:
        SelfdiagError: when the file cannot be written.
    """
    text = markdown if flags["form"] == "md" else lambda: "\n".join(lines())
    deliver(result, text, form="json" if flags["as_json"] else flags["form"], output=flags["output"])


def calls_of(probes: Sequence[Probe], *, arms: int, wordings: int) -> int:
    """Return how many calls it takes to ask wordings of each probe under every arm."""
    return arms * sum(min(wordings, len(probe.questions)) for probe in probes)


def _named_run(ctx: click.Context, flags: dict[str, Any]) -> Run:
    from selfdiag.protocols.own_profile import same_model
    from selfdiag.runs.records import FREE, RunSettings
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run
    from selfdiag.safety import SelfdiagError

    found = read_run(find_run(flags["measured"]))
    same_model(found, flags["model"])
    written = click.core.ParameterSource.COMMANDLINE
    for name in RunSettings.__struct_fields__:
        fixed = name in flags and name != "model" and name not in FREE
        if fixed and ctx.get_parameter_source(name) == written:
            asked = getattr(found.manifest.settings, name)
            if asked != flags[name]:
                flag = f"--{name.replace('_', '-')}"
                raise SelfdiagError(
                    f"{flag} is {flags[name]!r} and was {asked!r} in the run of --from, as which everything is asked: "
                    f"leave {flag} away"
                )
    return found


def _same_experiment(ctx: click.Context, flags: dict[str, Any], run: str) -> str:
    """Return the command that does the experiment of this one with a run that has measured."""
    from selfdiag.runs.records import FREE, RunSettings
    from selfdiag.safety import one_line

    # what was asked stands in the run, and a budget holds for the stretch it was given for
    settled = set(RunSettings.__struct_fields__) - FREE | {"measured", "budget_seconds", "budget_tokens"}
    words = ["selfdiag", str(ctx.command.name), flags["model"], "--from", run]
    for option in ctx.command.params:
        name = str(option.name)
        if name in settled or ctx.get_parameter_source(name) != click.core.ParameterSource.COMMANDLINE:
            continue
        value = flags[name]
        if isinstance(value, bool):
            words.append((option.opts if value else option.secondary_opts)[-1])
        else:
            words += [option.opts[-1], str(value)]
    return one_line(shlex.join(words), 2000)


def _below(out: Path | None, name: str) -> Path | None:
    return None if out is None else out / name
