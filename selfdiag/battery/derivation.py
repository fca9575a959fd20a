"""Running the short program that shows where a computed answer comes from.

The program is foreign text, so it runs in asteval, an interpreter over Python's syntax tree: no imports, no
attributes that begin with an underscore, no files. A step budget ends loops that never would.
"""

from __future__ import annotations

import ast
import itertools
import math
from fractions import Fraction
from typing import Any

MAX_STEPS = 1_000_000
MAX_EXPONENT = 10_000
_OFF = ("import", "importfrom", "with", "try", "raise", "delete", "print", "nested_symtable")
_NAMES = """
    range len sum min max sorted abs round int str float bool list set dict tuple zip enumerate any all
    divmod ord chr reversed map filter bin hex True False None
"""


class DerivationError(ValueError):
    """A derivation that does not run to an answer."""


def derive(program: str) -> str:
    """Return the answer that a derivation computes, as text.

    Args:
        program: an expression, or statements that assign ``answer``. Known names: Python's plain
            built-ins, ``math``, ``Fraction``, ``product``, ``permutations``, ``combinations``.

    Raises:
        DerivationError: when it fails, takes more than ``MAX_STEPS`` steps, or gives no value.
    """
    import asteval

    class Budgeted(asteval.Interpreter):  # type: ignore[misc]
        steps = 0

        def run(self, node: Any, *args: Any, **kwargs: Any) -> Any:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise DerivationError(f"takes more than {MAX_STEPS:,} steps")
            return super().run(node, *args, **kwargs)

        def parse(self, text: str) -> Any:
            # asteval has no generator expressions; a list gives the same values here
            return _ListsForGenerators().visit(super().parse(text))

        def node_assign(self, node: Any, value: Any) -> None:
            if isinstance(node, ast.Attribute):
                # ``math.pi = 3`` would change the module for the whole process
                raise DerivationError("sets an attribute")
            super().node_assign(node, value)

    names: dict[str, Any] = {
        "math": math,
        "Fraction": Fraction,
        "product": itertools.product,
        "permutations": itertools.permutations,
        "combinations": itertools.combinations,
        "pow": _pow,
    }
    builtins = asteval.Interpreter(use_numpy=False).symtable
    names.update({name: builtins[name] for name in _NAMES.split() if name in builtins})
    interpreter = Budgeted(
        usersyms=names,
        symtable=dict(names),
        use_numpy=False,
        config={**dict.fromkeys(_OFF, False), "augassign": True, "functiondef": True, "if": True},
    )
    try:
        value = interpreter(program, show_errors=False, raise_errors=True)
        value = interpreter.symtable.get("answer", value)
        text = str(value)  # fails too, for a number of more than 4,300 digits
    except Exception as error:  # noqa: BLE001 - whatever a foreign program raises is a fault of the program
        if interpreter.steps > MAX_STEPS:
            raise DerivationError(f"takes more than {MAX_STEPS:,} steps") from None
        raise DerivationError(f"does not run: {' '.join(str(error).split())[:160]}") from None
    if value is None:
        raise DerivationError("gives no value; write an expression or assign 'answer'")
    return text


class _ListsForGenerators(ast.NodeTransformer):
    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(ast.ListComp(elt=node.elt, generators=node.generators), node)


def _pow(base: Any, exponent: Any, modulus: int | None = None) -> Any:
    if modulus is None and abs(exponent) > MAX_EXPONENT:
        raise DerivationError(f"an exponent above {MAX_EXPONENT:,}")
    return pow(base, exponent, modulus)
