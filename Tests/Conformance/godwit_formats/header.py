"""The header of a sync file (Specs/sync-file.md, "Header")."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import acknowledgements
from .encoding import (
    FormatError,
    Origin,
    Reader,
    Vector,
    counted,
    flag,
    rising,
    signed_varint,
    sized,
    u32,
    varint,
    vector,
)
from .members import REMOVED, FurtherRecords, MemberRecord, Roster, read_histories, read_names
from .proofs import Proof
from .state_files import StateHead
from .tables import Table

STATEMENTS, HISTORIES, NAMES, FURTHER_RECORDS, HELD = 17, 18, 19, 20, 21
_KEY_SIZES = {1: 32, 2: 1_216}


@dataclass(frozen=True)
class Range:
    """The transactions of one origin that a file brings."""

    origin: Origin
    first: int
    last: int
    chain_before: bytes
    chain: bytes
    context: Vector
    proof: Proof

    @staticmethod
    def read(reader: Reader) -> Range:
        origin, first, last = reader.origin(), reader.varint(), reader.varint()
        if not 1 <= first <= last < (1 << 40) - 1:
            raise FormatError("a range out of range")
        return Range(origin, first, last, reader.take(32), reader.take(32), reader.vector(), Proof.read(reader))

    def encoded(self) -> bytes:
        ends = self.origin.encoded() + varint(self.first) + varint(self.last) + self.chain_before + self.chain
        return ends + vector(self.context) + self.proof.encoded()


@dataclass(frozen=True)
class HeldChain:
    """The chain of an origin of which a file brings nothing."""

    chain: bytes
    proof: Proof | None = None

    @staticmethod
    def read(reader: Reader) -> HeldChain:
        return HeldChain(reader.take(32), Proof.read(reader) if reader.flag() else None)

    def encoded(self) -> bytes:
        return self.chain + flag(self.proof is not None) + (self.proof.encoded() if self.proof else b"")


@dataclass
class Header:
    incarnation: int
    created_at: int
    vector: Vector
    schema: int = 0
    recipient_kind: int = 1
    recipients: list[bytes] = field(default_factory=list)
    members: list[MemberRecord] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    migrations: list[bytes] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    chains: dict[Origin, HeldChain] = field(default_factory=dict)
    floor: Vector = field(default_factory=dict)
    ended: list[tuple[Origin, int]] = field(default_factory=list)
    state_file: StateHead | None = None
    fields: dict[int, bytes] = field(default_factory=dict)

    @staticmethod
    def read(content: bytes) -> Header:
        reader = Reader(content)
        header = Header(reader.u32(), reader.signed_varint(), reader.vector(), reader.varint(), reader.u8())
        if header.recipient_kind not in _KEY_SIZES:
            raise FormatError(f"recipients of the kind {header.recipient_kind}")
        header.recipients = reader.list(lambda: reader.take(_KEY_SIZES[header.recipient_kind]), 1_024)
        rising(header.recipients, "recipients")
        header.members = reader.list(lambda: MemberRecord.read(reader), 1_024)
        rising([record.replica for record in header.members], "members")
        header.tables = reader.list(lambda: Table.read(reader), 1_024)
        header.migrations = reader.list(reader.sized, 1_024)
        header.ranges = reader.list(lambda: Range.read(reader), 65_536)
        ranged = [found.origin for found in header.ranges]
        rising(ranged, "ranges")
        header.chains = {origin: HeldChain.read(reader) for origin in sorted(header.vector) if origin not in ranged}
        header.floor = reader.vector()
        header.ended = reader.list(lambda: (reader.origin(), reader.varint()), 65_536)
        rising([origin for origin, _ in header.ended], "ended incarnations")
        header.state_file = StateHead.read(reader) if reader.flag() else None
        tagged = reader.list(lambda: (reader.varint(), reader.sized()), 256)
        rising([tag for tag, _ in tagged], "fields")
        header.fields = dict(tagged)
        reader.end("a header")
        return header

    def encoded(self) -> bytes:
        head = u32(self.incarnation) + signed_varint(self.created_at) + vector(self.vector) + varint(self.schema)
        lists = [
            counted(sorted(self.recipients)),
            counted([record.encoded() for record in self.members]),
            counted([table.encoded() for table in self.tables]),
            counted([sized(migration) for migration in self.migrations]),
            counted([found.encoded() for found in self.ranges]),
            b"".join(self.chains[origin].encoded() for origin in sorted(self.chains)),
            vector(self.floor),
            counted([origin.encoded() + varint(last) for origin, last in self.ended]),
            flag(self.state_file is not None) + (self.state_file.encoded() if self.state_file else b""),
            counted([varint(tag) + sized(self.fields[tag]) for tag in sorted(self.fields)]),
        ]
        return head + bytes([self.recipient_kind]) + b"".join(lists)

    @property
    def held(self) -> Vector:
        """Up to where the sender has what waits there."""
        if HELD not in self.fields:
            return {}
        reader = Reader(self.fields[HELD])
        held = reader.vector()
        reader.end("a vector of what waits")
        if not held:
            raise FormatError("a vector of what waits that names nothing")
        return held

    @property
    def present(self) -> Vector:
        """All that the sender has: what the file's transactions can have seen."""
        held = self.held
        return {
            origin: max(self.vector.get(origin, 0), held.get(origin, 0)) for origin in {**self.vector, **held}
        }

    @property
    def roster(self) -> Roster:
        further = self.fields.get(FURTHER_RECORDS)
        return Roster(
            self.members,
            read_histories(Reader(self.fields[HISTORIES])) if HISTORIES in self.fields else [],
            read_names(Reader(self.fields[NAMES])) if NAMES in self.fields else [],
            FurtherRecords.read(Reader(further)) if further is not None else None,
        )

    def surroundings(self, group: bytes) -> acknowledgements.Surroundings:
        further = self.roster.further
        lapsed = further.lapsed if further else []
        statuses = [
            (record.replica, REMOVED if record.replica in lapsed else record.status) for record in self.members
        ]
        return acknowledgements.Surroundings(
            group, self.created_at, self.vector, statuses, [origin for origin, _ in self.ended]
        )

    def acknowledgements(self, group: bytes) -> list[acknowledgements.Acknowledgement]:
        content = self.fields.get(STATEMENTS)
        return acknowledgements.read_field(content, self.surroundings(group)) if content is not None else []
