"""A run as its results are read: the records first, then what they come to; threads do it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual.content import Content

from selfdiag.runs.records import MEASURED_SECTIONS
from selfdiag.runs.store import RECORDS, Run, read_run
from selfdiag.safety import one_line
from selfdiag.tui.item_filter import ItemRow, item_rows
from selfdiag.tui.text import line

if TYPE_CHECKING:
    from selfdiag.protocols.diagrams import Diagrams
    from selfdiag.protocols.summary import Summary


DRAWS = 1000
"""Bootstrap draws for the intervals of the diagrams; they take some hundredths of a second."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it is read first: ``left`` of its calls want a reply, ``audited`` says that it asked probes or traps."""

    run: Run
    rows: Sequence[ItemRow]
    left: int
    audited: bool


def read(folder: Path) -> Reading:
    """Return a run with the rows of its list.

    Raises:
        SelfdiagError: when it cannot be read.
    """
    from selfdiag.runs.plan import open_calls

    run = read_run(folder)
    return Reading(
        run=run,
        rows=item_rows(run),
        left=len(open_calls(run.manifest.plan, run.latest())),
        audited=any(call.section in MEASURED_SECTIONS for call in run.manifest.plan),
    )


def measure(run: Run) -> tuple[Summary, Diagrams]:
    """Return the summary and the diagrams of a run."""
    from selfdiag.protocols.audit import summarise
    from selfdiag.protocols.diagrams import diagrams_of

    return summarise(run), diagrams_of(run, draws=DRAWS)


def size(folder: Path) -> int:
    """Return the size of a run's records in bytes: it grows whenever one is added."""
    try:
        return (folder / RECORDS).stat().st_size
    except OSError:
        return 0


def title(reading: Reading) -> Content:
    """Return in one line which run it is, and whether something is left to ask."""
    manifest = reading.run.manifest
    settings = manifest.settings
    drawn = settings.battery.replace("\\", "/").rstrip("/").rpartition("/")[2]
    said = ["simulated"] if manifest.model.simulated else []
    said += [f"{reading.left:,} of {len(manifest.plan):,} calls open: r goes on"] if reading.left else []
    said += [one_line(drawn, 30), f"run {one_line(manifest.run_id, 40)}"]
    return Content.assemble((one_line(settings.model, 36), "bold $foreground"), " · ", " · ".join(said))


def brief(summary: Summary) -> Content:
    """Return the tier and what it rests on in one line."""
    from selfdiag.report import words

    tier = summary.tier
    letter = tier.letter if tier.range in {tier.letter, ""} else tier.range
    told = Content.assemble((f"{letter}  ", "bold $accent"), (words.tier_words(summary), "bold"), "   ")
    return told + line(words.headline(summary), 200).stylize("$text-muted")
