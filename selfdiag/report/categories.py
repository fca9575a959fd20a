"""Category-constrained diagnostics as lines for a terminal and as Markdown."""

from __future__ import annotations

from selfdiag.measure.constrained import Grid
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.partition import PartitionTest, Spread
from selfdiag.measure.resampling import ALPHA
from selfdiag.protocols.categories import CategoryRow, Diagnostics, OfModel
from selfdiag.report import words
from selfdiag.report.arms import ends
from selfdiag.report.page import cell, notes_lines, table, wrapped
from selfdiag.safety import one_line

VOLUMES = {
    "pvc_vus": "PVC volume",
    "c_pvc_vus": "C-PVC volume",
    "vus_gap": "lost to miscalibration",
    "pm_pvc": "PM-PVC",
    "pm_c_pvc": "PM-C-PVC",
    "pm_sc": "PM-SC",
}
"""The volumes that are shown, and what they are called."""
GRIDS: dict[Grid, str] = {"closed": "closed form", "paper": "101 x 101 grid of the study"}
_FLIPPED = ("pvc_vus", "c_pvc_vus")
_TESTS = {
    "worst_gap": "largest e of a category",
    "between_variance": "variance of s over categories",
}


def category_lines(found: Diagnostics, *, grid: Grid = "closed") -> list[str]:
    """Return the diagnostics as lines, none wider than ``page.WIDTH`` characters."""
    heading = "topics" if found.by == "bin" else "groups of topics (no topic has enough items)"
    k = len(found.categories)
    if not k:
        return [heading, *notes_lines(found.notes, "  ")]
    lines = [heading, f"  {'':<24}{'items':>6}{'right s':>9}  {'95 %':<14}{'says q':>7}{'e = |q-s|':>11}"]
    lines += [
        f"  {one_line(row.name, 24):<24}{row.items:>6}{words.fraction(row.accuracy.value):>9}  "
        f"{ends(row.accuracy.ci):<14}{words.fraction(row.mean_confidence):>7}{words.fraction(row.error):>11}"
        for row in found.categories
    ]
    lines += ["", f"over {words.several(k, 'category', 'categories')}, {GRIDS[grid]}"]
    lines.append(f"  {'':<24}{'volume':>9}  {'95 %':<20}{'divided by K':>12}")
    shown = found.of_grid(grid)
    for name, said in VOLUMES.items():
        # a floor of 300 has no meaning by category
        share = "" if name == "pm_sc" else _volume(shown[f"{name}_per_category"].value)
        lines.append(
            f"  {said:<24}{_volume(shown[name].value):>9}  {_volume_ends(shown[name]):<20}{share:>12}".rstrip()
        )
    beside = [said for name, said in VOLUMES.items() if _beside_interval(shown[name])]
    lacking: dict[str, list[str]] = {}
    for name, said in VOLUMES.items():
        if shown[name].ci is None:
            lacking.setdefault(shown[name].note.partition("; ")[0], []).append(said)
    lines += ["", "the same items in random groups of the same sizes"]
    for name, test in _tests(found).items():
        lines += wrapped(f"{_TESTS[name]}: {_tested(test)}", "  ")
    lines += ["", "with grades turned over, and in random categories; mean and range of five seeds"]
    lines.append(f"  {'':<24}{'PVC volume':<26}C-PVC volume")
    for percent, spreads in found.flips.items():
        values = "".join(f"{_spread(spreads[name]):<26}" for name in _FLIPPED)
        lines.append(f"  {f'{percent} % of items':<24}{values}".rstrip())
    values = "".join(f"{_spread(found.other_categories[name]):<26}" for name in _FLIPPED)
    lines.append(f"  {'random categories':<24}{values}".rstrip())
    notes = [*found.notes, *(f"{', '.join(names)}: {reason}" for reason, names in lacking.items())]
    if beside:
        notes.append(f"resampling moves a volume, here away from its own interval: {', '.join(beside)}")
    return [*lines, "", *wrapped(found.claim), *notes_lines(notes)]


def of_model_lines(found: OfModel) -> list[str]:
    """Return the diagnostics of one model's rows as lines, below a line that names them."""
    model = one_line(found.model, 40) or "no model named"
    heading = wrapped(f"{model}{words.if_simulated(found.simulated)} · {one_line(found.file, 100)}")
    return [*heading, *category_lines(found.diagnostics), *notes_lines(found.notes)]


def category_markdown(found: Diagnostics) -> str:
    """Return the diagnostics as Markdown, from a heading on."""
    kind = "topic" if found.by == "bin" else "group of topics"
    head = [kind, "items", "answers", "right s", "95 % interval", "says q", "e"]
    volumes = [
        [
            said,
            _volume(found.volumes[name].value),
            _volume_ends(found.volumes[name]),
            "" if name == "pm_sc" else _volume(found.volumes[f"{name}_per_category"].value),
            _volume(found.paper[name].value),
            cell(found.volumes[name].note, 300),
        ]
        for name, said in VOLUMES.items()
    ]
    flips = {f"{percent} % of items turned": one for percent, one in found.flips.items()}
    spread = {**flips, "items in random categories": found.other_categories}
    parts = [
        "## Categories",
        f"*s* is the share right, *q* the mean confidence and *e* = |q - s|. {found.claim}",
        "\n".join(f"- {cell(note, 300)}" for note in found.notes),
        table(head, [_row(row) for row in found.categories]),
        table(["volume", GRIDS["closed"], "95 % interval", "divided by K", GRIDS["paper"], "note"], volumes),
        "The same items dealt at random into groups of the same sizes:",
        table(
            ["statistic", "value", "random median", "percentile", "p", "partitions", "note"],
            [
                [
                    _TESTS[name],
                    words.fraction(test.observed),
                    words.fraction(test.null_median),
                    "–" if test.percentile is None else f"{test.percentile:.0f}",
                    words.p_value(test.p),
                    str(test.partitions),
                    cell(test.note),
                ]
                for name, test in _tests(found).items()
            ],
        ),
        "Mean and range of the volumes (closed form) over five seeds:",
        table(
            ["", "PVC volume", "C-PVC volume"],
            [[name, *(_spread(one[volume]) for volume in _FLIPPED)] for name, one in spread.items()],
        ),
    ]
    return "\n\n".join(part for part in parts if part)


def _tests(found: Diagnostics) -> dict[str, PartitionTest]:
    return {"worst_gap": found.worst_gap, "between_variance": found.between_variance}


def _row(row: CategoryRow) -> list[str]:
    return [
        cell(row.name),
        str(row.items),
        str(row.n),
        words.fraction(row.accuracy.value),
        ends(row.accuracy.ci),
        words.fraction(row.mean_confidence),
        words.fraction(row.error),
    ]


def _tested(test: PartitionTest) -> str:
    if test.observed is None or test.p is None:
        return test.note
    verdict = "not shown to be more than chance brings" if test.p > ALPHA else "more than chance brings"
    return (
        f"{words.fraction(test.observed)}, random groups {words.fraction(test.null_median)} (median of "
        f"{test.partitions:,}), p {words.p_value(test.p)}: {verdict}"
    )


def _volume(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.3f}"


def _volume_ends(found: Estimate) -> str:
    return "no interval" if found.ci is None else f"[{found.ci[0]:.3f}, {found.ci[1]:.3f}]"


def _beside_interval(found: Estimate) -> bool:
    return found.value is not None and found.ci is not None and not found.ci[0] <= found.value <= found.ci[1]


def _spread(found: Spread) -> str:
    if found.mean is None or found.low is None or found.high is None:
        return "–"
    return f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
