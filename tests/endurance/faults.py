"""A server that fails at a fifth and at three fifths of all requests: no run hangs, ends in a crash or miscounts."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import msgspec

from selfdiag.runs.store import MANIFEST, Run, read_run
from tests.endurance.checks import Checks, main
from tests.endurance.command import Done, said, selfdiag, summary
from tests.endurance.serving import Decide, ModelServer, sound
from tests.http_stub import Answer, Fault, as_json

ROUNDS = 3
"""So often a run is resumed while its server fails."""
SHARES = (0.2, 0.6)
PAGE = b"<!doctype html><html><head><title>Oh no</title></head><body><h1>Something &amp; went wrong</h1></body></html>"
HTML = {"content-type": "text/html; charset=utf-8"}


def _status(status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> Decide:
    return lambda _: Answer(status=status, headers=headers or {}, body=body)


def _document(document: object) -> Decide:
    return lambda _: as_json(document)


def _broken(fault: Fault) -> Decide:
    return lambda whole: msgspec.structs.replace(whole, fault=fault)


def _labelled(**headers: str) -> Decide:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda whole: msgspec.structs.replace(whole, headers=named)


FAULTS: dict[str, Decide] = {
    "429 at once again": _status(429, {"retry-after": "0"}, b'{"error": {"message": "slow down"}}'),
    "429 without a word": _status(429),
    "500": _status(500, body=b'{"error": {"message": "internal"}}'),
    "502 page": _status(502, HTML, PAGE),
    "503 at once again": _status(503, {"retry-after": "0"}),
    "504": _status(504),
    "529": _status(529, {"retry-after": "0"}, b'{"type": "error", "error": {"type": "overloaded_error"}}'),
    "reset": _broken("reset"),
    "closed": _broken("close"),
    "half a body": _broken("half"),
    "half a body, reset": _broken("half_reset"),
    "no HTTP": _broken("garbage"),
    "slow drip": _broken("drip"),
    "silence in a body": _broken("stall"),
    "page with 200": _status(200, HTML, PAGE),
    "nothing with 200": _status(200),
    "no choices": _document({"object": "chat.completion", "choices": []}),
    "no message": _document({"choices": [{"index": 0, "finish_reason": "stop", "message": None}]}),
    "error with 200": _document({"error": {"message": "upstream is busy", "code": 502}}),
    "another document": _document([1, None, "choices"]),
    "cut JSON": lambda whole: msgspec.structs.replace(whole, body=whole.body[: len(whole.body) * 2 // 3]),
    "no UTF-8": lambda whole: msgspec.structs.replace(whole, body=whole.body.replace(b"served", b"\xff\xfe") + b"\xff"),
    "says gzip": _labelled(content_encoding="gzip"),
    "says text": _labelled(content_type="text/plain"),
}
"""What happens instead of a sound answer; of these, a sound answer under another content type is one all the same."""


class Failing:
    """Fails at a share of the requests, in a way that is drawn for each; ``counts`` says in which ways it did."""

    def __init__(self, share: float, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self._share = share
        self._random = Random(f"faults {share} {seed}")

    def __call__(self, whole: Answer) -> Answer:
        if self._random.random() >= self._share:
            return whole
        name = self._random.choice(list(FAULTS))
        self.counts[name] += 1
        return FAULTS[name](whole)


def faults(checks: Checks) -> None:
    with tempfile.TemporaryDirectory() as name, ModelServer(seed=checks.seed) as server:
        place = Path(name)
        home, undisturbed = place / "home", place / "undisturbed"
        words = ["run", "openai:stub", "--base-url", server.url, "--structured", "off", "--seed", "5"]
        words += ["--battery", "quick" if checks.quick else "full", "--timeout", "1", "--max-retries", "2"]
        # the server's own pace of answers must not count as a fault, however busy the machine is
        done = selfdiag(home, *words, "--concurrency", "8", "--timeout", "60", "--out", str(undisturbed))
        if not checks.check("a run against a sound server ends well", done.code == 0, done.told()):
            return
        reference = read_run(undisturbed)
        expected = _figures(home, undisturbed)
        for seed in range(checks.seed, checks.seed + (1 if checks.quick else 2)):
            for share in SHARES:
                for pace in ("16",) if checks.quick else ("3", "16", "auto"):
                    folder = place / f"{share}-{seed}-{pace}"
                    server.decide = failing = Failing(share, seed)
                    server.answered.clear()
                    server.asked = 0
                    what = f"{share:.0%} faults, {pace} at once, seed {seed}"
                    _tried(checks, what, home, folder, [*words, "--concurrency", pace], reference, server)
                    server.decide = sound
                    shown = f"{failing.counts.total()} faults of {len(failing.counts)} kinds"
                    _completed(checks, f"{what}: {shown}", home, folder, words, reference)
                    checks.same(f"{what}: then the summary is that of a sound server", _figures(home, folder), expected)


def _figures(home: Path, folder: Path) -> dict[str, object]:
    """Return the summary without the number of calls and retries, which failed ones raise."""
    found = summary(home, folder)
    for name in ("calls", "retries"):
        found["usage"].pop(name)
    return found


def _tried(
    checks: Checks, what: str, home: Path, folder: Path, words: list[str], reference: Run, server: ModelServer
) -> None:
    """Ask and resume while the server fails, and look at what is on file each time."""
    codes: Counter[str] = Counter()
    wrong: list[str] = []
    for _ in range(ROUNDS):
        there = (folder / MANIFEST).exists()
        done = selfdiag(home, *(["run", "--resume", str(folder)] if there else [*words, "--out", str(folder)]))
        codes[str(done.code)] += 1
        wrong += _faulty_ends(done)
        if (folder / MANIFEST).exists():
            wrong += _miscounts(home, folder, done, reference, server)
        if done.code == 0 or wrong:
            break
    ends = ", ".join(f"{count} with {code}" for code, count in codes.items())
    checks.check(f"{what}: every stretch ends as it should and counts right", not wrong, "; ".join(wrong[:3]) or ends)


def _faulty_ends(done: Done) -> list[str]:
    """Return what is wrong with how a stretch ended."""
    if done.code not in {0, 3, 4} or not done.is_plain:
        return [done.told()]
    return [] if len(done.faults) == (done.code != 0) else [f"{len(done.faults)} lines for exit {done.code}"]


def _miscounts(home: Path, folder: Path, done: Done, reference: Run, server: ModelServer) -> list[str]:
    """Return what is wrong with the records and their report: answers are the server's own, errors are errors."""
    run = read_run(folder)
    wrong = [*run.problems]
    replies, truth = said(run), said(reference)
    wrong += [f"call {call_id} has another reply" for call_id in replies if replies[call_id] != truth.get(call_id)]
    errors = [record for record in run.records if record.error is not None]
    blank = ("", None, None, "error")
    strange = [one for one in errors if (one.raw, one.answer, one.confidence, one.outcome) != blank]
    wrong += [f"an error that is also {one.outcome!r}" for one in strange]
    answered = [record for record in run.records if record.error is None]
    asked = Counter(run.manifest.prompts[record.prompt_sha256].user for record in answered)
    wrong += [f"{user[:40]!r} was answered by nobody" for user in asked - Counter(server.answered)]
    attempts = sum(record.attempts for record in run.records)
    if attempts > server.asked:
        wrong.append(f"{attempts} attempts on file, and {server.asked} were made")
    left = {record.call_id for record in run.planned() if record.error is not None}
    open_calls = len(run.manifest.plan) - len(replies)
    if (done.code == 0) != (open_calls == 0):
        wrong.append(f"exit {done.code} with {open_calls} calls left")
    counts = summary(home, folder)["counts"].values()
    told = sum(count["error"] for count in counts), sum(count["not_asked"] for count in counts)
    if told != (len(left), open_calls - len(left)):
        wrong.append(f"the report counts {told} errors and calls not asked")
    return wrong


def _completed(checks: Checks, what: str, home: Path, folder: Path, words: list[str], reference: Run) -> None:
    """Check that a run goes on to its end once the server is sound."""
    there = (folder / MANIFEST).exists()
    patient = ["--timeout", "60"]
    done = selfdiag(home, *(["run", "--resume", str(folder)] if there else [*words, "--out", str(folder)]), *patient)
    checks.check(f"{what}; when they stop it goes on to the end", done.code == 0 and done.is_plain, done.told())
    checks.same(f"{what}; then every reply and outcome is the server's", said(read_run(folder)), said(reference))


if __name__ == "__main__":
    main(__doc__, faults)
