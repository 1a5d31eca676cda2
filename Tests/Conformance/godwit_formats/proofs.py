"""Heads that authors sign of their own histories (Specs/sync-file.md, "Signed heads")."""

from __future__ import annotations

from dataclasses import dataclass

from . import keys
from .encoding import Origin, Reader, counted, u64


def head_message(group: bytes, origin: Origin, sequence: int, chain: bytes) -> bytes:
    """What an author signs of its own history."""
    return b"godwit head v1\0" + group + origin.encoded() + u64(sequence) + chain


@dataclass(frozen=True)
class Proof:
    """An author's signed head, and the digests that lead to it from where a range ends."""

    digests: tuple[bytes, ...]
    signature: bytes

    @staticmethod
    def read(reader: Reader) -> Proof:
        return Proof(tuple(reader.list(lambda: reader.take(32), 16_384)), reader.take(64))

    def encoded(self) -> bytes:
        return counted(list(self.digests)) + self.signature

    def holds(self, group: bytes, origin: Origin, sequence: int, chain: bytes, authors_keys: list[bytes]) -> bool:
        for digest in self.digests:
            chain = keys.sha256(chain, digest)
        message = head_message(group, origin, sequence + len(self.digests), chain)
        return any(keys.fits(key, self.signature, message) for key in authors_keys)
