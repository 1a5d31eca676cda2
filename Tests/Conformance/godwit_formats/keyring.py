"""The keyring file with a slot for a machine key (Specs/keyring.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import bech32, keys
from .encoding import FormatError, Reader, counted, flag, sized, u16, u64, varint
from .members import (
    FurtherRecords,
    History,
    MemberRecord,
    NameRecord,
    PrivateIdentity,
    Roster,
    read_histories,
    read_names,
)

_MACHINE_SLOT = 1
OLD_IDENTITIES, HISTORIES, NAMES, FURTHER_RECORDS = 17, 18, 19, 20


@dataclass
class KeyringBody:
    """What the seal holds: the replica's keys and the members that it trusts."""

    version: int
    identity: PrivateIdentity
    database_key: bytes
    salt: bytes | None
    group: bytes | None
    members: list[MemberRecord]
    entries: list[tuple[int, bytes]]

    @staticmethod
    def read(content: bytes) -> KeyringBody:
        reader = Reader(content)
        version = reader.u8()
        if version not in (1, 2):
            raise FormatError(f"a keyring body of version {version}")
        body = KeyringBody(
            version,
            PrivateIdentity.read(reader),
            reader.take(32),
            reader.take(16) if reader.flag() else None,
            reader.take(16) if reader.flag() else None,
            reader.list(lambda: MemberRecord.read(reader), 2_048),
            [],
        )
        if version == 2:
            body.entries = reader.list(lambda: (reader.varint(), reader.sized()), 1_024)
        reader.end("a keyring's body")
        return body

    def encoded(self) -> bytes:
        content = bytes([self.version]) + self.identity.encoded() + self.database_key
        for optional in (self.salt, self.group):
            content += flag(optional is not None) + (optional or b"")
        content += counted([record.encoded() for record in self.members])
        if self.version == 2:
            content += counted([varint(tag) + sized(entry) for tag, entry in self.entries])
        return content

    def entry(self, tag: int) -> bytes | None:
        return next((content for found, content in self.entries if found == tag), None)

    @property
    def roster(self) -> Roster:
        histories: list[History] = []
        names: list[NameRecord] = []
        if (entry := self.entry(HISTORIES)) is not None:
            histories = read_histories(Reader(entry))
        if (entry := self.entry(NAMES)) is not None:
            names = read_names(Reader(entry))
        further = self.entry(FURTHER_RECORDS)
        return Roster(
            self.members, histories, names, FurtherRecords.read(Reader(further)) if further is not None else None
        )


@dataclass
class Keyring:
    """A keyring file, opened."""

    generation: int
    slots: list[tuple[int, bytes]]
    nonce: bytes
    master_key: bytes
    body: KeyringBody

    @staticmethod
    def read(file: bytes, machine_key: bytes) -> Keyring:
        reader = Reader(file)
        if reader.take(8) != b"GODWITKR" or reader.u16() != 1:
            raise FormatError("no keyring of version 1")
        generation = reader.u64()
        slots = [(reader.u8(), reader.sized()) for _ in range(reader.u8())]
        size = reader.varint()
        associated = file[: reader.place]
        if size != reader.remaining:
            raise FormatError("a keyring's length does not fit")
        nonce = reader.take(12)
        master_key = _master_key(slots, machine_key)
        content = keys.opened(_body_key(master_key), nonce, reader.rest(), associated)
        return Keyring(generation, slots, nonce, master_key, KeyringBody.read(content))

    @staticmethod
    def of(replica: Path, machine_key: Path) -> Keyring:
        """The keyring of a replica's folder, with the machine key in a file."""
        text = machine_key.read_text().rstrip("\n")
        return Keyring.read((replica / "keyring").read_bytes(), bech32.decode(text, "GODWIT-MACHINE-KEY-"))

    def encoded(self) -> bytes:
        """The file with the same nonce and slots."""
        body = self.body.encoded()
        slots = b"".join(bytes([kind]) + sized(content) for kind, content in self.slots)
        head = b"GODWITKR" + u16(1) + u64(self.generation) + bytes([len(self.slots)]) + slots
        head += varint(12 + len(body) + 16)
        return head + self.nonce + keys.sealed(_body_key(self.master_key), self.nonce, body, head)


def _body_key(master_key: bytes) -> bytes:
    return keys.derived(master_key, b"", b"godwit keyring v1 body")


def _master_key(slots: list[tuple[int, bytes]], machine_key: bytes) -> bytes:
    for kind, slot in slots:
        if kind == _MACHINE_SLOT and len(slot) == 76:
            key = keys.derived(machine_key, slot[:16], b"godwit keyring v1 machine slot")
            return keys.opened(key, slot[16:28], slot[28:])
    raise FormatError("a keyring without a slot for a machine key")
