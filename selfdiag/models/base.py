"""Who is asked: the shapes every provider turns a question into a reply with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from selfdiag.safety import without_secrets

ErrorKind = Literal[
    "timeout", "unreachable", "unauthorized", "quota", "model_missing", "provider", "config", "internal"
]

FATAL: frozenset[str] = frozenset({"unauthorized", "quota", "model_missing", "config"})
"""Kinds that no repetition heals: the run stops at the first of them."""

MAX_TEXT = 1_000_000
"""Longest reply kept, in characters; a longer one is cut and marked."""


class ProviderError(Exception):
    """A call that brought no reply.

    ``kind`` is one of ``ErrorKind``; ``retry`` says whether the same call may work a little later;
    ``retry_after`` is the wait in seconds that the server asked for, ``overloaded`` whether it is asked too much
    at once. ``attempts`` is how many there were.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retry: bool = False,
        retry_after: float | None = None,
        overloaded: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retry = retry
        self.retry_after = retry_after
        self.overloaded = overloaded
        self.attempts = 1


Thinking = Literal["off", "on", "low", "medium", "high"]


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask: one system text, one user turn, in a conversation of its own.

    ``think`` is whether the model should reason first; a provider does what its model allows and says in its
    ``info`` when that was something else. ``logprobs`` asks for the probability of each token of the reply, where
    the server gives it. ``top_p`` keeps the likeliest tokens up to this probability, None all of them.
    """

    system: str
    user: str
    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float | None = None
    seed: int | None = 0
    schema: dict[str, Any] | None = None
    think: Thinking = "off"
    logprobs: bool = False


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """One token of a reply and the natural logarithm of its probability."""

    text: str
    logprob: float


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back.

    ``finish_reason`` is ``stop``, ``length``, ``filter`` or the server's own word; token counts are None
    where the server gives none; ``served_name`` is the model that the server says has answered. ``tokens`` are
    those of ``text`` in order, empty where the server gives none. ``thought`` says that the model has reasoned, which
    some servers count and do not show in ``reasoning``.
    """

    text: str
    reasoning: str = ""
    thought: bool = False
    finish_reason: str = "stop"
    latency_s: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    served_name: str = ""
    refusal: bool = False
    overflow: bool = False
    tokens: tuple[Token, ...] = ()


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Which model this is, as far as its provider can tell.

    ``server`` is the host it is asked at and ``remote`` whether that is another machine. ``details`` are plain
    words for the manifest, by name: ``size``, ``quantisation``, ``context``, ``capabilities``, ``server_version``,
    ``remote_host`` (where the server passes the questions on to), ``asked_without`` (parameters that the server
    refused), ``thinking`` (when it was not what was asked for), ``connection`` (when others can read it on the way).
    """

    provider: str
    name: str
    served_name: str = ""
    digest: str = ""
    simulated: bool = False
    remote: bool = False
    server: str = ""
    details: dict[str, str] = {}

    def place(self) -> str:
        """Return which host answers, and through which server where that one passes on; empty when unknown."""
        return " through ".join(filter(None, (self.details.get("remote_host", ""), self.server)))

    def destination(self) -> str:
        """Return where the questions go, in words: the place, and whether others can read them on the way."""
        place = self.place() or "another machine"
        return ", ".join(filter(None, (place, self.details.get("connection", ""))))


class ProviderOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider is built with.

    ``battery`` is the run's drawn ``selfdiag.battery.items.Battery``, ``assessed`` its
    ``selfdiag.battery.self_assessment.SelfAssessment`` if it asks one, and ``seed`` its seed; only the simulated
    provider looks at them. ``waiting`` is called with a plain sentence about what a person should know of: that the
    provider waits for something, or where the questions go.
    """

    base_url: str = ""
    seed: int = 0
    battery: Any = None
    assessed: Any = None
    timeout: float = 300.0
    num_ctx: int = 2048
    waiting: Callable[[str], None] | None = None


@runtime_checkable
class Provider(Protocol):
    """One model that can be asked. Use it as ``async with``: entering connects, leaving closes."""

    concurrency: int
    """How many calls at once suit it, unless the person says otherwise."""
    takes_schema: bool
    """Whether it can be held to a JSON schema."""
    max_tokens: int
    """How long a reply may grow, in tokens, unless the person says otherwise."""

    async def __aenter__(self) -> Provider: ...

    async def __aexit__(self, *exc: object) -> None: ...

    async def ask(self, call: Call) -> Reply:
        """Return the reply to one call, or raise ``ProviderError``."""
        ...

    def info(self) -> ModelInfo:
        """Return what is known of the model; complete once the provider is entered."""
        ...


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ``selfdiag models``: a model string, whether it is ready, and a remark.

    ``details`` are as in ``ModelInfo``; ``remote`` says that prompts would leave this machine.
    """

    model: str
    ready: bool
    remark: str = ""
    remote: bool = False
    details: dict[str, str] = {}


class ProviderFactory(Protocol):
    """What an entry point of the group ``selfdiag.providers`` names."""

    def __call__(self, name: str, options: ProviderOptions) -> Provider:
        """Return the provider for the name after the colon; nothing is connected yet."""
        ...


def clipped(text: str) -> str:
    """Return the text, cut and marked when it is longer than ``MAX_TEXT``; the cut leaves no half of a key."""
    if len(text) <= MAX_TEXT:
        return text
    text = without_secrets(text)
    return f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT:,} more characters]"
