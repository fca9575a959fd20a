"""The figures of a run while it goes on, and its diagram; it needs numpy, so a thread imports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

# a chart imports this when it first draws, which takes as long as numpy: imported here, a thread has done it by then
import selfdiag.tui.widgets.fine_plot  # noqa: F401
from selfdiag.measure.calibration import brier, gap
from selfdiag.measure.diagrams import reliability_diagram
from selfdiag.protocols.rows import tally_of
from selfdiag.protocols.sources import run_columns
from selfdiag.runs.records import ANCHOR, Manifest, Record
from selfdiag.runs.store import Run
from selfdiag.tui.picture import Picture, Series, Tone
from selfdiag.tui.pictures import reliability
from selfdiag.tui.run_so_far import is_off_topic
from selfdiag.tui.widgets.running_figures import LEAST

_DIAGONAL = Series(kind="line", x=(0.0, 100.0), y=(0.0, 100.0), tone="muted")


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What the answers so far come to.

    ``n`` is the number of graded probes with a confidence; ``brier`` and ``gap`` speak of them and are None below
    ``LEAST``. ``picture`` is the diagram under ``title``, with ``shown`` answers in it, or the words for why there is
    none.
    """

    n: int = 0
    brier: float | None = None
    gap: float | None = None
    title: str = ""
    shown: int = 0
    picture: Picture | str = ""


def figures_so_far(folder: Path, manifest: Manifest, records: Sequence[Record]) -> Figures:
    """Return the figures of the replies so far, and a diagram of what is being asked.

    Args:
        folder: of the run.
        manifest: of the run.
        records: in the order in which they landed; without their long texts they will do.
    """
    run = Run(folder=folder, manifest=manifest, records=tuple(records))
    columns, _ = run_columns(run, run.measured())
    counts = tally_of(columns).answered
    n = int(counts.n)
    enough = n >= LEAST
    figures = Figures(
        n=n,
        brier=float(brier(counts)) if enough else None,
        gap=float(gap(counts)) if enough else None,
    )
    # not by the last answer alone: some of a section's calls make no claim, and the diagram must not come and go
    section = records[-1].section if records else ""
    asked = [record for record in records if record.section == section]
    if any(record.claim is not None for record in asked):
        return _with_claims(figures, asked, example=section == ANCHOR)
    # by bin from the first answer on: points must not jump when another value is stated
    diagram = reliability_diagram(counts, group_by="bin")
    picture = reliability(diagram)
    if isinstance(picture, Picture):
        picture = msgspec.structs.replace(picture, x_label="stated", y_label="right", caption="")
    return msgspec.structs.replace(figures, title="stated against right", shown=diagram.n, picture=picture)


def _with_claims(figures: Figures, asked: Sequence[Record], *, example: bool) -> Figures:
    """Return the figures with the confidence stated under each claim, or beside each example."""
    stating = [record for record in asked if record.claim is not None and record.confidence is not None]
    picture: Picture | str = f"no confidence under {'an example' if example else 'a claim'} yet"
    if stating:
        on_topic = [record for record in stating if not is_off_topic(record, record.bin)]
        off_topic = [record for record in stating if is_off_topic(record, record.bin)]
        picture = Picture(
            x_label="example" if example else "claimed",
            y_label="stated",
            series=(
                _DIAGONAL,
                *([_points("off topic", off_topic, "○", "plain")] if off_topic else []),
                *([_points("shown" if example else "this topic", on_topic, "●", "accent")] if on_topic else []),
            ),
        )
    title = "example against stated" if example else "claimed against stated"
    return msgspec.structs.replace(figures, title=title, shown=len(stating), picture=picture)


def _points(name: str, records: Sequence[Record], glyph: str, tone: Tone) -> Series:
    """Return each pair of a claim and what was stated under it once."""
    pairs = sorted({(float(r.claim or 0), float(r.confidence or 0)) for r in records})
    across, up = zip(*pairs, strict=True)
    return Series(kind="points", name=name, x=across, y=up, glyph=glyph, tone=tone)
