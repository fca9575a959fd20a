"""Published figures to see a model beside: nine models' stated confidence on one question set.

From the study on self-confidence in the evaluation of language models (its first result). The study counts rows
without a readable confidence as 50 and refusals that state one as wrong; selfdiag does so only when asked to
(``--impute 50``, the attempted-as-wrong set), so compare in that light.
"""

from __future__ import annotations

import msgspec


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """One model as printed: ``accuracy`` and ``mean_confidence`` in percent, ``gap`` in points, rounded there.

    ``median`` is its median stated confidence; ``error_at_coverage`` the printed error in percent among its surest
    100, 80, 60, 40 and 20 % where the study gives it, else empty.
    """

    maker: str
    n: int
    accuracy: float
    mean_confidence: float
    gap: float
    brier: float
    ece: float
    auroc: float
    auroc_ci: tuple[float, float]
    median: int
    error_at_coverage: tuple[float, ...] = ()


def _row(
    maker: str,
    n: int,
    accuracy: float,
    mean: float,
    gap: float,
    brier: float,
    ece: float,
    auroc: float,
    low: float,
    high: float,
    median: int,
    *errors: float,
) -> Published:
    return Published(
        maker=maker,
        n=n,
        accuracy=accuracy,
        mean_confidence=mean,
        gap=gap,
        brier=brier,
        ece=ece,
        auroc=auroc,
        auroc_ci=(low, high),
        median=median,
        error_at_coverage=errors,
    )


PUBLISHED: tuple[Published, ...] = (
    _row("google", 1461, 66.5, 92.8, 26.3, 0.271, 0.263, 0.746, 0.722, 0.770, 95, 33.5, 24.5, 20.0, 18.7, 15.1),
    _row("moonshot", 1500, 51.6, 75.8, 24.2, 0.292, 0.242, 0.619, 0.590, 0.648, 85),
    _row("alibaba", 1497, 47.4, 92.3, 44.8, 0.446, 0.448, 0.532, 0.510, 0.556, 95),
    _row("xai", 1500, 37.9, 48.9, 11.1, 0.197, 0.111, 0.777, 0.755, 0.798, 60, 62.1, 52.8, 45.1, 39.5, 33.3),
    _row("deepseek", 1500, 35.7, 89.2, 53.4, 0.513, 0.535, 0.570, 0.549, 0.592, 90),
    _row("zhipu", 1493, 28.4, 92.6, 64.2, 0.612, 0.642, 0.611, 0.582, 0.639, 95),
    _row("openai", 1500, 16.7, 77.6, 60.9, 0.531, 0.610, 0.598, 0.559, 0.636, 85),
    _row("mistral", 1495, 16.5, 90.6, 74.2, 0.686, 0.742, 0.584, 0.550, 0.616, 90),
    _row("anthropic", 1500, 10.3, 41.3, 31.0, 0.206, 0.310, 0.788, 0.758, 0.817, 42, 89.7, 87.1, 82.9, 80.3, 75.3),
)
"""The study's table, the most accurate model first; it names makers."""

WRONG_WHEN_SURE = (5598, 9310)
"""Of the study's answers stated at 80 or more, so many were wrong."""
