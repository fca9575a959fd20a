"""Gates on the command line: the flags, and what is told when one fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import say

if TYPE_CHECKING:
    from selfdiag.protocols.gates import GateResult, Gates
    from selfdiag.runs.store import Run

F = TypeVar("F", bound=Callable[..., Any])


def _decimal(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9}", text) else None


def _tier(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    from selfdiag.protocols.gates import TIERS

    letter = value.strip().upper()
    if letter not in tuple(TIERS):
        raise click.BadParameter(f"there is no tier {value!r}; write one of {', '.join(TIERS)}")
    return letter


def _share(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Return a share that is written as a fraction or in percent."""
    if value is None:
        return None
    text = value.strip()
    number = _decimal(text.removesuffix("%").rstrip())
    share = None if number is None else number / 100 if text.endswith("%") else number
    if share is None or share > 1:
        raise click.BadParameter("write a fraction from 0 to 1, or a percentage such as 30%")
    return share


def _points(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    number = _decimal(value.strip())
    if number is None or number > 100:
        raise click.BadParameter("write points from 0 to 100")
    return number


_SHIFT_OPTIONS = (
    click.option(
        "--max-shift",
        callback=_points,
        metavar="X",
        help="Gate: the largest mean shift under a claimed accuracy, in points; an audit needs the section microprobe.",
    ),
    click.option(
        "--gate-on",
        type=click.Choice(["point", "bound"]),
        help="Gates look at the value (point, default) or at the worse end of its 95 % interval too (bound).",
    ),
)
_GATE_OPTIONS = (
    click.option(
        "--fail-under",
        callback=_tier,
        metavar="TIER",
        help=f"Gate: end with {ExitCode.GATE_FAILED:d} below this tier (A, B, C, D, E, X), or without any.",
    ),
    click.option("--max-gap", callback=_share, metavar="X", help="Gate: the largest gap in either direction, as .2."),
    click.option("--min-trap-rate", callback=_share, metavar="X", help="Gate: the least share of traps spotted."),
    click.option(
        "--max-high-confidence-error",
        callback=_share,
        metavar="X",
        help="Gate: the largest share of wrong answers at 80 or more.",
    ),
    *_SHIFT_OPTIONS,
)


def gate_options(command: F) -> F:
    """Add every gate, at the end of the help."""
    return _with(_GATE_OPTIONS, command)


def shift_gate_options(command: F) -> F:
    """Add the one gate of a microprobe, at the end of the help."""
    return _with(_SHIFT_OPTIONS, command)


def _with(options: Sequence[Callable[[F], F]], command: F) -> F:
    for option in reversed(options):
        command = option(command)
    return command


def gates_from(ctx: click.Context, flags: dict[str, Any]) -> Gates:
    """Return the gates of a command's flags, which are taken out of them.

    Raises:
        click.UsageError: when it is said how to judge, and not what.
    """
    from selfdiag.protocols.gates import Gates

    gate_on = flags.pop("gate_on")
    bars = {name: flags.pop(name) for name in Gates.__struct_fields__ if name in flags}
    gates = Gates(**bars, gate_on=gate_on or "point")
    if gate_on is not None and not gates.given():
        flag = next(iter(bars)).replace("_", "-")
        raise click.UsageError(f"--gate-on says how gates are judged: give one too, such as --{flag}", ctx)
    return gates


def results_of(gates: Gates, run: Run, document: Any) -> tuple[GateResult, ...]:
    """Return how the gates of a run came out.

    Args:
        gates: what is asked, of this kind of run.
        run: manifest and records.
        document: the result of the run, of an audit its summary.
    """
    from selfdiag.protocols.gates import check
    from selfdiag.protocols.microprobe import microprobe_of
    from selfdiag.runs.records import MICROPROBE, kind_of

    if not gates.given():
        return ()
    alone = kind_of(run.manifest.settings.sections) == MICROPROBE
    return check(gates, microprobe_of(run).summary if alone else document)


def tell(results: Sequence[GateResult], *, simulated: bool) -> int:
    """Tell in one line each gate that failed, or in one line that none did, and return the exit code."""
    from selfdiag.report.words import if_simulated

    failed = [one for one in results if not one.passed]
    for one in failed:
        say(f"selfdiag: {one.gate} failed: {one.sentence}{if_simulated(simulated)}")
    if results and not failed:
        say(f"gates: {len(results)} passed{if_simulated(simulated)}")
    return ExitCode.GATE_FAILED if failed else ExitCode.OK


def unfinished(run: Run) -> int:
    """Tell that calls of a run have no reply yet, and return the exit code; 0 when all have one."""
    from selfdiag.cli.asking import folder_name
    from selfdiag.runs.plan import open_calls

    plan = run.manifest.plan
    left = len(open_calls(plan, run.latest()))
    if not left:
        return ExitCode.OK
    # a log of another tool is a file, and that tool goes on with it
    further = f": go on with selfdiag run --resume {folder_name(run.folder)}" if run.folder.is_dir() else ""
    say(
        f"selfdiag: the run is incomplete, {left} of {len(plan)} calls have no reply, so its gates are not judged"
        f"{further}"
    )
    return ExitCode.INCOMPLETE
