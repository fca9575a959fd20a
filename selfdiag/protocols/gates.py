"""Gates: bars that the figures of a run must pass, for scripts that act on an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.microprobe import SET_SIZE
from selfdiag.measure.tiers import ORDER, probability_at_least
from selfdiag.protocols.microprobe import MicroprobeSummary
from selfdiag.protocols.summary import Summary
from selfdiag.runs.records import MICROPROBE
from selfdiag.safety import SelfdiagError, one_line

TIERS = ORDER.replace("-", "")
"""The tiers that can be asked for, the best first."""
SURE = 0.95
"""On its bound, a tier or a better one must be so probable."""
_ROUNDING = 1e-9


class Gates(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a run; None where nothing is.

    ``fail_under`` is the least tier, of ``TIERS``. ``max_gap`` bounds the size of the gap, ``min_trap_rate`` the share
    of traps spotted and ``max_high_confidence_error`` the share of wrong answers at 80 or more, all in [0, 1];
    ``max_shift`` the mean size of the microprobe's shift, in points from 0 to 100. ``gate_on`` says what must pass:
    the value, or also the worse end of its 95 % interval.
    """

    fail_under: str | None = None
    max_gap: float | None = None
    min_trap_rate: float | None = None
    max_high_confidence_error: float | None = None
    max_shift: float | None = None
    gate_on: Literal["point", "bound"] = "point"

    def given(self) -> tuple[str, ...]:
        """Return the names of the gates that are given."""
        return tuple(name for name in ("fail_under", *_MEASURES) if getattr(self, name) is not None)


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one gate came out: ``gate`` as a person writes it, and in ``sentence`` what was found beside the bar."""

    gate: str
    passed: bool
    sentence: str


class _Measure(NamedTuple):
    """A figure in words, whether the bar is the least or the most, and how the figure is written."""

    words: str
    least: bool
    form: str
    unit: str = ""
    reach: str = ""

    def worst(self, values: list[float]) -> float:
        """Return the one of some values that is furthest from passing; a gap counts by its size."""
        return min(values) if self.least else max(values, key=abs)

    def passes(self, value: float, bar: float) -> bool:
        """Return whether a value lies on the right side of the bar."""
        return value >= bar - _ROUNDING if self.least else abs(value) <= bar + _ROUNDING

    def number(self, value: float, bar: float) -> str:
        """Return a value in as many digits as tell it from the bar."""
        text = f"{value:{self.form}}"
        return f"{value:.9g}" if abs(float(text)) == bar else text


_MEASURES: Mapping[str, _Measure] = {
    "max_gap": _Measure("the gap", least=False, form="+.3f", reach=" in either direction"),
    "min_trap_rate": _Measure("the share of traps spotted", least=True, form=".3f"),
    "max_high_confidence_error": _Measure("the share of wrong answers at 80 or more", least=False, form=".3f"),
    "max_shift": _Measure("the mean size of the shift", least=False, form=".1f", unit=" points"),
}
_METRICS: Mapping[str, str] = {
    "max_gap": "gap",
    "min_trap_rate": "trap_abstention",
    "max_high_confidence_error": "high_confidence_error_80",
}


def check_kind(gates: Gates, kind: str) -> None:
    """Refuse gates on figures that a kind of run never has.

    Args:
        gates: what is asked.
        kind: of ``kind_of``.

    Raises:
        SelfdiagError: naming the gate and the kind of run.
    """
    fitting = {"audit": gates.given(), MICROPROBE: ("max_shift",)}.get(kind, ())
    misfit = next((name for name in gates.given() if name not in fitting), None)
    if misfit is not None:
        instead = {MICROPROBE: "a microprobe has --max-shift alone", "assess": "give --require to 'selfdiag assess'"}
        raise SelfdiagError(
            f"{_flag(misfit)} is a gate for audits, and this is a run of the kind {kind}: "
            f"{instead.get(kind, 'leave it away')}"
        )


def check(gates: Gates, found: Summary | MicroprobeSummary) -> tuple[GateResult, ...]:
    """Return how each gate came out, in a fixed order; a value that is missing fails.

    Args:
        gates: what is asked; of a microprobe by itself only ``max_shift``, see ``check_kind``.
        found: the figures of an audit, or of a microprobe by itself.
    """
    bound = gates.gate_on == "bound"
    results = []
    for name in gates.given():
        bar = getattr(gates, name)
        written = bar if isinstance(bar, str) else f"{bar:g}"
        if name == "fail_under":
            passed, sentence = _tier(found, bar, bound=bound)
        else:
            passed, sentence = _value(name, bar, found, bound=bound)
        gate = f"{_flag(name)} {written}{' --gate-on bound' if bound else ''}"
        results.append(GateResult(gate=gate, passed=passed, sentence=sentence))
    return tuple(results)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _tier(found: Summary | MicroprobeSummary, least: str, *, bound: bool) -> tuple[bool, str]:
    if not isinstance(found, Summary):
        return False, "a microprobe has no tier"
    tier, answered = found.tier, found.metrics["gap"].n
    if tier.letter == "-":
        return False, f"there is no tier: {one_line(tier.advice, 200).rstrip('.')}"
    reached = ORDER.index(tier.letter) <= ORDER.index(least)
    sure = probability_at_least(tier, least)
    better = least if least == TIERS[0] else f"{least} or better"
    said = f"the tier is {tier.letter}, {better} with a probability of {sure:.3f}, n {answered}"
    if not bound:
        return reached, f"{said}; {better} is asked for"
    needed = f"{said}; a probability of {SURE:g} is asked for"
    if reached and sure < SURE - _ROUNDING:
        needed += ". The letter is good enough, the evidence is not: more items make it surer"
    return reached and sure >= SURE - _ROUNDING, needed


def _value(name: str, bar: float, found: Summary | MicroprobeSummary, *, bound: bool) -> tuple[bool, str]:
    measure = _MEASURES[name]
    wanted = f"{'at least' if measure.least else 'at most'} {bar:g}{measure.unit}{measure.reach} is asked for"
    figure, unfit = _figure(name, found)
    if figure.value is None:
        return False, f"{measure.words} is missing ({one_line(figure.note, 200)}); {wanted}"
    if unfit:
        return False, f"{unfit}; {wanted}"
    ends = f" [{figure.ci[0]:{measure.form}}, {figure.ci[1]:{measure.form}}]" if figure.ci else ""
    said = f"{measure.words} is {measure.number(figure.value, bar)}{measure.unit}{ends}, n {figure.n}"
    if figure.ci is None:
        said += f", without an interval{f' ({one_line(figure.note, 200)})' if figure.note else ''}"
        if bound:
            return False, f"{said}, so there is no bound to judge; {wanted}"
    judged = measure.worst([figure.value, *(figure.ci or ())]) if bound else figure.value
    passed = measure.passes(judged, bar)
    if not passed and measure.passes(figure.value, bar):
        wanted += (
            f". The value passes, its bound {measure.number(judged, bar)} does not: more items narrow the interval"
        )
    return passed, f"{said}; {wanted}"


def _figure(name: str, found: Summary | MicroprobeSummary) -> tuple[Estimate, str]:
    """Return the figure that a gate judges, and why it cannot be judged if its evidence is too thin."""
    if name in _METRICS:
        missing = Estimate(value=None, note="a microprobe does not measure it")
        return found.metrics[_METRICS[name]] if isinstance(found, Summary) else missing, ""
    probed = found.microprobe if isinstance(found, Summary) else found
    if probed is None:
        return Estimate(value=None, note="no microprobe was asked: add --sections probes,traps,microprobe"), ""
    size = probed.absolute_shift
    thin = probed.asked >= SET_SIZE > size.n
    return size, f"only {size.n} of {probed.asked} items have a reading, too few to judge a shift" if thin else ""
