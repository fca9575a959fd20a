"""Running the short program that shows where a computed answer comes from.

The program is foreign text, so it runs in asteval, an interpreter over Python's syntax tree: no imports, no
attributes that begin with an underscore, no files. A step budget ends loops that never would.
"""

from __future__ import annotations

import ast
import itertools
import math
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import IO, Any

import msgspec

MAX_STEPS = 1_000_000
MAX_EXPONENT = 10_000
MAX_SECONDS = 10
STARTING_SECONDS = 20
MAX_BYTES = 2 << 30
_KEY_NAME = re.compile(r"(?i)key|token|secret|password")
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


class Derived(msgspec.Struct, frozen=True):
    """What a derivation gave: ``value``, or what is wrong with it in ``fault``."""

    value: str = ""
    fault: str = ""


def derive_each(programs: Sequence[str]) -> list[Derived]:
    """Run derivations in a process of their own, which is ended when one takes too long or too much memory.

    The step budget of ``derive`` does not see into a single call such as ``math.factorial(10**8)``.
    """
    found: list[Derived] = []
    while len(found) < len(programs):
        rest = programs[len(found) :]
        command = [sys.executable, "-P", "-m", "selfdiag.battery.derivation"]
        with subprocess.Popen(  # noqa: S603 - our own module; the programs go in as data
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_without_keys()
        ) as child:
            found += _answers(child, rest)
            if len(found) < len(programs):
                found.append(Derived(fault=f"takes more than {MAX_SECONDS} seconds or {MAX_BYTES >> 30} GiB of memory"))
    return found


def _without_keys() -> dict[str, str]:
    """Return this process's environment but for what may be a key: no battery has any business with one."""
    return {name: value for name, value in os.environ.items() if not _KEY_NAME.search(name)}


def _answers(child: subprocess.Popen[bytes], programs: Sequence[str]) -> list[Derived]:
    """Return what a child answers, up to the program at which it stays silent too long or ends."""
    assert child.stdin is not None  # noqa: S101
    assert child.stdout is not None  # noqa: S101
    lines: queue.Queue[bytes] = queue.Queue()

    def read(stream: IO[bytes]) -> None:
        for line in stream:
            lines.put(line)
        lines.put(b"")

    reader = threading.Thread(target=read, args=(child.stdout,), daemon=True)
    reader.start()
    with suppress(OSError):
        child.stdin.write(msgspec.json.encode(list(programs)))
        child.stdin.close()
    found: list[Derived] = []
    patience = MAX_SECONDS + STARTING_SECONDS
    while len(found) < len(programs):
        try:
            line = lines.get(timeout=patience)
        except queue.Empty:
            break
        if not line:
            break
        found.append(msgspec.json.decode(line, type=Derived))
        patience = MAX_SECONDS
    child.kill()
    reader.join()
    return found


def _serve() -> None:
    """Answer the programs on standard input, one line each; the other side of ``derive_each``."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    for program in msgspec.json.decode(sys.stdin.buffer.read(), type=list[str]):
        try:
            derived = Derived(value=derive(program))
        except DerivationError as error:
            derived = Derived(fault=str(error))
        except MemoryError:
            derived = Derived(fault="takes too much memory")
        sys.stdout.buffer.write(msgspec.json.encode(derived) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
