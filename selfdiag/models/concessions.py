"""Parameters that a server refuses: learnt once, left away from then on, and recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a server would not take a request: its status, its words, and the codes and parameter it names."""

    status: int
    words: str
    codes: tuple[str, ...] = ()
    param: str = ""

    def names(self, *words: str) -> bool:
        """Return whether the refusal speaks of one of these words, in its text or as the parameter."""
        text = f"{self.param} {self.words}".lower()
        return any(word in text for word in words)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One way to ask for less.

    ``name`` says in plain words what is done, for the manifest; ``answers`` whether it may help against a refusal;
    ``change`` returns a request's body with it done, and one where it is done already as it is.
    """

    name: str
    answers: Callable[[Refusal], bool]
    change: Callable[[dict[str, Any]], dict[str, Any]]


class Concessions:
    """What is conceded to one endpoint and model: the steps, tried in their order, that it has made necessary.

    A step once taken stays taken, so that a run asks all its calls alike after the first.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._taken: list[Step] = []

    @property
    def taken(self) -> tuple[str, ...]:
        """The names of the steps taken so far."""
        return tuple(step.name for step in self._taken)

    def applied(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a body with every step taken."""
        for step in self._taken:
            body = step.change(body)
        return body

    def take(self, refusal: Refusal, sent: dict[str, Any]) -> bool:
        """Take the first step that answers a refusal and changes what was sent; return whether there was one.

        Calls run side by side: when another call took a step after this one was sent, ``sent`` differs from what
        would be sent now, and that alone is a reason to ask again.
        """
        if self.applied(dict(sent)) != sent:
            return True
        for step in self._steps:
            if step.answers(refusal) and step.change(dict(sent)) != sent:
                self._taken.append(step)
                return True
        return False
