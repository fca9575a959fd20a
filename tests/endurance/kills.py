"""A run that is killed a hundred times, at any moment, and resumed each time is the undisturbed run."""

from __future__ import annotations

import math
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from selfdiag.runs.store import MANIFEST, RECORDS, Run, read_run
from selfdiag.safety import SelfdiagError
from tests.endurance.checks import Checks, main
from tests.endurance.command import WATCHDOG, said, selfdiag, start, summary
from tests.endurance.serving import ModelServer

KILLS, QUICK_KILLS = 100, 12
SLOTS = 4
LOST_PER_KILL = 2 * SLOTS
"""Of each slot one reply that is being read and written, and the call that was sent meanwhile."""
OF_START = 0.2
"""Share of the kills that come at a moment of the start, at which nothing may have been asked yet."""


class Killed(NamedTuple):
    """What a kill left: whether the run could be read, and how many calls were asked and are not on file."""

    whole: str
    lost: int
    problems: tuple[str, ...]


def kills(checks: Checks) -> None:
    wanted = QUICK_KILLS if checks.quick else KILLS
    words = ["--battery", "full", "--concurrency", str(SLOTS), "--seed", "3"]
    words += ["--limit", "40"] if checks.quick else ["--repeat", "2"]
    random = Random(f"kills {checks.seed}")
    with tempfile.TemporaryDirectory() as place, ModelServer(seed=checks.seed) as server:
        home, folder, undisturbed = Path(place) / "home", Path(place) / "killed", Path(place) / "undisturbed"
        words = ["run", "openai:stub", "--base-url", server.url, *words]
        begun = time.monotonic()
        done = selfdiag(home, *words, "--out", str(undisturbed))
        checks.check("a run that nothing disturbs ends well", done.code == 0, done.told())
        if done.code != 0:
            return
        reference = read_run(undisturbed)
        start_up = max(time.monotonic() - begun - len(reference.records) * 0.02 / SLOTS, 0.5)
        seen: list[Killed] = []
        left = len(reference.manifest.plan)
        while len(seen) < wanted and left > 1:
            resume = ["run", "--resume", str(folder), "--concurrency", str(SLOTS)]
            process = start(home, *(resume if (folder / MANIFEST).exists() else [*words, "--out", str(folder)]))
            before = len(_asked(folder))
            asked = server.asked
            # as many calls a kill as are left for it on average: from none to twice that
            calls = random.randint(0, max(2 * (left - 1) // (wanted - len(seen) + 1), 1))
            server.most = asked + min(calls + SLOTS, left - 1)
            by_time = random.random() < OF_START
            _wait(process, server, asked + calls, random.uniform(0, 1.2 * start_up) if by_time else WATCHDOG)
            time.sleep(random.uniform(0, 0.03))
            if process.poll() is not None:
                told = process.communicate()[1].splitlines()
                checks.check("the run goes on until it is killed", False, (process.returncode, told[-1:]))
                return
            process.kill()
            process.communicate()
            # a request on its way when the process ended has not been counted yet
            time.sleep(0.05)
            seen.append(_killed(folder, before, server.asked - asked))
            left = len(reference.manifest.plan) - len(said(read_run(folder)) if (folder / MANIFEST).exists() else ())
        _tell(checks, wanted, seen)
        server.most = math.inf
        done = selfdiag(home, "run", "--resume", str(folder))
        checks.check("the last resume ends well", done.code == 0 and done.is_plain, done.told())
        _compare(checks, read_run(folder), reference)
        checks.same("its summary is that of the undisturbed run", summary(home, folder), summary(home, undisturbed))
        names = {path.name for path in folder.iterdir()} - {MANIFEST, RECORDS, ".lock"}
        checks.check("nothing else is left in its folder", not names, ", ".join(sorted(names)))


def _wait(process: subprocess.Popen[str], server: ModelServer, asked: int, seconds: float) -> None:
    """Wait until so many calls were asked in all, so many seconds at most."""
    until = time.monotonic() + seconds
    while server.asked < asked and process.poll() is None and time.monotonic() < until:
        time.sleep(0.0005)


def _asked(folder: Path) -> set[tuple[str, int, str]]:
    """Return what tells the replies on file apart; a reply of the trial that was made the run's own counts once."""
    if not (folder / MANIFEST).exists():
        return set()
    return {(record.prompt_sha256, record.replicate, record.at) for record in read_run(folder).records}


def _killed(folder: Path, before: int, asked: int) -> Killed:
    if not (folder / MANIFEST).exists():
        return Killed("" if asked == 0 else "calls were made and there is no manifest", 0, ())
    try:
        problems = read_run(folder).problems
    except SelfdiagError as error:
        return Killed(str(error), 0, ())
    return Killed("", asked - (len(_asked(folder)) - before), problems)


def _tell(checks: Checks, wanted: int, seen: list[Killed]) -> None:
    checks.check(f"{wanted} kills, each of a run that was under way", len(seen) == wanted, len(seen))
    damaged = [kill.whole for kill in seen if kill.whole]
    checks.check("the manifest was whole after each of them", not damaged, "; ".join(damaged))
    lost = [kill.lost for kill in seen]
    most, mean = max(lost), sum(lost) / len(lost)
    bounded = all(0 <= one <= LOST_PER_KILL for one in lost)
    what = f"no kill lost more than the calls in flight ({LOST_PER_KILL}: a reply being written and a call a slot)"
    checks.check(what, bounded, f"{most} at most, {mean:.1f} on average")
    problems = [problem for kill in seen for problem in kill.problems]
    torn = all("is torn" in problem for problem in problems)
    checks.check("of the records nothing but a last line was ever torn", torn, f"{len(problems)} times")


def _compare(checks: Checks, run: Run, reference: Run) -> None:
    times = Counter(record.call_id for record in run.records if record.error is None)
    planned = {call.call_id for call in run.manifest.plan}
    once = all(times[call_id] == 1 for call_id in planned)
    checks.check(f"each of {len(planned)} planned calls has one answered record", once, times.most_common(1))
    errors = sum(record.error is not None for record in run.records)
    checks.check("no call ended in an error", errors == 0, errors)
    checks.same("the plan is that of the undisturbed run", sorted(planned), sorted(said(reference)))
    checks.same("so is every reply with its outcome, answer and confidence", said(run), said(reference))


if __name__ == "__main__":
    main(__doc__, kills)
