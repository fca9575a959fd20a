"""Feeds hostile replies to everything that reads or grades one, and checks what comes back.

``python tests/elicit/fuzz_reading.py --inputs 200000 --seed 0`` runs on all cores and prints one line; input ``n`` of
a seed is always the same text, and ``--only n`` runs it alone. The exit code is 1 when an input had a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from random import Random
from typing import get_args

import msgspec
from elicit_corpus import rows
from elicit_probes import TRAP, probe

from selfdiag.elicit.confidence import read_confidence
from selfdiag.elicit.grading import MAX_SHOWN, Outcome, grade
from selfdiag.elicit.questionnaire import read_yes_no
from selfdiag.elicit.reading import MAX_ANSWER, MAX_REPLY, Parse, Reading, read_reply

MAX_SECONDS = 2.0
"""An input that takes longer is a fault: ten times what a megabyte needs, for machines that are busy."""

SAMPLE = 40
"""One input of so many is run twice, to see that both give the same."""

ITEMS = (
    TRAP,
    probe("number", "8000"),
    probe("number", "5", unit="km", convert=True),
    probe("number", "25%", tolerance=0.01),
    probe("text", "Paris", aliases=("Lutetia",)),
    probe("choice", "B", options=("Rome", "Paris", "cannot be determined")),
    probe("set", "2, 3, 5"),
    probe("sequence", "red, blue"),
    probe("date", "1990-07-05"),
    probe("expression", "x^2 + 2x + 1"),
    probe("expression", "sin(x)/abs(x)"),
    probe("code", "[1, 2]\nNone"),
)
PIECES: tuple[str, ...] = (
    *"{}[]()<>\"'`“”„‘’:,;：，\\/*#|%^_=+-~≈±√½²−×$€ \n\r\t\0\x1b\x7f\u200b\u200d\u202e\ufeff\u2028\ud800\udfff",
    *('"answer"', '"confidence"', "answer: ", "Confidence: ", "'answer'", "{“answer”", "final_answer", "response"),
    *('{"answer":"', '","confidence":', '{"answer": ', "{'answer': '", "```json\n", "```", "/*", "*/", "//", "..."),
    *("<think>", "</think>", "[THINK]", "◁think▷", "<|channel|>", "<|message|>", "final", "analysis", "<|im_end|>"),
    *("<|start|>assistant", "<answer>", "</answer>", "\\frac{", "\\sqrt[3]{", "\\boxed{", "\\text{", "\\nu", "\\u00e9"),
    *("\\ud800", "85", "0.85", "1", "1,234", "1.234,5", "1e999", "9" * 30, "0x1F", "NaN", "Infinity", "true", "null"),
    *("85%", "8/10", " to ", " out of ", "UNANSWERABLE", "I don't know", "I can't help with that", "not sure, but"),
    *("Paris", "the", "because", "and", "or", "km", "m/s^2", "°C", "July", "BC", "1990", "07/05/1990", "5 ", "x"),
    *("x = ", "(x+1)", "^9", "e10", "**", "__", "1. ", "- ", "Option B", "(B)", "million", "percent", "twenty", "half"),
)
RUNS: tuple[str, ...] = (
    *PIECES,
    "\n" * 7,
    "a",
    "7",
    ".",
    '\\"',
    '" ',
    "{ ",
    '{"',
    "},",
    "[[",
    "(-",
    "x(",
    "1/",
    "9^",
    " and ",
    "=1",
)
PLANES = ((0, 0x7F), (0, 0x24F), (0x300, 0x6FF), (0x2000, 0x22FF), (0xD7F0, 0xFFFF), (0, 0x10FFFF))
PAIRS = (("{", "}"), ("[", "]"), ("(", ")"), ("<", ">"), ('{"a":', "}"), ("\\frac{1}{", "}"))
NUMBERS = "{} -{} 1e{} {}/{} {}.{} 0.{} {}% x={} 10^{} {}km {},{} {}:{}".split()

Make = Callable[[Random], str]


def _length(random: Random, most: int) -> int:
    """Return a length that is mostly short."""
    return int(float(most) ** random.random())


def _bytes(random: Random) -> str:
    encoding, errors = random.choice((("utf-8", "replace"), ("utf-8", "surrogateescape"), ("latin-1", "strict")))
    return random.randbytes(_length(random, 600)).decode(encoding, errors)


def _letters(random: Random) -> str:
    low, high = random.choice(PLANES)
    return "".join(chr(random.randint(low, high)) for _ in range(_length(random, 300)))


def _pieces(random: Random) -> str:
    return random.choice(("", "", " ")).join(random.choices(PIECES, k=_length(random, 120)))


def _run(random: Random) -> str:
    """Return the same piece many times, now and then a megabyte of it, with something at either end."""
    piece = random.choice(RUNS) + random.choice(("", "", *RUNS))
    most = MAX_REPLY if random.random() < 0.004 else 30_000
    many = piece * max(_length(random, most) // len(piece), 1)
    return random.choice(PIECES) + many + random.choice((*PIECES, '","confidence":80}'))


def _nested(random: Random) -> str:
    opening, closing = random.choice(PAIRS)
    depth = _length(random, 3_000)
    inner = random.choice(('"answer":"x"', "1", "", _pieces(random)))
    return opening * depth + inner + closing * random.choice((depth, depth - 1, 0))


def _number(random: Random) -> str:
    digits = "".join(random.choices("0123456789", k=_length(random, 6_000)))
    return random.choice(NUMBERS).format(digits, digits[::-1])


def _recorded(random: Random) -> str:
    """Return a recorded reply after some deletions, copies, swaps and insertions."""
    text = random.choice(rows()).raw
    for _ in range(random.randint(1, 5)):
        start = random.randint(0, len(text))
        end = min(len(text), start + _length(random, 40))
        other = random.choice(rows()).raw
        text = random.choice(
            (
                text[:start] + text[end:],
                text[:end] + text[start:],
                text[:start] + random.choice(PIECES) + text[end:],
                text[:start] + other[random.randint(0, len(other)) :],
                text[:start] + text[start:end][::-1] + text[end:],
                text[:start] + "".join(chr(ord(ch) ^ 1 << random.randrange(7)) for ch in text[start:end]) + text[end:],
                text[:start] + text[start:end].swapcase() + text[end:],
            )
        )
    return text


MAKERS: tuple[tuple[Make, int], ...] = (
    (_recorded, 40),
    (_pieces, 25),
    (_number, 6),
    (_letters, 8),
    (_bytes, 6),
    (_run, 8),
    (_nested, 7),
)


def hostile_reply(seed: int, number: int) -> tuple[str, bool]:
    """Return one input of a seed: the reply and whether it counts as cut."""
    random = Random(f"{seed} {number}")
    make = random.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS])[0]
    text = make(random)
    if random.random() < 0.35:
        # in a sound object, so that it reaches the graders
        reply = {"answer": text, "confidence": random.choice((85, text[:50]))}
        text = json.dumps(reply, ensure_ascii=random.random() < 0.5)
    return text, random.random() < 0.1


def _check_text(text: str, most: int) -> None:
    assert len(text) <= most
    text.encode()
    assert not any(ch < " " and ch not in "\n\t" for ch in text)


def _check_confidence(confidence: object) -> None:
    assert confidence is None or (type(confidence) is int and 0 <= confidence <= 100)


def check(raw: str, cut: bool, number: int) -> tuple[Parse, str]:
    """Read and grade one reply in every way; raise AssertionError where something is not as documented.

    Returns:
        How the reply was read, and everything that was found, as text.
    """
    reading = read_reply(raw, cut=cut)
    assert type(reading) is Reading
    _check_confidence(reading.confidence)
    assert reading.parse in get_args(Parse)
    assert type(reading.truncated) is bool
    assert len(set(reading.flags)) == len(reading.flags)
    assert all(type(flag) is str for flag in reading.flags)
    assert reading.parse != "none" or reading.answer is None
    _check_text(reading.reasoning, MAX_REPLY)
    if reading.answer is not None:
        _check_text(reading.answer, MAX_ANSWER)
    # where nothing was read, the reply itself as an answer: in a file that is graded it can stand there
    answered = reading if reading.answer is not None else Reading(answer=raw[: 2 * MAX_ANSWER], parse="strict")
    found = grade(ITEMS[number % len(ITEMS)], answered)
    assert found.outcome in get_args(Outcome)
    assert found.rule
    assert len(set(found.flags)) == len(found.flags)
    _check_text(found.expected, MAX_SHOWN)
    _check_text(found.given, MAX_SHOWN)
    confidence, flags = read_confidence(raw)
    _check_confidence(confidence)
    field = read_yes_no(raw) if number % 4 == 0 else (None, "not asked")
    assert field[0] in (None, 0.0, 0.5, 1.0)
    assert field[1]
    return reading.parse, repr((reading, found, confidence, flags, field))


class Tally(msgspec.Struct, kw_only=True):
    """What a stretch of inputs gave: counts by parse, faults with the numbers of their inputs, the slowest input."""

    parses: Counter[str]
    faults: list[str]
    slowest: tuple[float, int, int] = (0.0, 0, 0)


def run(numbers: range, seed: int) -> Tally:
    """Run a stretch of a seed's inputs.

    Args:
        numbers: which inputs.
        seed: any whole number.
    """
    tally = Tally(parses=Counter(), faults=[])
    for number in numbers:
        raw, cut = hostile_reply(seed, number)
        begin = time.process_time()
        try:
            parse, found = check(raw, cut, number)
            seconds = time.process_time() - begin
            tally.parses[parse] += 1
            if seconds > MAX_SECONDS:
                tally.faults.append(f"input {number} took {seconds:.1f} s: {raw[:200]!r}")
            if number % SAMPLE == 0 and check(raw, cut, number)[1] != found:
                tally.faults.append(f"input {number} gives something else the second time: {raw[:200]!r}")
        except Exception as fault:  # noqa: BLE001 - any exception is what this looks for
            seconds = time.process_time() - begin
            tally.faults.append(f"input {number} raises {fault!r}: {raw[:200]!r}")
        tally.slowest = max(tally.slowest, (seconds, number, len(raw)))
    return tally


def load_libraries() -> None:
    """Load what is only loaded for some inputs, so that no input's time holds it."""
    for item in ITEMS:
        grade(item, read_reply('{"answer": 8,000, "confidence": 85}'))
        grade(item, Reading(answer="twenty metres", parse="strict"))


def main() -> int:
    """Run the inputs asked for on all cores; print every fault and one line of counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=200_000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="which; the same seed gives the same inputs")
    parser.add_argument("--only", type=int, help="the number of one input to run alone")
    asked = parser.parse_args()
    if asked.only is not None:
        raw, cut = hostile_reply(asked.seed, asked.only)
        print(repr(raw[:2_000]), "cut" if cut else "")
        print(check(raw, cut, asked.only)[1][:5_000])
        return 0
    begin = time.monotonic()
    stretches = [range(start, min(start + 1_000, asked.inputs)) for start in range(0, asked.inputs, 1_000)]
    total = Tally(parses=Counter(), faults=[])
    with ProcessPoolExecutor(os.cpu_count(), initializer=load_libraries) as pool:
        for tally in pool.map(partial(run, seed=asked.seed), stretches):
            total.parses += tally.parses
            total.slowest = max(total.slowest, tally.slowest)
            total.faults += tally.faults
            for fault in tally.faults:
                print(fault, file=sys.stderr)
    counts = ", ".join(f"{parse} {total.parses[parse]}" for parse in get_args(Parse))
    seconds, number, length = total.slowest
    print(
        f"{asked.inputs} inputs of seed {asked.seed} in {time.monotonic() - begin:.0f} s: {counts}; "
        f"slowest {1_000 * seconds:.0f} ms (input {number}, {length} characters); {len(total.faults)} faults"
    )
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
