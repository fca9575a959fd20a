"""``selfdiag microprobe``: does the stated confidence follow a claimed accuracy?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfdiag.cli.asking import (
    example_option,
    how_it_ended,
    model_options,
    out_option,
    run_name,
    seed_option,
    settings_from,
    watched,
    yes_option,
)
from selfdiag.cli.gating import gates_from, shift_gate_options, tell
from selfdiag.cli.output import json_option, plain_option, print_json, say, show

if TYPE_CHECKING:
    from selfdiag.cli.watch import Outcome
    from selfdiag.protocols.gates import Gates
    from selfdiag.protocols.microprobe import Microprobe
    from selfdiag.runs.plan import Plan
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session

HELP = """Ask the same question under two claimed accuracies of its topic, and see whether the confidence follows.

The prompt shows a profile of measured accuracy by topic in which one line alone has a number: 0 % and then 95 % for
the question's topic. As a control the same numbers stand on another topic's line: a model that moves there too copies
the number rather than believes the profile. Without --item, --bin or --auto one item of every topic is asked.

\b
Examples:
  selfdiag microprobe embedded
  selfdiag microprobe embedded --item geography-07 --dose
  selfdiag microprobe persona:suggestible --auto
  selfdiag microprobe openai:NAME --base-url URL --max-shift 10
"""


def _claims(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if not all(re.fullmatch(r"[0-9]{1,3}", part) and int(part) <= 100 for part in parts):
        raise click.BadParameter("write whole numbers from 0 to 100, separated by commas")
    claims = tuple(sorted({int(part) for part in parts}))
    if len(claims) < 2:
        raise click.BadParameter("it needs two different claims or more")
    return claims


@click.command(help=HELP)
@click.argument("model")
@click.option("--item", metavar="ID", help="This item alone.")
@click.option(
    "--bin",
    "topic",
    metavar="NAME",
    help="Every item of this topic; 14 of the shipped ones, too few for a verdict on the set.",
)
@click.option(
    "--auto", is_flag=True, help="Try 16 items, keep the one that moves most, and ask it at 0, 25, 75 and 95 %."
)
@click.option("--claims", callback=_claims, metavar="LIST", help="Claimed accuracies in percent (default 0,95).")
@click.option("--dose", is_flag=True, help="Dose-response: claims 0, 5, 25, 50, 75, 95 and 100.")
@click.option(
    "--label/--no-label", "labelled", default=True, help="Name the topic in the question, or not (default: name it)."
)
@click.option(
    "--repeat",
    "wordings",
    type=click.IntRange(1, 100),
    default=1,
    metavar="N",
    help="Ask N wordings of each item, at most as many as it has: their differences are the noise.",
)
@click.option(
    "--battery",
    default="full",
    metavar="NAME|PATH",
    help="Choose from quick, standard, full (default), or your own file or folder.",
)
@seed_option
@out_option
@json_option
@plain_option
@yes_option
@example_option
@model_options
@shift_gate_options
@click.pass_context
def microprobe(ctx: click.Context, /, **flags: Any) -> int:
    """Put claims before a model; the help text is ``HELP``."""
    from selfdiag.protocols.microprobe_plan import microprobe_plan
    from selfdiag.runs.claims import DOSES, LOW_AND_HIGH
    from selfdiag.runs.records import MICROPROBE

    gates = gates_from(ctx, flags)
    _check(ctx, flags)
    settings = settings_from(
        flags,
        sections=(MICROPROBE,),
        items=(flags["item"],) if flags["item"] is not None else (),
        bins=(flags["topic"],) if flags["topic"] is not None else (),
    )
    if flags["auto"]:
        return _choose(settings, flags, gates)
    plan = microprobe_plan(
        settings,
        claims=DOSES if flags["dose"] else flags["claims"] or LOW_AND_HIGH,
        labelled=flags["labelled"],
        wordings=flags["wordings"],
    )
    session, outcome = _asked(settings, plan, flags["out"], flags)
    return _conclude(session, _found(session), how_it_ended(session, outcome), flags, gates)


def _check(ctx: click.Context, flags: dict[str, Any]) -> None:
    """Refuse flags that contradict each other."""
    items = {"--item": flags["item"] is not None, "--bin": flags["topic"] is not None, "--auto": flags["auto"]}
    claims = {"--claims": flags["claims"] is not None, "--dose": flags["dose"]}
    for choices, what in ((items, "which items are asked"), (claims, "what is claimed")):
        given = [name for name, chosen in choices.items() if chosen]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} each say {what}: give one of them", ctx)
    if flags["auto"] and any(claims.values()):
        raise click.UsageError("--auto has claims of its own: leave --claims and --dose away", ctx)


def _asked(settings: RunSettings, plan: Plan, folder: Path | None, flags: dict[str, Any]) -> tuple[Session, Outcome]:
    from selfdiag.runs.session import Session

    session = Session(settings, folder=folder, plan=plan, waiting=say)
    return session, watched(session, plain=flags["plain"], yes=flags["yes"])


def _found(session: Session) -> Microprobe:
    from selfdiag.protocols.microprobe import microprobe_of
    from selfdiag.runs.store import read_run

    return microprobe_of(read_run(session.folder))


def _choose(settings: RunSettings, flags: dict[str, Any], gates: Gates) -> int:
    """Try a spread of items, keep the one that moves most, and ask it again: two runs, in folders of their own."""
    import msgspec

    from selfdiag.protocols.movable import kept_plan, nothing_kept, pick, trial_plan
    from selfdiag.runs.store import read_run
    from selfdiag.safety import one_line

    trial_folder, kept_folder = _folders(flags["out"])
    labelled, wordings = flags["labelled"], flags["wordings"]
    session, outcome = _asked(settings, trial_plan(settings, labelled=labelled), trial_folder, flags)
    code = how_it_ended(session, outcome)
    trial = read_run(session.folder)
    if outcome.word != "complete":
        why = (
            "the trial is not complete, so no item is kept: begin again with --auto; finished by 'selfdiag run "
            "--resume' it is a microprobe of the items it tried"
        )
        return _conclude(session, nothing_kept(trial, why), code, flags, gates)
    chosen = pick(trial)
    if chosen.item_id is None:
        return _conclude(session, nothing_kept(trial, chosen.note), code, flags, gates)
    say(f"tried {chosen.tried} items (run {run_name(session)}); keeping {one_line(chosen.item_id, 40)}, {chosen.note}")
    plan = kept_plan(settings, trial, chosen.item_id, labelled=labelled, wordings=wordings)
    settings = msgspec.structs.replace(settings, items=(chosen.item_id,))
    session, outcome = _asked(settings, plan, kept_folder, flags)
    return _conclude(session, _found(session), how_it_ended(session, outcome) or code, flags, gates)


def _folders(out: Path | None) -> tuple[Path | None, Path | None]:
    """Return the folders of trial and kept item; both must be free before the first call."""
    from selfdiag.safety import SelfdiagError, one_line

    if out is None:
        return None, None
    folders = out / "trial", out / "kept"
    for folder in folders:
        if folder.exists():
            raise SelfdiagError(f"{one_line(str(folder))} is there already: name a new folder with --out")
    return folders


def _conclude(session: Session, found: Microprobe, code: int, flags: dict[str, Any], gates: Gates) -> int:
    from selfdiag.protocols.gates import check
    from selfdiag.report.microprobe import microprobe_lines

    if flags["as_json"]:
        print_json(found.document())
    else:
        show("\n".join(microprobe_lines(found, plain=flags["plain"])))
        show(f"\n  report: selfdiag report {run_name(session)} --format md -o report.md")
    return code or tell(check(gates, found.summary), simulated=found.simulated)
