import tomllib
from pathlib import Path

import pytest

from selfdiag.battery.generators import fresh
from selfdiag.battery.items import Battery, Probe, Trap
from selfdiag.battery.lint import lint
from selfdiag.battery.load import load, shipped
from selfdiag.battery.write import EXAMPLE, FORMATS, write

ODD = Battery(
    id='od"d',
    version="1",
    probes=(
        Probe(
            id="a",
            bin="own",
            difficulty="hard",
            kind="choice",
            answer="x | y",
            options=("x | y", '"q"', "line\nbreak", "tab\tand \\ back"),
            questions=("What, 'here'?", '"""What"""?\n\n  print(1)\n', "Ünïcode 日本 \x7f?"),
            derivation="answer = 'x' + ' | y'",
            tolerance=0.5,
            convert=True,
        ),
    ),
    traps=(Trap(id="t", bin="own", family="unknowable", questions=("[Who]?",), note="Nobody | knows."),),
)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("battery", [ODD, shipped(), fresh(shipped(), 7)], ids=["odd", "shipped", "fresh"])
def test_what_is_written_is_read_back(tmp_path: Path, form: str, battery: Battery) -> None:
    file = tmp_path / f"battery.{form}"
    file.write_bytes(write(battery, form).encode())
    again = load(file).battery
    assert again.probes == battery.probes
    assert again.traps == battery.traps
    if form != "csv":
        assert again.sha256() == battery.sha256()


def test_defaults_are_not_written() -> None:
    document = tomllib.loads(write(ODD, "toml"))
    assert "aliases" not in document["probe"][0]
    assert document["trap"][0].keys() == {"id", "bin", "family", "questions", "note"}


def test_the_example_is_sound_and_is_its_own_explanation(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    assert lint(file) == []
    assert len(load(file).battery.items()) == 3
    assert EXAMPLE.count("#") > 10
