"""Checking a reply that should define Python functions, by its syntax tree alone."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selfdiag.elicit.formal_body import Body

_UNREADABLE = (SyntaxError, ValueError, TypeError, OverflowError, MemoryError, RecursionError)
"""What the readers of ``ast`` raise for a text that is no code, too deeply nested, or no literal."""


def elements(check: Mapping[str, Any]) -> list[str]:
    """Return the names of what is scored, in order."""
    names = ["only", "parses"]
    for function in check["functions"]:
        parts = [part for part in ("defaults", "annotations", "docstring") if part in function]
        names += [f"{function['name']} {part}" for part in ("defined", "parameters", *parts)]
    return names


def judge(check: Mapping[str, Any], body: Body) -> dict[str, bool]:
    """Return which elements are right; one that is not named is wrong.

    A function is what ``def`` defines; ``async def`` defines a coroutine, which is not what was asked for.

    Args:
        check: ``functions``, for each a ``name`` and ``parameters``, and where asked for ``keyword_only``,
            ``defaults``, ``annotations`` and ``docstring``.
        body: what the reply says.
    """
    with warnings.catch_warnings():
        # An escape that Python does not know is no fault of form.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(body.text)
        except _UNREADABLE:
            return {}
        return _judge_module(check["functions"], tree, alone=body.alone)


def _judge_module(wanted: Sequence[Mapping[str, Any]], tree: ast.Module, *, alone: bool) -> dict[str, bool]:
    definitions = [statement for statement in tree.body if isinstance(statement, ast.FunctionDef)]
    if not definitions:
        return {}
    statements = tree.body if ast.get_docstring(tree, clean=False) is None else tree.body[1:]
    allowed = (ast.FunctionDef, ast.Import, ast.ImportFrom)
    right = {"only": alone and all(isinstance(statement, allowed) for statement in statements), "parses": True}
    for function in wanted:
        found = [definition for definition in definitions if definition.name == function["name"]]
        if len(found) == 1:
            parts = _judge_function(function, found[0])
            right |= {f"{function['name']} {part}": part_right for part, part_right in parts.items()}
    return right


def _judge_function(wanted: Mapping[str, Any], found: ast.FunctionDef) -> dict[str, bool]:
    arguments = found.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    keyword_only = [argument.arg for argument in arguments.kwonlyargs]
    collects = arguments.vararg is not None or arguments.kwarg is not None
    named = (positional, keyword_only) == (wanted["parameters"], wanted.get("keyword_only", []))
    return {
        "defined": True,
        "parameters": named and not collects,
        "defaults": "defaults" in wanted and _same_defaults(wanted["defaults"], arguments),
        "annotations": "annotations" in wanted and _same_annotations(wanted["annotations"], found),
        "docstring": bool((ast.get_docstring(found) or "").strip()),
    }


def _same_defaults(wanted: Mapping[str, str], arguments: ast.arguments) -> bool:
    positional = [*arguments.posonlyargs, *arguments.args]
    # Defaults of positional parameters belong to the last of them.
    last = positional[len(positional) - len(arguments.defaults) :]
    given = zip([*last, *arguments.kwonlyargs], [*arguments.defaults, *arguments.kw_defaults], strict=True)
    try:
        values = {argument.arg: ast.literal_eval(default) for argument, default in given if default is not None}
    except _UNREADABLE:
        return False
    return values == {name: ast.literal_eval(default) for name, default in wanted.items()}


def _same_annotations(wanted: Mapping[str, str], found: ast.FunctionDef) -> bool:
    try:
        given = {name: _spelled(annotation) for name, annotation in _annotations(found)}
    except _UNREADABLE:
        return False
    return given == {name: _spelled(ast.Constant(annotation)) for name, annotation in wanted.items()}


def _annotations(found: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    arguments = found.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None and argument.annotation is not None:
            yield argument.arg, argument.annotation
    if found.returns is not None:
        yield "return", found.returns


def _spelled(annotation: ast.expr) -> str:
    # An annotation in quotes means what it would without them (PEP 484, forward references).
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value.strip(), mode="eval").body
    return ast.unparse(annotation)
