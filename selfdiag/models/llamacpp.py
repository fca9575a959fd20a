"""A real model on this machine: llama.cpp in a child process, asked over loopback."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from selfdiag.models import weights
from selfdiag.models.base import Call, Listing, ModelInfo, ProviderError, ProviderOptions, Reply
from selfdiag.models.engine_lock import EngineLock
from selfdiag.models.openai import OpenAICompatible
from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import expanded

SLOTS = 1
"""More slots gain little on few cores and change greedy replies."""
THREADS = max((os.cpu_count() or 2) - 1, 1)
"""One core is left to everything else: the engine's threads spin while they wait for each other, so that one
thread pushed off its core stalls them all (2 threads on 2 busy cores: 6 tokens/s; 1 thread: 30)."""
LOAD_TIMEOUT = 600.0
STOP_SECONDS = 1.0
"""Seconds that the engine has to end by itself before it is killed: fewer than a screen that is left waits for it."""
MAX_STRING = 100
"""Longest text in a reply that is held to a schema, in characters. The smallest models otherwise repeat
themselves inside the text until the token limit, and the reply is lost."""
INSTALL = 'python -m pip install "selfdiag[embedded]"'
"""Double quotes work in every shell, Windows' too."""


class LlamaCpp:
    """One GGUF file behind an engine of its own."""

    takes_schema = True
    concurrency = SLOTS
    max_tokens = 128

    def __init__(self, info: ModelInfo, path: Path | None, options: ProviderOptions) -> None:
        self._info = info
        self._path = path
        self._options = options
        self._lock = EngineLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._server: OpenAICompatible | None = None
        self._log = Path()

    async def __aenter__(self) -> LlamaCpp:
        say = self._options.waiting or (lambda _: None)
        path = self._path if self._path is not None else await self._weights(say)
        await self._lock.acquire(f"selfdiag with {self._info.name}", self._options.waiting)
        try:
            address, key = await self._start(path)
            # the embedded weights were compared with their SHA-256 a moment ago
            digest = weights.SHA256 if self._path is None else await self._digest(path)
            details = {**self._info.details, "threads": str(THREADS), "slots": str(SLOTS)}
            self._info = msgspec.structs.replace(self._info, digest=f"sha256:{digest}", details=details)
            self._server = OpenAICompatible(self._info, f"{address}/v1", key, self._options.timeout)
            await self._server.__aenter__()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._server is not None:
                await self._server.__aexit__(kind, error, trace)
        finally:
            await self._stop()

    def info(self) -> ModelInfo:
        """Return what is known of the model; the digest is that of the GGUF file."""
        return self._server.info() if self._server is not None else self._info

    async def ask(self, call: Call) -> Reply:
        """Return the reply to one call, or raise ``ProviderError``."""
        assert self._server is not None, "enter the provider before asking"  # noqa: S101
        if call.schema is not None:
            call = msgspec.structs.replace(call, schema=_bounded(call.schema))
        try:
            return await self._server.ask(call)
        except ProviderError as error:
            if self._process is not None and self._process.poll() is not None:
                message = f"the engine has ended: {self._last_error()}"
                raise ProviderError("unreachable", message) from None
            raise error

    async def _weights(self, say: Callable[[str], None]) -> Path:
        stopped = threading.Event()
        try:
            return await asyncio.to_thread(weights.obtain, say, stopped)
        finally:
            stopped.set()  # a thread cannot be cancelled: it is told to give up

    async def _digest(self, path: Path) -> str:
        stopped = threading.Event()
        try:
            return await asyncio.to_thread(weights.sha256, path, stopped)
        finally:
            stopped.set()

    async def _start(self, path: Path) -> tuple[str, str]:
        key = secrets.token_hex(16)
        handle, log = tempfile.mkstemp(prefix="selfdiag-engine-", suffix=".log")
        self._log = Path(log)
        with os.fdopen(handle, "wb") as stderr:
            # its own session: Ctrl-C must reach the parent alone, which then ends the engine in order
            self._process = subprocess.Popen(  # noqa: ASYNC220 - starting takes a millisecond
                [sys.executable, "-P", "-m", "selfdiag.models.engine_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        settings = {
            "parent": os.getpid(),
            "path": str(path),
            "alias": self._info.name,
            "key": key,
            "slots": SLOTS,
            "threads": THREADS,
            "context": self._options.num_ctx,
        }
        assert self._process.stdin is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        with suppress(BrokenPipeError):  # it ended at once; the missing answer below says so
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")
            self._process.stdin.flush()
        try:
            line = await asyncio.wait_for(asyncio.to_thread(self._process.stdout.readline), LOAD_TIMEOUT)
        except TimeoutError:
            raise SelfdiagError(
                f"{one_line(path.name)} was not loaded within {LOAD_TIMEOUT:.0f} seconds", exit_code=3
            ) from None
        if not line:
            raise SelfdiagError(
                f"{one_line(str(path))} could not be loaded; the engine says: {self._last_error()}",
                exit_code=3,
            )
        return json.loads(line)["address"], key

    async def _stop(self) -> None:
        """End the engine and let the next one in, even when whoever waits for it loses patience."""
        process = self._process
        try:
            if process is not None:
                assert process.stdin is not None  # noqa: S101
                with suppress(OSError):  # it has ended already
                    process.stdin.close()  # the engine ends when its input does
                try:
                    with suppress(subprocess.TimeoutExpired):
                        await asyncio.to_thread(process.wait, STOP_SECONDS)
                finally:
                    process.kill()  # which does nothing to one that has ended
                    await asyncio.to_thread(process.wait)
        finally:
            if process is not None:
                assert process.stdout is not None  # noqa: S101
                process.stdout.close()
                self._process = None
            if self._log.name:
                self._log.unlink(missing_ok=True)
            self._lock.release()

    def _last_error(self) -> str:
        """Return the engine's last line that speaks of an error, else its last line."""
        try:
            text = self._log.read_bytes()[-20_000:].decode("utf-8", "replace")
        except OSError:
            return "nothing"
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        words = ("error", "fail", "invalid", "unable", "cannot")
        telling = [line for line in lines if any(word in line.lower() for word in words)]
        return one_line((telling or lines or ["nothing"])[-1], 200)


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with a longest length for each of its texts."""
    properties = {
        name: {"maxLength": MAX_STRING, **shape} if shape.get("type") == "string" else shape
        for name, shape in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties}


def embedded(name: str, options: ProviderOptions) -> LlamaCpp:
    """Build the provider of ``embedded``: SmolLM2-135M-Instruct."""
    if name:
        raise SelfdiagError(f"'embedded' is one model and takes no name; for a file write gguf:{name}")
    _need_engine()
    info = ModelInfo(provider="embedded", name="smollm2-135m", details={"file": weights.FILE})
    return LlamaCpp(info, None, options)


def gguf(name: str, options: ProviderOptions) -> LlamaCpp:
    """Build the provider of ``gguf:PATH``.

    Raises:
        SelfdiagError: when there is no such file or it is no GGUF.
    """
    path = expanded(name)
    shown = one_line(str(path))
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be opened ({error.strerror}): name a GGUF file") from None
    if magic != b"GGUF":
        raise SelfdiagError(f"{shown} is not a GGUF file: it does not begin with the letters GGUF")
    _need_engine()
    info = ModelInfo(provider="gguf", name=path.stem, details={"file": path.name})
    return LlamaCpp(info, path, options)


def _need_engine() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise SelfdiagError(f"the llama.cpp engine is not installed; run: {INSTALL}")


def offer(provider_name: str) -> list[Listing]:
    """Return what the engine can run, for ``selfdiag models``."""
    missing = importlib.util.find_spec("xllamacpp") is None
    if provider_name == "gguf":
        remark = INSTALL if missing else "any GGUF file on this machine"
        return [Listing(model="gguf:PATH", ready=not missing, remark=remark)]
    here = weights.ready() is not None
    remark = INSTALL if missing else f"{weights.NAME}, {'here' if here else 'fetched at first use (93 MB)'}"
    return [Listing(model="embedded", ready=not missing, remark=remark)]
