"""The head and the items of a state file (Specs/state-file.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .changes import ChangeSet, Transaction
from .encoding import FormatError, Origin, Reader, Vector, counted, rising, u64, varint, vector
from .forms import blob, byte, flagged, form, number, time, together
from .proofs import Proof

ROW, STATE, HOLD, TRANSACTION, AHEAD = range(1, 6)

_vector = form(Reader.vector, vector)
_ITEMS = {
    ROW: together(number, blob),
    STATE: together(number, blob, blob),
    HOLD: together(byte, number, blob, number, blob),
    AHEAD: together(number, blob, time),
    TRANSACTION: together(number, time, number, flagged(_vector), blob, blob),
}


@dataclass(frozen=True)
class HeadOrigin:
    """How far the state has an origin, and up to where its transactions are forgotten."""

    origin: Origin
    sequence: int
    folded: int
    floor: int
    chain: bytes
    floor_chain: bytes
    floor_context: Vector
    proof: Proof

    @staticmethod
    def read(reader: Reader) -> HeadOrigin:
        origin = reader.origin()
        sequence, folded, floor = reader.varint(), reader.varint(), reader.varint()
        if not floor <= folded <= sequence or not sequence:
            raise FormatError("a state_file's head has a floor beyond what is folded or held")
        chains = reader.take(32), reader.take(32)
        return HeadOrigin(origin, sequence, folded, floor, *chains, reader.vector(), Proof.read(reader))

    def encoded(self) -> bytes:
        numbers = varint(self.sequence) + varint(self.folded) + varint(self.floor)
        return (
            self.origin.encoded()
            + numbers
            + self.chain
            + self.floor_chain
            + vector(self.floor_context)
            + self.proof.encoded()
        )


@dataclass(frozen=True)
class StateHead:
    clock: int
    origins: tuple[HeadOrigin, ...]

    @staticmethod
    def read(reader: Reader) -> StateHead:
        clock = reader.u64()
        origins = tuple(reader.list(lambda: HeadOrigin.read(reader), 65_536))
        rising([origin.origin for origin in origins], "the origins of a state_file")
        return StateHead(clock, origins)

    def encoded(self) -> bytes:
        return u64(self.clock) + counted([origin.encoded() for origin in self.origins])


@dataclass(frozen=True)
class Item:
    """An item's kind, and what it is made of in the order of the specification."""

    kind: int
    parts: tuple[Any, ...]

    def encoded(self) -> bytes:
        return byte.write(self.kind) + _ITEMS[self.kind].write(self.parts)


def read_block(content: bytes) -> list[Item]:
    reader = Reader(content)
    items = []
    while reader.remaining:
        kind = reader.u8()
        if kind not in _ITEMS:
            raise FormatError(f"a state_file's item of the kind {kind}")
        items.append(Item(kind, _ITEMS[kind].read(reader)))
    return items


def transactions(items: list[Item], head: StateHead) -> list[Transaction]:
    """Those above their origins' floors, numbered from there."""
    sequences = {origin.origin: origin.floor for origin in head.origins}
    found = []
    for item in items:
        if item.kind == TRANSACTION:
            place, hlc, schema, context, changes, _ = item.parts
            origin = head.origins[place].origin
            sequences[origin] += 1
            found.append(Transaction(origin, sequences[origin], hlc, schema, context, ChangeSet.read(changes)))
    return found
