"""Everything that comes before the first call of a run, and what a person should know of it; a thread does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from selfdiag.safety import SelfdiagError, one_line, redact

if TYPE_CHECKING:
    from selfdiag.models.base import ModelInfo
    from selfdiag.runs.plan import Plan
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session

MANY_CALLS = 1000
"""Above so many calls a person is asked first."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A session that can begin.

    ``left`` is the number of calls without a reply, ``prompt_tokens`` about what they take, and ``model`` what is
    known of the model before it is reached.
    """

    session: Session
    model: ModelInfo
    left: int
    prompt_tokens: int

    def warning(self) -> str:
        """Return what a person must agree to first, in plain words; empty when there is no such thing."""
        told = []
        if self.model.remote:
            place = one_line(self.model.destination(), 80)
            told.append(f"Every question of this run leaves this machine and goes to {place}.")
        if self.left > MANY_CALLS:
            told.append("That is a long run; it can be paused, and what is answered is always kept.")
        if told:
            told.append(f"{self.left:,} calls, about {self.prompt_tokens:,} prompt tokens.")
        return "\n".join(told)


def prepare(settings: RunSettings, plan: Plan | None, resume: Path | None, waiting: Callable[[str], None]) -> Prepared:
    """Return a session with its plan; the model is not reached yet.

    Args:
        settings: what to ask.
        plan: the calls of an experiment; of the settings' own sections when None.
        resume: the folder of a run to go on with.
        waiting: told in a plain sentence when something takes long before the first call.

    Raises:
        SelfdiagError: when the model, the plan, or the run to go on with cannot be used.
    """
    # the screen words times and figures with these: their imports take too long for it
    import selfdiag.report.words  # noqa: F401
    from selfdiag.runs.plan import open_calls
    from selfdiag.runs.session import Session
    from selfdiag.runs.store import read_run

    session = Session(settings, plan=plan, resume=resume, waiting=waiting)
    model = session.provider().info()
    known = read_run(resume).latest() if resume is not None else {}
    left = open_calls(session.plan.calls, known)
    estimate = msgspec.structs.replace(session.plan, calls=tuple(left)).estimate(model)
    return Prepared(session=session, model=model, left=len(left), prompt_tokens=estimate.prompt_tokens)


def fault(error: Exception) -> str:
    """Return what happened in one plain line: a fault told to people as it stands, any other with its kind."""
    if isinstance(error, SelfdiagError):
        return one_line(str(error), 400)
    return f"a fault in selfdiag itself ({type(error).__name__}: {one_line(redact(str(error)))})"
