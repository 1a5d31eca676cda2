"""The signed container inside a sync file (Specs/sync-file.md, "Container" to "Signatures", "Trailer")."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import age, keys
from .changes import Transaction
from .encoding import FormatError, Reader, counted, rising, u32, u64
from .frames import BLOCK, FRAME, TRAILER, Part, read_frame
from .header import Header
from .members import History, MemberRecord, PrivateIdentity, histories, read_histories
from .state_files import Item, read_block, transactions

MAGIC = b"GODWIT\0"
VERSION = 5


def place_message(place: str, binding: bytes, before: bytes) -> bytes:
    """What a signature in a container is over."""
    return f"godwit sync file {place} v2\0".encode() + keys.sha256(binding, before)


@dataclass
class Introduction:
    """The records by which a reader can know a sender that it has not met."""

    members: list[MemberRecord] = field(default_factory=list)
    histories: list[History] = field(default_factory=list)

    @staticmethod
    def read(content: bytes) -> Introduction:
        reader = Reader(content)
        members = reader.list(lambda: MemberRecord.read(reader), 8)
        rising([record.replica for record in members], "the members of an introduction")
        found = read_histories(reader) if reader.remaining else []
        reader.end("an introduction")
        return Introduction(members, found)

    def encoded(self) -> bytes:
        behind = histories(self.histories) if self.histories else b""
        return counted([record.encoded() for record in self.members]) + behind


@dataclass
class Place:
    """A signature, where it stands in the container, and what it commits to."""

    name: str
    end: int
    signature: bytes


@dataclass
class Container:
    """A container that was read, with its signatures for who wants to check them."""

    group: bytes
    sender: bytes
    introduction: Introduction
    header_content: bytes
    header: Header
    parts: list[Part]
    count: int
    content: bytes
    places: list[Place]

    @staticmethod
    def read(content: bytes) -> Container:
        reader = Reader(content)
        if reader.take(7) != MAGIC or reader.u8() != VERSION:
            raise FormatError("no container of version 5")
        group, sender = reader.take(16), reader.take(16)
        header_size, header_hash = reader.u32(), reader.take(32)
        introduction = Introduction.read(reader.take(reader.u32()))
        places: list[Place] = []

        def signed_here(name: str) -> None:
            places.append(Place(name, reader.place, reader.take(64)))

        signed_here("preamble")
        header_content = reader.take(header_size)
        if keys.sha256(header_content) != header_hash:
            raise FormatError("a header's hash does not fit")
        parts = []
        while (kind := reader.u8()) != TRAILER:
            if kind not in (FRAME, BLOCK):
                raise FormatError(f"a part of the kind {kind}")
            packed_size, unpacked_size = reader.u32(), reader.u32()
            parts.append(Part(kind, unpacked_size, reader.take(packed_size)))
            signed_here("part")
        count = reader.u64()
        signed_here("trailer")
        reader.end("the trailer")
        header = Header.read(header_content)
        return Container(group, sender, introduction, header_content, header, parts, count, content, places)

    def unsigned_places(self, key: bytes, binding: bytes) -> list[str]:
        """The places whose signature does not fit."""
        return [
            place.name
            for place in self.places
            if not keys.fits(key, place.signature, place_message(place.name, binding, self.content[: place.end]))
        ]

    def items(self) -> list[Item]:
        """Those of a state file."""
        return [item for part in self.parts if part.kind == BLOCK for item in read_block(part.unpacked())]

    def transactions(self) -> list[Transaction]:
        if self.header.state_file:
            return transactions(self.items(), self.header.state_file)
        sequences = {found.origin: found.first - 1 for found in self.header.ranges}
        origins = [found.origin for found in self.header.ranges]
        found = []
        for part in self.parts:
            found += read_frame(part.unpacked(), origins, sequences, self.header.present)
        return found


@dataclass
class Draft:
    """A container to be written, by whoever has the keys; nothing in it is checked.

    `header_content` and `introduction_content` stand for what would be written otherwise.
    """

    group: bytes
    sender: PrivateIdentity
    introduction: Introduction
    header: Header
    parts: list[Part]
    count: int
    header_content: bytes | None = None
    introduction_content: bytes | None = None

    def content(self, binding: bytes) -> bytes:
        """The container, signed for the age file with this binding."""
        header = self.header.encoded() if self.header_content is None else self.header_content
        introduction = self.introduction_content
        if introduction is None:
            introduction = self.introduction.encoded()
        content = MAGIC + bytes([VERSION]) + self.group + self.sender.replica
        content += u32(len(header)) + keys.sha256(header) + u32(len(introduction)) + introduction
        content += self._signature("preamble", binding, content) + header
        for part in self.parts:
            content += part.encoded()
            content += self._signature("part", binding, content)
        content += bytes([TRAILER]) + u64(self.count)
        return content + self._signature("trailer", binding, content)

    def file(self, recipients: list[bytes] | None = None) -> bytes:
        """The sealed file."""
        sealer = age.Sealer(sorted(self.header.recipients) if recipients is None else recipients)
        return sealer.file(self.content(sealer.binding))

    def _signature(self, place: str, binding: bytes, before: bytes) -> bytes:
        return self.sender.sign(place_message(place, binding, before))


def open_container(file: bytes, identity: PrivateIdentity) -> tuple[Container, age.Opened]:
    """Opens a sync file that is for this identity."""
    opened = age.open_file(file, identity.agreement, identity.version)
    return Container.read(opened.payload), opened
