"""Who vouches for a profile: Ed25519 signatures (RFC 8032), and the gate before a profile is put into a prompt."""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from selfdiag.protocols.profile_file import (
    Profile,
    canonical,
    decode_exactly,
    is_plain_line,
    read_bounded,
    read_profile,
)
from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import data_dir

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SCHEMA = "selfdiag.signature/1"
GATE_SCHEMA = "selfdiag.gate/1"
LONGEST_NAME = 60
REFUSED = 1
"""Exit code of a profile that does not pass the gate."""
KEY_BYTES = 32
SIGNATURE_BYTES = 64

State = Literal["measured here", "verified", "unsigned", "altered", "untrusted"]


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The signature file of a profile.

    ``signer`` is who measured, whoever hands the file on. ``public_key`` and ``signature`` are in base64; ``signed``
    is the SHA-256 of the profile's canonical bytes. All other fields are part of what ``signature`` is made over.
    """

    schema: str
    signer: str
    public_key: str
    algorithm: Literal["Ed25519"]
    signed: str
    signature: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a profile before it is put into a prompt.

    ``signer`` is the name inside a signature that fits the profile, else empty. Only with ``verified`` is it known to
    be theirs. ``note`` is one plain sentence.
    """

    schema: str = GATE_SCHEMA
    state: State
    signer: str = ""
    note: str

    def __str__(self) -> str:
        return f"{self.state}: {self.note}"


MEASURED_HERE = Gate(state="measured here", note="selfdiag has measured it itself, from a run on this machine")
"""The gate of a profile that comes from no file."""

_ADVICE: dict[State, str] = {
    "unsigned": "have whoever measured it sign it with 'selfdiag profile sign'",
    "altered": "get the file and its signature again from whoever measured it",
    "untrusted": "if you trust the signer, get their public key from themselves and add it to those you trust",
}


def signing_dir() -> Path:
    """Return the folder of the person's own key, and of the public keys that are trusted when no others are named."""
    return data_dir() / "signing"


def default_key() -> Path:
    """Return the place of the person's own private key, whether it is there or not."""
    return signing_dir() / "key.pem"


def public_path(key_path: Path) -> Path:
    """Return the place of the public key that belongs to a private one."""
    return key_path.with_name(f"{key_path.name}.pub")


def signature_path(profile_path: Path) -> Path:
    """Return the place of a profile's signature."""
    return profile_path.with_name(f"{profile_path.name}.sig")


def make_key(path: Path, signer: str) -> Path:
    """Make a key to sign with and return the place of its public half, one line ``NAME KEY``.

    Args:
        path: of the private key (PEM, PKCS 8), which only its owner can read; its folder is made when it is not there.
        signer: whose key it is, one line of at most ``LONGEST_NAME`` characters.

    Raises:
        SelfdiagError: when the name cannot be used, a file is there already, or the place cannot be written.
    """
    _need_signer(signer)
    _need_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SelfdiagError(f"{one_line(str(path.parent))} cannot be made ({error.strerror})") from None
    _write_new(path, pem, mode=0o600, instead="choose another name for the key")
    public = public_path(path)
    try:
        _write_new(public, f"{signer} {_public_text(key)}\n".encode(), instead="choose another name for the key")
    except SelfdiagError:
        path.unlink(missing_ok=True)  # half a pair is of no use, and would stand in the way of the next try
        raise
    return public


def sign(profile_path: Path, key_path: Path, signer: str | None = None) -> Path:
    """Sign a profile and return the place of the signature file.

    Args:
        profile_path: the profile.
        key_path: the private key.
        signer: who has measured; without it the name in the key's ``.pub`` file.

    Raises:
        SelfdiagError: when a file cannot be used, others can read the key, or the profile has a signature already.
    """
    profile = read_profile(profile_path)
    key = _read_private_key(key_path)
    name = _owner(key_path, key) if signer is None else signer
    _need_signer(name)
    header = Signature(
        schema=SCHEMA,
        signer=name,
        public_key=_public_text(key),
        algorithm="Ed25519",
        signed=hashlib.sha256(canonical(profile)).hexdigest(),
        signature="",
    )
    made = base64.b64encode(key.sign(_signed_bytes(profile, header))).decode()
    place = signature_path(profile_path)
    document = msgspec.structs.replace(header, signature=made)
    # never over an earlier one: whoever passes a profile on must not put themselves in its measurer's place unnoticed
    text = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    _write_new(place, text, instead="delete it first to sign the profile anew")
    return place


def verify(profile_path: Path, trust: Path | None = None) -> Gate:
    """Return whether a profile is as a trusted signer has signed it.

    Args:
        profile_path: the profile; its signature lies beside it, with ``.sig`` after the name.
        trust: a file of public keys, one a line, or a folder of ``.pub`` files; without it, ``signing_dir()``.

    Raises:
        SelfdiagError: when the profile, its signature or the public keys cannot be read.
    """
    return _gate(read_profile(profile_path), profile_path, trust)


def admit(profile_path: Path, *, trust: Path | None, allow_unsigned: bool) -> tuple[Profile, Gate]:
    """Return a profile that may be put into a prompt, and what is known of it.

    Args:
        profile_path: the profile.
        trust: as for ``verify``.
        allow_unsigned: let a profile pass that is not verified; its gate still says what it is.

    Raises:
        SelfdiagError: with exit code 1 when the profile is not verified; with 2 when a file cannot be read.
    """
    profile = read_profile(profile_path)
    gate = _gate(profile, profile_path, trust)
    if gate.state != "verified" and not allow_unsigned:
        advice = f"{_ADVICE[gate.state]}, or use it as it is with --allow-unsigned"
        shown = one_line(str(profile_path))
        raise SelfdiagError(f"{shown} is not used: it is {gate.state} ({gate.note}); {advice}", exit_code=REFUSED)
    return profile, gate


def trusted_keys(trust: Path | None) -> dict[str, set[str]]:
    """Return the names of whoever is trusted, by their public key in base64.

    Args:
        trust: as for ``verify``.

    Raises:
        SelfdiagError: when a file cannot be read, or a line of it is no public key; blank lines and lines that begin
            with ``#`` are left out.
    """
    place = signing_dir() if trust is None else trust
    if trust is None and not place.exists():
        return {}
    keys: dict[str, set[str]] = {}
    for path in sorted(place.glob("*.pub")) if place.is_dir() else [place]:
        for signer, key in _read_public_keys(path):
            keys.setdefault(key, set()).add(signer)
    return keys


def _gate(profile: Profile, profile_path: Path, trust: Path | None) -> Gate:
    trusted = trusted_keys(trust)
    place = signature_path(profile_path)
    if not place.exists():
        return Gate(state="unsigned", note=f"there is no {one_line(place.name)}, so nobody vouches for the profile")
    data = read_bounded(place)
    _need_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        found = decode_exactly(data, Signature, SCHEMA)
        _check_signer(found.signer)
        public_key = _from_base64(found.public_key, KEY_BYTES)
        signature = _from_base64(found.signature, SIGNATURE_BYTES)
    except ValueError as error:
        return Gate(state="altered", note=f"its signature file is damaged: {error}")
    if found.signed != hashlib.sha256(canonical(profile)).hexdigest():
        return Gate(
            state="altered", note="it does not hold what was signed: it was changed, or the signature is another's"
        )
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, _signed_bytes(profile, found))
    except InvalidSignature:
        return Gate(state="altered", note="its signature was changed, or is not by the key that it names")
    names = trusted.get(found.public_key)
    if names is None:
        note = f"it is signed as {found.signer!r} with a key that is not among the trusted ones"
    elif found.signer not in names:
        note = f"it is signed as {found.signer!r} with the key of {' and '.join(sorted(names))}"
    else:
        return Gate(state="verified", signer=found.signer, note=f"it is as {found.signer} has signed it")
    return Gate(state="untrusted", signer=found.signer, note=note)


def _signed_bytes(profile: Profile, signature: Signature) -> bytes:
    """Return what is signed: the profile and everything else in the signature file, so that no name can be swapped."""
    header = msgspec.structs.asdict(signature)
    del header["signature"]
    # canonical JSON holds no line feed, so the two cannot run into each other
    return canonical(profile) + b"\n" + msgspec.json.encode(header, order="sorted")


def _read_public_keys(path: Path) -> list[tuple[str, str]]:
    shown = one_line(str(path))
    try:
        lines = read_bounded(path).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise SelfdiagError(f"{shown} is not text in UTF-8") from None
    keys = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        signer, _, key = line.rpartition(" ")
        fault = f"{shown} line {number} is not a public key"  # the line is not shown: it may be of a private key
        try:
            _check_signer(signer)
        except ValueError:
            raise SelfdiagError(f"{fault}: it must be NAME KEY") from None
        try:
            _from_base64(key, KEY_BYTES)
        except ValueError:
            raise SelfdiagError(f"{fault}: the key is not {KEY_BYTES} bytes in base64") from None
        keys.append((signer, key))
    return keys


def _read_private_key(path: Path) -> Ed25519PrivateKey:
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    shown = one_line(str(path))
    if not path.exists():
        raise SelfdiagError(f"there is no key {shown}: make one with 'selfdiag profile keygen'")
    data = read_bounded(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        command = one_line(f"chmod 600 {shlex.quote(str(path))}", 400)
        raise SelfdiagError(f"{shown} is open to others than you, so it is not used: run {command}")
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: it has a passphrase
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise SelfdiagError(f"{shown} is not an Ed25519 private key in PEM without a passphrase")
    return key


def _owner(key_path: Path, key: Ed25519PrivateKey) -> str:
    path = public_path(key_path)
    names = [signer for signer, text in _read_public_keys(path) if text == _public_text(key)]
    if len(names) != 1:
        raise SelfdiagError(f"{one_line(str(path))} is not the public key of {one_line(str(key_path))}")
    return names[0]


def _public_text(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def _from_base64(text: str, size: int) -> bytes:
    raw = base64.b64decode(text, validate=True)
    # the last letter has bits that count for nothing, so two texts can mean the same bytes
    if len(raw) != size or base64.b64encode(raw).decode() != text:
        raise ValueError(f"a text in base64 does not hold {size} bytes")
    return raw


def _check_signer(signer: str) -> None:
    if not signer or signer.startswith("#") or not is_plain_line(signer, LONGEST_NAME):
        raise ValueError(f"the signer is not one plain line of 1 to {LONGEST_NAME} characters without # before it")


def _need_signer(signer: str) -> None:
    try:
        _check_signer(signer)
    except ValueError as error:
        raise SelfdiagError(f"{one_line(signer, LONGEST_NAME)!r} cannot be used as a name: {error}") from None


def _need_cryptography() -> None:
    if find_spec("cryptography") is None:
        raise SelfdiagError("signing needs the extra 'sign': python -m pip install \"selfdiag[sign]\"")


def _write_new(path: Path, data: bytes, *, mode: int = 0o666, instead: str) -> None:
    """Write a file that must not be there yet, not even as a link; ``instead`` says what to do when it is."""
    shown = one_line(str(path))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags, mode)
    except FileExistsError:
        raise SelfdiagError(f"{shown} exists already and is left as it is: {instead}") from None
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be written ({error.strerror})") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise SelfdiagError(f"{shown} cannot be written ({error.strerror})") from None
