"""The log that another tool wrote of our own audit, as a run."""

from __future__ import annotations

from pathlib import Path

from selfdiag.runs.inspect_audit import audit_run, is_audit
from selfdiag.runs.inspect_log import inspect_documents
from selfdiag.runs.lm_eval_audit import is_audit_row, lm_eval_run
from selfdiag.runs.log_kind import log_kind
from selfdiag.runs.logged import LogFile
from selfdiag.runs.shelf import find_run
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import expanded


def named_run(name: str) -> Run:
    """Return the run that a name means, or the one that a log of our audit amounts to.

    Args:
        name: as for ``shelf.find_run``, or the path of a log that another tool wrote.

    Raises:
        SelfdiagError: when none or several match, or when it cannot be read.
    """
    try:
        folder = find_run(name)
    except SelfdiagError:
        path = expanded(name)
        if not path.is_file():
            raise
    else:
        return read_run(folder)
    found = audit_in(path)
    if found is None:
        raise SelfdiagError(
            f"{one_line(name, 120)} is no run and no log of selfdiag's audit: 'selfdiag analyze' measures other "
            "logs and tables of answers"
        )
    return found


def audit_in(path: Path) -> Run | None:
    """Return the run that a file amounts to, None when it is no log of our audit.

    Raises:
        SelfdiagError: when it is such a log, and damaged.
    """
    kind = log_kind(path)
    if kind in {"inspect zip", "inspect json"}:
        header, samples = inspect_documents(path, kind)
        return audit_run(header, samples, path) if is_audit(header) else None
    if kind == "lm-eval":
        log = LogFile(path, {})
        first = next((row for _, row in log.objects() if "doc" in row), None)
        return lm_eval_run(log) if first is not None and is_audit_row(first) else None
    return None
