"""``selfdiag assess``: what a model claims of itself beside what it does."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from selfdiag.cli.asking import (
    confirm,
    how_it_ended,
    model_options,
    out_option,
    resumed_settings,
    run_name,
    seed_option,
    settings_from,
    watched,
    yes_option,
)
from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import chosen_form, deliver, json_option, output_option, plain_option, say, show

if TYPE_CHECKING:
    from selfdiag.cli.watch import Outcome
    from selfdiag.protocols.assess import Assessment
    from selfdiag.runs.session import Session
    from selfdiag.runs.store import Run

AGAIN = "selfdiag assess --resume"
_GRAVEST = (
    ExitCode.INTERRUPTED,
    ExitCode.PROVIDER,
    ExitCode.INCOMPLETE,
    ExitCode.USAGE,
    ExitCode.GATE_FAILED,
    ExitCode.OK,
)

HELP = """Ask a model about itself, and hold what it claims against what it does.

It rates itself on five criteria and answers fifteen statements in many wordings, each in a conversation of its own;
probes, traps and tasks graded without a person show what it does: hallucination control, knowledge currency,
formal-structure handling, source validity and terminological precision. Several models are asked one after the other
and shown side by side.

\b
Examples:
  selfdiag assess embedded
  selfdiag assess persona:calibrated persona:overconfident
  selfdiag assess openai:NAME --base-url URL --weights research --require x4=.6,msi=.8
  selfdiag assess --resume latest --online
  selfdiag assess embedded --format md -o self-assessment.md
"""


def _years(_ctx: click.Context, _param: click.Parameter, value: str) -> float:
    return float(value)


@click.command(help=HELP)
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--instances", type=click.IntRange(1, 1000), default=25, help="Passes through the statements (default 25)."
)
@click.option(
    "--questionnaires",
    "ratings",
    type=click.IntRange(1, 1000),
    default=30,
    help="Ratings of each criterion (default 30).",
)
@click.option(
    "--tasks",
    type=click.IntRange(1, 1000),
    default=40,
    help="Scored elements of each criterion (default 40; below 25 it cannot be said).",
)
@click.option(
    "--weights",
    default="general",
    metavar="USE|LIST",
    help="Weigh the criteria for research, programming or general use, or as x1=.3,x2=.7.",
)
@click.option(
    "--years",
    type=click.Choice(["5", "10"]),
    default="5",
    callback=_years,
    help="Knowledge that ends so many years before the run counts 0 (default 5).",
)
@click.option(
    "--require",
    metavar="LIST",
    help=f"End with {ExitCode.GATE_FAILED:d} unless reached, such as x4=.6,msi=.8; delta is at most.",
)
@click.option("--online", is_flag=True, help="Look up the DOIs that it cites, at doi.org and where it redirects to.")
@click.option("--rationale", is_flag=True, help="Ask why with every self-report; kept, never scored.")
@seed_option
@out_option
@click.option("--resume", metavar="RUN", help="Go on with a stopped run: an id, 'latest' or a path.")
@json_option
@click.option("--format", "form", type=click.Choice(["text", "md"]), default="text", help="Default text.")
@output_option
@plain_option
@yes_option
@model_options
@click.pass_context
def assess(ctx: click.Context, /, models: tuple[str, ...], **flags: Any) -> int:
    """Hold a model's claims against what it does; the help text is ``HELP``."""
    from selfdiag.protocols.assess import assess_of
    from selfdiag.protocols.requirements import parse_requirements, parse_weights

    chosen_form(flags["form"], as_json=flags["as_json"])
    parse_weights(flags["weights"])
    required = parse_requirements(flags["require"]) if flags["require"] is not None else {}
    sessions = [_resumed(ctx, models, flags)] if flags["resume"] is not None else _sessions(ctx, models, flags)
    for session in sessions:
        session.provider()  # an unknown model is told before any is asked
    confirm(sum(session.calls_left() for session in sessions), yes=flags["yes"])
    done, codes = _asked(sessions, flags)
    runs = [_read(one.session) for one in done]
    found = [assess_of(run) for run in runs]
    _show(found, runs, flags, alone=len(sessions) == 1)
    _pointers(done, flags)
    codes += [_told(one) for one in done] + _gate(found, required)
    return next(code for code in _GRAVEST if code in {*codes, ExitCode.OK})


class _Done(NamedTuple):
    """A session that has left a run, how its asking ended, and why DOIs could not be looked up."""

    session: Session
    outcome: Outcome
    not_looked_up: str


def _sessions(ctx: click.Context, models: tuple[str, ...], flags: dict[str, Any]) -> list[Session]:
    """Return a run for every model."""
    from selfdiag.protocols.assess import SECTIONS
    from selfdiag.runs.session import Session
    from selfdiag.safety import SelfdiagError, one_line

    if not models:
        raise click.UsageError("name a model, for example: selfdiag assess embedded", ctx)
    twice = next((model for model in models if models.count(model) > 1), None)
    if twice is not None:
        raise SelfdiagError(f"{one_line(twice, 80)} is named twice: name it once")
    out: Path | None = flags["out"]
    found = []
    for number, model in enumerate(models, 1):
        folder = out
        if out is not None and len(models) > 1:
            folder = out / f"{number}-{re.sub(r'[^A-Za-z0-9._-]+', '-', model)[:60]}"
        settings = settings_from(flags, model=model, sections=SECTIONS)
        found.append(Session(settings, folder=folder, waiting=say))
    return found


def _resumed(ctx: click.Context, models: tuple[str, ...], flags: dict[str, Any]) -> Session:
    """Return the run to go on with, with the flags that were written now.

    Raises:
        SelfdiagError: when it was made by another command.
    """
    from selfdiag.protocols.assess import SECTIONS
    from selfdiag.runs.session import Session
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_manifest
    from selfdiag.safety import SelfdiagError, one_line

    if models:
        raise click.UsageError("--resume goes on with a run of its own model: leave MODEL away", ctx)
    if flags["out"] is not None:
        raise SelfdiagError("--resume goes on in the run's own folder; leave --out away")
    folder = find_run(flags["resume"])
    before = read_manifest(folder).settings
    if before.sections != SECTIONS:
        shown = one_line(flags["resume"], 80)
        raise SelfdiagError(f"{shown} is no run of assess: go on with it by 'selfdiag run --resume {shown}'")
    return Session(resumed_settings(ctx, flags, before), resume=folder, waiting=say)


def _asked(sessions: list[Session], flags: dict[str, Any]) -> tuple[list[_Done], list[int]]:
    """Ask one model after the other; return those that left a run, and the exit codes of those that did not."""
    from selfdiag.safety import SelfdiagError, one_line

    done: list[_Done] = []
    codes: list[int] = []
    for number, session in enumerate(sessions, 1):
        name = one_line(session.settings.model, 80)
        if len(sessions) > 1:
            say(f"{name}, model {number} of {len(sessions)}")
        try:
            outcome = watched(session, plain=flags["plain"], yes=True)
            fault = _look_up(session) if flags["online"] and outcome.word == "complete" else ""
        except SelfdiagError as error:
            if len(sessions) == 1:
                raise
            say(f"selfdiag: {name}: {error}")
            codes.append(error.exit_code)
            if error.exit_code == ExitCode.INTERRUPTED:
                break
            continue
        done.append(_Done(session, outcome, fault))
        if outcome.word == "stopped":
            break
    return done, codes


def _look_up(session: Session) -> str:
    """Look up the DOIs that the run's replies name; return why some could not be."""
    from selfdiag.runs.citation_lookup import look_up_citations, open_dois
    from selfdiag.runs.store import read_run

    number = len(open_dois(read_run(session.folder)))
    if not number:
        say("no DOI is left to look up")
        return ""
    say(f"looking up the DOIs of its citations at doi.org: {number}")
    found = asyncio.run(look_up_citations(session.folder))
    say(f"{found.exist} exist, {found.absent} do not")
    return f"{found.unanswered} could not be looked up. {found.fault}" if found.unanswered else ""


def _read(session: Session) -> Run:
    """Return the run of a session, which keeps the weights and years given now: its report shows the same."""
    import msgspec

    from selfdiag.runs.store import RunWriter, read_run

    run, chosen = read_run(session.folder), session.settings
    settings = msgspec.structs.replace(run.manifest.settings, weights=chosen.weights, years=chosen.years)
    if settings == run.manifest.settings:
        return run
    writer, run = RunWriter.resume(session.folder)
    with writer:
        writer.save(msgspec.structs.replace(run.manifest, settings=settings))
    return read_run(session.folder)


def _show(found: list[Assessment], runs: list[Run], flags: dict[str, Any], *, alone: bool) -> None:
    from selfdiag.protocols.assess import Assessments
    from selfdiag.report.assessment import assessment_lines, assessments_lines
    from selfdiag.report.assessment_markdown import assessment_markdown, assessments_markdown

    if not found and not flags["as_json"]:
        return

    def text() -> str:
        if flags["form"] == "md":
            return assessment_markdown(runs[0], found[0]) if len(found) == 1 else assessments_markdown(runs, found)
        lines = assessment_lines(found[0], plain=flags["plain"]) if len(found) == 1 else assessments_lines(found)
        return "\n".join(lines)

    document = found[0] if alone else Assessments(models=tuple(found))
    deliver(document, text, form="json" if flags["as_json"] else flags["form"], output=flags["output"])


def _pointers(done: list[_Done], flags: dict[str, Any]) -> None:
    """Tell what was wrong with the files of the runs and, below a text, how each is shown again."""
    from selfdiag.safety import one_line

    for one in done:
        for problem in one.session.problems:
            say(f"selfdiag: {problem}")
    if done and flags["form"] == "text" and not flags["as_json"] and flags["output"] is None:
        show("")
        for one in done:
            name = one_line(one.session.settings.model, 80)
            show(f"  {name}, shown again by: selfdiag report {run_name(one.session)}")


def _told(done: _Done) -> int:
    """Tell how a model's asking ended where it did not end well, and return the exit code."""
    code = how_it_ended(done.session, done.outcome, again=AGAIN)
    if done.not_looked_up:
        say(f"selfdiag: {done.not_looked_up}. Try again with: {AGAIN} {run_name(done.session)} --online")
        return code or ExitCode.PROVIDER
    return code


def _gate(found: list[Assessment], required: dict[str, float]) -> list[int]:
    from selfdiag.protocols.requirements import unmet
    from selfdiag.report.assessment import model_name

    missed = [(one, sentence) for one in found for sentence in unmet(one, required)]
    for one, sentence in missed:
        say(f"selfdiag: {model_name(one)}: {sentence}")
    return [ExitCode.GATE_FAILED] if missed else []
