"""What a server says when it does not answer: its words, its codes, and how long it asks to wait."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from selfdiag.models.base import ErrorKind, ProviderError
from selfdiag.models.concessions import Refusal
from selfdiag.models.http import Response
from selfdiag.models.json_values import decoded, mapping, mappings, parsed
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
    "billing_error": 402,
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
LONGEST_WORDS = 4000
"""How much of a message is read for what it says of limits, in characters."""
_COME_BACK = re.compile(r"(?i)\b(?:retry|try again) in ((?:\d+(?:\.\d+)?(?:ms|[dhms]))+)")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def document_of(response: Response, place: str) -> Any:
    """Return the JSON of a reply.

    Raises:
        ProviderError: when it is empty or not JSON, with the beginning of what came instead.
    """
    if not response.body.strip():
        raise ProviderError("provider", f"{one_line(place)} sent an empty reply ({response.status})", retry=True)
    try:
        return parsed(response.body)
    except ValueError:
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
    found = decoded(response.body)
    codes = codes_of(found)
    return Refusal(
        status=_named_status(codes, response.status) if response.status < 300 else response.status,
        words=words_of(found) or excerpt(response.body),
        codes=codes,
        param=_param(found),
    )


def error_of(
    response: Response,
    place: str,
    said: Refusal | None = None,
    *,
    spent: Callable[[Refusal, bool], bool] | None = None,
    on_key: str = "",
    now: datetime | None = None,
) -> ProviderError:
    """Return the error that a reply with an error stands for.

    A limit that is over within ``MAX_WAIT`` seconds is waited for; one that is said to last longer is a quota. A
    ``Retry-After`` alone ends nothing: however long it is, the transport waits ``MAX_WAIT`` seconds at most and asks
    again.

    Args:
        response: the reply.
        place: the server, for the message.
        said: what the reply means, where that is more than it says by itself.
        spent: tells whether a limit is reached that no waiting heals, from what was said and whether a wait was
            named; by default in the words that most services use.
        on_key: what to do about the key, when that is what the server refuses.
        now: the time, for dates in headers.
    """
    said = refusal_of(response) if said is None else said
    kind: ErrorKind = _KINDS.get(said.status, "provider")
    retry = said.status in PASSING or response.status == said.status < 300
    wait = _retry_after(response.headers, now)
    reset = _reset_in(response, said) if retry and wait is None else None
    advice = ""
    if (spent or is_spent)(said, wait is not None or reset is not None):
        kind, retry, advice = "quota", False, "; nothing more is answered until its quota or balance is filled up"
    elif said.status == 429 and reset is not None and reset > MAX_WAIT:
        kind, retry, advice = "quota", False, f"; it answers again in {_spoken(reset)}: come back then"
    elif kind == "unauthorized" and on_key:
        advice = f"; {on_key}"
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


def is_spent(said: Refusal, waits: bool) -> bool:
    """Return whether a limit is reached that no waiting heals; a server that says when to come back means another."""
    if not _SPENT_CODES.isdisjoint(said.codes) or _SPENT_WORDS.search(said.words):
        return True
    quota = any("quota" in word.lower() for word in (said.words, *said.codes))
    return said.status == 402 or (said.status == 429 and quota and not waits)


def words_of(document: Any, longest: int = 200) -> str:
    """Return the message of an error document in any of the usual shapes, as one line; else an empty text."""
    return one_line(_words(document, 6), longest)


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


def excerpt(body: bytes) -> str:
    """Return the beginning of a body as one line of text, without markup."""
    hidden = r"<(script|style)\b.*?(</\1\s*>|$)|<!--.*?(-->|$)|<[^>]*(>|$)"
    text = body[:8000].decode("utf-8", "replace")
    return one_line(html.unescape(re.sub(hidden, " ", text, flags=re.DOTALL | re.IGNORECASE)), 200)


def _unlisted(document: Any) -> Any:
    return document[0] if isinstance(document, list) and document else document


def _words(found: Any, depth: int) -> str:
    """Return the first text in the places where messages are; some servers nest one error document in another."""
    if isinstance(found, str):
        inner = decoded(found.encode("utf-8", "replace")) if found.lstrip().startswith("{") else None
        return (_words(inner, depth - 1) if depth else "") or found.strip()
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
    for detail in mappings(mapping(document).get("detail"))[:1]:
        if isinstance(detail.get("loc"), list):
            param = ".".join(map(str, detail["loc"]))
    return param if isinstance(param, str) else ""


def _named_status(codes: tuple[str, ...], otherwise: int) -> int:
    for code in codes:
        if re.fullmatch(r"[45]\d\d", code):
            return int(code)
        if code in _STATUS_OF_CODE:
            return _STATUS_OF_CODE[code]
    return otherwise


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


def _reset_in(response: Response, said: Refusal) -> float | None:
    """Return the seconds after which a call may work again, from headers or else from the body."""
    # limits are told with every reply, and say nothing about other troubles
    found = _last_reset(response.headers) if said.status == 429 else None
    if found is not None:
        return found
    document = decoded(response.body)
    delays = [str(part["retryDelay"]) for part in mappings(_holder(document).get("details")) if part.get("retryDelay")]
    told = _COME_BACK.search(words_of(document, longest=LONGEST_WORDS))
    return _latest([*delays, told.group(1) if told else ""])


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
