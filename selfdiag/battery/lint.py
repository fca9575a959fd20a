"""What is wrong with a battery: every fault with its file, line and item."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from pathlib import Path

from selfdiag.battery.derivation import derive_each
from selfdiag.battery.items import BINS, FAMILIES, PARAPHRASES, Battery, Item, Probe
from selfdiag.battery.load import BatteryError, Fault, Loaded, Place, load_what_can_be_read

SAME_WORDS = 0.9
"""Two questions of different items that share this part of their words count as near duplicates."""


def lint(path: Path, *, shipped: bool = False) -> list[Fault]:
    """Return every fault of the battery at ``path``; an empty list means it is sound.

    Args:
        path: a battery file or folder.
        shipped: also ask what only the shipped battery must keep: known bins, three wordings.
    """
    try:
        loaded = load_what_can_be_read(path)
    except BatteryError as error:
        return error.faults
    faults = list(loaded.faults)
    if not faults and not loaded.battery.items():
        return [Fault(file=path.name, fault="no probe and no trap in it")]
    for item in loaded.battery.items():
        place = loaded.places.get(item.id, Place(path.name, 0))
        reasons = [*_common(item), *(_probe(item) if isinstance(item, Probe) else _trap(item))]
        if shipped:
            reasons += _shipped(item)
        faults += [Fault(file=place.file, line=place.line, item=item.id, fault=reason) for reason in reasons]
    faults += _derivations(loaded)
    faults += _near_duplicates(loaded)
    if shipped:
        faults += _balance(loaded.battery, path)
    return sorted(faults, key=lambda fault: (fault.file, fault.line))


def _common(item: Item) -> list[str]:
    reasons = []
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", item.id):
        reasons.append("an id has letters, digits, dots, hyphens and underscores only")
    if not item.bin:
        reasons.append("the bin is empty")
    if not item.questions or any(not question.strip() for question in item.questions):
        reasons.append("a question is empty")
    folded = [_fold(question) for question in item.questions]
    if len(set(folded)) < len(folded):
        reasons.append("two of its paraphrases are the same")
    return reasons


def _probe(probe: Probe) -> list[str]:
    reasons = []
    if not probe.answer.strip():
        reasons.append("the answer is empty")
    if not probe.derivation and not probe.source:
        reasons.append("neither a derivation nor a source says why the answer is right")
    if probe.kind == "choice":
        if len(probe.options) < 2:
            reasons.append("a choice needs at least two options")
        elif probe.answer not in probe.options:
            reasons.append("the answer is not one of the options")
        if len({option.strip().casefold() for option in probe.options}) < len(probe.options):
            reasons.append("two options are the same")
    elif probe.options:
        reasons.append(f"options belong to kind 'choice', not to {probe.kind!r}")
    else:
        leaking = next((q for q in probe.questions if _leaks(probe, q)), None)
        if leaking:
            reasons.append(f"the answer stands in the question {leaking!r}")
    return reasons


def _derivations(loaded: Loaded) -> list[Fault]:
    probes = [probe for probe in loaded.battery.probes if probe.derivation]
    faults = []
    for probe, derived in zip(probes, derive_each([probe.derivation for probe in probes]), strict=True):
        if derived.fault:
            reason = f"the derivation {derived.fault}"
        elif derived.value != probe.answer:
            reason = f"the derivation gives {derived.value!r}, the answer is {probe.answer!r}"
        else:
            continue
        place = loaded.places[probe.id]
        faults.append(Fault(file=place.file, line=place.line, item=probe.id, fault=reason))
    return faults


def _trap(trap: Item) -> list[str]:
    reasons = []
    family, note = getattr(trap, "family", ""), getattr(trap, "note", "")
    if family not in FAMILIES:
        reasons.append(f"unknown trap family {family!r}; one of {', '.join(FAMILIES)}")
    if not note.strip():
        reasons.append("no note says why it has no answer")
    return reasons


def _shipped(item: Item) -> list[str]:
    reasons = []
    if item.bin not in BINS:
        reasons.append(f"unknown bin {item.bin!r}")
    if len(item.questions) != PARAPHRASES:
        reasons.append(f"{len(item.questions)} paraphrases, not {PARAPHRASES}")
    return reasons


def _balance(battery: Battery, path: Path) -> list[Fault]:
    faults = []
    counts = Counter((probe.bin, probe.difficulty) for probe in battery.probes)
    per_bin = Counter(probe.bin for probe in battery.probes)
    usual = Counter(per_bin.values()).most_common(1)[0][0] if per_bin else 0
    for name in BINS:
        if per_bin[name] != usual:
            fault = f"the bin {name} has {per_bin[name]} probes where others have {usual}"
            faults.append(Fault(file=path.name, fault=fault))
        elif not all(counts[name, level] for level in ("easy", "medium", "hard")):
            faults.append(Fault(file=path.name, fault=f"the bin {name} lacks a difficulty"))
    return faults


def _near_duplicates(loaded: Loaded) -> list[Fault]:
    """Compare the word sets of questions that share one of their rarest words.

    Two sets that agree in the part ``SAME_WORDS`` must share a word among the few rarest of each, so that no
    other pairs need a look (prefix filtering).
    """
    wordings = [
        (item.id, frozenset(_fold(question).split())) for item in loaded.battery.items() for question in item.questions
    ]
    holders = Counter(word for _, words in wordings for word in words)
    by_rare_word: dict[str, list[tuple[str, frozenset[str]]]] = {}
    pairs: set[tuple[str, str]] = set()
    for item_id, words in wordings:
        rarest = sorted(words, key=lambda word: (holders[word], word))
        for word in rarest[: len(words) - math.ceil(SAME_WORDS * len(words)) + 1]:
            for other_id, others in by_rare_word.setdefault(word, []):
                if other_id != item_id and _share(words, others) >= SAME_WORDS:
                    pairs.add((other_id, item_id))
            by_rare_word[word].append((item_id, words))
    faults = []
    for first, second in sorted(pairs):
        place = loaded.places.get(second, Place("", 0))
        fault = f"asks nearly the same as {first}"
        faults.append(Fault(file=place.file, line=place.line, item=second, fault=fault))
    return faults


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    if any(any(char.isdigit() for char in word) for word in a ^ b):
        return 0.0  # the same template with other numbers is another question
    return len(a & b) / len(a | b) if a | b else 0.0


def _leaks(probe: Probe, question: str) -> bool:
    answer = _fold(probe.answer)
    if not answer or len(answer) < 3 or probe.kind in {"number", "sequence", "set", "code", "expression"}:
        return False
    return f" {answer} " in f" {_fold(question)} "


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub(r"[^\w]+", " ", plain).split())
