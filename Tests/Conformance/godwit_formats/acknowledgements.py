"""Signed acknowledgements of what members hold, and the field that has them short (Specs/sync-file.md, "Acknowledgements")."""

from __future__ import annotations

from dataclasses import dataclass

from . import keys
from .encoding import (
    FormatError,
    Origin,
    Reader,
    Vector,
    counted,
    places,
    rising,
    signed_varint,
    u32,
    varint,
    vector,
)


@dataclass(frozen=True)
class Surroundings:
    """What a header says already: acknowledgements in its field have only how they differ."""

    group: bytes
    created_at: int
    vector: Vector
    statuses: list[tuple[bytes, int]]
    ended: list[Origin]


@dataclass(frozen=True)
class Acknowledgement:
    group: bytes
    author: Origin
    created_at: int
    vector: Vector
    chains: bytes
    statuses: tuple[tuple[bytes, int], ...]
    ended: tuple[Origin, ...]
    signature: bytes = b""
    # The schema's hash, 8 bytes, and that of the rows, 16; zeros where none is stated.
    state: bytes = bytes(24)

    def message(self) -> bytes:
        content = self.group + self.author.encoded() + signed_varint(self.created_at) + vector(self.vector)
        content += self.chains + self.state + counted([replica + bytes([status]) for replica, status in self.statuses])
        return b"godwit statement v2\0" + content + counted([origin.encoded() for origin in self.ended])

    def is_signed_by(self, key: bytes) -> bool:
        return keys.fits(key, self.signature, self.message())


def chains_hash(reached: Vector, chains: dict[Origin, bytes]) -> bytes:
    """The hash that stands for the chains of all origins in an acknowledgement."""
    parts = [origin.encoded() + reached[origin].to_bytes(8, "big") + chains[origin] for origin in sorted(reached)]
    return keys.sha256(*parts)


def read_field(content: bytes, around: Surroundings) -> list[Acknowledgement]:
    reader = Reader(content)
    further = reader.list(reader.origin, 65_536)
    rising(further, "further origins")
    origins = sorted(around.vector) + further
    acknowledgements = [_read_acknowledgement(reader, around, origins) for _ in range(reader.varint())]
    reader.end("acknowledgements")
    rising([acknowledgement.author for acknowledgement in acknowledgements], "acknowledgements")
    return acknowledgements


def _read_acknowledgement(reader: Reader, around: Surroundings, origins: list[Origin]) -> Acknowledgement:
    author = Origin(around.statuses[reader.varint()][0], reader.u32())
    created_at = around.created_at - reader.signed_varint()
    reached = dict(around.vector)
    # All places come first, then all differences.
    for place in reader.places(len(origins)):
        sequence = around.vector.get(origins[place], 0) - reader.signed_varint()
        if sequence:
            reached[origins[place]] = sequence
        else:
            del reached[origins[place]]
    chains, state = reader.take(32), reader.take(24)
    unlisted = reader.places(len(around.statuses))
    other = reader.places(len(around.statuses))
    statuses = [
        (replica, 3 - status if place in other else status)
        for place, (replica, status) in enumerate(around.statuses)
        if place not in unlisted
    ]
    not_ended = reader.places(len(around.ended))
    ended = [origin for place, origin in enumerate(around.ended) if place not in not_ended]
    return Acknowledgement(
        around.group, author, created_at, reached, chains, tuple(statuses), tuple(ended), reader.take(64), state
    )


def field(acknowledgements: list[Acknowledgement], around: Surroundings) -> bytes:
    named = {origin for acknowledgement in acknowledgements for origin in acknowledgement.vector}
    further = sorted(named - set(around.vector))
    origins = sorted(around.vector) + further
    content = counted([origin.encoded() for origin in further]) + varint(len(acknowledgements))
    return content + b"".join(_acknowledgement(acknowledgement, around, origins) for acknowledgement in acknowledgements)


def _acknowledgement(acknowledgement: Acknowledgement, around: Surroundings, origins: list[Origin]) -> bytes:
    replicas = [replica for replica, _ in around.statuses]
    content = varint(replicas.index(acknowledgement.author.replica)) + u32(acknowledgement.author.incarnation)
    content += signed_varint(around.created_at - acknowledgement.created_at)
    differences = [around.vector.get(origin, 0) - acknowledgement.vector.get(origin, 0) for origin in origins]
    changed = [place for place, difference in enumerate(differences) if difference]
    content += places(changed) + b"".join(signed_varint(differences[place]) for place in changed)
    listed = dict(acknowledgement.statuses)
    unlisted = [place for place, replica in enumerate(replicas) if replica not in listed]
    other = [
        place for place, (replica, status) in enumerate(around.statuses) if listed.get(replica, status) != status
    ]
    not_ended = [place for place, origin in enumerate(around.ended) if origin not in acknowledgement.ended]
    content += acknowledgement.chains + acknowledgement.state
    return content + places(unlisted) + places(other) + places(not_ended) + acknowledgement.signature
