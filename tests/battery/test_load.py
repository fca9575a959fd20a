"""Reading a battery: three formats, and one clear line for every fault."""

import json
from pathlib import Path
from typing import Any

import pytest

from selfdiag.battery import load as loading
from selfdiag.battery.items import Probe, Trap
from selfdiag.battery.load import BatteryError, Fault, Place, load, shipped, shipped_path

PROBE: dict[str, Any] = {
    "id": "sum",
    "bin": "arithmetic",
    "difficulty": "easy",
    "kind": "number",
    "answer": "4",
    "questions": ["What is 2 + 2?", "Add 2 to 2."],
    "derivation": "2 + 2",
}
TRAP: dict[str, Any] = {
    "id": "king",
    "bin": "history",
    "family": "no_such_entity",
    "questions": ["Who is king of Mars?"],
    "note": "Nobody is.",
}
TOML_PROBE = """\
[[probe]]
id = "sum"
bin = "arithmetic"
difficulty = "easy"
kind = "number"
answer = "4"
questions = ["What is 2 + 2?", "Add 2 to 2."]
derivation = "2 + 2"
"""
TOML_TRAP = """\
[[trap]]
id = "king"
bin = "history"
family = "no_such_entity"
questions = ["Who is king of Mars?"]
note = "Nobody is."
"""
CSV_HEAD = "id,bin,difficulty,kind,answer,questions,derivation,family,note\n"
CSV_PROBE = "sum,arithmetic,easy,number,4,What is 2 + 2?|Add 2 to 2.,2 + 2,,\n"
CSV_TRAP = "king,history,,,,Who is king of Mars?,,no_such_entity,Nobody is.\n"


def line(row: dict[str, Any], **changed: Any) -> str:
    return json.dumps({**row, **changed}) + "\n"


def without(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != field}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def faults(path: Path) -> list[Fault]:
    with pytest.raises(BatteryError) as caught:
        load(path)
    assert str(caught.value).startswith(str(caught.value.faults[0]))
    return caught.value.faults


def fault(folder: Path, name: str, content: str | bytes) -> str:
    """Return the one fault of a file with this content, as text."""
    (only,) = faults(written(folder, name, content))
    return str(only)


CONTENTS = {
    "battery.toml": TOML_PROBE + TOML_TRAP,
    "battery.jsonl": line(PROBE) + "\n" + line(TRAP),
    "battery.csv": CSV_HEAD + CSV_PROBE + CSV_TRAP,
}
LINES = {"battery.toml": (1, 9), "battery.jsonl": (1, 3), "battery.csv": (2, 3)}


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_all_three_formats_say_the_same(tmp_path: Path, name: str, mark: bytes, ending: str) -> None:
    path = written(tmp_path, name, mark + CONTENTS[name].replace("\n", ending).encode())
    loaded = load(path)
    (probe,) = loaded.battery.probes
    (trap,) = loaded.battery.traps
    assert probe == Probe(**{**PROBE, "questions": tuple(PROBE["questions"])})
    assert trap == Trap(**{**TRAP, "questions": tuple(TRAP["questions"])})
    assert (loaded.battery.id, loaded.battery.version) == ("battery", "0")
    assert loaded.places == {"sum": Place(name, LINES[name][0]), "king": Place(name, LINES[name][1])}


def test_id_and_version_stand_in_toml_or_jsonl(tmp_path: Path) -> None:
    path = written(tmp_path, "a.toml", 'id = "mine"\nversion = "1.2"\n' + TOML_PROBE)
    assert (load(path).battery.id, load(path).battery.version) == ("mine", "1.2")
    path = written(tmp_path, "a.jsonl", '{"id": "mine", "version": 3, "description": "x"}\n' + line(PROBE))
    assert (load(path).battery.id, load(path).battery.version) == ("mine", "3")


def test_a_bin_for_a_whole_toml_file(tmp_path: Path) -> None:
    text = 'bin = "algebra"\n' + TOML_PROBE.replace('bin = "arithmetic"\n', "") + TOML_TRAP
    battery = load(written(tmp_path, "a.toml", text)).battery
    assert battery.probes[0].bin == "algebra"
    assert battery.traps[0].bin == "history"


def test_a_folder_is_one_battery(tmp_path: Path) -> None:
    written(tmp_path, "battery.toml", 'id = "whole"\nversion = "2"\n')
    written(tmp_path, "a.jsonl", line(PROBE))
    written(tmp_path, "b.csv", CSV_HEAD + CSV_TRAP)
    written(tmp_path, "README.md", "not a battery file")
    (tmp_path / "old.toml").mkdir()
    loaded = load(tmp_path)
    assert (loaded.battery.id, loaded.battery.version) == ("whole", "2")
    assert loaded.places == {"sum": Place("a.jsonl", 1), "king": Place("b.csv", 2)}


def test_numbers_may_be_written_as_numbers(tmp_path: Path) -> None:
    long = 12345678901234567890123456789
    text = line(PROBE, answer=long) + line(PROBE, id="b", answer=0.25)
    assert [probe.answer for probe in load(written(tmp_path, "a.jsonl", text)).battery.probes] == [
        str(long),
        "0.25",
    ]


def test_csv_cells_become_lists_numbers_and_flags(tmp_path: Path) -> None:
    text = (
        "id,bin,difficulty,kind,answer,questions,aliases,options,tolerance,relative_tolerance,convert,unit\n"
        'x,b,hard,choice,4,"One, two? | Two?",a|b,4|5,.5,1e-3,Yes,m\n'
        "\n"
        "y,b,hard,number,4,One?,,,,,no,\n"
    )
    first, second = load(written(tmp_path, "a.csv", text)).battery.probes
    assert first.questions == ("One, two?", "Two?")
    assert (first.aliases, first.options) == (("a", "b"), ("4", "5"))
    assert (first.tolerance, first.relative_tolerance, first.convert) == (0.5, 0.001, True)
    assert (second.aliases, second.tolerance, second.convert, second.unit) == ((), 0.0, False, "")


def test_a_csv_row_over_several_lines_is_named_by_its_last(tmp_path: Path) -> None:
    text = CSV_HEAD + 'code,b,easy,number,4,"x = 2\nprint(x + x)",,,\n' + CSV_PROBE
    loaded = load(written(tmp_path, "a.csv", text))
    assert loaded.battery.probes[0].questions == ("x = 2\nprint(x + x)",)
    assert [place.line for place in loaded.places.values()] == [3, 4]


@pytest.mark.parametrize(
    ("header", "second"),
    [
        ("[[probe]]  # a remark", 10),
        ("[[ probe ]]", 10),
        ("  [[probe]]", 10),
        ("# [[probe]]\n[[probe]]", 11),
    ],
)
def test_toml_items_are_found_however_their_header_is_written(tmp_path: Path, header: str, second: int) -> None:
    text = TOML_PROBE.replace("[[probe]]", header).replace("2 to 2.", "2 to\u2028\x852.") + "\n"
    loaded = load(written(tmp_path, "a.toml", text + TOML_PROBE.replace('"sum"', '"sum2"')))
    assert loaded.places == {"sum": Place("a.toml", second - 9), "sum2": Place("a.toml", second)}


def test_missing_and_empty_places(tmp_path: Path) -> None:
    assert str(faults(tmp_path / "none.toml")[0]) == f"{tmp_path / 'none.toml'}: there is no such file or folder"
    assert str(faults(tmp_path)[0]) == f"{tmp_path}: no .toml, .jsonl or .csv file in this folder"
    assert fault(tmp_path, "a.txt", "x") == f"{tmp_path / 'a.txt'}: a battery is a .toml, .jsonl or .csv file"


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    assert "cannot be read (File name too long)" in str(faults(tmp_path / ("x" * 5000 + ".toml"))[0])


@pytest.mark.parametrize("name", ["a.toml", "a.jsonl", "a.csv"])
@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file(tmp_path: Path, name: str, content: str) -> None:
    assert fault(tmp_path, name, content) == f"{name}: no probe and no trap in it"


def test_a_csv_of_a_header_alone(tmp_path: Path) -> None:
    assert fault(tmp_path, "a.csv", CSV_HEAD) == "a.csv: no probe and no trap in it"


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, "a.toml", TOML_PROBE)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        assert str(faults(path)[0]) == "a.toml: cannot be read (Permission denied)"
    monkeypatch.setattr(Path, "iterdir", refuse)
    assert str(faults(tmp_path)[0]) == f"{tmp_path}: cannot be read (Permission denied)"


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_FILE_BYTES", 50)
    assert fault(tmp_path, "a.toml", TOML_PROBE) == "a.toml: larger than 100 MB, which no battery is"


@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_that_is_not_utf8(tmp_path: Path, name: str) -> None:
    content = CONTENTS[name].replace("king", "k\xf6nig").encode("latin-1")
    number = content[: content.index(b"\xf6")].count(b"\n") + 1
    assert fault(tmp_path, name, content) == f"{name}:{number}: not UTF-8 text"


@pytest.mark.parametrize(
    ("name", "content", "start"),
    [
        ("a.toml", "x = " + "[" * 100_000, "a.toml: not valid TOML: "),
        ("a.jsonl", line(PROBE) + "[" * 100_000, "a.jsonl:2: not valid JSON: "),
        ("a.jsonl", '{"a":' * 100_000, "a.jsonl:1: not valid JSON: "),
        ("a.toml", TOML_PROBE + "x = = 2\n", "a.toml:9: not valid TOML: "),
        ("a.toml", TOML_PROBE + 'answer = "5"\n', "a.toml:9: not valid TOML: "),
        ("a.toml", TOML_PROBE + "tolerance = " + "9" * 5000, "a.toml: not valid TOML: "),
        ("a.jsonl", line(PROBE) + '{"id": "x"\n', "a.jsonl:2: not valid JSON: "),
        ("a.jsonl", line(PROBE, answer=0).replace(": 0", ": " + "9" * 5000), "a.jsonl:1: not valid JSON: "),
        ("a.csv", CSV_HEAD + 'x,b,easy,number,4,"' + "q" * 200_000 + '",,,\n', "a.csv:1: not valid CSV: "),
        ("a.csv", CSV_HEAD + CSV_PROBE + 'x,b,easy,number,4,"never closed,,,\n', "a.csv:2: not valid CSV: "),
    ],
)
def test_what_is_not_the_format_it_claims(tmp_path: Path, name: str, content: str, start: str) -> None:
    found = fault(tmp_path, name, content)
    assert found.startswith(start)
    assert len(found) < 300


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.jsonl", line(PROBE) + "[1, 2]\n", "a.jsonl:2: not a JSON object"),
        ("a.jsonl", "null\n", "a.jsonl:1: not a JSON object"),
        ("a.toml", "probe = 5\n", "a.toml: probe must be a list: write [[probe]]"),
        ("a.toml", '[trap]\nid = "x"\n', "a.toml: trap must be a list: write [[trap]]"),
        ("a.toml", "probe = [{}, 5]\n", "a.toml: probe 2 is not a table"),
        (
            "a.toml",
            'id = "x"\n\n[[probes]]\nid = "y"\n',
            "a.toml:3: unknown key 'probes'; an item starts with [[probe]] or [[trap]]",
        ),
        (
            "a.csv",
            CSV_HEAD.replace("derivation", "tolerance") + CSV_PROBE,
            "a.csv:2: tolerance is not a number: '2 + 2'",
        ),
        ("a.csv", CSV_HEAD + CSV_PROBE.strip() + ",more\n", "a.csv:2: sum: unknown field 'more cells than columns'"),
        ("a.csv", "id;bin\nx;b\n", "a.csv:2: unknown field 'id;bin'"),
    ],
)
def test_what_is_no_item(tmp_path: Path, name: str, content: str, found: str) -> None:
    assert fault(tmp_path, name, content) == found


@pytest.mark.parametrize("field", ["id", "bin", "difficulty", "kind", "answer", "questions"])
def test_a_missing_field_of_a_probe(tmp_path: Path, field: str) -> None:
    item = "" if field == "id" else "sum: "
    found = fault(tmp_path, "a.jsonl", line(TRAP) + line(without(PROBE, field)))
    assert found == f"a.jsonl:2: {item}the field '{field}' is missing"


@pytest.mark.parametrize("field", ["id", "bin", "questions", "note"])
def test_a_missing_field_of_a_trap(tmp_path: Path, field: str) -> None:
    item = "" if field == "id" else "king: "
    found = fault(tmp_path, "a.jsonl", line(PROBE) + line(without(TRAP, field)))
    assert found == f"a.jsonl:2: {item}the field '{field}' is missing"


def test_a_missing_field_in_the_other_formats(tmp_path: Path) -> None:
    text = TOML_TRAP + TOML_PROBE.replace('kind = "number"\n', "")
    assert fault(tmp_path, "a.toml", text) == "a.toml:7: sum: the field 'kind' is missing"
    text = CSV_HEAD + CSV_TRAP + CSV_PROBE.replace(",number,", ",,")
    assert fault(tmp_path, "a.csv", text) == "a.csv:3: sum: the field 'kind' is missing"


def test_an_unknown_field(tmp_path: Path) -> None:
    assert fault(tmp_path, "a.jsonl", line(PROBE, anwser="4")) == "a.jsonl:1: sum: unknown field 'anwser'"
    assert fault(tmp_path, "a.toml", TOML_TRAP + "answer = 4\n") == "a.toml:1: king: unknown field 'answer'"
    assert fault(tmp_path, "a.csv", "level," + CSV_HEAD + "3," + CSV_PROBE) == "a.csv:2: sum: unknown field 'level'"


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"difficulty": "harder"}, "unknown difficulty 'harder'; one of easy, medium, hard"),
        ({"kind": "essay"}, "unknown kind 'essay'; one of number, text, choice, set, sequence, date, expression, code"),
        ({"questions": "What?"}, '\'questions\' is a list: write ["...", "..."]'),
        ({"questions": ["What?", 5]}, "Expected 'str', got 'int' in 'questions[1]'"),
        ({"answer": True}, "Expected 'str', got 'bool' in 'answer'"),
        ({"answer": ["4"]}, "Expected 'str', got 'array' in 'answer'"),
        ({"answer": None}, "Expected 'str', got 'null' in 'answer'"),
        ({"tolerance": "wide"}, "Expected 'float', got 'str' in 'tolerance'"),
        ({"tolerance": float("inf")}, "tolerance is not a number from 0 up"),
        ({"relative_tolerance": -1.0}, "relative_tolerance is not a number from 0 up"),
        ({"questions": []}, "it has no question"),
        ({"convert": "yes"}, "Expected 'bool', got 'str' in 'convert'"),
        ({"questions": ["What \ud800?"]}, "half a surrogate pair, which is no character"),
    ],
)
def test_a_field_of_the_wrong_kind(tmp_path: Path, changed: dict[str, Any], found: str) -> None:
    assert fault(tmp_path, "a.jsonl", line(PROBE, **changed)) == f"a.jsonl:1: sum: {found}"


def test_an_id_that_is_no_text(tmp_path: Path) -> None:
    assert fault(tmp_path, "a.jsonl", line(PROBE, id=5)) == "a.jsonl:1: 5: Expected 'str', got 'int' in 'id'"
    found = fault(tmp_path, "a.jsonl", line(PROBE, id="\ud800"))
    assert found == "a.jsonl:1: \\ud800: half a surrogate pair, which is no character"


def test_an_id_used_twice_names_both_places(tmp_path: Path) -> None:
    assert fault(tmp_path, "b.jsonl", line(PROBE) + line(TRAP, id="sum")) == (
        "b.jsonl:2: sum: this id is already used in b.jsonl:1"
    )
    (tmp_path / "b.jsonl").unlink()
    written(tmp_path, "a.toml", TOML_TRAP + TOML_PROBE)
    written(tmp_path, "b.csv", CSV_HEAD + CSV_PROBE)
    assert str(faults(tmp_path)[0]) == "b.csv:2: sum: this id is already used in a.toml:7"


def test_every_fault_of_a_folder_is_told_at_once(tmp_path: Path) -> None:
    written(tmp_path, "a.toml", "=")
    written(tmp_path, "b.jsonl", line(PROBE, kind="x") + line(TRAP, id=7) + line(TRAP))
    written(tmp_path, "c.csv", b"\xff")
    with pytest.raises(BatteryError, match=r"^a\.toml:1: .* \(and 3 more\)$") as caught:
        load(tmp_path)
    assert [(one.file, one.line, one.item) for one in caught.value.faults] == [
        ("a.toml", 1, ""),
        ("b.jsonl", 1, "sum"),
        ("b.jsonl", 2, "7"),
        ("c.csv", 1, ""),
    ]


def test_the_shipped_battery_is_found() -> None:
    battery = shipped()
    assert battery.id == "selfdiag"
    assert len(battery.bins()) == 21
    assert load(shipped_path()).battery == battery
    assert battery.sha256() == shipped().sha256()
