"""A chat server on loopback that does to a client what servers and models have done; a seed decides what comes."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from random import Random

from tests.http_stub import Answer, Fault, Request, Stub, as_json, completion

MEGABYTE = 1_000_000
HOSTILE = (
    "[/]",
    "[/INST] and [red]hi",
    "[link=http://example.invalid]x[/link]",
    "[@click=app.quit]x[/]",
    "[b +",
    "array[i] = {'a': [true]}",
    "\x1b[2J\x1b]0;owned\x07\x1b[31m",
    "\x1b]8;;http://example.invalid\x1b\\x\x1b]8;;\x1b\\",
    "\x00\u202eabc\u2066\r\n\tx",
    "日本語👩\u200d👩\u200d👧 e\u0301\u0301\u0301 \U0001f1e6\U0001f1f9",
    "\ud800 half a pair",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "\n" * 300 + "far below",
    "x" * 5000,
)
"""Texts that markup, a terminal, a careless column or another program would stumble over."""
GOOD, PATIENT = 30, 2.0
"""Of a hundred replies so many are as asked for; the longest wait before an answer, in seconds."""


class HostileServer:
    """Answers, and counts by kind what it has sent.

    Args:
        seed: decides what comes; requests that arrive at the same time may swap theirs.
    """

    def __init__(self, seed: int) -> None:
        self.replies: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.stub = Stub(decide=self._decide)
        self._random = Random(f"server {seed}")
        self._lock = threading.Lock()

    def _decide(self, request: Request) -> Answer:
        self.stub.requests.clear()  # they would grow for as long as it runs
        with self._lock:
            random = Random(self._random.random())
        time.sleep(PATIENT * random.random() ** 8 if random.random() < 0.5 else 0.0)
        if not request.target.endswith("/chat/completions"):
            return Answer(status=404, body=b"<h1>[/] no such thing \x1b[2J</h1>", headers={"content-type": "text/html"})
        kind, answer = _fault(random) if random.random() < 0.1 else _reply(random)
        with self._lock:
            (self.faults if kind.startswith("fault") else self.replies)[kind] += 1
        return answer


def _reply(random: Random) -> tuple[str, Answer]:
    """Return a reply with a good status."""
    draw = random.random()
    text = random.choice(HOSTILE)
    confidence = random.choice((0, 5, 40, 50, 85, 95, 100))
    if draw < GOOD / 100:
        answer = str(random.randrange(100))
        return "as asked", completion({"content": json.dumps({"answer": answer, "confidence": confidence})})
    if draw < 0.35:
        return "abstention", completion({"content": '{"answer": "UNANSWERABLE", "confidence": 20}'})
    if draw < 0.37:
        return "a megabyte", completion({"content": random.choice(("x", "[", "日", "[/]\n", "\x1b[2J")) * MEGABYTE})
    if draw < 0.39:
        return "a megabyte within JSON", completion(
            {"content": json.dumps({"answer": "y" * MEGABYTE, "confidence": confidence})}
        )
    if draw < 0.65:
        return "hostile answer", completion({"content": json.dumps({"answer": text, "confidence": confidence})})
    if draw < 0.75:
        return "hostile reasoning", completion({"content": "Yes", "reasoning_content": text * 3})
    if draw < 0.85:
        stated = random.choice(('"rather high"', "1e999", "-5", "[]", "null", '"101%"', "NaN"))
        return "odd confidence", completion({"content": f'{{"answer": "7", "confidence": {stated}}}'})
    if draw < 0.9:
        return "no text", completion({"content": random.choice(("", None))}, finish_reason="length")
    return "no JSON", completion({"content": text}, model=random.choice(HOSTILE))


def _fault(random: Random) -> tuple[str, Answer]:
    """Return an answer that is none."""
    text = random.choice(HOSTILE)
    draw = random.random()
    if draw < 0.25:
        return "fault: 429", as_json({"error": {"message": text}}, 429, {"retry-after": random.choice("001")})
    if draw < 0.45:
        status = random.choice((500, 502, 503))
        return f"fault: {status}", Answer(status=status, body=f"<html>{text}".encode("utf-8", "replace"))
    if draw < 0.85:
        broken: tuple[Fault, ...] = ("reset", "close", "half", "half_reset", "garbage", "untold")
        how = random.choice(broken)
        return f"fault: {how}", Answer(body=completion({"content": text}).body, fault=how)
    if draw < 0.95:
        odd: tuple[object, ...] = (
            {},
            [],
            {"choices": []},
            {"choices": [{"message": None}]},
            {"error": text},
            "[/]",
            None,
        )
        return "fault: other document", as_json(random.choice(odd))
    if draw < 0.97:
        return "fault: endless", Answer(fault="endless")
    if draw < 0.99:
        return "fault: silent", Answer(fault="silent")
    return "fault: 401", as_json({"error": {"message": f"bad key {text}", "code": "invalid_api_key"}}, 401)
