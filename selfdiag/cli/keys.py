"""``selfdiag keys``: the keys that model services ask for."""

from __future__ import annotations

import sys

import click

from selfdiag.cli.output import json_option, print_json, say, table

SERVER_HELP = "The key for servers named by --base-url, which never get the service's own."


@click.group(
    help="""Keep the keys that model services ask for.

A key is looked for in the environment (OPENAI_API_KEY; SELFDIAG_OPENAI_API_KEY for servers named by --base-url), then
in a file that only you can read, then in the system keyring. No command ever prints one.

\b
Examples:
  selfdiag keys set openai
  selfdiag keys set openai --server
  selfdiag keys set anthropic --keyring
  selfdiag keys list
"""
)
def keys() -> None:
    """Group of the commands about keys."""


@keys.command(
    "set",
    help="""Keep the key of the provider NAME, in place of an earlier one.

You are asked for the key and don't see it while you type. Without a terminal, it is one line on standard input.
""",
)
@click.argument("name")
@click.argument("surplus", nargs=-1, metavar="")
@click.option("--keyring", is_flag=True, help="Keep it in the system keyring instead of the file.")
@click.option("--server", is_flag=True, help=SERVER_HELP)
def set_key(name: str, surplus: tuple[str, ...], keyring: bool, server: bool) -> None:
    """Keep a key."""
    from selfdiag.keys import store
    from selfdiag.safety import SelfdiagError, one_line
    from selfdiag.settings import key_variable, keys_path

    if surplus:  # not echoed: it is most likely a key
        raise SelfdiagError(
            "a key is never given on the command line, where other programs can see it: leave it away, you are asked"
        )
    _need_provider(name)
    variable = key_variable(name, server=server)
    store(keys_path(), variable, _asked_for(variable), keyring=keyring)
    say(f"{variable} is kept in {'the system keyring' if keyring else one_line(str(keys_path()))}")
    _mention_environment(variable)


@keys.command("list", help="List which keys are set and where each comes from.")
@json_option
def list_keys(as_json: bool) -> None:
    """List keys."""
    from msgspec import structs

    from selfdiag.keys import sources
    from selfdiag.safety import one_line
    from selfdiag.settings import keys_path

    known = purposes()
    found = sources(keys_path(), known)
    if as_json:
        # what stands where a name belongs may be a key
        print_json([structs.replace(source, variable=one_line(source.variable, 80)) for source in found])
        return
    if not found:
        click.echo("no key is set: keep one with 'selfdiag keys set NAME'")
        return
    taken = {source.variable for source in found if source.used}
    rows = [("key", "for", "from", "")]
    for source in found:
        why = "the one above comes first" if source.variable in taken else "it cannot be read"
        note = "" if source.used else f"not used: {why}"
        rows.append((one_line(source.variable, 80), known.get(source.variable, "?"), source.origin, note))
    click.echo(table(rows))


@keys.command("path", help="Print the path of the file of keys, whether it is there or not.")
def keys_file() -> None:
    """Print where keys are kept."""
    from selfdiag.safety import literal
    from selfdiag.settings import keys_path

    click.echo(literal(str(keys_path())))


@keys.command(help="Remove the key of the provider NAME.")
@click.argument("name")
@click.option("--server", is_flag=True, help=SERVER_HELP)
def rm(name: str, server: bool) -> None:
    """Remove a key."""
    from selfdiag.keys import remove
    from selfdiag.safety import SelfdiagError, one_line
    from selfdiag.settings import key_variable, keys_path

    _need_provider(name)
    variable = key_variable(name, server=server)
    if not remove(keys_path(), variable):
        raise SelfdiagError(f"no {one_line(variable, 80)} is kept here: 'selfdiag keys list' shows what is")
    say(f"{one_line(variable, 80)} is removed")
    _mention_environment(variable)


def purposes() -> dict[str, str]:
    """Return what each key is for, by its name, for every provider that may ask for one."""
    from selfdiag.settings import key_variable

    names = _providers()
    own = {key_variable(name): name for name in names}
    return own | {key_variable(name, server=True): f"{name} with --base-url" for name in names}


def _providers() -> list[str]:
    from selfdiag.models.registry import WITHOUT_ADDRESS, providers

    return [name for name in providers() if name not in WITHOUT_ADDRESS]


def _need_provider(name: str) -> None:
    from selfdiag.safety import SelfdiagError, nearest

    known = _providers()
    if name not in known:  # not echoed: it may be a key, typed in the wrong place
        raise SelfdiagError(
            f"no provider of that name asks for a key; these do: {', '.join(known)}.{nearest(name, known)}"
        )


def _asked_for(variable: str) -> str:
    """Return the key that the person types, unseen, or the first line of standard input."""
    from selfdiag.keys import LONGEST

    if sys.stdin.isatty():
        typed: str = click.prompt(variable, hide_input=True, err=True)
        return typed
    line = sys.stdin.buffer.readline(4 * LONGEST)  # more than any key, less than an endless line
    # some shells put a byte order mark before what they pipe
    return line.decode("utf-8-sig", "replace")


def _mention_environment(variable: str) -> None:
    import os

    if os.environ.get(variable, "").strip():
        say(f"{variable} is also set in the environment, which comes first")
