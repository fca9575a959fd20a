"""``selfdiag profile``: measured competence as a file, signed by whoever measured it."""

from __future__ import annotations

from pathlib import Path

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import json_option, output_option, print_json, say

_file_argument = click.argument("file", type=click.Path(path_type=Path))


@click.group(
    help="""Export what a run has measured by topic, sign it, and verify such a file.

A profile is a JSON file: the model's accuracy by topic, with the battery and the run it comes from. Whoever measured
it signs it; whoever uses it verifies that it is unchanged and by someone they trust.

\b
Examples:
  selfdiag profile export latest -o profile.json
  selfdiag profile keygen --signer "Ada Example"
  selfdiag profile sign profile.json
  selfdiag profile verify profile.json --trust colleagues.txt
"""
)
def profile() -> None:
    """Group of the commands about profiles."""


@profile.command(
    help="Write the measured profile of RUN (an id, its beginning or its end, 'latest', or a path) as JSON.",
    short_help="Write the measured profile of a run.",
)
@click.argument("run", default="latest")
@output_option
def export(run: str, output: Path | None) -> None:
    """Write a profile."""
    from selfdiag.protocols.profile_file import profile_of, write_profile
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run
    from selfdiag.safety import one_line

    found = profile_of(read_run(find_run(run)))
    if found.note:
        say(found.note)
    if output is None:
        print_json(found)
        return
    write_profile(output, found)
    say(f"wrote {one_line(str(output))}")


@profile.command(
    help="""Make a key to sign profiles with, and print its public half.

The private half is a file that only you can read: never hand it on. The public half, a line 'NAME KEY', lies beside
it with .pub after its name: give it to everyone who is to verify what you sign.
"""
)
@click.option("--signer", required=True, metavar="NAME", help="Whose key it is; every signature names it.")
@click.option(
    "--key", type=click.Path(path_type=Path), metavar="PATH", help="Default: signing/key.pem in the data folder."
)
def keygen(signer: str, key: Path | None) -> None:
    """Make a key."""
    from selfdiag.protocols.profile_file import read_bounded
    from selfdiag.protocols.profile_signature import default_key, make_key
    from selfdiag.safety import one_line

    place = key or default_key()
    public = make_key(place, signer)
    say(f"wrote {one_line(str(place))} (private) and {one_line(str(public))}")
    click.echo(read_bounded(public).decode(), nl=False)


@profile.command(
    help="""Sign the profile FILE: the signature is written beside it, as FILE.sig.

Sign what you have measured yourself. A profile that has a signature is not signed again: delete FILE.sig first.
""",
    short_help="Sign a profile that you have measured.",
)
@_file_argument
@click.option("--key", type=click.Path(path_type=Path), metavar="PATH", help="Private key; default as for keygen.")
def sign(file: Path, key: Path | None) -> None:
    """Sign a profile."""
    from selfdiag.protocols.profile_signature import default_key
    from selfdiag.protocols.profile_signature import sign as sign_profile
    from selfdiag.safety import one_line

    say(f"wrote {one_line(str(sign_profile(file, key or default_key())))}")


@profile.command(
    help=f"""Verify the profile FILE, and say which it is.

\b
  verified   unchanged since someone you trust has signed it
  unsigned   there is no FILE.sig
  altered    the profile or its signature was changed
  untrusted  signed with a key that is not among those you trust

Exit code {ExitCode.OK} when it is verified, {ExitCode.GATE_FAILED} when it is not.
""",
    short_help="Verify a profile, and say which it is.",
)
@_file_argument
@click.option(
    "--trust",
    type=click.Path(path_type=Path),
    metavar="KEYS",
    help="A file of public keys, one 'NAME KEY' a line, or a folder of .pub files. "
    "Default: the folder signing in the data folder, which holds your own.",
)
@json_option
def verify(file: Path, trust: Path | None, as_json: bool) -> int:
    """Verify a profile."""
    from selfdiag.protocols.profile_signature import verify as verify_profile

    gate = verify_profile(file, trust)
    if as_json:
        print_json(gate)
    else:
        click.echo(str(gate))
    return ExitCode.OK if gate.state == "verified" else ExitCode.GATE_FAILED
