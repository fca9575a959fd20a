"""A server on loopback that speaks Ollama's native API as a real one was recorded to, or as a test scripts it."""

from __future__ import annotations

import functools
import json
import re
import ssl
import threading
from collections.abc import Sequence
from typing import Any

import msgspec
from http_stub import Answer, Request, Stub, _Handler, as_json

tls_context = functools.cache(ssl.create_default_context)
"""Reads the certificates once; done for every client, that takes longer than all the rest of a test."""
NDJSON = {"Content-Type": "application/x-ndjson"}
PLAIN_TEXT = {"Content-Type": "text/plain"}
OPTION_TYPES = {"temperature": (int, float), "seed": int, "num_ctx": int, "num_predict": int}
ANSWER = '{"answer": "Mercury", "confidence": 95}'
THOUGHT = "The planet closest to the Sun is Mercury."


class Paced(Answer):
    """An answer that lets a client wait: before its first byte, and before each further chunk, in seconds."""

    before: float = 0.0
    between: float = 0.0


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """A model that the server has."""

    name: str
    digest: str
    capabilities: tuple[str, ...] = ("completion",)
    parameters: str = "134.52M"
    quantisation: str = "Q4_1"
    context: int = 8192
    size: int = 98_362_745
    remote_host: str = ""

    def details(self) -> dict[str, Any]:
        return {
            "parent_model": "",
            "format": "gguf",
            "family": "llama",
            "families": ["llama"],
            "parameter_size": self.parameters,
            "quantization_level": self.quantisation,
        }

    def tag(self) -> dict[str, Any]:
        remote = {"remote_host": self.remote_host, "remote_model": self.name} if self.remote_host else {}
        return {
            "name": self.name,
            "model": self.name,
            "modified_at": "2026-11-30T05:43:07.697452586Z",
            "size": self.size,
            "digest": self.digest,
            "details": {**self.details(), "context_length": self.context, "embedding_length": 576},
            "capabilities": list(self.capabilities),
            **remote,
        }

    def shown(self) -> dict[str, Any]:
        return {
            "modelfile": "FROM a file\n",
            "template": "{{ .Prompt }}",
            "details": self.details(),
            "model_info": {"general.architecture": "llama", "llama.context_length": self.context},
            "capabilities": list(self.capabilities),
            "modified_at": "2026-11-30T05:43:07.697452586Z",
        }


PLAIN = Installed(name="smollm2:135m", digest="fd5f44c0")
THINKER = Installed(name="smollm2-think:latest", digest="e887bd91", capabilities=("completion", "thinking"))
CODER = Installed(name="qwen-coder:0.5b", digest="ef0e9ff0", parameters="630.17M", quantisation="Q4_K_M", context=32768)


def line(content: str = "", *, thinking: str = "", done: bool = False, **fields: object) -> bytes:
    """Return one line of a stream; ``fields`` replace or add top-level fields."""
    message = {"role": "assistant", "content": content, **({"thinking": thinking} if thinking else {})}
    document: dict[str, Any] = {"model": "smollm2:135m", "message": message, "done": done, **fields}
    return json.dumps({name: value for name, value in document.items() if value is not None}).encode() + b"\n"


def end(reason: str | None = "stop", *, prompt: int | None = 67, generated: int | None = 10, **fields: object) -> bytes:
    """Return the last line of a stream."""
    counts = {"prompt_eval_count": prompt, "eval_count": generated}
    return line(done=True, done_reason=reason, **{**counts, **fields})


def streamed(*lines: bytes, fault: str = "") -> Answer:
    """Return an answer that streams lines."""
    return Answer(headers=NDJSON, chunks=lines, fault=fault)  # type: ignore[arg-type]


def refused(words: object, status: int = 400, **fields: object) -> Answer:
    """Return the server's way to say what is wrong."""
    return as_json({"error": words, **fields}, status)


class OllamaStub(Stub):
    """The server. Answers of the script go to ``/api/chat``, one each; after them it answers by itself.

    ``overlong_is_refused`` is what a recent server does with a prompt that does not fit; one that is not asked to,
    or is older, cuts it in silence. ``old`` lists no capabilities with its models.
    """

    def __init__(
        self, *answers: Answer, models: Sequence[Installed] = (THINKER, CODER, PLAIN), old: bool = False
    ) -> None:
        super().__init__(*answers)
        self.models = list(models)
        self.old = old
        self.loaded: list[str] = []
        self.reply = ANSWER
        self.paths: dict[str, Answer] = {}
        """Answers that take the place of the usual one, by path."""
        self.requests = _Requests()
        self.url = f"http://127.0.0.1:{self.port}"
        self._server.RequestHandlerClass = _PacedHandler

    @property
    def chats(self) -> list[Any]:
        """The bodies of every chat so far."""
        return [request.json() for request in self.requests if request.target == "/api/chat"]

    def next_answer(self) -> Answer:
        request = self.requests.own.last
        if request.target in self.paths:
            return self.paths[request.target]
        hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        if request.headers.get("host") not in hosts or "origin" in request.headers:
            return Answer(status=403)
        known = {
            "/": ("GET", lambda _: Answer(headers=PLAIN_TEXT, body=b"Ollama is running")),
            "/api/version": ("GET", lambda _: as_json({"version": "0.0.0"})),
            "/api/tags": ("GET", lambda _: as_json({"models": [self._tag(model) for model in self.models]})),
            "/api/ps": ("GET", lambda _: as_json({"models": [self._running(name) for name in self.loaded]})),
            "/api/show": ("POST", self._show),
            "/api/chat": ("POST", self._scripted),
        }
        if request.target not in known:
            return Answer(status=404, headers=PLAIN_TEXT, body=b"404 page not found")
        method, answer = known[request.target]
        if request.method != method:
            return Answer(status=405, headers=PLAIN_TEXT, body=b"405 method not allowed")
        return answer(request)

    def _tag(self, model: Installed) -> dict[str, Any]:
        tag = model.tag()
        if self.old:
            del tag["capabilities"], tag["details"]["context_length"], tag["details"]["embedding_length"]
        return tag

    def _running(self, name: str) -> dict[str, Any]:
        return {"name": name, "model": name, "size": 210690374, "digest": "fd5f44c0", "context_length": 4096}

    def _find(self, name: str) -> Installed | None:
        full = name if ":" in name else f"{name}:latest"
        return next((model for model in self.models if model.name == full), None)

    def _show(self, request: Request) -> Answer:
        name = request.json()["model"]
        found = self._find(name)
        if found is None:
            return refused(f"model '{name if ':' in name else f'{name}:latest'}' not found", 404)
        return as_json(found.shown())

    def _scripted(self, request: Request) -> Answer:
        return self.script.popleft() if self.script else self._chat(request)

    def _chat(self, request: Request) -> Answer:
        if not request.body:
            return refused("missing request body")
        try:
            body = request.json()
        except ValueError:
            return refused("invalid character 'n' looking for beginning of object key string")
        if not body.get("model"):
            return refused("model is required")
        found = self._find(body["model"])
        if found is None:
            return refused(f"model '{body['model']}' not found", 404)
        if refusal := _wrong(body, found):
            return refusal
        if not body["messages"]:
            return as_json({**_head(body), "message": _said(""), "done": True, "done_reason": "load"})
        prompt = 20 + sum(len(message["content"]) for message in body["messages"]) // 4
        context = body.get("options", {}).get("num_ctx", 4096)
        if prompt > context:
            if body.get("truncate") is False:
                return _overflow(prompt, context)
            prompt = context // 2 + 2
        return self._generated(body, found, prompt)

    def _generated(self, body: dict[str, Any], found: Installed, prompt: int) -> Answer:
        thinks = "thinking" in found.capabilities and body.get("think") is not False
        thought = re.findall(r"\s*\S+", THOUGHT) if thinks else []
        pieces = [("thinking", piece) for piece in thought]
        pieces += [("content", piece) for piece in re.findall(r"\s*\S+|\s+", self.reply)]
        limit = body.get("options", {}).get("num_predict", 128)
        kept = pieces[:limit]
        last = {
            "done_reason": "length" if len(pieces) > limit else "stop",
            "total_duration": 122841883,
            "load_duration": 1085761,
            "prompt_eval_count": prompt,
            "prompt_eval_duration": 11621000,
            "eval_count": len(kept),
            "eval_duration": 106851000,
        }
        self.loaded = [found.name]
        if body.get("stream", True):
            lines = [_part(body, kind, piece) for kind, piece in kept]
            lines.append({**_head(body), "message": _said(""), "done": True, **last})
            return streamed(*(json.dumps(part).encode() + b"\n" for part in lines))
        text = {kind: "".join(piece for other, piece in kept if other == kind) for kind in ("content", "thinking")}
        logprobs = {"logprobs": [_logprob(piece) for _, piece in kept]} if body.get("logprobs") else {}
        message = _said(text["content"], text["thinking"])
        return as_json({**_head(body), "message": message, "done": True, **last, **logprobs})


class _Requests(list[Request]):
    """Requests as they come; each connection's thread finds its own again."""

    def __init__(self) -> None:
        super().__init__()
        self.own = threading.local()

    def append(self, request: Request) -> None:
        super().append(request)
        self.own.last = request


class _PacedHandler(_Handler):
    def _send(self, answer: Answer) -> None:
        if not isinstance(answer, Paced):
            super()._send(answer)
            return
        stopping = self.server.stub.stopping
        stopping.wait(answer.before)
        head = f"HTTP/1.1 {answer.status} Some Words\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
        self.wfile.write(head.encode("latin-1"))
        for chunk in answer.chunks:
            self.wfile.write(chunk)
            if stopping.wait(answer.between):
                return


def _head(body: dict[str, Any]) -> dict[str, Any]:
    return {"model": body["model"], "created_at": "2026-11-30T05:44:23.016720265Z"}


def _said(content: str, thinking: str = "") -> dict[str, str]:
    return {"role": "assistant", "content": content, **({"thinking": thinking} if thinking else {})}


def _part(body: dict[str, Any], kind: str, piece: str) -> dict[str, Any]:
    message = _said(piece) if kind == "content" else _said("", piece)
    logprobs = {"logprobs": [_logprob(piece)]} if body.get("logprobs") else {}
    return {**_head(body), "message": message, "done": False, **logprobs}


def _logprob(piece: str) -> dict[str, Any]:
    return {"token": piece, "logprob": -0.25, "bytes": list(piece.encode())}


def _nested(error: dict[str, Any]) -> str:
    return json.dumps({"error": error}, separators=(",", ":"))


def _overflow(prompt: int, context: int) -> Answer:
    inner = {
        "code": 400,
        "message": f"request ({prompt} tokens) exceeds the available context size ({context} tokens), "
        "try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": prompt,
        "n_ctx": context,
    }
    return refused(_nested(inner))


def _wrong(body: dict[str, Any], found: Installed) -> Answer | None:
    """Return what a real server has against a request, if anything."""
    think, form = body.get("think"), body.get("format")
    levels = ("high", "medium", "low", "max")
    if isinstance(think, str) and think not in levels:
        return refused(f'invalid think value: "{think}" (must be "high", "medium", "low", "max", true, or false)')
    if think and "thinking" not in found.capabilities:
        return refused(f'"{body["model"]}" does not support thinking')
    if "embedding" in found.capabilities:
        return refused(f'"{body["model"]}" does not support chat')
    if body.get("top_logprobs", 0) > 20:
        return refused("top_logprobs must be between 0 and 20")
    if body.get("tools"):
        return refused(f"registry.example/library/{body['model']} does not support tools")
    if any("images" in message for message in body["messages"]):
        words = "Multimodal data provided, but model does not support multimodal requests."
        return refused(_nested({"code": 400, "message": words, "type": "invalid_request_error"}))
    keep = body.get("keep_alive")
    if isinstance(keep, str) and not re.fullmatch(r"-?(\d+(\.\d+)?(ms|s|m|h))+", keep):
        fault = "missing unit in" if re.fullmatch(r"-?\d+", keep) else "invalid"
        return refused(f'time: {fault} duration "{keep}"')
    for name, value in body.get("options", {}).items():
        if name in OPTION_TYPES and not isinstance(value, OPTION_TYPES[name]):
            kind = "float32" if name == "temperature" else "integer"
            return refused(f'option "{name}" must be of type {kind}', 500)
    if isinstance(form, str) and form not in {"", "json"}:
        shown = json.dumps(json.dumps(form))
        return refused(f'invalid format: {shown}; expected "json" or a valid JSON Schema object', 500)
    if isinstance(form, dict) and form.get("type") not in {None, "object", "string", "integer", "number"}:
        words = "Field 'json_schema': \"json_schema\": JSON schema conversion failed:\nJSON schema error at #: "
        inner = {"code": 400, "message": f"{words}unrecognized type {form['type']}", "type": "invalid_request_error"}
        return refused(_nested(inner))
    return None
