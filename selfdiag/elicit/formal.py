"""Checking whether a reply has the form that was asked for; nothing in a reply is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from selfdiag.elicit import formal_csv, formal_json, formal_latex, formal_markdown, formal_python
from selfdiag.elicit.formal_body import Body, body_of
from selfdiag.elicit.reasoning import set_reasoning_aside

MAX_REPLY = 100_000
"""In a longer reply, in characters, nothing is right."""

_FORMATS: dict[
    str, tuple[Callable[[Mapping[str, Any]], list[str]], Callable[[Mapping[str, Any], Body], dict[str, bool]]]
] = {
    "json": (formal_json.elements, formal_json.judge),
    "markdown": (formal_markdown.elements, formal_markdown.judge),
    "latex": (formal_latex.elements, formal_latex.judge),
    "csv": (formal_csv.elements, formal_csv.judge),
    "python": (formal_python.elements, formal_python.judge),
}


def check_form(format: str, check: Mapping[str, Any], reply: str) -> dict[str, bool]:  # noqa: A002
    """Return for every scored element of a task, by name and in order, whether a reply has it right.

    Any text at all gives an answer; what the elements mean is told at the head of ``probes/self/formal.toml``.

    Args:
        format: json, markdown, latex, csv or python.
        check: the table ``check`` of the task.
        reply: the reply as it came; reasoning blocks in it are set aside.

    Raises:
        KeyError: there is no such format, or the table lacks what the format needs.
    """
    elements, judge = _FORMATS[format]
    right: dict[str, bool] = {}
    if len(reply) <= MAX_REPLY:
        right = judge(check, body_of(set_reasoning_aside(reply).content))
    return {name: right.get(name, False) for name in elements(check)}
