"""One Ollama server: what it is, which models it has, and its replies."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import AsyncGenerator
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import msgspec

from selfdiag.models.address import is_loopback
from selfdiag.models.base import ProviderError
from selfdiag.models.http import Response, Wire
from selfdiag.models.json_values import mapping
from selfdiag.models.ollama_faults import PROXIES, Faults, variables_set
from selfdiag.models.server_words import document_of
from selfdiag.models.service_keys import key_advice, key_of
from selfdiag.safety import one_line

if TYPE_CHECKING:
    import ollama

CLOUD = ("-cloud", ":cloud")
"""How the names of models end that a server passes on to Ollama's own computers."""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says of one of its models; empty, 0 or None where it says nothing.

    ``size`` is that of its file in bytes, ``parameters`` such as ``134.52M``, ``context`` its longest context in
    tokens, ``remote_host`` the other machine that it runs on.
    """

    name: str
    digest: str = ""
    size: int = 0
    parameters: str = ""
    quantisation: str = ""
    context: int = 0
    capabilities: tuple[str, ...] | None = None
    remote_host: str = ""

    @property
    def remote(self) -> bool:
        """Whether the server passes prompts on to another machine."""
        return bool(self.remote_host) or self.name.lower().endswith(CLOUD)

    @property
    def place(self) -> str:
        """Where the server passes prompts on to, in words; empty when it keeps them."""
        return self.remote_host or ("Ollama's cloud" if self.remote else "")

    @property
    def chats(self) -> bool:
        """Whether it can answer; a server that does not say is believed to."""
        known = self.capabilities or ()
        return "completion" in known or not {"embedding", "image"} & set(known)

    def can(self, capability: str) -> bool | None:
        """Return whether it has a capability, or None when the server lists none."""
        return capability in self.capabilities if self.capabilities else None

    def details(self) -> dict[str, str]:
        """Return what is known in plain words, by the names of ``ModelInfo.details``."""
        named = {
            "size": self.parameters,
            "disk": f"{self.size / 1e6:,.0f} MB" if self.size and not self.remote else "",
            "quantisation": self.quantisation,
            "context": str(self.context or ""),
            "capabilities": ", ".join(self.capabilities or ()),
            "remote_host": self.place,
        }
        return {name: one_line(word) for name, word in named.items() if word}

    def filled_from(self, other: Description) -> Description:
        """Return the description, with what it leaves open taken from another one of the same model."""
        empty = {name: getattr(other, name) for name in self.__struct_fields__ if not getattr(self, name)}
        return msgspec.structs.replace(self, **empty)


class _Details(msgspec.Struct, kw_only=True):
    parameter_size: str | None = None
    quantization_level: str | None = None
    context_length: int | None = None


class _Tag(msgspec.Struct, kw_only=True):
    name: str = ""
    model: str = ""
    size: int = 0
    digest: str = ""
    details: _Details | None = None
    capabilities: list[str] | None = None
    remote_host: str | None = None


class OllamaServer:
    """The server at an address; ``async with`` opens and closes the connections.

    The official client asks for what it knows the shapes of, over the same connections as everything else, so
    that faults, bounds, proxies and keys are one matter. The list of models is read without it, because its types
    leave away capabilities and remote hosts; the version, because it has no call for that; and chats, because it
    has no arguments for ``truncate`` and ``shift``, without which an overlong prompt is cut in silence.
    """

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        self.url = url
        advice = key_advice("ollama", own_service=_is_own_service(url), sent=bool(key))
        self.faults = Faults(url, advice)
        self._wire = Wire(url, {"Authorization": f"Bearer {key}"} if key else {}, timeout)

    async def __aenter__(self) -> OllamaServer:
        await self._wire.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._wire.__aexit__(kind, error, trace)

    async def version(self) -> str:
        """Return the server's version; a build from source says 0.0.0."""
        version = mapping(await self._get("/api/version")).get("version")
        return one_line(version, 60) if isinstance(version, str) else ""

    async def models(self) -> list[Description]:
        """Return the models that the server has, as its list describes them."""
        entries = mapping(await self._get("/api/tags")).get("models")
        found = []
        for entry in entries if isinstance(entries, list) else []:
            try:
                tag = msgspec.convert(entry, _Tag)
            except msgspec.ValidationError:
                continue  # one odd entry must not hide the others
            details = tag.details or _Details()
            found.append(
                Description(
                    name=tag.name or tag.model,
                    digest=tag.digest,
                    size=tag.size,
                    parameters=details.parameter_size or "",
                    quantisation=details.quantization_level or "",
                    context=details.context_length or 0,
                    capabilities=None if tag.capabilities is None else tuple(tag.capabilities),
                    remote_host=tag.remote_host or "",
                )
            )
        # a name that cannot be written on a line could not be chosen
        return [model for model in found if model.name and model.name == one_line(model.name)]

    async def describe(self, name: str) -> Description:
        """Return what the server says of one model.

        Raises:
            ProviderError: of kind ``model_missing`` when it has none of that name.
        """
        client = await self._client(name)
        try:
            shown = await client.show(name)
        except ProviderError:
            raise
        except Exception:  # noqa: BLE001 - the client's types refuse in many ways what another server leaves out
            return Description(name=name)
        facts = dict(shown.modelinfo or {})
        context = facts.get(f"{facts.get('general.architecture')}.context_length")
        return Description(
            name=name,
            parameters=(shown.details and shown.details.parameter_size) or "",
            quantisation=(shown.details and shown.details.quantization_level) or "",
            context=context if isinstance(context, int) else 0,
            capabilities=None if shown.capabilities is None else tuple(shown.capabilities),
        )

    async def has_loaded(self, name: str) -> bool | None:
        """Return whether a model is in the server's memory, or None when the server does not say."""
        client = await self._client(name)
        try:
            running = await client.ps()
        except Exception:  # noqa: BLE001 - only for a remark; what is wrong shows at the next call
            return None
        return any(same_model(model.model or "", name) for model in running.models)

    def chat(self, body: dict[str, Any]) -> AsyncGenerator[bytes | Response, None]:
        """Send a chat and yield the lines of the reply, or the refusal, as it comes."""
        return self._wire.lines("/api/chat", body)

    async def _get(self, path: str) -> Any:
        asked_at = time.perf_counter()
        response = await self._wire.get(path)
        if response.status != 200:
            raise self.faults.error(response, "", asked_at)
        return document_of(response, self.url)

    async def _client(self, model: str) -> ollama.AsyncClient:
        try:
            # importing it builds a client, with the proxies and certificates of the environment
            official = await asyncio.to_thread(importlib.import_module, "ollama")
        except Exception as error:  # noqa: BLE001 - it can fail in any way
            names = variables_set(*PROXIES, "OLLAMA_HOST")
            hint = f"correct or unset {' and '.join(names)}" if names else "install it again"
            raise ProviderError(
                "config", f"the official ollama client cannot be loaded ({one_line(str(error), 160)}): {hint}"
            ) from None
        client: ollama.AsyncClient = official.AsyncClient(host=self.url, transport=_Carrier(self, self._wire, model))
        return client


class _Carrier(httpx.AsyncBaseTransport):
    """Carries the official client's calls; it holds nothing of its own that would have to be closed."""

    def __init__(self, server: OllamaServer, wire: Wire, model: str) -> None:
        self._server = server
        self._wire = wire
        self._model = model

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the reply with status 200 to a call, or raise the error that another one stands for."""
        path = request.url.path.removeprefix(urlsplit(self._server.url).path)
        asked_at = time.perf_counter()
        if request.method == "GET":
            response = await self._wire.get(path)
        else:
            response = await self._wire.post(path, msgspec.json.decode(request.content))
        if response.status != 200:
            raise self._server.faults.error(response, self._model, asked_at)
        return httpx.Response(200, content=response.body)


def same_model(one: str, other: str) -> bool:
    """Return whether two names mean the same model: a name without a tag means ``:latest``, case is ignored."""
    return _tagged(one) == _tagged(other)


def _tagged(name: str) -> str:
    name = name.strip().casefold()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def key_for(url: str) -> str | None:
    """Return the key for a server, or None; ``OLLAMA_API_KEY`` goes to Ollama's own cloud and nowhere else.

    Raises:
        SelfdiagError: when the cloud has no key, or the key cannot be one.
    """
    return key_of("ollama", own_service=_is_own_service(url))


def _is_own_service(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and f".{parts.hostname}".endswith(".ollama.com")


def is_remote(url: str, model: Description) -> bool:
    """Return whether prompts to a model leave this machine."""
    return not is_loopback(url) or model.remote
