"""Drives the real app for as long as wanted, with keys at random, while a hostile model answers it.

``python -m tests.endurance.soak_app --minutes 10 --seed 1`` presses every key that a screen offers and many that it
does not, clicks, pastes and resizes, starts runs again and again and looks at what came of them. Whatever ends as an
exception, in the app, a worker, a thread or as a warning, is printed with the last keys, and the exit code is 1. What
is pressed follows from the seed; when it arrives depends on the machine, which must be a Linux one.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from textual.pilot import WaitForScreenTimeout

from selfdiag.models.persona import CHARACTERS
from selfdiag.runs import store
from selfdiag.runs.records import RunSettings
from selfdiag.safety import SelfdiagError
from selfdiag.tui.actions import actions_of, nodes_of
from selfdiag.tui.screens.dialog import Question
from selfdiag.tui.screens.home import HomeScreen
from tests.endurance.fences import fence, watch_app
from tests.endurance.hand import Cell, Hand
from tests.endurance.hostile_server import HOSTILE, HostileServer
from tests.endurance.watching import SLOW, STUCK, Findings, Heartbeat, megabytes, open_files

SIZES = ((40, 10), (80, 24), (120, 40))
KEPT_KEYS, KEPT_RUNS = 50, 12
LIFE = (30.0, 90.0)
"""Seconds that one app lives, between these two."""
PATIENCE = 20.0
"""Seconds for what must happen at some time, on a machine that does much else."""
MODEL = f"openai:{HOSTILE[3]} {HOSTILE[9]}"
SECTIONS = (
    ("probes", "traps"),
    ("probes", "traps"),
    ("traps",),
    ("microprobe",),
    ("questionnaire", "self-profile", "framing"),
    ("probes", "traps", "anchor", "fresh-check"),
)
MOVES = (
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "shift+tab"),
    *("enter", "enter", "enter", "escape", "space", "backspace", "delete", "f1", "f5", "ctrl+a", "ctrl+u", "ctrl+c"),
)
QUITS = ("q", "ctrl+q")
"""Keys that may end the app: few of them are pressed."""
LETTERS = "abcdefghijklmnoprstuvwxyzSGJ0123456789/?-.:~[]{}\"' "
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that must never reach a terminal as they are."""

Doing = Callable[[Hand], Awaitable[None]]


class Soak:
    """One soak: an app after the other until the time is over.

    Args:
        seed: of everything that is pressed.
        minutes: how long.
        server: the model.
        root: the folder that everything is written to.
    """

    def __init__(self, seed: int, minutes: float, server: HostileServer, root: Path) -> None:
        self.random = Random(f"keys {seed}")
        self.server = server
        self.root = root
        self.until = time.monotonic() + 60 * minutes
        self.findings = Findings(self._found)
        self.heart = Heartbeat()
        self.keys: deque[str] = deque(maxlen=KEPT_KEYS)
        self.screens: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.tasks_left: list[str] = []
        self.memory = [megabytes()]
        self.files = open_files()
        self._make_app = watch_app(self.findings, self.counts)
        self._seed = seed
        self._shown: object = None

    def _found(self, text: str) -> None:
        print(f"\n✗ {text}\nseed {self._seed}, the last keys: {'  '.join(self.keys)}\n", flush=True)

    async def run(self) -> None:
        self.findings.watch_loop()
        heart = asyncio.ensure_future(self.heart.run())
        while time.monotonic() < self.until:
            await self._live()
            gc.collect()
            self.memory.append(megabytes())
        await asyncio.sleep(1)
        left = asyncio.all_tasks() - {heart, asyncio.current_task()}
        self.tasks_left = [f"{task.get_name()} {task.get_coro()}" for task in left]
        heart.cancel()
        with suppress(asyncio.CancelledError):
            await heart

    async def _live(self) -> None:
        """Let one app live for a while, and end it."""
        named = (MODEL, self.server.stub.url) if self.random.random() < 0.8 else ()
        app = self._make_app(*named)
        self.counts["apps"] += 1
        end = min(self.until, time.monotonic() + self.random.uniform(*LIFE))
        try:
            async with app.run_test(size=self.random.choice(SIZES), notifications=True) as pilot:
                hand = Hand(pilot)
                while time.monotonic() < end and hand.usable:
                    await self._step(hand)
                if hand.usable:
                    await self._end(hand)
                else:
                    self.counts["apps ended by a key"] += 1
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            self.findings.note("app", error)
        if app.fault:
            self.findings.note("app", f"the app ended with: {app.fault}")

    async def _end(self, hand: Hand) -> None:
        """End the app as a signal does, or as a person does."""
        app = hand.app
        if self.random.random() < 0.3:
            self._note_key("(signal)", app)
            await app.shut_down(130)
        else:
            self._note_key("(quit)", app)
            app.action_leave()
        deadline = time.monotonic() + PATIENCE
        while hand.usable and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
            if hand.usable and isinstance(app.screen, Question):
                await self._press(hand, "y")
        if not app._exit:
            self.findings.note("stuck", f"it does not end on {type(app.screen).__name__}{_state(app)}")

    # What is done.

    async def _step(self, hand: Hand) -> None:
        doings: tuple[tuple[int, Doing], ...] = (
            (34, self._offered),
            (20, self._move),
            (12, self._letter),
            (9, self._click),
            (7, self._burst),
            (3, self._resize),
            (3, self._palette),
            (2, self._paste),
            (2, self._wheel),
            (2, self._jump),
            (3, self._idle),
            (3, self._errand),
        )
        weights, does = zip(*doings, strict=True)
        (do,) = self.random.choices(does, weights)
        try:
            await do(hand)
            await hand.settle()
        except WaitForScreenTimeout as error:
            self.findings.note("stuck", error)
        self._look(hand.app)

    def _note_key(self, key: str, app: Any) -> None:
        self.counts["keys"] += 1
        self.keys.append(f"{type(app.screen).__name__}:{key}" if app.screen_stack else key)

    async def _press(self, hand: Hand, *keys: str) -> None:
        for key in keys:
            if hand.usable:
                self._note_key(key, hand.app)
                hand.key(key)
                await asyncio.sleep(0)
                await hand.settle()

    def _any_key(self, app: Any) -> str:
        nodes = nodes_of(app.screen, app.screen.focused)
        keys = [key.key for node in nodes for action in actions_of(node, {}) for key in action.keys]
        key = self.random.choice(keys or ["escape"])
        return "escape" if key in QUITS and self.random.random() < 0.9 else key

    def _any_cell(self, app: Any) -> Cell:
        return self.random.randrange(max(app.size.width, 1)), self.random.randrange(max(app.size.height, 1))

    async def _offered(self, hand: Hand) -> None:
        await self._press(hand, self._any_key(hand.app))

    async def _move(self, hand: Hand) -> None:
        await self._press(hand, *[self.random.choice(MOVES)] * self.random.choice((1, 1, 1, 2, 5)))

    async def _letter(self, hand: Hand) -> None:
        await self._press(hand, *(self.random.choice(LETTERS) for _ in range(self.random.choice((1, 1, 4)))))

    async def _burst(self, hand: Hand) -> None:
        """Press keys faster than anything can answer them."""
        for _ in range(self.random.randint(3, 12)):
            if hand.usable:
                key = self.random.choice((self._any_key(hand.app), self.random.choice(MOVES)))
                self._note_key(f"{key}!", hand.app)
                hand.key(key)
                if self.random.random() < 0.3:
                    await asyncio.sleep(0)

    async def _click(self, hand: Hand) -> None:
        cell = self._any_cell(hand.app)
        to = self._any_cell(hand.app) if self.random.random() < 0.2 else None
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            self._note_key(f"click{cell}{to or ''}", hand.app)
            hand.click(cell, to=to)

    async def _wheel(self, hand: Hand) -> None:
        cell, lines = self._any_cell(hand.app), self.random.choice((-20, -3, 3, 20))
        self._note_key(f"wheel{cell}{lines}", hand.app)
        hand.wheel(cell, lines)

    async def _resize(self, hand: Hand) -> None:
        size = self.random.choice(SIZES)
        self._note_key(f"resize{size}", hand.app)
        await hand.resize(size)

    async def _palette(self, hand: Hand) -> None:
        found = (self.random.choice("abcdefghilmnoprst") for _ in range(self.random.randint(0, 2)))
        await self._press(hand, "ctrl+p", *found, "down", self.random.choice(("enter", "enter", "escape")))

    async def _paste(self, hand: Hand) -> None:
        text = self.random.choice((*HOSTILE, "x" * 100_000))
        self._note_key(f"paste({text[:12]!r})", hand.app)
        hand.paste(text)

    async def _jump(self, hand: Hand) -> None:
        await self._press(hand, "ctrl+j", self.random.choice("asdfghjkl"))

    async def _idle(self, hand: Hand) -> None:
        """Let replies come in."""
        self._note_key("(wait)", hand.app)
        await asyncio.sleep(3 * self.random.random())

    async def _errand(self, hand: Hand) -> None:
        """Go home, and from there to what random keys seldom find."""
        if not await self._go_home(hand):
            return
        app, runs = hand.app, self._tidy()
        what = self.random.choice(("run", "run", "run", "persona", "start", "results", "item", "lab", "compare"))
        self._note_key(f"({what})", app)
        if what == "run":
            app.open_run(self._settings(MODEL, self.server.stub.url))
        elif what == "persona":
            app.open_run(self._settings(f"persona:{self.random.choice(list(CHARACTERS))}", ""))
        elif what == "lab":
            app.open_lab(MODEL, self.server.stub.url)
        elif what == "start":
            await self._press(hand, "f5", "escape", "enter")
        elif runs and what == "results":
            app.open_results(self.random.choice(runs))
        elif runs and what == "item":
            folder = self.random.choice(runs)
            app.open_item(folder, self._call_of(folder))
        elif len(runs) > 1:
            app.open_compare(tuple(self.random.sample(runs, min(len(runs), self.random.randint(2, 4)))))

    async def _go_home(self, hand: Hand) -> bool:
        deadline = time.monotonic() + PATIENCE
        while hand.usable and not isinstance(hand.app.screen, HomeScreen):
            if time.monotonic() > deadline:
                self.findings.note("stuck", f"no way home from {type(hand.app.screen).__name__}{_state(hand.app)}")
                return False
            await self._press(hand, "y" if isinstance(hand.app.screen, Question) else "escape")
        return hand.usable

    def _settings(self, model: str, base_url: str) -> RunSettings:
        return RunSettings(
            model=model,
            base_url=base_url,
            battery=self.random.choice(("quick", "quick", "quick", "standard")),
            sections=self.random.choice(SECTIONS),
            seed=self.random.randrange(5),
            structured=self.random.choice(("auto", "off")),
            concurrency=self.random.choice((None, 1, 8)),
            max_retries=self.random.choice((0, 1, 4)),
            timeout=self.random.choice((2.0, 300.0)),
            instances=1,
            ratings=2,
        )

    def _tidy(self) -> list[Path]:
        """Return the runs; the oldest are deleted, whoever looks at them, and one is cut short now and then."""
        folder = self.root / "home" / "runs"
        found = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime) if folder.is_dir() else []
        for old in found[:-KEPT_RUNS]:
            shutil.rmtree(old, ignore_errors=True)
        runs = found[-KEPT_RUNS:]
        if runs and self.random.random() < 0.1:
            with suppress(OSError), (self.random.choice(runs) / store.RECORDS).open("ab") as file:
                file.write(b'{"torn')
        return runs

    def _call_of(self, folder: Path) -> str:
        try:
            plan = store.read_manifest(folder).plan
        except SelfdiagError:
            return "none"
        return self.random.choice([*(call.call_id for call in plan), "none"])

    # What must hold.

    def _look(self, app: Any) -> None:
        """Count the screen when it is another one, and see that what is on it is harmless."""
        if not app.screen_stack or not app.is_running:
            return
        if app.screen is not self._shown:
            self._shown = app.screen
            self.screens[type(app.screen).__name__] += 1
        elif self.random.random() < 0.8:  # looking takes time
            return
        for strip in app.screen._compositor.render_strips():
            for text, style, _ in strip:
                if UNSHOWN.search(text):
                    self.findings.note("screen", f"control characters on {type(app.screen).__name__}: {text!r}")
                if style is not None and (style.link or "app.quit" in str(style.meta.get("@click", ""))):
                    self.findings.note("screen", f"foreign text is alive on {type(app.screen).__name__}: {text!r}")

    def report(self) -> None:
        """Print what was done and what is left."""
        heart, memory = self.heart, self.memory
        told = f"{heart.slow} times for more than {SLOW} s, {heart.stuck} times for more than {STUCK:.0f} s"
        lines = [
            f"seed {self._seed}: {self.counts['keys']} keys in {self.counts['apps']} apps, "
            f"{self.counts['apps ended by a key']} of them ended by a key; {self.counts['messages']} messages",
            f"screens: {_listed(self.screens)}",
            f"replies: {_listed(self.server.replies)}; {self.counts['records']} records written",
            f"faults sent: {_listed(self.server.faults)}",
            f"the loop stood still {told}; longest {heart.longest:.1f} s, {heart.computing:.1f} s of them computing",
            f"memory in MB at the start, and after each app: {', '.join(f'{held:.0f}' for held in memory)}",
            f"open files: {self.files} at the start, {open_files()} at the end",
            f"tasks left: {len(self.tasks_left)}; threads left: {threading.active_count() - 1}",
            *self.tasks_left,
        ]
        if heart.longest > SLOW:
            lines += ["where it stood still for longest:", "".join(heart.stack).rstrip()]
        lines += [f"✗ {key}, {count} times" for key, count in self.findings.counts.most_common()]
        print("", *lines, sep="\n")


def _listed(counts: Counter[str]) -> str:
    return f"{counts.total()} ({', '.join(f'{name} {count}' for name, count in counts.most_common())})"


def _state(app: Any) -> str:
    """Return what is painted, who has the keys and what is under way."""
    painted = (strip.text.rstrip() for strip in app.screen._compositor.render_strips())
    under_way = [str(worker) for worker in app.workers if worker.is_running]
    return "\n".join(("", *painted, f"focused: {app.focused}; under way: {under_way}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name.lower().endswith("_proxy")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        os.environ |= {"SELFDIAG_HOME": str(root / "home"), "SELFDIAG_CACHE": str(root / "cache")}
        os.environ["OLLAMA_HOST"] = "127.0.0.1:9"
        os.chdir(root)
        fence(root)
        server = HostileServer(chosen.seed)
        with server.stub:
            soak = Soak(chosen.seed, chosen.minutes, server, root)
            soak.findings.watch_process()
            asyncio.run(soak.run())
            soak.report()
        os.chdir("/")
    sys.exit(1 if soak.findings.counts else 0)


if __name__ == "__main__":
    main()
