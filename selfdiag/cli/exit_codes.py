"""What the process's exit code says."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    PROVIDER = 3
    INCOMPLETE = 4
    INTERRUPTED = 130
