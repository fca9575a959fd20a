"""What a server says when it does not answer: its words, its codes, and how long it asks to wait."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from selfdiag.models.base import Call, ErrorKind, ProviderError
from selfdiag.models.http import Response
from selfdiag.models.ladder import Refusal
from selfdiag.models.transport import MAX_WAIT
from selfdiag.safety import one_line

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same call may work a little later; those from 520 on are of reverse proxies and clouds."""

_KINDS: dict[int, ErrorKind] = {
    400: "config",
    401: "unauthorized",
    402: "quota",
    403: "unauthorized",
    404: "model_missing",
    408: "timeout",
    413: "config",
    422: "config",
}
_STATUS_OF_CODE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "internal_error": 500,
    "server_error": 500,
    "unavailable_error": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error means that comes with a status of 200, as in the middle of a stream."""
_SPENT_CODES = frozenset({"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached"})
_SPENT_WORDS = re.compile(r"(?i)insufficient (balance|credit|fund)|credit balance is too low|billing hard limit")
_OVERFLOW_CODES = frozenset({"exceed_context_size_error", "context_length_exceeded"})
_OVERFLOW_WORDS = re.compile(
    r"(?i)context (length|size|window)|maximum context|prompt is too long|input length exceeds"
    r"|exceeds the available context"
)
_COME_BACK = re.compile(r"(?i)\b(?:retry|try again) in ((?:\d+(?:\.\d+)?(?:ms|[dhms]))+)")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_ALIKE = 3


class AlikeFaults:
    """Tells a fault that strikes every call alike from one that passes.

    A server answers 500 for its own troubles, and some answer it for every request they do not understand. Only the
    latter comes with the same words for one call after the other.
    """

    def __init__(self) -> None:
        self._words = ""
        self._calls: set[tuple[str, str]] = set()
        self._last = 0.0

    def note(self, words: str, call: Call, started: float, ended: float) -> bool:
        """Return whether these words have now come for three different calls, one after the other.

        Args:
            words: what the server said with a status of 500.
            call: what it was asked.
            started: when the call was sent, by any clock. Calls that were under way together count as one.
            ended: when the answer came, by the same clock.
        """
        if words != self._words:
            self._words, self._calls, self._last = words, set(), -math.inf
        key = (call.system, call.user)
        if key not in self._calls and started >= self._last:
            self._calls.add(key)
            self._last = ended
        return len(self._calls) >= _ALIKE

    def forget(self) -> None:
        """Begin anew, because a call worked."""
        self._words = ""


def document_of(response: Response, place: str) -> Any:
    """Return the JSON of a reply.

    Raises:
        ProviderError: when it is empty or not JSON, with the beginning of what came instead.
    """
    if not response.body.strip():
        raise ProviderError("provider", f"{one_line(place)} sent an empty reply ({response.status})", retry=True)
    try:
        return msgspec.json.decode(response.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        media = one_line(response.headers.get("content-type", "").partition(";")[0].strip() or "no type", 40)
        what = f"{one_line(place)} sent what is not JSON ({media}): {excerpt(response.body)}"
        raise ProviderError("provider", what, retry=True) from None


def tells_error(document: Any) -> bool:
    """Return whether a document is an error in one of the usual shapes, whatever status it came with."""
    found = _unlisted(document)
    if not isinstance(found, dict):
        return False
    return bool(found.get("error")) or "error" in (found.get("object"), found.get("type"))


def refusal_of(response: Response) -> Refusal:
    """Return what a reply with an error says; an error within a 200 has the status that it names."""
    found = _decoded(response.body)
    codes = codes_of(found)
    return Refusal(
        status=_named_status(codes, response.status) if response.status < 300 else response.status,
        words=words_of(found) or excerpt(response.body),
        codes=codes,
        param=_param(found),
    )


def error_of(response: Response, place: str, *, now: datetime | None = None) -> ProviderError:
    """Return the error that a reply with an error stands for; ``now`` is the time, for dates in its headers."""
    said = refusal_of(response)
    kind: ErrorKind = _KINDS.get(said.status, "provider")
    retry = said.status in PASSING or response.status == said.status < 300
    wait = _retry_after(response.headers, now)
    # these are sent with every reply, and say nothing about other troubles
    reset = _reset_in(response) if said.status == 429 and wait is None else None
    advice = ""
    if _is_spent(said, waits=wait is not None or reset is not None):
        kind, retry, advice = "quota", False, "; nothing more is answered until its quota or balance is filled up"
    elif reset is not None and reset > MAX_WAIT:
        kind, retry, advice = "quota", False, f"; it answers again in {_spoken(reset)}: come back then"
    status = f"{response.status}"
    if response.status < 300 and said.words:
        status += " with an error" if said.status == response.status else f" with error {said.status}"
    message = f"{one_line(place)} answers {status}: {said.words or 'no reason given'}{advice}"
    return ProviderError(
        kind,
        message,
        retry=retry,
        retry_after=reset if wait is None else wait,
        overloaded=retry and said.status in {429, 503, 529},
    )


def words_of(document: Any) -> str:
    """Return the message of an error document in any of the usual shapes, as one line; else an empty text."""
    return _words(document, 6)


def codes_of(document: Any) -> tuple[str, ...]:
    """Return type, code and status of an error document as far as they are there."""
    holder = _holder(document)
    return tuple(str(holder[key]) for key in ("type", "code", "status") if holder.get(key) is not None)


def is_overflow(refusal: Refusal) -> bool:
    """Return whether a server says that the prompt does not fit its context."""
    if not _OVERFLOW_CODES.isdisjoint(refusal.codes):
        return True
    return refusal.status not in {401, 403, 404, 429} and _OVERFLOW_WORDS.search(refusal.words) is not None


def is_loading(refusal: Refusal) -> bool:
    """Return whether a server says that its model is still being loaded."""
    return refusal.status == 503 and "loading" in refusal.words.lower()


def wait_asked_for(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return how many seconds a server asks to wait, or None.

    ``Retry-After`` counts before the reset headers of rate limits; it may be a number of seconds or a date, and
    one in the past means no wait. Of several resets the last counts.
    """
    wait = _retry_after(headers, now)
    return _last_reset(headers) if wait is None else wait


def excerpt(body: bytes) -> str:
    """Return the beginning of a body as one line of text, without markup."""
    hidden = r"<(script|style)\b.*?(</\1\s*>|$)|<!--.*?(-->|$)|<[^>]*(>|$)"
    text = body[:8000].decode("utf-8", "replace")
    return one_line(html.unescape(re.sub(hidden, " ", text, flags=re.DOTALL | re.IGNORECASE)), 200)


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _unlisted(document: Any) -> Any:
    return document[0] if isinstance(document, list) and document else document


def _words(found: Any, depth: int) -> str:
    """Return the first text in the places where messages are; some servers nest one error document in another."""
    if isinstance(found, str):
        inner = _decoded(found.encode("utf-8", "replace")) if found.lstrip().startswith("{") else None
        return (_words(inner, depth - 1) if depth else "") or one_line(found)
    if isinstance(found, dict):
        parts = [found.get(key) for key in ("error", "message", "msg", "detail")]
    else:
        parts = found[:3] if isinstance(found, list) else []
    return next((words for part in parts if depth and (words := _words(part, depth - 1))), "")


def _holder(document: Any) -> dict[str, Any]:
    """Return the part of an error document that holds its codes."""
    found = _unlisted(document)
    if not isinstance(found, dict):
        return {}
    error = found.get("error")
    if isinstance(error, dict):
        return error
    return found if found.get("object") == "error" else {}


def _param(document: Any) -> str:
    """Return the parameter that an error is about; some servers give its place as a list of names."""
    param = _holder(document).get("param")
    details = document.get("detail") if isinstance(document, dict) else None
    first = details[0] if isinstance(details, list) and details else None
    if isinstance(first, dict) and isinstance(first.get("loc"), list):
        param = ".".join(map(str, first["loc"]))
    return param if isinstance(param, str) else ""


def _named_status(codes: tuple[str, ...], otherwise: int) -> int:
    for code in codes:
        if re.fullmatch(r"[45]\d\d", code):
            return int(code)
        if code in _STATUS_OF_CODE:
            return _STATUS_OF_CODE[code]
    return otherwise


def _is_spent(said: Refusal, *, waits: bool) -> bool:
    """Return whether a limit is reached that no waiting heals; a server that says when to come back means another."""
    if not _SPENT_CODES.isdisjoint(said.codes) or _SPENT_WORDS.search(said.words):
        return True
    quota = any("quota" in word.lower() for word in (said.words, *said.codes))
    return said.status == 402 or (said.status == 429 and quota and not waits)


def _retry_after(headers: Mapping[str, str], now: datetime | None) -> float | None:
    said = headers.get("retry-after", "").strip()
    try:
        seconds = float(said)
    except ValueError:
        try:
            until = parsedate_to_datetime(said)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
        return max((until - (now or datetime.now(UTC))).total_seconds(), 0.0)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _reset_in(response: Response) -> float | None:
    """Return the seconds after which a rate limit is over, from headers or else from the body."""
    found = _last_reset(response.headers)
    if found is not None:
        return found
    document = _decoded(response.body)
    details = _holder(document).get("details")
    delays = [part.get("retryDelay") for part in details if isinstance(part, dict)] if isinstance(details, list) else []
    said = _COME_BACK.search(words_of(document))
    return _latest([*map(str, delays), said.group(1) if said else ""])


def _last_reset(headers: Mapping[str, str]) -> float | None:
    return _latest(value for name, value in headers.items() if name.lower().startswith("x-ratelimit-reset-"))


def _latest(durations: Iterator[str] | list[str]) -> float | None:
    known = [seconds for seconds in map(_duration, durations) if seconds is not None]
    return max(known, default=None)


def _duration(text: str) -> float | None:
    """Return ``6m0s``, ``7.66s``, ``500ms`` or plain seconds in seconds."""
    text = text.strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        return float(text)
    if not _DURATION.fullmatch(text):
        return None
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return seconds if math.isfinite(seconds) else None


def _spoken(seconds: float) -> str:
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
