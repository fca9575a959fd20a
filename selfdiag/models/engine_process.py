"""The child process that holds the llama.cpp engine.

It reads one JSON line with its settings from standard input, loads the model, answers on standard output
with one JSON line that names its address, and then serves on loopback until standard input closes, which
happens when its parent ends for whatever reason.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve one model until the parent is gone."""
    _die_with_parent()
    settings = json.loads(sys.stdin.buffer.readline() or b"{}")
    if not settings or os.getppid() != settings["parent"]:
        return  # the parent ended before it could be tied to this process
    # before the model is loaded: loading holds the interpreter lock
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    server = _load(settings)
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    threading.Event().wait()


def _load(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["alias"]}
    params.api_keys = [settings["key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context"] * settings["slots"]
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.ui = False
    return xllamacpp.Server(params)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _exit_at_end_of_input() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
