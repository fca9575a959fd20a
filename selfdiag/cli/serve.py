"""``selfdiag serve``: the terminal app in a browser on this machine."""

from __future__ import annotations

import shlex
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import click

from selfdiag.cli.output import say
from selfdiag.safety import SelfdiagError

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""What a browser on this machine may call it. Any other name means that a page from elsewhere is asking."""
PORT = 8642
POLICY = "default-src 'self' 'unsafe-inline' data: blob:; frame-ancestors 'none'"
"""The page of the server's package asks for a font from elsewhere; nothing may be asked for but from here."""
HELP = f"""Open the terminal app in a browser.

It can be reached from this machine alone, by everybody who is logged in to it. Every page that is opened has an app of
its own, which ends when the page is closed; a run that it was asking can be gone on with. It needs the extra 'web'.

\b
Examples:
  selfdiag serve
  selfdiag serve --port {PORT + 1}
"""


@click.command(help=HELP)
@click.option(
    "--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, metavar="N", help="Where it listens."
)
def serve(port: int) -> int:
    """Serve the app until it is interrupted; the help text is ``HELP``."""
    try:
        from textual_serve.server import Server
    except ImportError:
        raise SelfdiagError(
            "the app in a browser needs the extra 'web': install it with: pip install \"selfdiag[web]\""
        ) from None
    _must_be_free(port)

    class LocalServer(Server):
        """Answers browsers on this machine alone, and keeps its own words off the terminal."""

        async def handle_index(self, request: web.Request) -> Any:
            """Return the page, if it is asked for by a name of this machine."""
            _must_be_local(request, port)
            page = await super().handle_index(request)
            page.headers["Content-Security-Policy"] = POLICY
            return page

        async def handle_websocket(self, request: web.Request) -> Any:
            """Start an app, if the page that wants one came from here."""
            _must_be_local(request, port)
            return await super().handle_websocket(request)

        async def on_startup(self, app: web.Application) -> None:  # noqa: ARG002 - its signature
            """Say where to look."""
            click.echo(f"http://{HOST}:{port}")
            say("selfdiag: open this address in a browser on this machine; ctrl-c ends it")

        def initialize_logging(self) -> None:
            """Log nothing: its tracebacks would show local variables."""

    LocalServer(_command(), host=HOST, port=port, title="selfdiag").serve()
    return 0


def _command() -> str:
    """Return what starts the app, as the shell reads it."""
    words = [sys.executable, "-m", "selfdiag"]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def _must_be_free(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":  # there it would allow two servers on one port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise SelfdiagError(
                f"port {port} cannot be used ({error.strerror}): name another one with --port"
            ) from None


def _must_be_local(request: web.Request, port: int) -> None:
    """Refuse a request that another site's page, or another name for this address, has made."""
    from aiohttp import web

    hosts = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == 80 else set())
    origin = request.headers.get("Origin")
    if request.host not in hosts or (origin is not None and origin not in {f"http://{host}" for host in hosts}):
        raise web.HTTPForbidden(text=f"selfdiag answers http://{HOST}:{port} on this machine alone")
