"""What every template makes for many seeds, and the comparison with a second method."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from selfdiag.battery.generators import TEMPLATES, produce
from selfdiag.battery.generators.templates import Made, Template

SEEDS = 200
Method = Callable[..., object]


def first_made(bin_name: str, template: Template, level: int, seed: int) -> Made:
    tries = (produce(bin_name, template, level, seed, attempt) for attempt in range(2000))
    return next(made for made in tries if made is not None)


@cache
def made_for_seeds(bin_name: str) -> dict[tuple[str, int], list[Made]]:
    return {
        (template.name, level): [first_made(bin_name, template, level, seed) for seed in range(SEEDS)]
        for template in TEMPLATES[bin_name]
        for level in template.levels
    }


def stated(value: Any) -> Iterator[str]:
    """Yield the numbers and texts in a template's quantities, except 0, 1 and truth values."""
    if isinstance(value, dict):
        for part in value.values():
            yield from stated(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from stated(part)
    elif isinstance(value, str):
        yield value
    elif not isinstance(value, bool) and abs(value) > 1:
        yield str(abs(value))


def confirm(bin_name: str, methods: dict[str, Method], unstated: tuple[str, ...] = ()) -> None:
    """Compare every answer with a second method, and every wording with the quantities it must state."""
    assert set(methods) == {template.name for template in TEMPLATES[bin_name]}
    for (name, level), many in made_for_seeds(bin_name).items():
        for made in many:
            where = f"{bin_name} {name} {level}: {made.questions[0]}"
            assert str(methods[name](**made.given)) == made.answer, where
            wanted = set(stated({key: value for key, value in made.given.items() if key not in unstated}))
            for question in made.questions:
                numbers = set(re.findall(r"\d+", question))
                assert all(part in numbers or (part in question and not part.isdigit()) for part in wanted), (
                    where,
                    question,
                    wanted,
                )
