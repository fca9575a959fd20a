"""Which calls put a claimed accuracy, or an example value, before the model."""

from __future__ import annotations

from collections.abc import Sequence

from selfdiag.battery.draw import SeededOrder, wording
from selfdiag.battery.items import Probe
from selfdiag.elicit.prompts import profile_slot, render
from selfdiag.runs.calls import CallBook
from selfdiag.runs.records import ANCHOR, MICROPROBE

LOW_AND_HIGH = (0, 95)
DOSES = (0, 5, 25, 50, 75, 95, 100)
EXAMPLES = (15, 50, 85)
CLAIM = "claim"
EXAMPLE = "example"


def judged_claims(claims: Sequence[int]) -> tuple[int, int]:
    """Return the two claims between which a shift is judged: 0 and 95 where both are asked, else the outermost."""
    return LOW_AND_HIGH if set(LOW_AND_HIGH) <= set(claims) else (min(claims), max(claims))


def one_a_topic(probes: Sequence[Probe], seed: int) -> tuple[Probe, ...]:
    """Return one probe of every topic, chosen by the seed."""
    order = SeededOrder("one a topic", seed)
    kept: dict[str, Probe] = {}
    for probe in order.shuffled(probes):
        kept.setdefault(probe.bin, probe)
    return tuple(sorted(kept.values(), key=lambda probe: probe.id))


def off_topic(probe: Probe, bins: Sequence[str], seed: int) -> str:
    """Return another topic than the probe's, on whose line the control's claim stands; empty when there is none."""
    others = [name for name in bins if name != probe.bin]
    return others[SeededOrder("off topic", seed).pick(len(others), probe.id)] if others else ""


def add_claims(
    book: CallBook,
    probes: Sequence[Probe],
    bins: Sequence[str],
    *,
    claims: Sequence[int] = LOW_AND_HIGH,
    labelled: bool = True,
    control: bool = True,
    unlabelled: bool = True,
    wordings: int = 1,
) -> None:
    """Plan the calls of a microprobe: only the claimed accuracy differs between them.

    Args:
        book: takes the calls.
        probes: the items, each asked under every claim.
        bins: every topic of the profile, in the order of its line.
        claims: claimed accuracies in percent.
        labelled: name the topic of the question in the user turn.
        control: ask also with the two claims that are judged on another topic's line.
        unlabelled: ask also with these two claims on the item's own line without naming its topic.
        wordings: so many wordings of each item, the drawn one first.
    """
    seed = book.settings.seed
    ends = judged_claims(claims)
    for probe in SeededOrder("claims", seed).shuffled(probes):
        first = wording(probe, seed)
        asked = [(first + step) % len(probe.questions) for step in range(min(wordings, len(probe.questions)))]
        elsewhere = off_topic(probe, bins, seed)
        made = [(claim, probe.bin, labelled, index) for claim in claims for index in asked]
        made += [(claim, elsewhere, labelled, first) for claim in ends if control and elsewhere]
        made += [(claim, probe.bin, False, first) for claim in ends if unlabelled and labelled]
        for claim, claim_bin, named, index in made:
            slot = profile_slot(bins, {claim_bin: claim})
            prompt = render(probe, index, slot=slot, labelled=named, example=book.settings.example)
            book.add(
                MICROPROBE,
                probe.id,
                prompt,
                arm=CLAIM,
                claim=claim,
                claim_bin=claim_bin,
                labelled=named,
                paraphrase=index,
            )


def add_anchors(book: CallBook, probes: Sequence[Probe]) -> None:
    """Plan the anchor check: each probe without an example reply, and with one that shows each value in turn."""
    for probe in SeededOrder("anchors", book.settings.seed).shuffled(probes):
        index = wording(probe, book.settings.seed)
        book.add(ANCHOR, probe.id, render(probe, index), paraphrase=index)
        for value in EXAMPLES:
            prompt = render(probe, index, example=value)
            book.add(ANCHOR, probe.id, prompt, arm=EXAMPLE, claim=value, paraphrase=index)
