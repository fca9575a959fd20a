"""Time of the app's first paint against an empty Textual app, and from a key to what it paints while replies arrive.

Bars: 1.3 for the first paint, from the fork to the text on a terminal, before which nothing heavy may be imported;
50 ms at the 95th percentile for a key that moves the cursor in the list of answers, while 50 replies a second arrive.
Both are measured outside the app, on a pseudo-terminal.

Usage: python benchmarks/app.py [--json FILE]
"""

from __future__ import annotations

import json
import random
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import table
from terminal import LINES, PATIENCE, Highlight, Terminal

FIRST_PAINT, KEY_TO_PAINT = 1.3, 50.0
ROUNDS = 15
RATE = 50
STRETCHES, KEYS = 5, 60
"""So many keys are pressed in each stretch; the median of the stretches counts."""
MARK = "which model?"
EMPTY = f"""
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static({MARK!r})
Empty().run()
"""
HEAVY = ("numpy", "scipy", "httpx", "ollama", "textual_plot", "matplotlib")
TELLING = f"""
import importlib.metadata, os, runpy, sys
def tell(name):
    os.write(2, f"<uses {{name}}>".encode())
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in {HEAVY!r}:
            tell(name)
look = importlib.metadata.entry_points
def entry_points(**wanted):
    tell("entry_points")
    return look(**wanted)
importlib.metadata.entry_points = entry_points
sys.meta_path.insert(0, Finder())
sys.argv = ["selfdiag"]
runpy.run_module("selfdiag", run_name="__main__")
"""
"""Starts the app so that it tells on its terminal, among what it paints, what it begins to import."""
DOWN, UP, ESCAPE = b"\x1b[B", b"\x1b[A", b"\x1b"


def surroundings(place: str) -> dict[str, str]:
    return {"SELFDIAG_HOME": place, "SELFDIAG_CACHE": place, "OLLAMA_HOST": "127.0.0.1:9"}


def first_paint(*words: str) -> float:
    with tempfile.TemporaryDirectory() as place, Terminal([sys.executable, *words], surroundings(place)) as terminal:
        _, painted = terminal.until(lambda seen: MARK.encode() in seen)
        return painted - terminal.started


def used_before_paint() -> set[str]:
    """Return what was imported before the first paint could be seen."""
    program = [sys.executable, "-c", TELLING]
    with tempfile.TemporaryDirectory() as place, Terminal(program, surroundings(place)) as terminal:
        seen, _ = terminal.until(lambda seen: MARK.encode() in seen and b"<uses entry_points>" in seen)
    return set(re.findall(r"<uses (\w+)>", seen.partition(MARK.encode())[0].decode("utf-8", "replace")))


def first_paint_rows() -> list[table.Row]:
    first_paint("-m", "selfdiag")  # the files are in memory from here on
    pairs = [(first_paint("-m", "selfdiag"), first_paint("-c", EMPTY)) for _ in range(ROUNDS)]
    ours, empty = (min(seconds) for seconds in zip(*pairs, strict=True))
    ratio = statistics.median(ours / empty for ours, empty in pairs)
    early = sorted(used_before_paint())
    return [
        table.Row(
            "first paint of the app, against an empty one",
            ratio,
            "times",
            FIRST_PAINT,
            note=f"the quickest of {ROUNDS}: {1000 * ours:.0f} ms against {1000 * empty:.0f} ms, {ours / empty:.2f} x",
        ),
        table.Row("heavy imports before the first paint", len(early), "modules", 0, note=", ".join(early)),
    ]


def replies(place: str) -> int:
    """Return how many replies are on the disk."""
    return sum(path.read_bytes().count(b"\n") for path in Path(place).glob("runs/*/records.jsonl"))


def watch(terminal: Terminal, cursor: Highlight, seconds: float) -> None:
    """Follow what is painted for so long."""
    deadline = time.perf_counter() + seconds
    while (left := deadline - time.perf_counter()) > 0:
        cursor.see(terminal.read(left))


def until_moved(terminal: Terminal, cursor: Highlight, keys: bytes) -> float:
    """Press keys and return after how many milliseconds the highlighted line is another one."""
    before, began = cursor.line, terminal.press(keys)
    while cursor.see(terminal.read(PATIENCE)) == before:
        if time.perf_counter() > began + PATIENCE:
            raise TimeoutError(f"{keys!r} moved nothing within {PATIENCE:.0f} s")
    return 1000 * (time.perf_counter() - began)


def stretch(terminal: Terminal, cursor: Highlight) -> list[float]:
    """Return the milliseconds from each of many keys to what it paints."""
    cursor.line = None
    until_moved(terminal, cursor, DOWN)  # gives the list the keys
    found = []
    for turn in range(KEYS):
        # at any moment between two repaints
        watch(terminal, cursor, random.uniform(0.05, 0.15))
        found.append(until_moved(terminal, cursor, UP if turn % 2 else DOWN))
    terminal.press(ESCAPE)
    watch(terminal, cursor, 1)
    return found


def late(milliseconds: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(milliseconds, n=20)[-1]


def key_rows() -> list[table.Row]:
    with tempfile.TemporaryDirectory() as place:
        colour = Path(place) / "colour"
        program = [sys.executable, str(Path(__file__).with_name("paced_app.py")), str(RATE), str(colour)]
        with Terminal(program, surroundings(place)) as terminal:
            terminal.until(lambda seen: b"enter starts" in seen)
            terminal.press(b"\r")
            terminal.until(lambda seen: b"answer 9" in seen)
            cursor = Highlight(*json.loads(colour.read_text(encoding="ascii")))
            while replies(place) < 2 * LINES:  # the list must be longer than its place, or its lines move by themselves
                watch(terminal, cursor, 0.5)
            before, began = replies(place), time.perf_counter()
            busy = [stretch(terminal, cursor) for _ in range(STRETCHES)]
            rate = (replies(place) - before) / (time.perf_counter() - began)
            terminal.press(b"p")
            watch(terminal, cursor, 2)
            quiet = stretch(terminal, cursor)
    ends = [late(found) for found in busy]
    middle = statistics.median(value for found in busy for value in found)
    note = (
        f"{rate:.0f} replies a second, {STRETCHES * KEYS} keys; median {middle:.0f} ms, best stretch {min(ends):.0f} ms"
    )
    return [
        table.Row("key to paint while replies arrive, 95 %", statistics.median(ends), "ms", KEY_TO_PAINT, note=note),
        table.Row("key to paint while the run rests, 95 %", late(quiet), "ms"),
    ]


def rows() -> list[table.Row]:
    return [*first_paint_rows(), *key_rows()]


if __name__ == "__main__":
    table.main("Time the app's first paint and its keys.", rows)
