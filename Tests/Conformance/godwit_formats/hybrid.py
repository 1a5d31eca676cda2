"""MLKEM768-X25519 and the HPKE that seals by it (Specs/age.md, "MLKEM768-X25519")."""

from __future__ import annotations

import hashlib
import hmac
import os

from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey

from . import keys

PUBLIC_SIZE = 1_184 + 32
_LABEL = bytes.fromhex("5c2e2f2f5e5c")
_SUITE = b"HPKE" + bytes.fromhex("647a00010003")


def _parts(seed: bytes) -> tuple[MLKEM768PrivateKey, bytes]:
    """The two private keys that follow from a seed."""
    expanded = hashlib.shake_256(seed).digest(96)
    return MLKEM768PrivateKey.from_seed_bytes(expanded[:64]), expanded[64:]


def public(seed: bytes) -> bytes:
    lattice, curve = _parts(seed)
    return lattice.public_key().public_bytes_raw() + keys.agreement_public(curve)


def _combined(lattice_secret: bytes, curve_secret: bytes, curve_share: bytes, curve_public: bytes) -> bytes:
    return hashlib.sha3_256(lattice_secret + curve_secret + curve_share + curve_public + _LABEL).digest()


def _encapsulated(recipient: bytes) -> tuple[bytes, bytes]:
    """A shared secret, and the share that gives it to the recipient."""
    lattice_public, curve_public = recipient[:1_184], recipient[1_184:]
    lattice_secret, lattice_share = MLKEM768PublicKey.from_public_bytes(lattice_public).encapsulate()
    ephemeral = os.urandom(32)
    curve_share = keys.agreement_public(ephemeral)
    curve_secret = keys.agreed(ephemeral, curve_public)
    return _combined(lattice_secret, curve_secret, curve_share, curve_public), lattice_share + curve_share


def _decapsulated(seed: bytes, share: bytes) -> bytes:
    lattice, curve = _parts(seed)
    lattice_secret = lattice.decapsulate(share[:1_088])
    curve_secret = keys.agreed(curve, share[1_088:])
    return _combined(lattice_secret, curve_secret, share[1_088:], keys.agreement_public(curve))


def _extracted(salt: bytes, label: bytes, secret: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + _SUITE + label + secret, "sha256")


def _expanded(key: bytes, label: bytes, info: bytes, size: int) -> bytes:
    labeled = size.to_bytes(2, "big") + b"HPKE-v1" + _SUITE + label + info
    return hmac.digest(key, labeled + b"\1", "sha256")[:size]


def _schedule(shared: bytes, info: bytes) -> tuple[bytes, bytes]:
    """Key and nonce of the only message (RFC 9180, base mode)."""
    context = b"\0" + _extracted(b"", b"psk_id_hash", b"") + _extracted(b"", b"info_hash", info)
    secret = _extracted(shared, b"secret", b"")
    return _expanded(secret, b"key", context, 32), _expanded(secret, b"base_nonce", context, 12)


def sealed(recipient: bytes, info: bytes, content: bytes) -> tuple[bytes, bytes]:
    """The share, and what is sealed by it."""
    shared, share = _encapsulated(recipient)
    return share, keys.sealed(*_schedule(shared, info), content)


def opened(seed: bytes, share: bytes, info: bytes, content: bytes) -> bytes:
    return keys.opened(*_schedule(_decapsulated(seed, share), info), content)
