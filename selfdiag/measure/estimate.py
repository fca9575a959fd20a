"""One number with its interval, its sample size and, where it is missing, the reason."""

from __future__ import annotations

import math

import msgspec


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A measured value, or None with a plain note that says why there is none.

    ``ci`` is a 95 % interval, ``n`` the number of rows behind the value, ``method`` how the interval was
    made. Neither ``value`` nor ``ci`` is ever NaN or infinite.
    """

    value: float | None
    ci: tuple[float, float] | None = None
    n: int = 0
    method: str = ""
    note: str = ""


def estimate(
    value: float | None,
    ci: tuple[float, float] | None = None,
    *,
    n: int = 0,
    method: str = "",
    note: str = "",
) -> Estimate:
    """Return an ``Estimate`` in which everything that is not a finite number has become None.

    ``value`` and ``ci`` may hold NaN or infinity. A value that is not finite loses its interval too and gets
    the note "not defined" when it brings none of its own.
    """
    if value is None or not math.isfinite(value):
        return Estimate(value=None, n=n, note=note or "not defined")
    if ci is None or not all(math.isfinite(end) for end in ci):
        return Estimate(value=float(value), n=n, method=method, note=note)
    return Estimate(value=float(value), ci=(float(ci[0]), float(ci[1])), n=n, method=method, note=note)


def join_notes(*notes: str) -> str:
    """Return the notes that are not empty, separated by semicolons."""
    return "; ".join(note for note in notes if note)
