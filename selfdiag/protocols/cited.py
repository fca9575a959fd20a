"""What a run's citations come to: verified, contradicted or unknown, with what a resolver said of their DOIs."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import msgspec

from selfdiag.battery.self_assessment import Work
from selfdiag.elicit.citations import State, judge_citation, with_lookup
from selfdiag.runs.citation_lookup import citations_of
from selfdiag.runs.store import Run


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """One citation: its title as the model wrote it, what is known of it, and the year a verified work is of."""

    item_id: str
    title: str
    state: State
    reason: str
    year: int | None = None


def cited_in(run: Run, works: Sequence[Work], run_date: datetime.date) -> list[Cited]:
    """Return the citations of a run, judged by a table of works and by what was looked up.

    A reply that names no work, because it knows of none or refuses, is unknown: there is nothing to verify.

    Args:
        run: manifest and records.
        works: the known works.
        run_date: the day on which the model was asked.
    """
    looked_up = run.manifest.looked_up
    found = []
    for record, citation in citations_of(run):
        if citation is None:
            found.append(Cited(item_id=record.item_id, title="", state="unknown", reason="No work is named."))
            continue
        judged = judge_citation(citation, works, run_date)
        if citation.doi in looked_up:
            judged = with_lookup(citation, judged, looked_up[citation.doi])
        row = Cited(
            item_id=record.item_id, title=citation.title, state=judged.state, reason=judged.reason, year=judged.year
        )
        found.append(row)
    return found
