"""What a template of questions is, and what it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from selfdiag.battery.generators.source import Source

LEVELS = range(1, 7)
"""1 and 2 are easy, 3 and 4 medium, 5 hard, 6 beyond most models without tools."""


class Made(NamedTuple):
    """One generated question.

    ``given`` holds the quantities that every wording states, by name, so that the answer can be confirmed by
    another method. The other fields are those of a probe.
    """

    answer: str
    questions: tuple[str, str, str]
    derivation: str
    given: Mapping[str, Any]
    kind: str = "number"
    unit: str = ""
    options: tuple[str, ...] = ()


Make = Callable[[Source, int], Made | None]
"""Makes a question of a level, or None when the numbers drawn suit no question."""


class Template(NamedTuple):
    """A kind of question, the levels it can be made for, and the function that makes it."""

    name: str
    levels: tuple[int, ...]
    make: Make


class Templates:
    """The templates of one bin, in the order in which they are written."""

    def __init__(self, bin_name: str) -> None:
        self.bin = bin_name
        self.all: list[Template] = []

    def at(self, *levels: int) -> Callable[[Make], Make]:
        """Enter the decorated function as a template for these levels, under its own name."""

        def enter(make: Make) -> Make:
            self.all.append(Template(make.__name__.replace("_", "-"), levels, make))
            return make

        return enter
