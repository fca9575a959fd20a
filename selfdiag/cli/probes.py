"""``selfdiag probes``: the questions of a battery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import json_option, output_option, print_json, say, show_document, table, write_file

FORMATS = ("toml", "jsonl", "csv")
LM_EVAL = "lm-eval"

_battery_option = click.option(
    "--battery",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Your own battery instead of the shipped one.",
)


@click.group(help="Look at the questions, or check a battery of your own.")
def probes() -> None:
    """Group of the commands about items."""


@probes.command("list", help="List probes and traps.")
@click.option("--bin", "bin_name", metavar="NAME", help="Only this topic.")
@_battery_option
@json_option
def list_items(bin_name: str | None, battery: Path | None, as_json: bool) -> None:
    """List items."""
    from selfdiag.safety import SelfdiagError, one_line

    items = [item for item in _load(battery).items() if bin_name in {None, item.bin}]
    if bin_name is not None and not items:
        raise SelfdiagError(f"no bin {one_line(bin_name, 40)!r} in this battery")
    if as_json:
        print_json([_described(item) for item in items])
        return
    rows = [("id", "level", "kind", "question")]
    for item in items:
        described = _described(item)
        level = described["difficulty"] or "trap"
        kind = described["kind"] or described["family"] or ""
        rows.append((one_line(item.id, 40), level, one_line(kind, 30), _shortened(item.questions[0])))
    click.echo(table(rows))


@probes.command(help="Show one probe or trap with all its wordings and its answer.")
@click.argument("item_id")
@_battery_option
@json_option
def show(item_id: str, battery: Path | None, as_json: bool) -> None:
    """Show one item."""
    import msgspec

    from selfdiag.safety import literal

    item = _find(battery, item_id)
    if as_json:
        print_json(item)
        return
    fields: dict[str, Any] = msgspec.to_builtins(item)
    for name, value in fields.items():
        if name == "questions" or value in ("", (), [], 0.0, False):
            continue
        shown = " | ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        text = literal(shown, keep_newlines=True).strip()
        joint = "\n    " if "\n" in text else " "
        click.echo(f"{name + ':':<14}{joint}{text.replace(chr(10), joint)}".rstrip())
    for number, question in enumerate(item.questions, 1):
        text = literal(question, keep_newlines=True)
        click.echo(f"wording {number}:     {text}".replace("\n", "\n    "))


@probes.command(
    help="Check a battery (the shipped one without PATH). Each problem is a line with file, line, item and fault; "
    "a sound battery prints nothing.",
    short_help="Check a battery of your own.",
)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@json_option
def lint(path: Path | None, as_json: bool) -> int:
    """Check a battery."""
    from selfdiag.battery.lint import lint as check
    from selfdiag.battery.load import BatteryError, Fault, load_what_can_be_read, shipped_path
    from selfdiag.elicit.keys import key_faults
    from selfdiag.safety import one_line

    place = path or shipped_path()
    faults = check(place, shipped=path is None)
    try:
        loaded = load_what_can_be_read(place)
    except BatteryError:
        pass  # said already
    else:
        for item_id, reasons in key_faults(loaded.battery).items():
            at = loaded.places[item_id]
            faults += [Fault(file=at.file, line=at.line, item=item_id, fault=reason) for reason in reasons]
    faults.sort(key=lambda fault: (fault.file, fault.line))
    if as_json:
        print_json(faults)
    else:
        for fault in faults:
            click.echo(one_line(str(fault), 500))
    if faults:
        say(f"selfdiag: {len(faults)} {'fault' if len(faults) == 1 else 'faults'}")
    return ExitCode.USAGE if faults else ExitCode.OK


@probes.command(
    "grade",
    help="Grade TEXT, an answer or a whole reply in JSON, and say by which rule.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("item_id")
@click.argument("text")
@_battery_option
@json_option
def grade_answer(item_id: str, text: str, battery: Path | None, as_json: bool) -> None:
    """Grade one answer."""
    from selfdiag.elicit.grading import grade
    from selfdiag.elicit.reading import Reading, read_reply
    from selfdiag.safety import literal

    reply = read_reply(text) if "{" in text else None
    reading = reply if reply is not None and reply.parse != "none" else Reading(answer=text, parse="strict")
    verdict = grade(_find(battery, item_id), reading)
    if as_json:
        print_json(verdict)
        return
    flags = f"  [{', '.join(verdict.flags)}]" if verdict.flags else ""
    click.echo(f"{verdict.outcome}: {literal(verdict.rule, 200)}{flags}")
    click.echo(f"expected {literal(verdict.expected, 200)!r}, given {literal(verdict.given, 200)!r}")


@probes.command(
    help="Write a battery to standard output or to a file, fresh questions included. With --format lm-eval, write a "
    "task for lm-evaluation-harness into the new folder DIR; 'analyze' reads its sample logs.",
    short_help="Write a battery, or a task for lm-evaluation-harness.",
)
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--fresh", type=int, metavar="SEED", help="Newly generated questions in the computable topics.")
@click.option("--hardness", type=click.IntRange(1, 6), help="Only generated questions, of this level.")
@click.option("--format", "form", type=click.Choice([*FORMATS, LM_EVAL]), default="toml", help="Default toml.")
@output_option
@_battery_option
@click.option("--draw", type=click.Choice(["quick", "standard", "full"]), help="lm-eval: how many (default quick).")
@click.option("--seed", type=int, help="lm-eval: of the draw (default 0).")
@click.option("--sections", metavar="LIST", help="lm-eval: default probes,traps.")
@click.option("--paraphrase", type=click.Choice(["one", "all"]), help="lm-eval: wordings of each item (default one).")
@click.option("--example", type=click.IntRange(0, 100), help="lm-eval: show this confidence in an example reply.")
def export(
    folder: Path | None,
    fresh: int | None,
    hardness: int | None,
    form: str,
    output: Path | None,
    battery: Path | None,
    **asked: Any,
) -> None:
    """Write a battery, or a task."""
    from selfdiag.battery.generators import fresh as generate
    from selfdiag.battery.write import write
    from selfdiag.safety import SelfdiagError, one_line

    if form == LM_EVAL:
        _export_task(folder, output, battery, fresh=fresh, hardness=hardness, **asked)
        return
    given = next((f"--{name}" for name, value in asked.items() if value is not None), "DIR" if folder else None)
    if given:
        raise SelfdiagError(f"{given} is for --format {LM_EVAL} alone; a file is named with -o")
    found = _load(battery)
    try:
        if fresh is not None or hardness is not None:
            found = generate(found, fresh or 0, hardness=hardness)
        text = write(found, form)
    except ValueError as error:
        raise SelfdiagError(one_line(str(error), 300)) from None
    if output is None:
        show_document(text.removesuffix("\n"))
        return
    write_file(output, text)


def _export_task(
    folder: Path | None,
    output: Path | None,
    battery: Path | None,
    *,
    draw: str | None,
    sections: str | None,
    **asked: Any,
) -> None:
    from selfdiag.bridges.lm_eval_task import lm_eval_task, write_task
    from selfdiag.runs.lm_eval_audit import TASK
    from selfdiag.runs.records import MEASURED_SECTIONS, RunSettings
    from selfdiag.safety import SelfdiagError, one_line

    if folder is None or output is not None:
        raise SelfdiagError(
            f"--format {LM_EVAL} writes a folder: name it, as in 'probes export --format {LM_EVAL} DIR'"
        )
    if battery is not None and draw is not None:
        raise SelfdiagError("--draw chooses from the shipped battery: of your own every item is asked")
    wanted = tuple(name for part in (sections or "").split(",") if (name := part.strip()))
    settings = RunSettings(
        model=LM_EVAL,
        battery=str(battery) if battery is not None else draw or "quick",
        sections=wanted or MEASURED_SECTIONS,
        **{name: value for name, value in asked.items() if value is not None},
    )
    files = lm_eval_task(settings)
    write_task(folder, files)
    shown = one_line(str(folder))
    say(
        f"wrote {shown}; run it with: lm_eval --include_path {shown} --tasks {TASK} --apply_chat_template "
        "--log_samples --output_path OUT --model ..."
    )


@probes.command(help="Write a commented battery of your own to start from.")
@click.argument("file", type=click.Path(path_type=Path))
def new(file: Path) -> None:
    """Write an example battery."""
    from selfdiag.battery.write import EXAMPLE
    from selfdiag.safety import SelfdiagError, one_line

    if file.suffix != ".toml":
        raise SelfdiagError(f"{one_line(str(file))}: the example is TOML, so let the name end in .toml")
    if file.exists():
        raise SelfdiagError(f"{one_line(str(file))} exists already and is left as it is: choose another name")
    write_file(file, EXAMPLE)


@probes.command(help="Show for each item how often it was right over RUNS, and what that says of the item.")
@click.argument("runs", nargs=-1, required=True)
@json_option
def stats(runs: tuple[str, ...], as_json: bool) -> None:
    """Show item statistics."""
    from selfdiag.protocols.item_statistics import item_statistics
    from selfdiag.runs.audit_log import named_run
    from selfdiag.safety import one_line

    found = item_statistics([named_run(run) for run in runs])
    if as_json:
        print_json(found)
        return
    rows = [("item", "level", "asked", "right", "with the rest", "wordings", "remarks")]
    rows += [
        (
            one_line(item.id, 40),
            item.difficulty or "trap",
            str(item.n),
            "-" if item.share_right is None else f"{item.share_right:.0%}",
            "-" if item.rest_correlation is None else f"{item.rest_correlation:+.2f}",
            "-" if item.paraphrase_spread is None else f"{item.paraphrase_spread:.0%}",
            ", ".join(item.remarks),
        )
        for item in found.items
    ]
    click.echo(table(rows))
    for note in found.notes:
        say(note)


def _load(path: Path | None) -> Any:
    from selfdiag.battery.load import BatteryError, load, shipped_path
    from selfdiag.safety import SelfdiagError, one_line

    try:
        return load(path or shipped_path()).battery
    except BatteryError as error:
        raise SelfdiagError(f"the battery cannot be used: {one_line(str(error), 400)}") from None


def _find(path: Path | None, item_id: str) -> Any:
    from selfdiag.safety import SelfdiagError, nearest, one_line

    battery = _load(path)
    item = battery.find(item_id)
    if item is None:
        hint = nearest(item_id, [item.id for item in battery.items()])
        raise SelfdiagError(f"no item {one_line(item_id, 60)!r}; 'selfdiag probes list' shows them.{hint}")
    return item


def _described(item: Any) -> dict[str, Any]:
    trap = hasattr(item, "family")
    return {
        "id": item.id,
        "bin": item.bin,
        "difficulty": None if trap else item.difficulty,
        "kind": None if trap else item.kind,
        "trap": trap,
        "family": item.family if trap else None,
        "paraphrases": len(item.questions),
        "source": None if trap else (item.source or "computed"),
    }


def _shortened(text: str) -> str:
    """Return the beginning of a question, so that a line of the list fits the terminal."""
    import shutil

    from selfdiag.safety import literal

    room = max(shutil.get_terminal_size((120, 24)).columns - 51, 24)
    line = literal(" ".join(text[:500].split()))
    return line if len(line) <= room else f"{line[: room - 1]}…"
