"""Models of an Ollama server, local or elsewhere, over its native API."""

from __future__ import annotations

import asyncio
import os
import re
import time
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from selfdiag.models.address import is_loopback, unencrypted
from selfdiag.models.base import Call, Listing, ModelInfo, ProviderError, ProviderOptions, Reply
from selfdiag.models.concessions import Concessions
from selfdiag.models.ollama_address import Address, ollama_address
from selfdiag.models.ollama_concessions import NO_THINKING, ollama_steps
from selfdiag.models.ollama_faults import overflows
from selfdiag.models.ollama_server import Description, OllamaServer, is_remote, key_for, same_model
from selfdiag.models.ollama_stream import Streamed, read_stream
from selfdiag.models.server_words import refusal_of
from selfdiag.models.thinking import THINKING_TOKENS, ThinkingNote
from selfdiag.safety import SelfdiagError, nearest, one_line

MAX_TOKENS = 512
LOOK_UP_TIMEOUT = 30.0
"""Longest time for the questions before the first call, in seconds; the server answers them while models load."""
IDLE_TIMEOUT = 120.0
"""Longest silence within a reply in seconds; the time before its first token may be as long as the run's timeout."""
DISCOVERY_TIMEOUT = 2.0
DISCOVERY_CALLS = 4
KEEP_ALIVE = "15m"
"""How long the server keeps the model after a call: longer than its usual 5 minutes, for a run that is paused."""

_DURATION = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+")


class Ollama:
    """One model of an Ollama server."""

    takes_schema = True
    concurrency = 1
    """Several calls at once change greedy replies, and a server on a laptop gains nothing by them."""

    def __init__(self, name: str, address: Address, keep_alive: str | float, options: ProviderOptions) -> None:
        self._name = name
        self._address = address
        self._keep_alive = keep_alive
        self._num_ctx = options.num_ctx
        self._patience = options.timeout
        self._waiting = options.waiting
        self._server = OllamaServer(address.url, key_for(address.url), options.timeout)
        self._model = Description(name=name)
        self._version = ""
        self._served = ""
        self._loads = False
        self._concessions = Concessions(ollama_steps())
        self._thinking = ThinkingNote()
        self._thought = False

    @property
    def max_tokens(self) -> int:
        """How long a reply may grow, in tokens: longer once the model has been seen to think."""
        return THINKING_TOKENS if self._thought else MAX_TOKENS

    async def __aenter__(self) -> Ollama:
        try:
            await self._server.__aenter__()
            async with asyncio.timeout(min(LOOK_UP_TIMEOUT, self._patience)):
                await self._look_up()
        except BaseException as error:
            await self._server.__aexit__(None, None, None)
            if isinstance(error, TimeoutError):
                error = ProviderError("timeout", f"{one_line(self._address.url)} did not answer in time")
            if isinstance(error, ProviderError):
                raise SelfdiagError(str(error), exit_code=3) from error
            raise
        if self._waiting is not None:
            if self._address.note:
                self._waiting(self._address.note)
            if self._model.remote and not Description(name=self._name).remote:
                # only the look-up has told, so nobody was asked about it
                self._waiting(f"every question leaves this machine and goes to {self.info().destination()}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.__aexit__(kind, error, trace)

    async def _look_up(self) -> None:
        self._version = await self._server.version()
        installed = await self._server.models()
        try:
            shown = await self._server.describe(self._name)
        except ProviderError as error:
            if error.kind != "model_missing":
                raise
            hint = nearest(self._name, [model.name for model in installed])
            raise ProviderError("model_missing", f"{error}{hint and '.'}{hint}") from None
        listed = next((model for model in installed if same_model(model.name, self._name)), shown)
        self._model = shown.filled_from(listed)
        if not self._model.chats:
            what = ", ".join(self._model.capabilities or ())
            raise ProviderError("config", f"{one_line(self._name)} cannot chat (it does: {one_line(what)})")
        self._loads = await self._server.has_loaded(self._name) is False and not self._model.remote

    def info(self) -> ModelInfo:
        """Return what is known of the model; parameters and thinking as the calls so far have shown them."""
        unable = self._model.can("thinking") is False or NO_THINKING in self._concessions.taken
        words = {
            **self._model.details(),
            "server_version": self._version,
            "num_ctx": str(self._num_ctx),
            "keep_alive": str(self._keep_alive),
            "address": self._address.note,
            "connection": unencrypted(self._address.url),
            "asked_without": "; ".join(self._concessions.taken),
            "thinking": self._thinking.words("this model cannot" if unable else ""),
        }
        return ModelInfo(
            provider="ollama",
            name=self._name,
            served_name=self._served,
            digest=f"sha256:{self._model.digest}" if self._model.digest else "",
            remote=is_remote(self._address.url, self._model),
            server=urlsplit(self._address.url).netloc,
            details={name: word for name, word in words.items() if word},
        )

    async def ask(self, call: Call) -> Reply:
        """Return the reply to one call, or raise ``ProviderError``."""
        if self._loads and self._waiting is not None:
            self._waiting(f"loading {one_line(self._name)} at {one_line(self._address.url)}")
        self._loads = False
        reply = await self._replied(call)
        if not (reply.text or reply.reasoning or reply.completion_tokens or reply.overflow):
            # a server under load sometimes ends a reply before it began
            reply = await self._replied(call)
        return reply

    async def _replied(self, call: Call) -> Reply:
        body = self._body(call)
        while True:
            sent = self._concessions.applied(body)
            started = time.perf_counter()
            # not through the client's chat, which has no arguments for truncate and shift, nor its inner
            # connection: this one is bounded, tells a fault by its cause, and notices an early end
            async with aclosing(self._server.chat(sent)) as lines:
                found = await read_stream(
                    lines,
                    first=self._patience,
                    idle=min(IDLE_TIMEOUT, self._patience),
                    limit=call.max_tokens,
                    place=one_line(self._address.url),
                )
            latency = time.perf_counter() - started
            if isinstance(found, Streamed):
                self._server.faults.forget()
                return self._reply(call, found, latency)
            refusal = refusal_of(found)
            if overflows(found, refusal):
                return Reply(text="", overflow=True, latency_s=latency)
            if not self._concessions.take(refusal, sent):
                raise self._server.faults.error(found, self._name, started)

    def _body(self, call: Call) -> dict[str, Any]:
        options: dict[str, Any] = {
            "temperature": call.temperature,
            # another context than the last call's would make the server load the model anew
            "num_ctx": self._num_ctx,
            "num_predict": call.max_tokens,
        }
        if call.top_p is not None:
            options["top_p"] = call.top_p
        if call.seed is not None:
            options["seed"] = call.seed
        body: dict[str, Any] = {
            "model": self._name,
            "messages": [
                {"role": "system", "content": call.system},
                {"role": "user", "content": call.user},
            ],
            "stream": True,
            "options": options,
            "keep_alive": self._keep_alive,
            # an overlong prompt is refused, and not cut in silence
            "truncate": False,
            "shift": False,
        }
        if self._model.can("thinking") is not False:
            body["think"] = {"off": False, "on": True}.get(call.think, call.think)
        if call.schema is not None:
            body["format"] = call.schema
        if call.logprobs:
            body["logprobs"] = True
        return body

    def _reply(self, call: Call, found: Streamed, latency: float) -> Reply:
        self._served = found.served_name or self._served
        thought = bool(found.thinking.strip()) or found.text.lstrip().startswith("<think>")
        self._thinking.add(call, thought=thought)
        self._thought = self._thought or thought
        return Reply(
            text=found.text,
            reasoning=found.thinking,
            thought=thought,
            finish_reason=found.finish_reason,
            latency_s=latency,
            prompt_tokens=found.prompt_tokens,
            completion_tokens=found.completion_tokens,
            served_name=self._served,
            overflow=self._was_cut(call, found.prompt_tokens),
            tokens=found.tokens,
        )

    def _was_cut(self, call: Call, counted: int | None) -> bool:
        """Return whether the server has evidently left away a part of the prompt, as those do that know no better.

        Some cut to half the context, others to all of it. Four bytes a token is a usual estimate; it only counts
        where it is more than the context holds, because some servers do not count what they had in their cache.
        """
        # a model elsewhere has the context that its place gives it
        context = (
            self._model.context if self._model.remote else min(self._num_ctx, self._model.context or self._num_ctx)
        )
        estimate = len(f"{call.system}{call.user}".encode("utf-8", "replace")) / 4
        if counted is None or not context:
            return False
        return counted >= context or (estimate > context and counted <= estimate / 2 + 2)


def keep_alive(text: str) -> str | float:
    """Return how long the server is to keep the model, as it wants to be told: seconds as a number, else a duration.

    Args:
        text: seconds such as ``300`` (``-1`` is for ever, ``0`` not at all) or a duration such as ``5m``; empty
            for the default.

    Raises:
        SelfdiagError: when it is neither.
    """
    said = text.strip() or KEEP_ALIVE
    if re.fullmatch(r"[-+]?\d+(?:\.\d+)?", said):
        return int(said) if said.lstrip("+-").isdecimal() else float(said)
    if not _DURATION.fullmatch(said):
        raise SelfdiagError(
            f"OLLAMA_KEEP_ALIVE {one_line(text, 40)!r} is no length of time such as 300, 5m or -1 (for ever)"
        )
    return said


def provider(name: str, options: ProviderOptions) -> Ollama:
    """Build the provider of ``ollama:NAME``.

    The server is that of ``--base-url``, else of ``OLLAMA_HOST``, else the one on this machine. How long it keeps
    the model after the last call is taken from ``OLLAMA_KEEP_ALIVE``, which the server itself reads too.

    Raises:
        SelfdiagError: when one of these cannot be understood.
    """
    return Ollama(name, ollama_address(options.base_url), keep_alive(os.environ.get("OLLAMA_KEEP_ALIVE", "")), options)


def offer(provider_name: str) -> list[Listing]:
    """Return how to name a model, for ``selfdiag models``, without asking the server."""
    try:
        where = ollama_address()
    except SelfdiagError as error:
        return [Listing(model=f"{provider_name}:NAME", ready=False, remark=str(error))]
    remark = f"any model of the server at {where.url}, which was not asked yet"
    return [Listing(model=f"{provider_name}:NAME", ready=False, remark=remark, remote=not is_loopback(where.url))]


async def discover(provider_name: str) -> list[Listing]:
    """Return the models that the server of ``OLLAMA_HOST`` has, or one line that says why there are none.

    It takes two seconds at most: what an older server did not tell of its models by then stays open.
    """
    url = ""
    try:
        where = ollama_address()
        url = where.url
        found = await _found(where)
    except (SelfdiagError, ProviderError, TimeoutError) as error:
        remark = str(error) or f"{url} did not answer within {DISCOVERY_TIMEOUT:g} seconds"
        return [Listing(model=f"{provider_name}:NAME", ready=False, remark=remark)]
    if not found:
        remark = f"the server at {url} has no models yet: fetch one with  ollama pull NAME"
        return [Listing(model=f"{provider_name}:NAME", ready=False, remark=remark)]
    return [
        Listing(
            model=f"{provider_name}:{model.name}",
            ready=model.chats,
            remark="" if model.chats else "cannot chat",
            remote=is_remote(url, model),
            details=model.details(),
        )
        for model in found
    ]


async def _found(where: Address) -> list[Description]:
    deadline = asyncio.get_running_loop().time() + DISCOVERY_TIMEOUT
    async with OllamaServer(where.url, key_for(where.url), DISCOVERY_TIMEOUT) as server:
        async with asyncio.timeout_at(deadline):
            listed = await server.models()
        described = {model.name: model for model in listed}
        untold = iter([model for model in listed if model.capabilities is None])

        async def ask_on() -> None:
            for model in untold:
                with suppress(ProviderError):
                    described[model.name] = (await server.describe(model.name)).filled_from(model)

        with suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await asyncio.gather(*(ask_on() for _ in range(DISCOVERY_CALLS)))
        return list(described.values())
