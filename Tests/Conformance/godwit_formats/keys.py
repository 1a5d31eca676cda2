"""Keys and the functions of them that several formats share."""

from __future__ import annotations

import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

ZERO_NONCE = bytes(12)


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def derived(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """32 bytes of HKDF-SHA-256."""
    return HKDF(hashes.SHA256(), 32, salt or None, info).derive(secret)


def sealed(key: bytes, nonce: bytes, content: bytes, associated: bytes = b"") -> bytes:
    return ChaCha20Poly1305(key).encrypt(nonce, content, associated)


def opened(key: bytes, nonce: bytes, content: bytes, associated: bytes = b"") -> bytes:
    return ChaCha20Poly1305(key).decrypt(nonce, content, associated)


def agreed(private: bytes, public: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))


def agreement_public(private: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def signing_public(seed: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def signed(seed: bytes, message: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def fits(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether an Ed25519 signature of the message is that key's."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
