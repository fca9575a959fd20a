"""The command ``selfdiag``: finds the subcommand, and tells every fault in one line."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from typing import Any, TextIO, cast

import click

from selfdiag import __version__
from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import point_at_nothing
from selfdiag.safety import SelfdiagError, one_line, without_secrets

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("selfdiag.cli.run:run", "Audit a model and print its tier."),
    "microprobe": ("selfdiag.cli.microprobe:microprobe", "See whether confidence follows a claimed accuracy."),
    "assess": ("selfdiag.cli.assess:assess", "Hold what a model claims of itself against what it does."),
    "topicpass": ("selfdiag.cli.topicpass:topicpass", "See whether confidence follows a false profile."),
    "ladder": ("selfdiag.cli.ladder:ladder", "See whether its own measured profile makes confidence better."),
    "swap": ("selfdiag.cli.swap:swap", "Put another model's profile before a model."),
    "selfselect": ("selfdiag.cli.selfselect:selfselect", "See whether a model can pick its right answer from two."),
    "report": ("selfdiag.cli.report:report", "Show or write the report of a run."),
    "compare": ("selfdiag.cli.compare:compare", "Compare runs item by item."),
    "panel": ("selfdiag.cli.panel:panel", "See what the agreement of other models says about an answer."),
    "analyze": ("selfdiag.cli.analyze:analyze", "Compute every measure from a file of graded answers, or a run."),
    "runs": ("selfdiag.cli.runs:runs", "List, show, find or delete runs."),
    "models": ("selfdiag.cli.models:models", "List the models that can be asked."),
    "probes": ("selfdiag.cli.probes:probes", "Look at the questions, or check your own."),
    "profile": ("selfdiag.cli.profile:profile", "Export, sign or verify a measured profile."),
    "keys": ("selfdiag.cli.keys:keys", "Keep the keys of model services."),
    "pull": ("selfdiag.cli.pull:pull", "Fetch the embedded model once."),
    "serve": ("selfdiag.cli.serve:serve", "Open the terminal app in a browser on this machine."),
    "doctor": ("selfdiag.cli.doctor:doctor", "Check this machine and say what to mend."),
    "path": ("selfdiag.cli.path:path", "Print where selfdiag keeps its files."),
}
"""Every subcommand: where it is defined, and its line in the help. Modules are loaded when called."""

HELP = f"""Ask a language model short questions, and find out whether to believe it when it says it is sure.

\b
Examples:
  selfdiag                                  the app: choose a model, watch, look, play
  selfdiag ollama:qwen3:8b                  the app on this model
  selfdiag --base-url URL openai:NAME       the same; the address comes first
  selfdiag run embedded                     a small real model on this machine
  selfdiag run gguf:model.gguf              a GGUF file
  selfdiag run openai:NAME --base-url URL   any OpenAI-compatible server
  selfdiag run persona:overconfident        no model: simulated replies
  selfdiag report latest --format md        the report of the last run

A MODEL is PROVIDER:NAME; 'selfdiag models' lists what is there. In the place of a command it opens the app.

\b
Exit codes: {ExitCode.OK} ok, {ExitCode.GATE_FAILED} a gate failed, {ExitCode.USAGE} wrong input,
{ExitCode.PROVIDER} model not reachable, {ExitCode.INCOMPLETE} incomplete, {ExitCode.INTERRUPTED} interrupted.
"""


class _WithoutKeys:
    """A stream that writes no key.

    What we say holds none; but warnings, log lines, and the tracebacks of threads and of tasks that nobody waits for
    are written by Python itself.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text with every known key replaced."""
        return self._stream.write(without_secrets(text))


class LazyGroup(click.Group):
    """A group that imports a subcommand's module when it is called, so that ``--help`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import and return a subcommand."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)  # noqa: S101
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; a model in its place opens the app on it."""
        name = args[0]
        if name not in COMMANDS and (":" in name or name == "embedded"):
            return name, click.Command(name, callback=lambda: _open_app(name, ctx.params["base_url"])), args[1:]
        return super().resolve_command(ctx, args)


def _address(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    if value is None:  # as nearly always: the import takes longer than the rest of '--help'
        return ""
    from selfdiag.cli.asking import address

    return address(ctx, param, value)


@click.group(
    cls=LazyGroup,
    help=HELP,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="selfdiag")
@click.option("--base-url", callback=_address, metavar="URL", help="Address of MODEL's server, for the app.")
@click.pass_context
def selfdiag(ctx: click.Context, base_url: str) -> int:
    """Entry of all commands; its help text is ``HELP``."""
    return _open_app("", base_url) if ctx.invoked_subcommand is None else ExitCode.OK


def _open_app(model: str, base_url: str) -> int:
    from selfdiag.cli.app import open_app

    return open_app(model, base_url)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115, PTH123 - until the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # an old code page must not turn a tick into a crash
    sys.stderr = cast("TextIO", _WithoutKeys(sys.stderr))
    try:
        for word in sys.argv[1:]:
            if not word.isascii() and word != word.encode("utf-8", "replace").decode("utf-8"):
                raise SelfdiagError(f"{one_line(word, 80)!r} is not valid text in UTF-8")
        result = selfdiag.main(standalone_mode=False)
        code = int(result) if isinstance(result, int) else ExitCode.OK
        sys.stdout.flush()
    except SelfdiagError as error:
        code = _tell(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        click.echo(help_wanted.format_message())
        code = ExitCode.OK
    except click.ClickException as error:
        code = _tell(_usage_line(error), ExitCode.USAGE)
    except (click.Abort, KeyboardInterrupt):
        code = _tell("interrupted", ExitCode.INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # the reader has gone, as in '| head' (click turns that into SystemExit): no fault, and Python must not
        # complain of it at shutdown
        point_at_nothing(sys.stdout)
        code = ExitCode.OK
    except OSError as error:
        point_at_nothing(sys.stdout)
        place = f"{one_line(os.fsdecode(error.filename), 120)}: " if error.filename else ""
        code = _tell(f"{place}{error.strerror or one_line(str(error))}", ExitCode.USAGE)
    except Exception as error:  # noqa: BLE001 - never a traceback: it would print keys and foreign text
        code = _tell(_fault_line(error), ExitCode.INCOMPLETE)
    sys.exit(code)


def _tell(message: str, code: int) -> int:
    with suppress(OSError):  # nobody may be there to read it
        click.echo(f"selfdiag: {message}", err=True)
        return code
    point_at_nothing(sys.stderr)
    return code


def _usage_line(error: click.ClickException) -> str:
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see '{error.ctx.command_path} --help')"
    return f"{one_line(error.format_message(), 300).rstrip('.')}{hint}"


def _fault_line(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"  # noqa: PTH119
    return (
        f"a fault in selfdiag itself ({type(error).__name__}{place}: {one_line(str(error))}); "
        "what was written so far is kept. Please report this line"
    )


if __name__ == "__main__":
    main()
