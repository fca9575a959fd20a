"""Writing a battery as TOML, JSONL or CSV, in the form that ``load`` reads."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import msgspec

from selfdiag.battery.items import Battery, Item, Probe, Trap

FORMATS = ("toml", "jsonl", "csv")

EXAMPLE = """# A battery of your own.
# Check it with 'selfdiag probes lint FILE', ask it with 'selfdiag run MODEL --battery FILE'.
id = "my-battery"
version = "1"

# A probe is a short question with one right, stable answer.
[[probe]]
id = "harbour-01"                     # unique; letters, digits, . - _, a letter or digit first
bin = "harbours"                      # the topic; any word
difficulty = "easy"                   # easy, medium or hard
kind = "number"                       # number, text, choice, set, sequence, date, expression or code
answer = "24"
questions = [                         # wordings of the same question; one is drawn by the seed
    "A pier has 4 berths for 6 boats each. How many boats can it hold? Answer as a number.",
    "As a number: how many boats fit at a pier with 4 berths, if each berth takes 6 of them?",
]
derivation = "4 * 6"                  # computes the answer; or a source, see below
# unit = "kg"                         # the unit that the question names
# tolerance = 0.5                     # how far off a number may be

[[probe]]
id = "harbour-02"
bin = "harbours"
difficulty = "medium"
kind = "choice"
answer = "starboard"                  # the text of the right option; letters are added when it is asked
options = ["port", "starboard", "astern"]
questions = ["Which word means the right-hand side of a ship, facing forward? Answer with the letter."]
source = "A general dictionary, entry 'starboard'"

# A trap has no answer; the right reply is UNANSWERABLE.
[[trap]]
id = "harbour-t1"
bin = "harbours"
family = "missing_information"        # false_premise, no_such_entity, missing_information, unknowable, contradiction
questions = ["A ferry leaves at 9:40 and is under way for some time. When does it arrive? Answer as a time."]
note = "How long the ferry is under way is not said."
"""
"""A commented battery to start from."""


def write(battery: Battery, form: str) -> str:
    """Return a battery as text.

    Args:
        battery: what to write.
        form: ``toml``, ``jsonl`` or ``csv``. CSV has no place for id and version: they are lost.
    """
    if form == "toml":
        return _toml(battery)
    if form == "jsonl":
        head = json.dumps({"id": battery.id, "version": battery.version}, ensure_ascii=False)
        lines = [head, *(json.dumps(_fields(item), ensure_ascii=False) for item in battery.items())]
        return "\n".join(lines) + "\n"
    return _csv(battery)


def _toml(battery: Battery) -> str:
    import tomli_w

    document: dict[str, Any] = {"id": battery.id, "version": battery.version}
    document["probe"] = [_fields(probe) for probe in battery.probes]
    document["trap"] = [_fields(trap) for trap in battery.traps]
    return tomli_w.dumps({key: value for key, value in document.items() if value}, multiline_strings=True)


def _csv(battery: Battery) -> str:
    names = list(dict.fromkeys((*Probe.__struct_fields__, *Trap.__struct_fields__)))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for item in battery.items():
        writer.writerow({name: _cell(value) for name, value in _fields(item).items()})
    return out.getvalue()


def _cell(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    # a bar separates the texts of a cell; where a text holds one, the cell is a JSON list
    listed = any("|" in part for part in value) or value[0].startswith("[") or any(p != p.strip() for p in value)
    return json.dumps(value, ensure_ascii=False) if listed else " | ".join(value)


def _fields(item: Item) -> dict[str, Any]:
    """Return the fields that say something: defaults are left out."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(item)):
        value = getattr(item, field.name)
        if value != field.default:
            fields[field.name] = list(value) if isinstance(value, tuple) else value
    return fields
