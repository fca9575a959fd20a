"""The logs of other tools that the tests read, and what those tools printed."""

import importlib.util
import json
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from selfdiag.runs.answer_file import read_file
from selfdiag.runs.columns import Answers
from selfdiag.runs.table_file import parse_mapping

LOGS = Path(__file__).parent.parent / "data" / "logs"
EXPECTED = json.loads((LOGS / "expected.json").read_text(encoding="utf-8"))
"""Per log: who answered, and the figures its tool printed."""
EMBEDDED = json.loads((LOGS / "embedded" / "expected.json").read_text(encoding="utf-8"))
"""The same for the logs in the folder ``embedded``, in which the real embedded model answered."""


def needs_zstandard() -> None:
    """Skip a test where nothing can unpack what Inspect AI packs."""
    if sys.version_info < (3, 14) and importlib.util.find_spec("backports") is None:
        pytest.skip("Zstandard is not here: install selfdiag[inspect]")
    if sys.version_info < (3, 14):
        pytest.importorskip("backports.zstd")


def read(name: str | Path, mapping: str = "") -> Answers:
    return read_file(LOGS / name, parse_mapping(mapping))


def outcomes(answers: Answers) -> dict[str, int]:
    return dict(Counter(answers.columns.outcome))


def inspect_json() -> dict:
    return json.loads((LOGS / "inspect_json_replies.json").read_text(encoding="utf-8"))


def write_json(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


def write_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def write_eval(path: Path, document: dict, *, header: str = "header.json") -> Path:
    """Write a log as a zip without Zstandard, so that any Python can open it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(header, json.dumps({name: value for name, value in document.items() if name != "samples"}))
        for sample in document["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


def lm_eval_log(form: str) -> str:
    (name,) = (name for name in EXPECTED if name.startswith(f"lm_eval/stub-{form}/"))
    return name
