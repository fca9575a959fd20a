"""What happens in a run, told to whoever shows it."""

from __future__ import annotations

import msgspec

from selfdiag.runs.records import PlannedCall, Record


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The run begins or goes on: ``total`` calls, of which those in ``answered`` need not be asked again."""

    total: int
    answered: tuple[Record, ...] = ()


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A call is under way; ``call`` is None for the warm-up."""

    call: PlannedCall | None


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A record has been written."""

    record: Record


class Retried(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt failed and the call will be asked again."""

    attempt: int
    kind: str
    message: str


class Structured(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the calls are asked with a schema; after a trial also how many of its replies parsed."""

    on: bool
    parsed: int = 0
    asked: int = 0

    def said(self) -> str:
        """Return in words why a schema is turned on, empty when no trial has decided that."""
        if not (self.on and self.asked):
            return ""
        held = f"only {self.parsed}" if self.parsed else "none"
        replies = "reply" if self.asked == 1 else "replies"
        return f"{held} of {self.asked} plain {replies} held the form: asking with a JSON schema from now on"


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """Asking rests or goes on again; calls under way are waited for."""

    paused: bool


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """The run stops because the model cannot be asked."""

    kind: str
    message: str


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing more is asked. ``outcome`` is ``complete``, ``stopped``, ``budget`` or ``failed``."""

    outcome: str


Event = Started | Asked | Answered | Retried | Structured | Paused | Failed | Finished
