"""The audit as a task folder for lm-evaluation-harness, which needs no selfdiag to run it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from selfdiag.battery.items import ABSTENTION_TOKEN, Probe
from selfdiag.runs.lm_eval_audit import TASK, USUAL_TOKENS
from selfdiag.runs.outside import KEY, OutsideCall, outside_calls, sample_name, to_log
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import replace_file
from selfdiag.safety import SelfdiagError, one_line

QUESTIONS = "questions.jsonl"
LOADER = "questions.py"
_TASK = f"""\
# An audit of stated confidence, written by selfdiag. From beside this folder:
#   lm_eval --include_path FOLDER --tasks {TASK} --apply_chat_template --log_samples --output_path OUT --model ...
#   selfdiag analyze OUT/MODEL/samples_{TASK}_*.jsonl
# exact_match compares texts, and counts traps; selfdiag reads and grades the logged replies by its own rules.
task: {TASK}
custom_dataset: !function questions.load
test_split: test
output_type: generate_until
description: system
doc_to_text: question
doc_to_target: target
generation_kwargs:
  until: []
  do_sample: false
  temperature: 0.0
  max_gen_toks: {USUAL_TOKENS}
filter_list:
  - name: answer
    filter:
      - function: regex
        regex_pattern: '"answer"\\s*:\\s*"?([^",}}\\n]*)'
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true
    ignore_punctuation: true
metadata:
  version: "VERSION"
"""
_LOADER = f'''\
"""The questions beside this file, for lm-evaluation-harness."""

import json
from pathlib import Path

from datasets import Dataset


def load(**_):
    """Return the questions as the split that the task names."""
    lines = Path(__file__).with_name("{QUESTIONS}").read_text(encoding="utf-8").splitlines()
    return {{"test": Dataset.from_list([json.loads(line) for line in lines])}}
'''


def lm_eval_task(settings: RunSettings) -> dict[str, str]:
    """Return the files of a task folder, by name.

    Raises:
        SelfdiagError: when the settings name something that is not there.
    """
    calls = outside_calls(settings)
    rows = "".join(f"{_row(call)}\n" for call in calls)
    return {
        f"{TASK}.yaml": _TASK.replace("VERSION", json.dumps(calls[0].battery.version)[1:-1]),
        LOADER: _LOADER,
        QUESTIONS: rows,
    }


def write_task(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a task into a folder that is new or empty.

    Raises:
        SelfdiagError: when the folder holds something else, or cannot be written.
    """
    shown = one_line(str(folder))
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SelfdiagError(f"{shown} holds something already: name a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            replace_file(folder / name, text.encode())
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be written ({error.strerror})") from None


def _row(call: OutsideCall) -> str:
    item = call.item
    row = {
        "name": sample_name(call.call),
        "bin": item.bin,
        "section": call.call.section,
        "system": call.system,
        "question": call.user,
        "target": item.answer if isinstance(item, Probe) else ABSTENTION_TOKEN,
        # as text: the harness gives nested members of all rows one shape
        KEY: msgspec.json.encode(to_log(call)).decode(),
    }
    return msgspec.json.encode(row).decode()
