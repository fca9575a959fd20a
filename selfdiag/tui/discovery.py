"""What the home screen learns of models and runs; all of it may take seconds, and is called in threads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from selfdiag.models.base import Listing

if TYPE_CHECKING:
    from selfdiag.protocols.overview import RunRow
    from selfdiag.runs.records import RunSettings

KEY_PLACES = {
    "environment": "in the environment",
    "file": "in the file of keys",
    "keyring": "in the system keyring",
}


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider has.

    ``where`` is the server that was asked, ``key`` says where its key comes from or that there is none, never the
    key itself, and ``here`` whether the embedded model is on this machine already.
    """

    provider: str
    listings: tuple[Listing, ...]
    where: str = ""
    key: str = ""
    here: bool = False


def provider_names() -> list[str]:
    """Return the names of the installed providers."""
    from selfdiag.models.registry import providers

    return list(providers())


def find(provider: str) -> Found:
    """Look for the models of one provider.

    Raises:
        SelfdiagError: when there is no provider of that name.
    """
    from selfdiag.models import registry

    listings = tuple(registry.discovered(provider))
    return Found(
        provider=provider,
        listings=listings,
        where=_ollama_server() if provider == "ollama" else "",
        key="" if provider in {*registry.WITHOUT_ADDRESS, "ollama"} else key_source(provider),
        here=provider == "embedded" and embedded_is_here(),
    )


def key_source(provider: str, *, server: bool = False) -> str:
    """Return in words where a provider's key comes from, or how to keep one.

    Args:
        provider: whose key.
        server: whether it is the key for servers named by an address.
    """
    from selfdiag.keys import sources
    from selfdiag.safety import SelfdiagError
    from selfdiag.settings import key_variable, keys_path

    variable = key_variable(provider, server=server)
    try:
        places = [source for source in sources(keys_path(), [variable]) if source.variable == variable]
    except SelfdiagError as error:
        return f"no key: {error}"
    used = next((source for source in places if source.used), None)
    if used is None:
        return f"no key: selfdiag keys set {provider}{' --server' if server else ''}, or set {variable}"
    return f"key: {variable} {KEY_PLACES[used.place]}"


def check(model: str, base_url: str) -> None:
    """Build the provider of a model without connecting anywhere.

    Raises:
        SelfdiagError: when the model string, its file, its address or its key cannot be used.
    """
    from selfdiag.models.base import ProviderOptions
    from selfdiag.models.registry import build

    build(model, ProviderOptions(base_url=base_url))


def memory_bytes() -> int | None:
    """Return how much memory this machine has, None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def embedded_is_here() -> bool:
    """Return whether the weights of the embedded model are on this machine."""
    from selfdiag.models import weights

    return weights.ready() is not None


def run_folder(run_id: str) -> Path:
    """Return the folder of one of the user's runs; this alone takes no time."""
    from selfdiag.settings import runs_dir

    return runs_dir() / run_id


def last_runs() -> list[RunRow]:
    """Return the user's runs, the newest first."""
    from selfdiag.protocols.overview import overview

    return overview()


def settings_to_resume(folder: Path) -> RunSettings:
    """Return the settings of a run to go on with.

    Raises:
        SelfdiagError: when it cannot be read.
    """
    from selfdiag.runs.store import read_manifest

    # a budget holds for the stretch it was given for
    return msgspec.structs.replace(read_manifest(folder).settings, budget_seconds=None, budget_tokens=None)


def delete_run(folder: Path) -> None:
    """Delete a run.

    Raises:
        SelfdiagError: when it is no run, is being written, or cannot be deleted.
    """
    from selfdiag.runs.shelf import remove_run

    remove_run(folder)


def _ollama_server() -> str:
    from selfdiag.models.ollama_address import ollama_address
    from selfdiag.safety import SelfdiagError

    try:
        return ollama_address().url.partition("://")[2]
    except SelfdiagError:  # the listing says it
        return ""
