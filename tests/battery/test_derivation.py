"""Derivations compute, and can do nothing else."""

import math
from pathlib import Path

import pytest

from selfdiag.battery import derivation
from selfdiag.battery.derivation import DerivationError, derive


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("2 + 2", "4"),
        ("7 / 2", "3.5"),
        ("'cat'[::-1].upper()", "TAC"),
        ("answer = 3", "3"),
        ("x = 5\nx * x", "25"),
        ("answer = 1\nother = 2", "1"),
        ("answer = 0\nfor n in range(5):\n    answer += n", "10"),
        ("answer = 10\nwhile answer > 3:\n    answer -= 2", "2"),
        ("def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nanswer = f(10)", "3628800"),
        ("sum(n * n for n in range(4))", "14"),
        ("sum(1 for a in range(3) for b in range(3) if a < b)", "3"),
        ("max(len(word) for word in 'one three'.split())", "5"),
        ("sorted({3, 1, 2})", "[1, 2, 3]"),
        ("sorted([1, 2, 3], key=lambda n: -n)", "[3, 2, 1]"),
        ("{c: 'banana'.count(c) for c in 'ab'}", "{'a': 3, 'b': 1}"),
        ("Fraction(1, 3) + Fraction(1, 6)", "1/2"),
        ("Fraction(3, 6).numerator", "1"),
        ("math.comb(52, 5)", "2598960"),
        ("math.gcd(12, 18)", "6"),
        ("len(list(permutations('abcd')))", "24"),
        ("len(list(combinations(range(5), 2)))", "10"),
        ("len(list(product('ab', repeat=3)))", "8"),
        ("pow(3, 100, 7)", "4"),
        ("pow(2, 10)", "1024"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("divmod(17, 5)", "(3, 2)"),
        ("f'{1 / 4:.3f}'", "0.250"),
        ("'a' if 2 > 1 else 'b'", "a"),
        ("chr(ord('a') + 1)", "b"),
        ("1 > 2", "False"),
    ],
)
def test_what_a_derivation_can_do(program: str, answer: str) -> None:
    assert derive(program) == answer


@pytest.mark.parametrize(
    "program",
    [
        "import os\nanswer = os.getcwd()",
        "from os import getcwd\nanswer = getcwd()",
        "__import__('os').getcwd()",
        "().__class__",
        "().__class__.__bases__[0].__subclasses__()",
        "''.__class__.__mro__",
        "math.__dict__",
        "math.__loader__",
        "math.factorial.__self__",
        "Fraction.__init__",
        "(lambda: 1).__globals__",
        "[].append.__self__",
        "f'{math.__name__}'",
        "'{0.__class__}'.format(1)",
        "'{0.__class__}'.format_map({})",
        "getattr(math, '__dict__')",
        "setattr(math, 'pi', 3)",
        "math.pi = 3\nanswer = math.pi",
        "math.pi += 1\nanswer = 1",
        "for math.pi in [3]:\n    answer = 1",
        "[math.pi, x] = [3, 4]\nanswer = 1",
        "def f(math):\n    math.pi = 3\n    return 1\nanswer = f(math)",
        "open('/etc/hostname').read()",
        "open('made.txt', 'w')",
        "with open('made.txt') as file:\n    answer = 1",
        "eval('1')",
        "exec('answer = 1')",
        "compile('1', '', 'eval')",
        "globals()",
        "locals()",
        "vars()",
        "dir()",
        "type(1)",
        "input()",
        "breakpoint()",
        "help()",
        "numpy",
        "symtable",
        "class A:\n    pass\nanswer = 1",
        "async def f():\n    pass\nanswer = 1",
        "del math\nanswer = 1",
        "raise ValueError('x')",
        "try:\n    answer = 1 / 0\nexcept ZeroDivisionError:\n    answer = 2",
        "10 ** 10 ** 8",
        "9 ** 9 ** 9",
        "2 ** 100_000",
        "pow(2, 10 ** 9)",
        "pow(2, -10 ** 9)",
        "1 << 10 ** 9",
        "'a' * 10 ** 10",
        "x = 'a'\nfor i in range(40):\n    x = x + x\nanswer = len(x)",
        "def f():\n    return f()\nanswer = f()",
        "10 ** 5000",
        "answer = 10 ** 5000",
        "1 / 0",
        "assert False",
        "1 +",
        "(" * 500,
        "\0",
    ],
)
def test_what_it_cannot_do(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DerivationError, match=r"^does not run: ") as caught:
        derive(program)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert list(tmp_path.iterdir()) == []
    assert math.pi == pytest.approx(3.14159265)


def test_one_derivation_leaves_nothing_for_the_next() -> None:
    derive("math.factorial(3)\nx = 1\nrange = 5\nanswer = 1")
    assert derive("sum(n for n in range(3))") == "3"
    with pytest.raises(DerivationError, match="'x' is not defined"):
        derive("x")


@pytest.mark.parametrize(
    "program",
    [
        "while True:\n    pass",
        "n = 0\nwhile n >= 0:\n    n += 1",
        "for a in range(10 ** 9):\n    pass",
        "answer = 0\nfor n in range(6_000):\n    answer += n",
        "[a for a in range(10 ** 9)]",
        "sum(1 for a in range(10 ** 9))",
        "list(map(lambda n: n, range(10 ** 9)))",
        "def f(n):\n    return f(n - 1) + f(n - 1) if n else 1\nanswer = f(40)",
    ],
)
def test_a_loop_without_end_ends(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "MAX_STEPS", 5_000)
    with pytest.raises(DerivationError, match=r"^takes more than 5,000 steps$"):
        derive(program)


def test_the_budget_is_for_each_derivation_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "MAX_STEPS", 100)
    for _ in range(20):
        assert derive("sum(range(5))") == "10"


@pytest.mark.parametrize("program", ["", "# nothing", "x = 1", "None", "answer = None", "print(1)"])
def test_no_value_is_a_fault(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DerivationError, match=r"^gives no value; write an expression or assign 'answer'$"):
        derive(program)
    assert capfd.readouterr() == ("", "")


def test_the_process_of_derivations_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "SELFDIAG_CLUSTER_API_KEY", "HF_TOKEN", "DB_PASSWORD"):
        monkeypatch.setenv(name, "canary-key-1234567890")
    given: dict[str, str] = {}
    popen = derivation.subprocess.Popen

    def starting(*words: object, env: dict[str, str], **named: object) -> object:
        given.update(env)
        return popen(*words, env=env, **named)

    monkeypatch.setattr(derivation.subprocess, "Popen", starting)
    assert [one.value for one in derivation.derive_each(["2 + 2"])] == ["4"]
    assert given["PATH"]
    assert "canary-key-1234567890" not in given.values()
