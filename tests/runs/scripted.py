"""A provider whose replies a test writes, and runs against it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from selfdiag.models.base import Call, ModelInfo, Reply
from selfdiag.runs.events import Event
from selfdiag.runs.session import Session

GOOD = '{"answer": "zzz", "confidence": 40}'
Answer = Callable[[Call], str | Reply | Exception]


class Scripted:
    """A provider whose replies a test writes."""

    max_tokens = 100

    def __init__(self, answer: Answer, *, takes_schema: bool = True, concurrency: int = 2) -> None:
        self.answer = answer
        self.takes_schema = takes_schema
        self.concurrency = concurrency
        self.calls: list[Call] = []
        self.under_way = self.most_at_once = 0
        self.closed = False

    async def __aenter__(self) -> Scripted:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.closed = True

    def info(self) -> ModelInfo:
        return ModelInfo(provider="openai", name="scripted", served_name="scripted")

    async def ask(self, call: Call) -> Reply:
        self.calls.append(call)
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        given = self.answer(call)
        if isinstance(given, Exception):
            raise given
        return given if isinstance(given, Reply) else Reply(text=given)


async def collect(session: Session, on: Callable[[Event], None] = lambda _: None) -> list[Event]:
    seen = []
    async with aclosing(session.events()) as events:
        async for event in events:
            seen.append(event)
            on(event)
    return seen


def kinds(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]
