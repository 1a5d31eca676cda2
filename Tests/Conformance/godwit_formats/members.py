"""Identities, and the signed records about members (Specs/keyring.md, Specs/membership.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import hybrid, keys
from .encoding import FormatError, Reader, counted, i64, rising, sized, string

_AGREEMENT_SIZES = {1: 32, 2: 1_216}
REMOVED = 2
ACTIVE = 1
NO_GROUND = bytes(32)


@dataclass(frozen=True)
class PublicIdentity:
    version: int
    replica: bytes
    agreement: bytes
    signing: bytes

    @staticmethod
    def read(reader: Reader) -> PublicIdentity:
        version = reader.u8()
        if version not in _AGREEMENT_SIZES:
            raise FormatError(f"an identity of version {version}")
        replica = reader.take(16)
        return PublicIdentity(version, replica, reader.take(_AGREEMENT_SIZES[version]), reader.take(32))

    def encoded(self) -> bytes:
        return bytes([self.version]) + self.replica + self.agreement + self.signing


@dataclass(frozen=True)
class PrivateIdentity:
    """The keys of a replica. In version 2 the agreement key is the seed of a hybrid pair."""

    version: int
    replica: bytes
    signing_seed: bytes
    agreement: bytes

    @staticmethod
    def read(reader: Reader) -> PrivateIdentity:
        return PrivateIdentity(reader.u8(), reader.take(16), reader.take(32), reader.take(32))

    def encoded(self) -> bytes:
        return bytes([self.version]) + self.replica + self.signing_seed + self.agreement

    @property
    def public(self) -> PublicIdentity:
        agreement = (keys.agreement_public if self.version == 1 else hybrid.public)(self.agreement)
        return PublicIdentity(self.version, self.replica, agreement, keys.signing_public(self.signing_seed))

    def sign(self, message: bytes) -> bytes:
        return keys.signed(self.signing_seed, message)


@dataclass(frozen=True)
class MemberRecord:
    """Says that an identity is, or is no longer, a member. From version 2 on it names what it stands on."""

    version: int
    group: bytes
    identity: PublicIdentity
    name: str
    status: int
    issued_at: int
    issuer: bytes
    ground: bytes = NO_GROUND
    staying: tuple[bytes, ...] = ()
    signature: bytes = b""

    context = b"godwit member v1\0"

    @staticmethod
    def read(reader: Reader) -> MemberRecord:
        version = reader.u8()
        group = reader.take(16)
        record = MemberRecord(
            version, group, PublicIdentity.read(reader), reader.string(), reader.u8(), reader.i64(), reader.take(16)
        )
        if version not in (1, 2) or record.status not in (ACTIVE, REMOVED):
            raise FormatError("a member record of another version or status")
        if version > 1:
            record = replace(record, ground=reader.take(32))
            if record.status == REMOVED:
                record = replace(record, staying=tuple(reader.list(lambda: reader.take(32), 1_024)))
        rising(list(record.staying), "the records that stay")
        return replace(record, signature=reader.take(64))

    @property
    def replica(self) -> bytes:
        return self.identity.replica

    def unsigned(self) -> bytes:
        fields = bytes([self.version]) + self.group + self.identity.encoded() + string(self.name)
        fields += bytes([self.status]) + i64(self.issued_at) + self.issuer
        if self.version > 1:
            fields += self.ground
            if self.status == REMOVED:
                fields += counted(list(self.staying))
        return fields

    def encoded(self) -> bytes:
        return self.unsigned() + self.signature

    def signed_by(self, issuer: PrivateIdentity) -> MemberRecord:
        return replace(self, signature=issuer.sign(self.context + self.unsigned()))

    def is_signed_by(self, key: bytes) -> bool:
        return keys.fits(key, self.signature, self.context + self.unsigned())


@dataclass(frozen=True)
class NameRecord:
    """Says that a member is called so from now on."""

    version: int
    group: bytes
    replica: bytes
    name: str
    issued_at: int
    issuer: bytes
    ground: bytes = NO_GROUND
    signature: bytes = b""

    context = b"godwit member name v1\0"

    @staticmethod
    def read(reader: Reader) -> NameRecord:
        version = reader.u8()
        record = NameRecord(version, reader.take(16), reader.take(16), reader.string(), reader.i64(), reader.take(16))
        if version > 1:
            record = replace(record, ground=reader.take(32))
        return replace(record, signature=reader.take(64))

    def unsigned(self) -> bytes:
        fields = bytes([self.version]) + self.group + self.replica + string(self.name) + i64(self.issued_at)
        return fields + self.issuer + (self.ground if self.version > 1 else b"")

    def encoded(self) -> bytes:
        return self.unsigned() + self.signature

    def is_signed_by(self, key: bytes) -> bool:
        return keys.fits(key, self.signature, self.context + self.unsigned())


@dataclass(frozen=True)
class Successor:
    """The keys that follow a member's, signed with those before and with the new ones."""

    identity: PublicIdentity
    issued_at: int
    signature_before: bytes
    signature: bytes

    @staticmethod
    def read(reader: Reader) -> Successor:
        return Successor(PublicIdentity.read(reader), reader.i64(), reader.take(64), reader.take(64))

    def encoded(self) -> bytes:
        return self.identity.encoded() + i64(self.issued_at) + self.signature_before + self.signature

    def follows(self, before: PublicIdentity, group: bytes) -> bool:
        message = b"godwit successor v1\0" + group + before.encoded() + self.identity.encoded() + i64(self.issued_at)
        by_both = keys.fits(before.signing, self.signature_before, message) and keys.fits(
            self.identity.signing, self.signature, message
        )
        return by_both and before.replica == self.identity.replica


@dataclass(frozen=True)
class History:
    """A member's first public identity, and those that followed it."""

    first: PublicIdentity
    successors: tuple[Successor, ...]

    @staticmethod
    def read(reader: Reader) -> History:
        first = PublicIdentity.read(reader)
        return History(first, tuple(reader.list(lambda: Successor.read(reader), 32)))

    def encoded(self) -> bytes:
        return self.first.encoded() + counted([successor.encoded() for successor in self.successors])

    @property
    def identities(self) -> list[PublicIdentity]:
        return [self.first] + [successor.identity for successor in self.successors]

    def proves_itself(self, group: bytes) -> bool:
        before = self.identities
        return all(successor.follows(old, group) for old, successor in zip(before, self.successors))


def read_histories(reader: Reader) -> list[History]:
    histories = reader.list(lambda: History.read(reader), 1_024)
    rising([history.first.replica for history in histories], "histories")
    return histories


def histories(content: list[History]) -> bytes:
    return counted([history.encoded() for history in content])


def read_names(reader: Reader) -> list[NameRecord]:
    names = reader.list(lambda: NameRecord.read(reader), 1_024)
    rising([name.replica for name in names], "name records")
    return names


def names(content: list[NameRecord]) -> bytes:
    return counted([name.encoded() for name in content])


@dataclass
class FurtherRecords:
    """Records that are kept and do not decide, and the members of which none counts."""

    lapsed: list[bytes] = field(default_factory=list)
    members: list[MemberRecord] = field(default_factory=list)
    names: list[NameRecord] = field(default_factory=list)

    @staticmethod
    def read(reader: Reader) -> FurtherRecords:
        return FurtherRecords(
            reader.list(lambda: reader.take(16), 1_024),
            reader.list(lambda: MemberRecord.read(reader), 2_048),
            reader.list(lambda: NameRecord.read(reader), 2_048),
        )

    def encoded(self) -> bytes:
        records = [record.encoded() for record in self.members]
        return counted(self.lapsed) + counted(records) + counted([name.encoded() for name in self.names])


@dataclass
class Roster:
    """The members that a file or keyring lists, with the records that go with them."""

    members: list[MemberRecord]
    histories: list[History]
    names: list[NameRecord]
    further: FurtherRecords | None = None

    def signing_keys(self, replica: bytes) -> list[bytes]:
        """Every key that the replica has or had, the present one last."""
        for history in self.histories:
            if history.first.replica == replica:
                return [identity.signing for identity in history.identities]
        return [record.identity.signing for record in self.members if record.replica == replica]

    def present(self, replica: bytes) -> PublicIdentity:
        """The identity whose keys count now."""
        for history in self.histories:
            if history.first.replica == replica:
                return history.identities[-1]
        return next(record.identity for record in self.members if record.replica == replica)


@dataclass
class Invitation:
    """What an invitation says once it is opened (Specs/sync-file.md, "Invitation")."""

    version: int
    group: bytes
    inviter: PublicIdentity
    members: list[MemberRecord]
    further: list[bytes]
    signature: bytes

    @staticmethod
    def read(content: bytes) -> Invitation:
        reader = Reader(content)
        if reader.take(8) != b"GODWITIV":
            raise FormatError("no invitation")
        version = reader.u8()
        group = reader.take(16)
        inviter = PublicIdentity.read(reader)
        members = reader.list(lambda: MemberRecord.read(reader), 1_024)
        further = []
        while version > 1 and reader.remaining > 64:
            further.append(reader.sized())
        invitation = Invitation(version, group, inviter, members, further, reader.take(64))
        reader.end("an invitation")
        return invitation

    def unsigned(self) -> bytes:
        fields = b"GODWITIV" + bytes([self.version]) + self.group + self.inviter.encoded()
        fields += counted([record.encoded() for record in self.members])
        return fields + b"".join(sized(part) for part in self.further)

    def encoded(self) -> bytes:
        return self.unsigned() + self.signature

    def is_signed(self) -> bool:
        return keys.fits(self.inviter.signing, self.signature, b"godwit invitation v1\0" + self.unsigned())
