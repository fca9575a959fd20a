"""What one grading kind finds about one answer."""

from __future__ import annotations

import msgspec


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Right or not, by which rule, and both normalised forms.

    ``settled`` is True when the text is certainly an answer, even if its words could also be an abstention, as
    with an option "cannot be determined".
    """

    right: bool
    rule: str
    expected: str
    given: str
    flags: tuple[str, ...] = ()
    settled: bool = False
