"""Which key goes to which server, and what to say when one is missing or refused."""

from __future__ import annotations

from selfdiag.models.base import Listing
from selfdiag.safety import SelfdiagError, remember_secret
from selfdiag.settings import api_key, key_variable, server_key


def key_of(provider: str, *, own_service: bool) -> str | None:
    """Return the key to send, or None for a server that was given none.

    A key goes only to the place it was given for: ``own_service`` says whether that is the provider's own.

    Raises:
        SelfdiagError: when the own service has no key, or the key cannot be one; no message holds it.
    """
    key = api_key(provider) if own_service else server_key(provider)
    if own_service and not key:
        raise SelfdiagError(
            f"no key for {provider}: set {key_variable(provider)}, run 'selfdiag keys set {provider}', "
            "or name another server with --base-url",
            exit_code=3,
        )
    remember_secret(key)
    if key and not (key.isascii() and key.isprintable()):
        raise SelfdiagError(f"the key for {provider} holds characters that no key has: set it again", exit_code=3)
    return key


def key_advice(provider: str, *, own_service: bool, sent: bool) -> str:
    """Return what to do about a key when a server refuses a call for want of the right one.

    Args:
        provider: whose server was asked.
        own_service: whether that is the provider's own.
        sent: whether a key was sent.
    """
    variable = key_variable(provider, server=not own_service)
    if sent:
        return f"check the key in {variable}"
    if own_service:
        return f"no key was sent: run 'selfdiag keys set {provider}' or set {variable}"
    return (
        f"no key was sent: run 'selfdiag keys set {provider} --server' or set {variable} "
        f"({key_variable(provider)} is sent to the service itself alone)"
    )


def offered(provider: str, remark: str = "") -> Listing:
    """Return how to name a model.

    It is ready when the provider's own service has a key here, and no remark says why it is not.
    """
    ready = api_key(provider) is not None
    variable = key_variable(provider)
    missing = f"set {variable}, run 'selfdiag keys set {provider}', or name a server with --base-url"
    usual = f"{variable} is set" if ready else missing
    return Listing(model=f"{provider}:NAME", ready=ready and not remark, remark=remark or usual, remote=True)
