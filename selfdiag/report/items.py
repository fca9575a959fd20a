"""What a reply was given to: the question as it was put, and what would have been right."""

from __future__ import annotations

from selfdiag.battery.items import Item, Probe
from selfdiag.runs.records import Record
from selfdiag.runs.store import Run
from selfdiag.safety import one_line


def question_of(run: Run, record: Record) -> str:
    """Return a record's question as it is, without the instructions before it; empty if the run lacks it."""
    prompt = run.manifest.prompts.get(record.prompt_sha256)
    return prompt.user if prompt is not None else ""


def key_of(item: Item) -> str:
    """Return the right answer of a probe with its unit as it is, or an empty text for a trap, which has none."""
    return f"{item.answer} {item.unit}".strip() if isinstance(item, Probe) else ""


def shown_key(item: Item, limit: int) -> str:
    """Return what would have been right as one harmless line of about ``limit`` characters at most."""
    if isinstance(item, Probe):
        return one_line(key_of(item), limit)
    return f"no answer: a trap ({one_line(item.family.replace('_', ' '), 40)})"
