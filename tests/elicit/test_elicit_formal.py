"""The form of a reply: every shipped task, the edges of each format, and texts that no parser likes."""

from __future__ import annotations

import json
import sys
import threading
import time
import tomllib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfdiag.battery.load import shipped_path
from selfdiag.elicit.formal import MAX_REPLY, check_form
from selfdiag.elicit.formal_body import Body, body_of

TASKS: list[dict[str, Any]] = tomllib.loads((shipped_path() / "self" / "formal.toml").read_text(encoding="utf-8"))[
    "task"
]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])


def wrong(form: str, check: dict[str, Any], reply: str) -> list[str]:
    return [name for name, right in check_form(form, check, reply).items() if not right]


def task_wrong(task: dict[str, Any], reply: str) -> list[str]:
    return wrong(task["format"], task["check"], reply)


# The shipped tasks


@each_task
def test_a_sample_is_right_and_a_flawed_reply_wrong_where_it_says_so(task: dict[str, Any]) -> None:
    assert task_wrong(task, task["sample"]) == []
    assert sorted(task_wrong(task, task["flawed"])) == sorted(task["fails"])
    assert len(check_form(task["format"], task["check"], task["sample"])) == task["elements"]


def test_the_elements_are_named_in_order() -> None:
    parts = ("defined", "parameters", "defaults", "annotations")
    named = {task["id"]: list(check_form(task["format"], task["check"], "")) for task in TASKS}
    matrix = ("name", "rows", "columns", "entries")
    assert named["formal-04"] == ["only", "parses", "keys", *(f"property {name}" for name in matrix)]
    assert named["formal-06"] == ["only", "table", "header", "columns", "rows", "align", "column Year"]
    assert named["formal-10"] == ["only", "balanced", "environment align", "rows", "columns", "absent"]
    assert named["formal-13"] == ["only", "balanced", r"command \text", "environment cases", "rows", "columns"]
    assert named["formal-14"] == ["parses", "columns", "header", "rows", "column product", "column price", "quoting"]
    assert named["formal-20"] == ["only", "parses", *(f"compound {part}" for part in parts)]
    assert named["formal-21"][-1] == "find docstring"


@each_task
@pytest.mark.parametrize("reply", ["", "   \n", "Yes", "I cannot do that.", "```\n```", "{", "|", "\x00"])
def test_what_is_no_try_at_the_task_has_nothing_right(task: dict[str, Any], reply: str) -> None:
    assert not any(check_form(task["format"], task["check"], reply).values())


@each_task
def test_the_dress_of_a_reply_does_not_count(task: dict[str, Any]) -> None:
    bare = body_of(task["sample"]).text
    for reply in (
        f"\n\n  {bare}\t\n",
        f"```\n{bare}\n```",
        f"~~~~ {task['format']}\n\n{bare}\n\n~~~~\n",
        bare.replace("\n", "\r\n"),
        f"<think>A {{ and a | and ``` too.</think>\n{bare}",
    ):
        assert task_wrong(task, reply) == []


@each_task
def test_text_beside_the_fence_costs_one_element(task: dict[str, Any]) -> None:
    reply = f"Here it is:\n```\n{body_of(task['sample']).text}\n```\nAnything else?"
    assert task_wrong(task, reply) == ["columns" if task["format"] == "csv" else "only"]


@each_task
def test_a_reply_of_more_than_the_bound_has_nothing_right(task: dict[str, Any]) -> None:
    bare = body_of(task["sample"]).text
    assert task_wrong(task, bare + " " * (MAX_REPLY - len(bare))) == []
    assert not any(check_form(task["format"], task["check"], bare + " " * (MAX_REPLY + 1 - len(bare))).values())


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(KeyError):
        check_form("yaml", {}, "a: 1")


# The body


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        ("```json\na\n```", Body("a")),
        ("```a``` b", Body("```a``` b")),
        ("```\na\n```\n```\nb\n```", Body("```\na\n```\n```\nb\n```")),
        ("```\na", Body("```\na")),
        ("```\na\n``` and more", Body("```\na\n``` and more")),
        ("x\r\n```\r\na\r\n\r\nb\r\n```", Body("a\n\nb", alone=False)),
        ("````\n```\na\n```\n````", Body("```\na\n```")),
        ("~~~ `x`\na\n```\n~~~", Body("a\n```")),
        ("  ```\n  a\n    b\n c\n  ```", Body("a\n  b\nc")),
        ("    ```\na\n    ```", Body("```\na\n    ```")),
        ("```\na\n```\n\n```\nb", Body("a", alone=False)),
        ("a\rb", Body("a\nb")),
        ("a\x0bb\u2028c", Body("a\x0bb\u2028c")),
    ],
)
def test_the_body_of_a_reply(reply: str, body: Body) -> None:
    assert body_of(reply) == body


# JSON


def schema(**properties: object) -> dict[str, Any]:
    return {
        "schema": json.dumps(
            {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
        )
    }


NUMBER = schema(a={"type": "number", "minimum": 0, "maximum": 9})
ALL_JSON = ["only", "parses", "keys", "property a"]


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        ('{"a": 0}', []),
        ('{"a": 9.0}', []),
        ('{"a": 9.5}', ["property a"]),
        ('{"a": -1e-9}', ["property a"]),
        ('{"a": 1e999}', ["property a"]),
        ('{"a": true}', ["property a"]),
        ('{"a": null}', ["property a"]),
        ('{"a": "1"}', ["property a"]),
        ('{"a": NaN}', ALL_JSON),
        ('{"a": -Infinity}', ALL_JSON),
        ('{"a": 1,}', ALL_JSON),
        ('{"a": 1 /* one */}', ALL_JSON),
        ("{'a': 1}", ALL_JSON),
        ('{"a": 01}', ALL_JSON),
        ('{"a": ' + "9" * 5000 + "}", ALL_JSON),
        ('{"a": 1} {"a": 1}', ALL_JSON),
        ('"{}"', ["only", "keys", "property a"]),
        ("[1]", ALL_JSON),
        ('{"a": 1, "a": 2}', ["keys"]),
        ('{"a": 1, "a": -2}', ["keys", "property a"]),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', ["keys"]),
        ('[{"a": 1}]', ["only"]),
        ('Here: {"a": 1}.', ["only"]),
        ("{}", ["keys", "property a"]),
        ('```json\n{"a": 1}\n```\n```\n{}\n```', ALL_JSON),
        ('```json\n{"a": 1}\n```\n```\nx\n```', ["only"]),
    ],
)
def test_json(reply: str, faults: list[str]) -> None:
    assert wrong("json", NUMBER, reply) == faults


@pytest.mark.parametrize(
    ("part", "valid", "invalid"),
    [
        ({"type": "integer"}, ["3", "3.0", "-2", "1e3", "0.0"], ["3.5", "true", "1e999", '"3"', "null"]),
        ({"type": "boolean"}, ["true"], ["1", "0", '"true"']),
        ({"type": "null"}, ["null"], ["0", "false", '""']),
        ({"type": "string", "pattern": "^[A-Z]$"}, ['"A"', '"\\u0041"'], ['"AB"', '"A\\n"', '"a"', "1"]),
        ({"type": "string", "pattern": "b"}, ['"abc"'], ['"ac"']),
        ({"type": "string", "pattern": "\\$"}, ['"1 $ 2"'], ['"1"']),
        ({"enum": ["a", 1, [2]]}, ['"a"', "1", "1.0", "[2.0]"], ["true", '"A"', "[2, 2]", "2"]),
        ({"enum": [True]}, ["true"], ["1"]),
        ({"minimum": 1}, ["1", '"a"', "true", "[]"], ["0.5"]),
        ({"type": "array", "minItems": 1, "maxItems": 2}, ["[1]", "[1, {}]"], ["[]", "[1, 2, 3]", "{}"]),
        ({"uniqueItems": True}, ["[1, true]", "[[1], [2]]", '[{"a": 1}, {"a": 2}]'], ["[1, 1.0]", "[[1], [1]]"]),
        ({"uniqueItems": True}, ["[]"], ['[{"a": 1, "b": 2}, {"b": 2, "a": 1}]']),
        ({"items": {"type": "array", "items": {"type": "integer"}}}, ["[[1], []]", "[]"], ["[[1], [true]]", "[1]"]),
        ({"type": "object", "required": ["b"]}, ['{"b": 1, "c": 2}'], ["{}", "[]"]),
        ({"properties": {"b": {"type": "null"}}}, ["{}", '{"c": 1}', '{"b": null}'], ['{"b": 1}']),
        ({"properties": {"b": {}}, "additionalProperties": False}, ["{}", '{"b": 1}'], ['{"c": 1}']),
    ],
)
def test_json_against_the_parts_of_a_schema(part: dict[str, Any], valid: list[str], invalid: list[str]) -> None:
    for value in valid:
        assert wrong("json", schema(a=part), f'{{"a": {value}}}') == [], value
    for value in invalid:
        assert wrong("json", schema(a=part), f'{{"a": {value}}}') == ["property a"], value


# Markdown

GRID = {"header": ["A", "B"], "rows": 2, "align": ["left", "center"], "columns": {"B": {"pattern": r"[0-9|*]+"}}}
HEAD = "| A | B |\n|:--|:-:|\n"
ALL_MARKDOWN = ["only", "table", "header", "columns", "rows", "align", "column B"]


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        (HEAD + "| x | 1 |\n| y | 2 |", []),
        ("A|B\n:-|:-:\nx|1\ny|2", []),
        ("  A | B |\n :---| :-----:\n| x | 1\n  y | 2  ", []),
        ("| **A** | _`B`_ |\n|:-|:-:|\n| x | *1* |\n| y | __2__ |", []),
        (HEAD + "| x \\| z | 1 |\n| y | 2\\|3 |", []),
        (HEAD + "| x \\\\| 1 |\n| y | 2 |", ["columns", "column B"]),
        (HEAD + "| x | 1 |\n| y | **2 |", []),
        (HEAD + "| x | 1 |\n\n| y | 2 |", ["only"]),
        (HEAD + "| x | 1 |\n| y | 2 |\nThat is all.", ["only"]),
        (HEAD + "| x | 1 |\n| y | 2 |\n\n" + HEAD + "| x | 1 |\n| y | 2 |", ["only", "rows", "column B"]),
        (HEAD + "| x | 1 |\n| y | |", ["column B"]),
        (HEAD + "| x | 1 |\n| | 2 |", []),
        (HEAD + "| x | 1 |\n| y |", ["columns", "column B"]),
        (HEAD + "| x | 1 |\n| y | 2 | |", ["columns"]),
        (HEAD + "| x | 1a |\n| y | 2 |", ["column B"]),
        (HEAD, ["rows", "column B"]),
        ("| B | A |\n|:-|:-:|\n| x | 1 |\n| y | 2 |", ["header"]),
        ("| A | B |\n|-:|-|\n| x | 1 |\n| y | 2 |", ["align"]),
        ("| A | B |\n|:-:|:-|\n| x | 1 |\n| y | 2 |", ["align"]),
        ("| A | B |\n|:-|:-:|-|\n| x | 1 |\n| y | 2 |", ALL_MARKDOWN),
        ("| A | B |\n|:-|::|\n| x | 1 |\n| y | 2 |", ALL_MARKDOWN),
        ("| A | B |\n| x | 1 |\n| y | 2 |", ALL_MARKDOWN),
        ("A or B | both\n" + HEAD + "| x | 1 |\n| y | 2 |", ALL_MARKDOWN),
        ("| A | B |", ALL_MARKDOWN),
        ("|\n|\n|", ALL_MARKDOWN),
        ("The table:\n" + HEAD + "| x | 1 |\n| y | 2 |", ["only"]),
    ],
)
def test_markdown(reply: str, faults: list[str]) -> None:
    assert wrong("markdown", GRID, reply) == faults


# LaTeX

ALL_FORMULA = ["only", "balanced", r"command \frac", r"command \left"]
FORMULA = {"opens": [r"\["], "closes": [r"\]"], "commands": {r"\frac": 2, r"\left": 1}}


def formula(inside: str) -> str:
    return rf"\[ \frac12 \frac{{1}}{{2}} \left. {inside} \]"


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        (formula(r"\right)"), []),
        (formula(r"\{ \right\} \$ \& \%"), []),
        (formula(r"\right) \leftarrow \rightarrow"), []),
        (formula(r"\right) \\[2pt] \\"), []),
        (formula("\\right) % comment {\n"), []),
        (formula(r"\right) \begin {x} \end {x}"), []),
        (formula(r"\right) \text{$x$}"), []),
        (formula(r"\right) 5\% {"), ["balanced"]),
        (formula(r"\right) \\{"), ["balanced"]),
        (formula(""), ["balanced"]),
        (formula(r"\right) {"), ["balanced"]),
        (formula(r"\right) }{"), ["balanced"]),
        (formula(r"{ \right) }"), ["balanced"]),
        (formula(r"\right) \]"), ["balanced"]),
        (formula(r"\right) \text{$x}"), ["balanced"]),
        (formula(r"\right) \begin{x} \end{y}"), ["balanced"]),
        (formula(r"\right) \begin{x} \end"), ["balanced"]),
        (r"\[ \left. \right) \frac12 \fraction \tfrac \dfrac \]", [r"command \frac"]),
        ("$$" + formula(r"\right)")[2:-2] + "$$", ["only"]),
        ("Here " + formula(r"\right)") + " you are {", ["only"]),
        (r"\]" + formula(r"\right)")[2:-2] + r"\[", ["only", "balanced"]),
        (formula(r"\right)")[3:-3], ["only"]),
        (r"\[ x \]", ALL_FORMULA),
        ("\\[ x % \\frac\n\\]", ALL_FORMULA),
        (r"\[ \begin{None} \]", ALL_FORMULA),
        (r"The command \frac", ["only", r"command \frac", r"command \left"]),
    ],
)
def test_latex(reply: str, faults: list[str]) -> None:
    assert wrong("latex", FORMULA, reply) == faults


LINES = {
    "opens": [r"\begin{align}", r"\begin{align*}"],
    "closes": [r"\end{align}", r"\end{align*}"],
    "environment": "align",
    "rows": 2,
    "columns": 2,
    "absent": ["$", r"\tag"],
}
ALL_LATEX = ["only", "balanced", "environment align", "rows", "columns", "absent"]


def align(inside: str) -> str:
    return rf"\begin{{align}}{inside}\end{{align}}"


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        (align(r"a &= b \\ c &= d"), []),
        (align(r"a &= b \\ c &= d \\"), []),
        (align("a &= b \\\\*[2pt] c &= d \\\\[1ex]\n % no line\n"), []),
        (align(r"a &= b \\ c &= d").replace("align", "align*"), []),
        (align(r"a \& &= b \\ c &= d"), []),
        (align(r"a &= \text{x & y \\ z} \\ c &= d"), []),
        (align(r"a &= \begin{matrix}1 & 2 \\ 3 & 4\end{matrix} \\ c &= d"), []),
        (align(r"a &= b \\ c &= d \\ {}"), ["rows", "columns"]),
        (align(r"a &= b \\ \\ c &= d"), ["rows", "columns"]),
        (align(r"a &= b \\ c = d"), ["columns"]),
        (align(r"a &= b \\ c &= d & e"), ["columns"]),
        (align(r"a &= b"), ["rows"]),
        (align(""), ["rows", "columns"]),
        (align(r"a &= {b \\ c &= d"), ["balanced"]),
        (align(r"a &= b} \\ c &= d"), ["balanced"]),
        (align(r"a &= b \tag{1} \\ c &= d"), ["absent"]),
        ("$$" + align(r"a &= b \\ c &= d") + "$$", ["only"]),
        (r"\begin{align}a &= b \\ c &= d\end{align*}", ["balanced", "environment align", "rows", "columns"]),
        (r"\begin{align}a &= b \\ c &= d", ["only", "balanced", "environment align", "rows", "columns"]),
        (r"\begin{align} \begin{align} x \end{align}", ["balanced", "environment align", "rows", "columns"]),
        (align(r"a &= b \\ c &= d").replace("align", "aligned"), ALL_LATEX),
        (r"\begin{alignat}x", ALL_LATEX),
        (r"\end{align}", ALL_LATEX),
    ],
)
def test_latex_environments(reply: str, faults: list[str]) -> None:
    assert wrong("latex", LINES, reply) == faults


# CSV

MINIMAL = {"header": ["a", "b"], "rows": 2, "columns": {"b": {"values": ["1", "2"]}}, "quoting": "minimal"}
ALL_CSV = ["parses", "columns", "header", "rows", "column b", "quoting"]


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        ("a,b\nx,1\ny,2", []),
        ("a,b\r\nx,1\r\ny,2\r\n", []),
        ("a,b\rx,1\ry,2", []),
        ('a,b\n"x, y",1\n"say ""x""",2', []),
        ('a,b\n"x\ny",1\n"x\r\ny",2', []),
        ('a,b\n"x y",1\ny,2', ["quoting"]),
        ('a,b\nx "q",1\ny,2', ["quoting"]),
        ('a,b\n"x" ,1\ny,2', ALL_CSV),
        ('a,b\n"x,1\ny,2', ALL_CSV),
        ('a,b\n"x"y,1\ny,2', ALL_CSV),
        ("a,b,\nx,1,\ny,2,", ALL_CSV),
        ("a,b,\nx,1\ny,2", ["columns", "header"]),
        ("a,b\nx,1,\ny,2", ["columns"]),
        ("a,b\nx\ny,2", ["columns", "column b"]),
        ("a,b\nx,1\n\ny,2", ["columns", "rows", "column b"]),
        ("a,b\nx, 1\ny,2", ["column b"]),
        ("a, b\nx,1\ny,2", ["header"]),
        ("a,b\nx,2\ny,1", ["column b"]),
        ("a,b\nx,1", ["rows", "column b"]),
        ("a,b", ALL_CSV),
        ("a;b\nx;1\ny;2", ALL_CSV),
        ("x,1\ny,2", ["header", "rows", "column b"]),
        ("Here:\na,b\nx,1\ny,2", ["columns", "header", "rows", "column b"]),
        ("a,b\nx\x0by,1\nz\u2028,2", []),
        ("a,b\nx\x00,1\ny,2", []),
    ],
)
def test_csv(reply: str, faults: list[str]) -> None:
    assert wrong("csv", MINIMAL, reply) == faults


def test_csv_with_every_field_quoted() -> None:
    check = {**MINIMAL, "quoting": "all"}
    assert wrong("csv", check, '"a","b"\r\n"x","1"\r\n"""y""","2"') == []
    assert wrong("csv", check, '"a","b"\n"x",1\n"y","2"') == ["quoting"]
    assert wrong("csv", check, 'a,b\n"x","1"\n"y","2"') == ["quoting"]


# Python

PLAIN = {"functions": [{"name": "f", "parameters": ["a", "b"], "docstring": True}]}
ALL_PYTHON = ["only", "parses", "f defined", "f parameters", "f docstring"]
BODY = ':\n    """Add."""\n    return a'


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        (f"def f(a, b){BODY}", []),
        (f"def f(a, b, /){BODY}", []),
        (f"def f(a, /, b=1){BODY}", []),
        (f"@cached\ndef f(a: int, b) -> int{BODY}", []),
        (f'"""On sums."""\nimport math\nfrom os import path\n\n# A comment.\ndef f(a, b){BODY}', []),
        (f"    def f(a, b){BODY}", []),
        (f"def f(a, b){BODY}\n\ndef g(){BODY}", []),
        (f"def f(a, b){BODY} + '\\d'", []),
        (f"def f(a, b){BODY} is 1", []),
        (f"def f(a, *, b){BODY}", ["f parameters"]),
        (f"def f(a, b, *args){BODY}", ["f parameters"]),
        (f"def f(a, b, **rest){BODY}", ["f parameters"]),
        (f"def f(b, a){BODY}", ["f parameters"]),
        (f"def f(a){BODY}", ["f parameters"]),
        ("def f(a, b): pass", ["f docstring"]),
        ("def f(a, b): '   '", ["f docstring"]),
        ("def f(a, b): b'Add.'", ["f docstring"]),
        ("def f(a, b):\n    a\n    'Add.'", ["f docstring"]),
        (f"def f(a, b){BODY}\nprint(f(1, 2))", ["only"]),
        (f"def f(a, b){BODY}\n'Done.'", ["only"]),
        (f"x = 1\ndef f(a, b){BODY}", ["only"]),
        (f"def f(a, b){BODY}\nclass C: pass", ["only"]),
        (f"def f(a, b){BODY}\nasync def g(): pass", ["only"]),
        (f"def f(a, b){BODY}\ndef f(a, b){BODY}", ["f defined", "f parameters", "f docstring"]),
        ("def g():\n    def f(a, b): 'Add.'", ["f defined", "f parameters", "f docstring"]),
        ("class C:\n    def f(a, b): 'Add.'", ALL_PYTHON),
        (f"async def f(a, b){BODY}", ALL_PYTHON),
        ("f = lambda a, b: a", ALL_PYTHON),
        ("def f(a, b)\n    return a", ALL_PYTHON),
        (f"Here is it:\ndef f(a, b){BODY}", ALL_PYTHON),
        (f"def f(a, b){BODY}\x00", ALL_PYTHON),
        (f"def f(a, b){BODY}  # \ud800", ALL_PYTHON),
        (">>> def f(a, b): pass", ALL_PYTHON),
    ],
)
def test_python(reply: str, faults: list[str]) -> None:
    assert wrong("python", PLAIN, reply) == faults


KEYWORDS = {
    "functions": [
        {
            "name": "f",
            "parameters": ["a", "b"],
            "keyword_only": ["c"],
            "defaults": {"b": "-1", "c": "None"},
            "annotations": {"a": "list[int]", "return": "float"},
        }
    ]
}


@pytest.mark.parametrize(
    ("head", "faults"),
    [
        ("a: list[int], b=-1, *, c=None) -> float", []),
        ("a: list[ int ], b=-1.0, *, c=None) -> 'float'", []),
        ("a: ' list[int]', /, b=-1, *, c=(None)) -> float", []),
        ("a: list[int], b=-1, *rest, c=None) -> float", ["f parameters"]),
        ("a: list[int], b=-1, *rest: int, c=None) -> float", ["f parameters", "f annotations"]),
        ("a: list[int], b=-1, c=None) -> float", ["f parameters"]),
        ("a: list[int], b=1, *, c=None) -> float", ["f defaults"]),
        ("a: list[int], b=-1, *, c) -> float", ["f defaults"]),
        ("a: list[int]=0, b=-1, *, c=None) -> float", ["f defaults"]),
        ("a: list[int], b=-x, *, c=None) -> float", ["f defaults"]),
        ("a: list[int], b={[]: 1}, *, c=None) -> float", ["f defaults"]),
        (f"a: list[int], b={'9' * 4000} + 1j, *, c=None) -> float", ["f defaults"]),
        ("a: list[int], b=-1, *, c='None') -> float", ["f defaults"]),
        ("a: list[float], b=-1, *, c=None) -> float", ["f annotations"]),
        ("a: list[int], b: int=-1, *, c=None) -> float", ["f annotations"]),
        ("a: list[int], b=-1, *, c=None)", ["f annotations"]),
        ("a: 'list[', b=-1, *, c=None) -> float", ["f annotations"]),
        (f"a: {'-' * 500}b, b=-1, *, c=None) -> float", ["f annotations"]),
        (f"a: 0x{'f' * 9000}, b=-1, *, c=None) -> float", ["f annotations"]),
        ("a: '\\ud800', b=-1, *, c=None) -> float", ["f annotations"]),
        ("a: '\\x00', b=-1, *, c=None) -> float", ["f annotations"]),
    ],
)
def test_python_defaults_and_annotations(head: str, faults: list[str]) -> None:
    assert wrong("python", KEYWORDS, f"def f({head}: pass") == faults


def test_nothing_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    run = "def f(a=print('run'), b: print('run') = 1) -> exit():\n    'Add.'\nprint('run')\nraise SystemExit"
    assert wrong("python", KEYWORDS, run)[0] == "only"
    assert wrong("python", PLAIN, run) == ["only"]
    assert capsys.readouterr().out == ""


# Any text at all

MEMBER = '{"name": '
HOSTILE = {
    "long": "x" * 10_000_000,
    "long fence": "```\n" * 25_000,
    "surrogates": "\ud800" * 50_000,
    "nulls": "\x00" * 100_000,
    "line ends": "\r\n" * 50_000,
    "brackets": "[" * 100_000,
    "deep list": MEMBER + "[" * 900 + "]" * 900 + "}",
    "deeper list": MEMBER + "[" * 40_000 + "]" * 40_000 + "}",
    "deep entries": '{"entries": [' + "[" * 900 + "]" * 900 + "]}",
    "objects": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "members": "{" + ",".join(f'"{n}":{n}' for n in range(8_000)) + "}",
    "hyphens": '{"name": "' + "a-" * 49_000 + '"}',
    "braces": "{" * 50_000 + "}" * 50_000,
    "minus": "def is_prime(n): return " + "-" * 99_000 + "1",
    "not": "not " * 24_000 + "1",
    "calls": "def find(): a" + "()" * 49_000,
    "sum": "def compound(years=" + "+".join("1" * 400) + "): pass",
    "long sum": "def compound(years=" + "+".join("1" * 49_000) + "): pass",
    "annotation": "def compound(rate: " + "+".join("a" * 900) + "): pass",
    "quoted annotation": "def compound(rate: '" + "-" * 90_000 + "a'): pass",
    "elif": "def find():\n if a: pass\n" + " elif a: pass\n" * 6_000,
    "indents": "".join(" " * n + "if 1:\n" for n in range(120)),
    "parentheses": "def find(a=" + "(" * 150 + ")" * 150 + "): pass",
    "lambdas": "lambda:" * 14_000 + "1",
    "strings": '"a"' * 33_000,
    "format strings": 'f"{' * 30_000,
    "semicolons": "a;" * 49_000,
    "backslashes": "\\" * 99_999,
    "begins": r"\begin{align}" * 7_000,
    "unclosed begins": r"\begin{" * 14_000,
    "spaced begins": r"\begin" + " " * 99_000,
    "environments": r"\begin{align}" * 3_500 + r"\end{align}" * 3_500,
    "displays": r"\[" * 25_000 + r"\]" * 25_000,
    "percents": r"\[\frac" + "%" * 99_000,
    "cells": r"\begin{align}" + "&" * 90_000 + r"\\" + " " * 5_000 + r"\end{align}",
    "line breaks": r"\begin{cases}" + r"\\[" * 30_000 + r"\end{cases}",
    "dollars": "$" * 100_000,
    "bars": "|" * 100_000,
    "bar lines": "|a|b|\n|-|-|\n" + "|x|y|\n" * 16_000,
    "dashes": "|a|\n|" + ":-" * 49_000 + "|",
    "stars": "| a |\n|---|\n| " + "*" * 99_000 + " |",
    "quotes": '"' * 99_999,
    "comma lines": "id,command,meaning\n" + ",,\n" * 33_000,
    "commas": "," * 100_000,
    "spaces": "a" + " " * 99_000 + "b",
    "tags": "<think>" * 14_000,
    "long cell": "n,square,prime\n" + "1" * 90_000 + ",1," + "true",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_is_too_much(name: str) -> None:
    start = time.perf_counter()
    for task in TASKS:
        found = check_form(task["format"], task["check"], HOSTILE[name])
        assert len(found) == task["elements"]
        assert not all(found.values())
    # Each task may take a second; all together take much less.
    assert time.perf_counter() - start < len(TASKS)


def test_what_can_just_be_read_may_be_too_deep_to_be_compared() -> None:
    check = schema(a={"uniqueItems": True})
    found = [check_form("json", check, f'{{"a": {"[" * depth}{"]" * depth}}}') for depth in range(1, 1001)]
    assert all(found[0].values())
    assert {len(result) for result in found} == {4}


def test_a_deep_reply_is_checked_where_little_of_the_stack_is_left() -> None:
    def down(levels: int) -> None:
        if levels:
            return down(levels - 1)
        for name in ("deep list", "deep entries", "sum", "annotation", "parentheses"):
            for task in TASKS:
                assert not all(check_form(task["format"], task["check"], HOSTILE[name]).values())
        return None

    down(sys.getrecursionlimit() // 2)


def test_a_deep_reply_does_no_harm_to_a_thread() -> None:
    results: list[int] = []

    def run() -> None:
        for name in ("minus", "not", "calls", "elif", "long sum", "objects"):
            results.extend(len(check_form(task["format"], task["check"], HOSTILE[name])) for task in TASKS)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results == [task["elements"] for task in TASKS] * 6


PIECES = [
    *("{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", "\r\n", " ", "    ", "```", "```json\n", "|", "---", "&"),
    *(r"\[", r"\]", r"\\", r"\left", r"\right", r"\begin{align}", r"\end{align}", r"\frac", r"\text", "%", "$", "*"),
    *("def ", "is_prime", "(n)", "limit", "=", "->", "float", "class C", "lambda", "f'{", "#", "@", "\x00", "\ud800"),
    *("id", "command", "1", "-2.5", "1e999", "NaN", "true", '"name"', '"port"', "A", "yes", "<think>", "</think>"),
]
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts, task=st.sampled_from(TASKS), cut=st.integers(0, 400))
def test_any_text_gives_every_element(text: str, task: dict[str, Any], cut: int) -> None:
    for reply in (text, task["sample"][:cut] + text + task["sample"][cut:]):
        found = check_form(task["format"], task["check"], reply)
        assert len(found) == task["elements"]
        assert all(type(right) is bool for right in found.values())
        assert check_form(task["format"], task["check"], reply) == found
