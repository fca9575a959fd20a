"""``selfdiag analyze``: every number from graded answers, wherever they come from."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import json_option, print_json, say

HELP = """Compute every measure, with its uncertainty, from graded answers.

FILE is a run (a folder, an id or 'latest'), a run's records.jsonl, a log of Inspect AI, lm-evaluation-harness or
promptfoo, SimpleQA results, a CSV file with a header, or a file with one JSON object a line; or a folder of these. What
a file is, is told by what it holds.

In a log, right and wrong are what its own tool says, and the confidence is read from the replies; --map
confidence=FIELD takes it from a field, --map correct=SCORER names one of several scores. In a table, columns named
confidence (0-100, or 0-1 in the whole file) and correct (1/0, true/false, right/wrong, or an outcome such as abstained)
are found by name, item, bin, model, trap and logprob too; --map names others.

With --map raw=COLUMN it reads raw replies and says what it found in them; with --map raw=COLUMN,correct=COLUMN it takes
the stated confidence from them.

\b
Examples:
  selfdiag analyze answers.csv
  selfdiag analyze log.csv --map conf=p,correct=label,item=id,model=llm
  selfdiag analyze log.csv --by model,bin --json > summary.json
  selfdiag analyze latest
  selfdiag analyze RUN RUN                 several runs side by side
  selfdiag analyze logs/ --by model,file   a folder of logs
  selfdiag analyze log.eval --map correct=includes,bin=topic
  selfdiag analyze latest --categories     topic by topic: accurate, and calibrated?
  selfdiag analyze latest --regrade
  selfdiag analyze replies.jsonl --map raw=text
"""


def _divisions(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))
    from selfdiag.protocols.analysis import DIVISIONS

    unknown = next((name for name in names if name not in DIVISIONS), None)
    if unknown is not None:
        raise click.BadParameter(f"no {unknown!r}; there are: {', '.join(DIVISIONS)}")
    return names


@click.command(help=HELP)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--map", "mappings", multiple=True, metavar="KEY=COLUMN,...", help="Which column is which.")
@click.option("--by", callback=_divisions, metavar="NAMES", help="Divide by model, bin, file.")
@click.option("--full", is_flag=True, help="Every metric of every group.")
@click.option(
    "--set",
    "which",
    type=click.Choice(["answered", "attempted"]),
    default="answered",
    help="Show graded answers (default), or count refusals and abstentions that state a confidence as wrong.",
)
@click.option("--ece-bins", type=click.IntRange(1, 100), default=10, help="Bins of the calibration error (default 10).")
@click.option("--draws", type=click.IntRange(100, 20_000), default=2000, help="Bootstrap draws (default 2000).")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the bootstrap (default 20260101).")
@click.option("--full-intervals", is_flag=True, help="Intervals for the fitted measures too (takes seconds).")
@click.option(
    "--categories", is_flag=True, help="Category-constrained diagnostics over the topics, in place of the rest."
)
@click.option("--regrade", is_flag=True, help="Grade a run's raw replies by today's rules; say what changes.")
@json_option
def analyze(files: tuple[str, ...], by: tuple[str, ...] | None, which: str, **flags: Any) -> int:
    """Compute every measure; the help text is ``HELP``."""
    from selfdiag.runs.table_file import parse_mapping

    columns = parse_mapping(",".join(flags.pop("mappings")))
    if flags["regrade"]:
        _regrade(files, as_json=flags["as_json"])
        return ExitCode.OK
    if "raw" in columns and "correct" not in columns:
        _read_raw(files, columns, as_json=flags["as_json"])
        return ExitCode.OK
    return _measure(files, columns, by, attempted=which == "attempted", **flags)


def _measure(
    files: tuple[str, ...],
    columns: dict[str, str],
    by: tuple[str, ...] | None,
    *,
    attempted: bool,
    as_json: bool,
    regrade: bool,  # noqa: ARG001 - handled before
    categories: bool,
    full: bool,
    seed: int | None,
    **settings: Any,
) -> int:
    from selfdiag.measure.resampling import SEED
    from selfdiag.protocols.analysis import analyse
    from selfdiag.safety import one_line

    names = _expanded(files, columns)
    _refuse_twice(names)
    parts, unread = _parts(names, files, columns)
    if categories:
        _by_category(parts, draws=settings["draws"], seed=seed, as_json=as_json)
        return _told(unread)
    divisions = by if by is not None else _usual_divisions(parts)
    found = analyse(parts, divisions, seed=SEED if seed is None else seed, **settings)
    if as_json:
        print_json(found.models[0] if len(found.models) == 1 else found)
    else:
        _show(found, attempted=attempted, full=full)
        if len(found.models) > 1:
            for part in parts:
                for note in part.notes:
                    say(f"{one_line(part.file, 120)}: {note}")
    return _told(unread)


def _told(unread: list[str]) -> int:
    for line in unread:
        say(line)
    return ExitCode.INCOMPLETE if unread else ExitCode.OK


def _by_category(parts: list[Any], *, draws: int, seed: int | None, as_json: bool) -> None:
    from selfdiag.measure.resampling import SEED
    from selfdiag.protocols.categories import by_category
    from selfdiag.report.categories import of_model_lines

    found = by_category(parts, draws=draws, seed=SEED if seed is None else seed)
    if as_json:
        print_json(found)
        return
    click.echo("\n\n".join("\n".join(of_model_lines(one)) for one in found.models))


def _expanded(files: tuple[str, ...], columns: dict[str, str]) -> list[str]:
    """Return the names of all runs and files, in place of a folder those in it."""
    from selfdiag.report.words import several
    from selfdiag.runs.answer_file import answers_in
    from selfdiag.safety import SelfdiagError, one_line

    names: list[str] = []
    for name in files:
        folder = _folder(name)
        if folder is None:
            names.append(name)
            continue
        found, others = answers_in(folder, columns)
        shown = one_line(name, 120)
        if not found:
            raise SelfdiagError(
                f"{shown} holds no run, no log and no table of answers ({several(len(others), 'other')})"
            )
        if others:
            listed = ", ".join(one_line(path.name, 40) for path in others[:3]) + (", …" if len(others) > 3 else "")
            total = len(found) + len(others)
            say(f"{shown}: {len(found)} of {total} files and runs hold answers; passed over: {listed}")
        names += [str(path) for path in found]
    return names


def _parts(names: list[str], asked: tuple[str, ...], columns: dict[str, str]) -> tuple[list[Any], list[str]]:
    """Return the rows of every run and file, and what could not be read; a file that was named itself must be."""
    from selfdiag.safety import SelfdiagError, one_line

    parts: list[Any] = []
    unread: list[str] = []
    for name in names:
        try:
            part = _part(name, columns)
        except SelfdiagError as error:
            if name in asked:
                raise
            unread.append(str(error))
            continue
        parts.append(part)
        if part.missing:
            unread.append(f"{one_line(part.file, 120)}: {part.missing}")
    if not parts:
        raise SelfdiagError(unread[0] if len(unread) == 1 else f"{unread[0]}; {len(unread) - 1} other files likewise")
    return parts, unread


def _folder(name: str) -> Path | None:
    """Return the path of a folder that is no run, or None."""
    from selfdiag.runs.shelf import run_folders
    from selfdiag.runs.store import MANIFEST
    from selfdiag.settings import expanded

    path = expanded(name)
    if not path.is_dir() or (path / MANIFEST).is_file() or any(run.name.startswith(name) for run in run_folders()):
        return None
    return path


def _refuse_twice(files: list[str]) -> None:
    from selfdiag.runs.shelf import find_run
    from selfdiag.safety import SelfdiagError, one_line

    places: dict[Path, str] = {}
    for name in files:
        place = (_file(name) or find_run(name)).resolve()
        if place in places:
            raise SelfdiagError(f"{one_line(name, 120)} is {one_line(places[place], 120)} once more: name it once")
        places[place] = name


def _usual_divisions(parts: list[Any]) -> tuple[str, ...]:
    models = [name for part in parts for name in set(part.model)]
    # two runs of one model are two audits, and two files may be too
    apart = len(parts) > 1 and (len(set(models)) < len(models) or any(part.run is None for part in parts))
    return (*(("model",) if any(models) else ()), *(("file",) if apart else ()))


def _part(name: str, mapping: dict[str, str]) -> Any:
    """Return the rows of one run or file."""
    from selfdiag.protocols.analysis import Part
    from selfdiag.runs.answer_file import read_file
    from selfdiag.runs.audit_log import audit_in
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run

    path = _file(name)
    if path is not None:
        audit = audit_in(path) if not mapping else None
        if audit is not None:
            return _part_of_run(audit, str(path), missing=_unanswered(audit))
        answers = read_file(path, mapping)
        model = answers.model or ("",) * len(answers.columns)
        return Part(
            file=str(path),
            columns=answers.columns,
            model=model,
            logprob=answers.logprob,
            notes=answers.notes,
            missing=answers.missing,
        )
    run = read_run(find_run(name))
    return _part_of_run(run, run.manifest.run_id)


def _unanswered(run: Any) -> str:
    """Return how much of a log of our audit has no reply, empty when all has."""
    from selfdiag.runs.plan import open_calls

    left = len(open_calls(run.manifest.plan, run.latest()))
    return f"{left} of {len(run.manifest.plan)} samples have no reply" if left else ""


def _part_of_run(run: Any, name: str, *, missing: str = "") -> Any:
    from selfdiag.protocols.analysis import Part
    from selfdiag.protocols.audit import standing
    from selfdiag.protocols.compare_items import asked_items
    from selfdiag.protocols.sources import run_columns
    from selfdiag.safety import SelfdiagError, one_line

    if not asked_items(run):
        sections = one_line(", ".join(run.manifest.settings.sections), 80)
        raise SelfdiagError(
            f"run {one_line(name, 120)} asks no probes and no traps ({sections} alone): "
            "'selfdiag report' shows what it came out with"
        )
    columns, note = run_columns(run, run.measured())
    return Part(
        file=name,
        columns=columns,
        model=(run.manifest.settings.model,) * len(columns),
        notes=(*standing(run), *((note,) if note else ())),
        missing=missing,
        run=run,
    )


def _file(name: str) -> Path | None:
    """Return the path of a file of rows, or None when the name means a run."""
    from selfdiag.runs.shelf import run_folders
    from selfdiag.safety import SelfdiagError, one_line
    from selfdiag.settings import expanded

    path = expanded(name)
    if path.is_dir():
        return None
    if path.exists():
        return path
    looks_like_a_file = path.suffix or len(path.parts) > 1
    if looks_like_a_file and not any(folder.name.startswith(name) for folder in run_folders()):
        raise SelfdiagError(f"there is no file {one_line(name, 120)!r}")
    return None


def _show(found: Any, *, attempted: bool, full: bool) -> None:
    import textwrap

    from selfdiag.report.card import card_lines, framed
    from selfdiag.report.table import group_name, groups_table, metrics_table, pooled_lines, sources_lines

    width = min(shutil.get_terminal_size((100, 24)).columns, 160)
    if len(found.models) == 1:
        summary = found.models[0]
        click.echo("\n".join(framed(card_lines(summary))) + "\n")
        click.echo(metrics_table(summary.metrics_attempted if attempted else summary.metrics))
    else:
        click.echo(groups_table(found, attempted=attempted, width=width))
        for summary in found.models if full else ():
            metrics = summary.metrics_attempted if attempted else summary.metrics
            click.echo(f"\n{group_name(summary.group)}: {summary.tier.advice}\n{metrics_table(metrics)}")
    said = pooled_lines(found.pooled) if found.pooled is not None else []
    for summary in found.models:
        if summary.sources is not None:
            said += sources_lines(summary.sources, summary.group if len(found.models) > 1 else None)
    for line in said:
        click.echo("\n" + textwrap.fill(line, width, subsequent_indent="  "))
    if attempted:
        click.echo("\nRefusals and abstentions that state a confidence count as wrong; tiers speak of graded answers.")


def _regrade(names: tuple[str, ...], *, as_json: bool) -> None:
    from selfdiag.protocols.regrade import regrade
    from selfdiag.report.table import regrade_lines
    from selfdiag.runs.audit_log import named_run

    found = [regrade(named_run(name)) for name in names]
    if as_json:
        print_json(found[0] if len(found) == 1 else found)
        return
    for one in found:
        click.echo("\n".join(regrade_lines(one)))


def _read_raw(names: tuple[str, ...], mapping: dict[str, str], *, as_json: bool) -> None:
    from itertools import chain

    from selfdiag.protocols.raw_replies import read_replies
    from selfdiag.report.table import replies_lines
    from selfdiag.runs.importers import read_raw
    from selfdiag.settings import expanded

    found = read_replies(chain.from_iterable(read_raw(expanded(name), mapping) for name in names))
    if as_json:
        print_json(found)
        return
    click.echo("\n".join(replies_lines(found)))
