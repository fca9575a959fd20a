"""What events say in words."""

import pytest

from selfdiag.cli.watch import _told
from selfdiag.runs.events import Structured


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Structured(on=True, parsed=0, asked=5), "none of 5 plain replies held the form"),
        (Structured(on=True, parsed=3, asked=5), "only 3 of 5 plain replies held the form"),
        (Structured(on=True, parsed=0, asked=1), "none of 1 plain reply held the form"),
        (Structured(on=False, parsed=5, asked=5), ""),
        (Structured(on=True), ""),
    ],
)
def test_why_a_schema_is_turned_on(event: Structured, words: str) -> None:
    said = f"{words}: asking with a JSON schema from now on" if words else ""
    assert event.said() == said
    assert _told(event) == said
