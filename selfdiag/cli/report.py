"""``selfdiag report``: what a run came out with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.gating import gate_options, gates_from, results_of, tell, unfinished
from selfdiag.cli.output import chosen_form, deliver, json_option, output_option, plain_option, write_file

if TYPE_CHECKING:
    from selfdiag.protocols.gates import GateResult
    from selfdiag.report.results import Result
    from selfdiag.runs.store import Run

HELP = """Show or write the report of RUN (an id, its beginning or its end, 'latest', or a path).

The log of an audit that Inspect AI or lm-evaluation-harness asked stands for a run too.

\b
Examples:
  selfdiag report latest
  selfdiag report latest --format md -o report.md
  selfdiag report latest --format html -o report.html   one page with drawings, nothing to load
  selfdiag report latest --format json
  selfdiag report latest --format csv -o replies.csv    one row a reply, and replies-columns.csv
  selfdiag report latest --format every-eval -o eval.json
  selfdiag report logs/NAME.eval --format html -o report.html
  selfdiag report latest --format junit -o junit.xml --fail-under C --gate-on bound
"""


@click.command(help=HELP)
@click.argument("run", default="latest")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "html", "json", "csv", "junit", "every-eval"]),
    default="text",
    help="Default text.",
)
@click.option("--full-intervals", is_flag=True, help="Intervals for the fitted measures too (takes seconds).")
@output_option
@json_option
@plain_option
@gate_options
@click.pass_context
def report(
    ctx: click.Context,
    /,
    run: str,
    form: str,
    full_intervals: bool,
    output: Path | None,
    as_json: bool,
    plain: bool,
    **gate_flags: Any,
) -> int:
    """Show or write a report; the help text is ``HELP``."""
    from selfdiag.protocols.gates import check_kind
    from selfdiag.report.results import result_of
    from selfdiag.runs.audit_log import named_run
    from selfdiag.runs.records import kind_of

    gates = gates_from(ctx, gate_flags)
    wanted = chosen_form(form, as_json=as_json)
    found = named_run(run)
    check_kind(gates, kind_of(found.manifest.settings.sections))
    if wanted == "csv":
        _table(found, output)
        if not gates.given():
            return ExitCode.OK
    result = result_of(found, full_intervals=full_intervals)
    results = results_of(gates, found, result.document)
    texts = {
        "md": result.markdown,
        "html": result.html,
        "junit": lambda: _junit(found, results, result),
        "every-eval": lambda: _every_eval(found, result),
    }
    if wanted != "csv":
        text = texts.get(wanted, lambda: "\n".join(result.lines(plain)))
        deliver(result.document, text, form=wanted, output=output)
    if not results:
        return ExitCode.OK
    return unfinished(found) or tell(results, simulated=found.manifest.model.simulated)


def _junit(run: Run, gates: Sequence[GateResult], result: Result) -> str:
    from selfdiag.protocols.summary import Summary
    from selfdiag.report.junit import junit

    found = result.document
    return junit(run, gates, tier=found.tier.letter if isinstance(found, Summary) else "")


def _every_eval(run: Run, result: Result) -> str:
    import time

    from selfdiag.protocols.summary import Summary
    from selfdiag.report.every_eval import every_eval
    from selfdiag.safety import SelfdiagError

    if not isinstance(result.document, Summary):
        raise SelfdiagError("--format every-eval is for audits, and this is another kind of run")
    return every_eval(run, result.document, written=time.time())


def _table(run: Run, output: Path | None) -> None:
    """Print the replies of a run as CSV, or write them to a file with the dictionary of their columns beside it."""
    from selfdiag.report.records_csv import columns_csv, records_csv

    deliver(None, lambda: records_csv(run), form="csv", output=output)
    # a pipe or a device has no place beside it
    if output is not None and output.is_file():
        write_file(output.with_name(f"{output.stem}-columns.csv"), columns_csv())
