"""Finding the provider that a model string names."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points

from selfdiag.models.base import Listing, Provider, ProviderOptions
from selfdiag.safety import SelfdiagError, nearest, one_line

GROUP = "selfdiag.providers"
BARE = ("embedded",)
WITHOUT_ADDRESS = ("embedded", "gguf", "persona")
"""Providers that have one model and need no name."""


def providers() -> dict[str, EntryPoint]:
    """Return every installed provider by its name, the built-in ones and others."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def split(model: str) -> tuple[str, str]:
    """Split ``PROVIDER:NAME`` at its first colon; the name keeps its own colons.

    Raises:
        SelfdiagError: when there is no provider of that name, or no name where one is needed.
    """
    provider, colon, name = model.strip().partition(":")
    known = providers()
    if provider not in known:
        shown = one_line(model, 80)
        listed = ", ".join(known)
        hint = nearest(provider, list(known))
        raise SelfdiagError(f"unknown model {shown!r}: a model is PROVIDER:NAME, with a provider of {listed}.{hint}")
    if not name and provider not in BARE:
        raise SelfdiagError(f"{provider!r} needs a name: write {provider}:NAME")
    if colon and not name:
        raise SelfdiagError(f"write {provider!r} without the colon")
    return provider, name


def build(model: str, options: ProviderOptions) -> Provider:
    """Return the provider for a model string; it connects to nothing yet.

    Raises:
        SelfdiagError: for an unknown provider or a name it does not know.
    """
    provider, name = split(model)
    if options.base_url and provider in WITHOUT_ADDRESS:
        raise SelfdiagError(f"{provider!r} runs on this machine and has no address: leave --base-url away")
    point = providers()[provider]
    try:
        factory = point.load()
    except Exception as error:  # noqa: BLE001 - a foreign provider may fail in any way
        raise SelfdiagError(f"the provider {provider!r} cannot be loaded: {one_line(str(error))}") from None
    built: Provider = factory(name, options)
    return built


def listings() -> list[Listing]:
    """Return what each installed provider offers, without connecting anywhere."""
    found: list[Listing] = []
    for name, point in providers().items():
        try:
            factory = point.load()
        except Exception as error:  # noqa: BLE001 - a foreign provider that cannot load must not hide the others
            found.append(Listing(model=f"{name}:…", ready=False, remark=one_line(str(error))))
            continue
        module = sys.modules.get(getattr(factory, "__module__", ""))
        offer = getattr(module, "offer", None)
        found += offer(name) if callable(offer) else [Listing(model=f"{name}:NAME", ready=True)]
    return found
