"""Looking up DOIs at a resolver: whether they exist, and which works they name."""

from __future__ import annotations

import html
import re
from asyncio import timeout as time_limit
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx
import msgspec

from selfdiag.elicit.citations import LookedUp
from selfdiag.elicit.identifiers import is_doi
from selfdiag.elicit.textforms import clean_text
from selfdiag.models.http import fault_of, open_client
from selfdiag.safety import SelfdiagError, one_line

RESOLVER = "https://doi.org"
RECORD = "application/vnd.citationstyles.csl+json"
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 1_000_000
MAX_TEXT = 1_000
"""Characters of a title or name that are kept."""

# a few packed bytes can hold gigabytes, so records come as they are
_HEADERS = {"Accept": RECORD, "Accept-Encoding": "identity"}
# signs that a path may hold as they are; a slash within the suffix is encoded, lest dots beside it lead elsewhere
_PLAIN = "!$&'()*+,;=:@"
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,80}>")
_PASSING = frozenset({408, 425, 429})
"""Statuses of servers that may answer the same request later."""


async def look_up(
    dois: Sequence[str],
    *,
    base_url: str = RESOLVER,
    timeout: float = 20.0,  # noqa: ASYNC109 - it holds for each DOI, not for the call
    client: httpx.AsyncClient | None = None,
) -> dict[str, LookedUp]:
    """Return what a resolver knows of each DOI, by the DOI as it was given.

    One after the other is asked for its record in CSL-JSON. Redirects are followed to https only and at most five
    times, and a record may have 1 MB. Only the resolver itself can say that a DOI does not exist (status 404). Where it
    redirects to another server it knows the DOI: what that server then lacks, refuses or sends in another form, or an
    address of it that cannot be asked, makes a DOI that exists, without a title.

    Args:
        dois: any texts; those that do not have the form of a DOI are left out, and never sent.
        base_url: the resolver's address.
        timeout: the longest wait for one DOI in seconds, redirects included.
        client: asks instead of a client of the function's own.

    Raises:
        SelfdiagError: exit code 3, when a server cannot be reached, breaks off, does not answer in time, is out of
            order or asked too much, or when the resolver answers unlike a resolver.
    """
    wanted = [doi for doi in dict.fromkeys(dois) if is_doi(doi)]
    if not wanted:
        return {}
    if client is None:
        async with open_client(base_url, {}, timeout) as own:
            return {doi: await _look_up(doi, base_url, timeout, own) for doi in wanted}
    return {doi: await _look_up(doi, base_url, timeout, client) for doi in wanted}


async def _look_up(doi: str, base_url: str, patience: float, client: httpx.AsyncClient) -> LookedUp:
    prefix, _, suffix = doi.partition("/")
    address = httpx.URL(f"{base_url.rstrip('/')}/{prefix}/{quote(suffix, safe=_PLAIN)}")
    try:
        async with time_limit(patience):
            return await _resolve(address, client)
    except _UnusableError as error:
        what = str(error)
    except TimeoutError:
        what = f"{_place(address)} did not answer in time"
    raise SelfdiagError(f"--online needs the network: {what} (for the DOI {one_line(doi, 80)})", exit_code=3)


class _UnusableError(Exception):
    """No answer, or one from which nothing follows for the DOI."""


async def _resolve(start: httpx.URL, client: httpx.AsyncClient) -> LookedUp:
    at = start
    for _ in range(MAX_REDIRECTS + 1):
        try:
            answer = await _ask(at, client, known=at.netloc != start.netloc)
        except _UnusableError:
            raise
        except Exception as error:  # noqa: BLE001 - the transports let exceptions of several libraries through
            if not _is_of_the_address(error):
                raise _UnusableError(str(fault_of(error, _place(at)))) from None
            if at.netloc != start.netloc:
                break
            raise _UnusableError(f"{_place(at)} redirects to an address that cannot be read") from None
        if isinstance(answer, LookedUp):
            return answer
        at = answer
        if at.scheme != "https":
            break
    if at.netloc == start.netloc:
        raise _UnusableError(f"{_place(start)} redirects in a circle or to an unencrypted address")
    return LookedUp(exists=True)


def _is_of_the_address(error: Exception) -> bool:
    """Return whether an address, and no server, is at fault: no request can be made of it."""
    kinds = (ValueError, httpx.InvalidURL, httpx.UnsupportedProtocol)
    # httpx hides what it could not read of a redirect behind a fault of the protocol
    return isinstance(error, kinds) or isinstance(error.__context__, httpx.InvalidURL)


async def _ask(at: httpx.URL, client: httpx.AsyncClient, *, known: bool) -> LookedUp | httpx.URL:
    """Return what a server says of a DOI, or where it redirects to; ``known`` is whether the resolver knows the DOI."""
    async with client.stream("GET", at, headers=_HEADERS, follow_redirects=False) as response:
        if response.has_redirect_location:
            return at.join(response.headers["location"])
        status = response.status_code
        if status == 404 and not known:
            return LookedUp(exists=False)
        record = await _record(response) if status == 200 else None
        if record is not None:
            return record
        if not known or status >= 500 or status in _PASSING:
            raise _UnusableError(f"{_place(at)} sent no record that can be read, with status {status}")
        return LookedUp(exists=True)


def _place(url: httpx.URL) -> str:
    return one_line(f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}", 80)


async def _record(response: httpx.Response) -> LookedUp | None:
    """Return the record in an answer, or None when there is none that can be read."""
    if "json" not in response.headers.get("content-type", "").lower():
        return None
    if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        return None
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            return None
    try:
        record = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    authors = record.get("author")
    first = authors[0] if isinstance(authors, list) and authors else None
    return LookedUp(
        exists=True,
        title=_text(record.get("title")),
        year=_year(record.get("issued")),
        surname=_text(first.get("family")) if isinstance(first, dict) else "",
    )


def _text(value: Any) -> str:
    """Return a text of a record, of several the first, without markup."""
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, str):
        return ""
    plain = html.unescape(_TAG.sub("", value[: 2 * MAX_TEXT]))
    return " ".join(clean_text(plain)[0].split())[:MAX_TEXT]


def _year(issued: Any) -> int | None:
    """Return the year of a CSL date, ``{"date-parts": [[2019, 5]]}``, whose parts may be texts."""
    part = issued.get("date-parts") if isinstance(issued, dict) else None
    for _ in range(2):
        part = part[0] if isinstance(part, list) and part else None
    if isinstance(part, str) and re.fullmatch(r"[0-9]{1,4}", part):
        part = int(part)
    return part if type(part) is int and 0 < part < 10_000 else None
