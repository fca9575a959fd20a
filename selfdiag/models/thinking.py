"""How long models may think, and what is noted when one does not do as it was told."""

from __future__ import annotations

from selfdiag.models.base import Call

THINKING_TOKENS = 8192
"""Least room for a reply whose model thinks first, in tokens."""
THINKING_BUDGET = {"low": 1024, "medium": 4096, "on": 4096, "high": 16384}
"""How long a model may think, in tokens, by what was asked for."""
REFUSED = "the server refuses the setting"
"""Why a model cannot think that was asked without the setting."""


class ThinkingNote:
    """Remembers what was asked for and what replies have shown, until something else is asked for."""

    def __init__(self) -> None:
        self._asked: bool | None = None
        self._thought = False

    def add(self, call: Call, *, thought: bool) -> None:
        """Take in a reply to a call; ``thought`` says whether it shows any thinking."""
        asked = call.think != "off"
        self._thought = thought or (self._thought and asked is self._asked)
        self._asked = asked

    def words(self, hindrance: str = "") -> str:
        """Return how the thinking differs from what was asked for; empty when it does not.

        Args:
            hindrance: why the model could not think, where that is known.
        """
        if self._asked in {None, self._thought}:
            return ""
        if self._thought:
            return "the model thinks although it was asked not to"
        return f"asked for, but {hindrance or 'no reply shows any'}"
