"""Lists every mutant that Cosmic Ray makes of some modules, and draws a sample.

This runs in an environment that has Cosmic Ray and nothing of ours: ``python mutants.py ROOT NUMBER SEED PACKAGE...``
prints the sample as JSON; ``sample.py`` says what is left out.
"""

# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import ast
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

Span = tuple[tuple[int, int], tuple[int, int]]
"""Line and column of a first character and of the one after the last."""


def _span(node: ast.expr | ast.stmt) -> Span:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def left_out(source: str) -> Iterator[Span]:
    """Yield what is not mutated: annotations, aliases of types, what only type checkers read, and caches."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                yield _span(annotation)
            case ast.FunctionDef():
                if node.returns is not None:
                    yield _span(node.returns)
                for decorator in node.decorator_list:
                    if ast.unparse(decorator).partition("(")[0] in {"cache", "lru_cache"}:
                        (line, column), end = _span(decorator)
                        yield (line, column - 1), end  # with its @
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield _span(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name[0].isupper() and not name.isupper():
                yield _span(value)  # an alias of a type


def mutants(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the mutants of a module: the operator, which of its places, and the lines."""
    outside = list(left_out(path.read_text(encoding="utf-8")))
    nodes = list(ast_nodes(get_ast_from_path(path)))
    for name in sorted(operator_names()):
        kind = get_operator(name)
        if kind.arguments() or name.endswith("/NoOp"):
            continue
        operator = kind()
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            if not any(first <= start and end <= last for first, last in outside):
                yield {"operator": name.partition("/")[2], "occurrence": occurrence, "lines": [start[0], end[0]]}


def _lot(seed: str, mutant: dict[str, Any]) -> bytes:
    """Return what a mutant draws, whatever other mutants there are: a changed module leaves the others their lots."""
    text = f"{seed} {mutant['file']} {mutant['operator']} {mutant['occurrence']}"
    return hashlib.sha256(text.encode()).digest()


def _compiles(source: str) -> bool:
    """Return whether Python takes the source without complaint, such as of ``is`` with a literal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(source, "mutant", "exec")
        except (SyntaxError, SyntaxWarning):
            return False
    return True


def main() -> None:
    root, number, seed, *packages = sys.argv[1:]
    paths = [path for package in packages for path in sorted(Path(root, package).rglob("*.py"))]
    found = [{"file": str(path.relative_to(root)), **one} for path in paths for one in mutants(path)]
    found.sort(key=lambda one: _lot(seed, one))
    drawn: list[dict[str, Any]] = []
    incompetent = 0
    for one in found:
        if len(drawn) == int(number):
            break
        source = Path(root, one["file"]).read_text(encoding="utf-8")
        mutated = mutate_code(source, get_operator(f"core/{one['operator']}")(), one["occurrence"])
        if _compiles(mutated):
            drawn.append({**one, "source": mutated})
        else:
            incompetent += 1
    json.dump({"of": len(found), "incompetent": incompetent, "drawn": drawn}, sys.stdout)


if __name__ == "__main__":
    main()
