"""``selfdiag panel``: how many other models agree with an answer, beside the confidence stated with it."""

from __future__ import annotations

from pathlib import Path

import click

from selfdiag.cli.output import chosen_form, deliver, json_option, output_option, plain_option

HELP = """Does the agreement of other models tell more about an answer than the confidence stated with it?

Name one run each of three or more models that were asked the same battery with the same seed. For every answer, the
other models that give the same one are counted; nobody is asked anything. Then it is computed which tells a model's
right answers from its wrong ones better: this count, or its own confidence.

RUN is an id, its beginning or end, 'latest', or a path; the log of an audit that Inspect AI or lm-evaluation-harness
asked stands for a run too. Only probes that all were asked in the same words, and replied to, are counted.

\b
Examples:
  selfdiag panel RUN RUN RUN
  selfdiag panel RUN RUN RUN RUN --coding label-free
  selfdiag panel RUN RUN RUN --format html -o panel.html
  selfdiag panel RUN RUN RUN --json
"""


@click.command(help=HELP)
@click.argument("names", nargs=-1, required=True, metavar="RUN RUN RUN...")
@click.option(
    "--coding",
    type=click.Choice(["label-free", "canonical"]),
    help="What counts as the same answer: label-free compares wordings alone, canonical takes two right answers for "
    "the same and needs the answer key. Default both.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "md", "html", "json"]), default="text", help="Default text."
)
@json_option
@plain_option
@output_option
@click.pass_context
def panel(
    ctx: click.Context,
    names: tuple[str, ...],
    coding: str | None,
    form: str,
    as_json: bool,
    plain: bool,  # noqa: ARG001 - the text has no other form, and every command takes the flag
    output: Path | None,
) -> None:
    """Compute a panel; the help text is ``HELP``."""
    if len(names) < 3:
        raise click.UsageError("name three runs or more, each of another model", ctx)
    wanted = chosen_form(form, as_json=as_json)

    from selfdiag.protocols.panel import panel_of
    from selfdiag.protocols.panel_result import CODINGS
    from selfdiag.report.panel import panel_lines, panel_markdown
    from selfdiag.runs.audit_log import named_run

    found = panel_of([named_run(name) for name in names], codings=[coding] if coding else list(CODINGS))

    def text() -> str:
        if wanted == "html":
            from selfdiag.report.experiment_html import panel_html

            return panel_html(found, panel_markdown(found))
        return panel_markdown(found) if wanted == "md" else "\n".join(panel_lines(found))

    deliver(found, text, form=wanted, output=output)
