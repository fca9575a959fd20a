"""Keeps an app that is driven at random from doing harm, and lets nothing that it hides from a person stay hidden."""

from __future__ import annotations

import errno
import re
import socket
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.css.query import NoMatches
from textual.worker import Worker, WorkerState

from selfdiag.models import base, llamacpp, weights
from selfdiag.runs import store
from selfdiag.safety import SelfdiagError
from selfdiag.tui import preparation
from tests.endurance.watching import Findings

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp

OWN_FAULT = re.compile(r"a fault in selfdiag itself|^\w+(Error|Exception): ")


def fence(root: Path) -> None:
    """Load no engine, fetch no weights, reach no other machine, and write nothing outside a folder."""
    resolve, replace = socket.getaddrinfo, store.replace_file

    def on_this_machine(host: Any, *rest: Any, **named: Any) -> Any:
        if host not in {"127.0.0.1", "localhost", None}:
            raise socket.gaierror(socket.EAI_NONAME, "the soak stays on this machine")
        return resolve(host, *rest, **named)

    def within(path: Path, data: bytes) -> None:
        if not path.resolve().is_relative_to(root):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        replace(path, data)

    def no_engine(*_: object, **__: object) -> Any:
        raise SelfdiagError("the soak loads no engine")

    def no_weights(*_: object, **__: object) -> Path:
        raise SelfdiagError("the soak fetches nothing")

    _replace((socket, "getaddrinfo", on_this_machine), (store, "replace_file", within), (weights, "obtain", no_weights))
    _replace((llamacpp, "embedded", no_engine), (llamacpp, "gguf", no_engine))


def watch_app(findings: Findings, counts: Counter[str]) -> type[SelfdiagApp]:
    """Take note of every fault that the app would tell and survive, and return the app to start.

    Args:
        findings: get the faults.
        counts: get the number of records written, as ``records``.
    """
    run, told, made, append = Worker._run, preparation.fault, base.ProviderError.__init__, store.RunWriter.append

    async def worked(worker: Worker[Any], app: Any) -> None:
        await run(worker, app)
        error = worker.error
        # nobody hears of what looked for a widget in an app that has ended
        shown = isinstance(error, SelfdiagError) or (app._exit and isinstance(error, NoMatches))
        if worker.state is WorkerState.ERROR and error is not None and not shown:
            findings.note(f"worker {worker.group}", error)

    def fault(error: Exception) -> str:
        if not isinstance(error, SelfdiagError):
            findings.note("told", error)
        return told(error)

    def provider_error(error: base.ProviderError, kind: Any, *rest: Any, **named: Any) -> None:
        made(error, kind, *rest, **named)
        if kind == "internal":
            findings.note("provider", sys.exception() or str(error))

    def appended(writer: store.RunWriter, *records: Any) -> None:
        counts["records"] += len(records)
        append(writer, *records)

    _replace((Worker, "_run", worked), (preparation, "fault", fault), (base.ProviderError, "__init__", provider_error))
    _replace((store.RunWriter, "append", appended))
    # only now: the screens take what is replaced above by its name
    from selfdiag.tui.app import SelfdiagApp

    handle, say = SelfdiagApp._handle_exception, SelfdiagApp.say

    def handled(app: SelfdiagApp, error: Exception) -> None:
        handle(app, error)
        if app._exception is not None:
            findings.note("app", error)

    def said(app: SelfdiagApp, message: str, *, severity: str = "information") -> None:
        counts["messages"] += 1
        if OWN_FAULT.search(message):
            findings.note("said", message)
        say(app, message, severity=severity)

    _replace((SelfdiagApp, "_handle_exception", handled), (SelfdiagApp, "say", said))
    return SelfdiagApp


def _replace(*pairs: tuple[object, str, object]) -> None:
    for owner, name, function in pairs:
        setattr(owner, name, function)
