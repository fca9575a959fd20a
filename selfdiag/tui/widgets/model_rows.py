"""Which models the home screen lists, grouped by where they run, and what is said of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Literal

import msgspec

from selfdiag.models.base import Listing
from selfdiag.tui.discovery import Found

Kind = Literal["model", "file", "address", "fold", "absent"]
HERE = ("embedded", "gguf")
SIMULATED = "persona"
_NO_NAMES = {"NAME", "PATH", "…"}
"""What providers write where a person has to write a name."""


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the list.

    ``model`` and ``base_url`` are what is asked when the row is a model, ``model`` alone the provider when it is not.
    ``kind`` says what picking it does: ask the ``model``, ask the person for a ``file`` or an ``address``, ``fold``
    rows away or show them, or nothing where a model is ``absent``. ``note`` is the whole of what ``words`` says
    shortly. ``remote`` says that prompts leave this machine, ``remote_host`` where a server passes them on to.
    """

    kind: Kind
    name: str
    model: str
    words: str = ""
    note: str = ""
    base_url: str = ""
    remote: bool = False
    remote_host: str = ""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Rows under a heading, or without one where the first row is as good."""

    heading: str
    rows: tuple[ModelRow, ...]


def groups_of(
    found: Mapping[str, Found],
    *,
    named: tuple[str, str] = ("", ""),
    unfolded: bool = False,
    wanted: str = "",
    memory: int | None = None,
) -> list[Group]:
    """Return what the list shows.

    Args:
        found: what each provider has, as far as it has answered.
        named: a model string and an address that a person has named; shown at the top until a provider lists it.
        unfolded: whether the simulated models are shown.
        wanted: words that a row must contain.
        memory: of this machine, in bytes.
    """
    found = dict(sorted(found.items(), key=lambda item: (item[0] != "ollama", item[0])))
    groups = [
        Group(heading="here", rows=tuple(_here(found))),
        *_with_servers(found, memory),
        Group(heading="api", rows=tuple(_services(found))),
        Group(heading="", rows=tuple(_personas(found, unfolded=unfolded or bool(wanted.strip())))),
    ]
    listed = {(row.model, row.base_url) for group in groups for row in group.rows if row.kind != "fold"}
    if named[0] and named not in listed:
        groups.insert(0, Group(heading="chosen", rows=(named_row(*named),)))
    typed = wanted.strip()
    words = typed.casefold().split()
    if words:
        groups = [
            msgspec.structs.replace(group, rows=tuple(row for row in group.rows if _has(row, words)))
            for group in groups
        ]
        if ":" in typed.strip(":") and (typed, "") not in {*listed, named}:
            groups.append(Group(heading="as typed", rows=(named_row(typed, ""),)))
    return [group for group in groups if group.rows]


def named_row(model: str, base_url: str) -> ModelRow:
    """Return a row for a model that a person has named, whether it is there or not."""
    provider, _, name = model.partition(":")
    if provider == "gguf" and name:
        path = PurePath(name)
        return ModelRow(kind="model", name=path.name or name, model=model, words=str(path.parent), note=model)
    words = f"at {base_url}" if base_url else "simulated" if provider == SIMULATED else provider if name else ""
    note = f"{model} at {base_url}" if base_url else model
    return ModelRow(kind="model", name=name or model, model=model, base_url=base_url, words=words, note=note)


def _has(row: ModelRow, words: Iterable[str]) -> bool:
    # a name that only says that there is none is no name
    name = "" if row.kind == "absent" and ":" not in row.model else f"{row.name} {row.base_url}".casefold()
    model = row.model.casefold()
    # a provider counts by how it begins: whoever types llama does not mean all that ollama has
    return row.kind != "fold" and all(word in name or model.startswith(word) for word in words)


def _here(found: Mapping[str, Found]) -> Iterator[ModelRow]:
    offered = found.get("embedded")
    note = "SmolLM2-135M-Instruct: small, but a real model, and it runs on this machine"
    if offered is None:
        yield ModelRow(kind="model", name="embedded", model="embedded", words="135M · looking…", note=note)
    else:
        for listing in offered.listings:
            words = f"135M · {'98 MB · ready' if offered.here else '93 MB download'}"
            if not listing.ready:
                words = "needs the engine: how to install it"
            yield ModelRow(
                kind="model" if listing.ready else "absent",
                name="embedded",
                model="embedded",
                words=words,
                note=note if listing.ready else f"the llama.cpp engine is not installed; run: {listing.remark}",
            )
    files = found.get("gguf")
    missing = files is not None and not all(listing.ready for listing in files.listings)
    yield ModelRow(
        kind="absent" if missing else "file",
        name="gguf…",
        model="gguf",
        words="needs the engine: how to install it" if missing else "choose a file",
        note=f"the llama.cpp engine is not installed; run: {files.listings[0].remark}"
        if missing and files is not None
        else "any GGUF file on this machine",
    )


def _with_servers(found: Mapping[str, Found], memory: int | None) -> Iterator[Group]:
    """Yield a group for every provider that lists models of its own, and for Ollama also while it has none."""
    if "ollama" not in found:
        looking = ModelRow(kind="absent", name="looking…", model="ollama", note="asking the Ollama server what it has")
        yield Group(heading="ollama", rows=(looking,))
    for provider, offered in found.items():
        if provider in {*HERE, SIMULATED} or _is_service(offered):
            continue
        named = [listing for listing in offered.listings if not _is_open(listing)]
        count = f"{len(named)} model{'s' if len(named) != 1 else ''}" if named else ""
        heading = " · ".join(part for part in (provider, offered.where, count, offered.key) if part)
        rows = tuple(_listed(listing, memory) for listing in offered.listings)
        yield Group(heading=heading, rows=rows)


def _services(found: Mapping[str, Found]) -> Iterator[ModelRow]:
    for provider, offered in found.items():
        if not _is_service(offered):
            continue
        listing = offered.listings[0]
        absent = offered.key.startswith("no key")
        words = "no key: how to set one" if absent else offered.key if listing.ready else listing.remark
        note = offered.key if absent or listing.ready else f"{listing.remark} ({offered.key})"
        yield ModelRow(kind="address", name=f"{provider}…", model=provider, words=words, note=note)
    yield ModelRow(
        kind="address",
        name="other address…",
        model="",
        words="a server of yours",
        note="any server that speaks as OpenAI's does: llama.cpp, vLLM, LM Studio, a gateway",
    )


def _personas(found: Mapping[str, Found], *, unfolded: bool) -> Iterator[ModelRow]:
    offered = found.get(SIMULATED)
    count = f"{len(offered.listings)} " if offered is not None else ""
    yield ModelRow(
        kind="fold",
        name="simulated…",
        model=SIMULATED,
        words="hide them" if unfolded else f"{count}personas to try it on",
        note="replies made by a rule: what an audit of a model of known calibration looks like; no model is asked",
    )
    if unfolded and offered is not None:
        for listing in offered.listings:
            yield msgspec.structs.replace(_listed(listing, None), note="replies made by a rule; no model is asked")


def _listed(listing: Listing, memory: int | None) -> ModelRow:
    provider, _, name = listing.model.partition(":")
    if _is_open(listing):
        words = "f5 looks again" if not listing.ready else "write its name"
        kind: Kind = "address" if listing.ready else "absent"
        return ModelRow(
            kind=kind,
            name=f"{provider}…" if listing.ready else "nothing found",
            model=provider,
            words=words,
            note=listing.remark,
        )
    details = listing.details
    size = " ".join(details[key] for key in ("size", "quantisation") if details.get(key))
    remarks = [
        "" if listing.ready else listing.remark or "not ready",
        "too big for memory" if _too_big(listing, memory) else "",
        "remote" if listing.remote and provider == "ollama" else "",
        size,
        "thinks" if "thinking" in details.get("capabilities", "") else "",
        listing.remark if listing.ready else "",
    ]
    known = [
        listing.model,
        *(details[key] for key in ("disk", "capabilities") if details.get(key)),
        f"context {details['context']}" if details.get("context") else "",
        f"runs at {details['remote_host']}" if details.get("remote_host") else "",
        listing.remark,
    ]
    return ModelRow(
        kind="model" if listing.ready else "absent",
        name=name or listing.model,
        model=listing.model,
        words=" · ".join(remark for remark in remarks if remark),
        note=" · ".join(word for word in known if word),
        remote=listing.remote,
        remote_host=details.get("remote_host", ""),
    )


def _is_open(listing: Listing) -> bool:
    """Return whether a listing says how to name a model and is none itself."""
    return listing.model.partition(":")[2] in _NO_NAMES


def _is_service(offered: Found) -> bool:
    """Return whether a provider is a service elsewhere whose models it does not list."""
    listings = offered.listings
    return len(listings) == 1 and _is_open(listings[0]) and listings[0].remote


def _too_big(listing: Listing, memory: int | None) -> bool:
    size = re.fullmatch(r"([0-9,]+) MB", listing.details.get("disk", ""))
    if size is None or memory is None or listing.remote:
        return False
    return int(size.group(1).replace(",", "")) * 1_000_000 > memory
