"""The citations in a run's replies, and looking up the DOIs they name so that the run keeps what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec

from selfdiag.elicit.citations import Citation, LookedUp, read_citation
from selfdiag.elicit.identifiers import is_doi
from selfdiag.runs.records import ANSWERED, TASKS, Record
from selfdiag.runs.store import Run, RunWriter, read_run
from selfdiag.safety import SelfdiagError

USABLE = frozenset({ANSWERED, "abstained", "refused"})
"""Outcomes of a reply that cites a work or declines to; no other says anything of the model's sources."""
MAX_FAILURES = 3
"""After so many look-ups in a row without an answer there is no network, and the rest is left."""


class Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """How looking up went: DOIs found at the resolver, without a record, and not answered; ``fault`` says why not."""

    exist: int = 0
    absent: int = 0
    unanswered: int = 0
    fault: str = ""


def citations_of(run: Run) -> Iterator[tuple[Record, Citation | None]]:
    """Yield the usable replies to a run's citation tasks with the citation in each, None where it names no work."""
    tasks = {task.id for task in run.manifest.assessed.citations} if run.manifest.assessed else set()
    for record in run.planned():
        if record.section == TASKS and record.item_id in tasks and record.outcome in USABLE:
            yield record, read_citation(record.raw, record.finish_reason == "length")[0]


def open_dois(run: Run) -> list[str]:
    """Return the DOIs that a run's citations name and that have not been looked up, each once."""
    named = [citation.doi for _, citation in citations_of(run) if citation is not None and is_doi(citation.doi)]
    return [doi for doi in dict.fromkeys(named) if doi not in run.manifest.looked_up]


async def look_up_citations(folder: Path, *, base_url: str | None = None) -> Lookup:
    """Look up the DOIs that a run's citations name, and write what is found into its manifest.

    Each is looked up on its own, so that one server out of order does not hide the others. What was found until then is
    written too when the rest is given up or cancelled.

    Args:
        folder: the run.
        base_url: the resolver's address; its usual one when None.

    Raises:
        SelfdiagError: when the run cannot be read or written.
    """
    from selfdiag.runs.doi_lookup import RESOLVER, look_up

    run = await asyncio.to_thread(read_run, folder)
    wanted = open_dois(run)
    found: dict[str, LookedUp] = {}
    fault, failures = "", 0
    try:
        for doi in wanted:
            try:
                found |= await look_up([doi], base_url=base_url or RESOLVER)
                failures = 0
            except SelfdiagError as error:
                fault, failures = fault or str(error), failures + 1
                if failures == MAX_FAILURES:
                    break
    finally:  # Ctrl-C in the middle of many costs none of those before it
        if found:
            _keep(folder, found)
    exist = sum(one.exists for one in found.values())
    return Lookup(
        exist=exist,
        absent=len(found) - exist,
        unanswered=len(wanted) - len(found),
        fault=fault,
    )


def _keep(folder: Path, found: dict[str, LookedUp]) -> None:
    writer, run = RunWriter.resume(folder)
    with writer:
        kept = run.manifest.looked_up | found
        writer.save(msgspec.structs.replace(run.manifest, looked_up=kept))
