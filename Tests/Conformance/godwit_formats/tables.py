"""Table definitions as catalogs and files have them (Specs/encoding.md, "Table definition")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .encoding import FormatError, Reader, Value, counted, flag, string, value, varint

INTEGER, REAL, TEXT, BLOB, ANY = range(1, 6)
RESTRICT, CASCADE, SET_NULL = range(1, 4)
COUNTER, ADD_WINS_SET, MAX, MIN, CUSTOM = range(1, 6)
SYNCED, NUMBERS_KEYS, DELETE_WINS = 1, 2, 4
_OPTIONAL, _DEFAULT, _REFERENCE, _CHECK, _MERGE, _ACYCLIC = 1, 2, 4, 8, 16, 32


class _Absent:
    """No default, which is another thing than the default NULL."""


ABSENT = _Absent()


class Reference(NamedTuple):
    table: str
    on_delete: int


class Merge(NamedTuple):
    policy: int
    function: str = ""


@dataclass(frozen=True)
class Column:
    name: str
    type: int
    is_optional: bool = False
    default: Value | _Absent = ABSENT
    reference: Reference | None = None
    check: str | None = None
    merge: Merge | None = None
    is_acyclic: bool = False

    @staticmethod
    def read(reader: Reader) -> Column:
        name, kind, bits = reader.string(), reader.u8(), reader.u8()
        if not INTEGER <= kind <= ANY or bits >= 64:
            raise FormatError(f"the column {name} has another type or other bits")
        default = reader.value() if bits & _DEFAULT else ABSENT
        reference = Reference(reader.string(), reader.u8()) if bits & _REFERENCE else None
        check = reader.string() if bits & _CHECK else None
        merge = None
        if bits & _MERGE:
            policy = reader.u8()
            merge = Merge(policy, reader.string() if policy == CUSTOM else "")
        return Column(name, kind, bool(bits & _OPTIONAL), default, reference, check, merge, bool(bits & _ACYCLIC))

    def encoded(self) -> bytes:
        bits = _OPTIONAL * self.is_optional | _ACYCLIC * self.is_acyclic
        content = b""
        if not isinstance(self.default, _Absent):
            bits |= _DEFAULT
            content += value(self.default)
        if self.reference:
            bits |= _REFERENCE
            content += string(self.reference.table) + bytes([self.reference.on_delete])
        if self.check is not None:
            bits |= _CHECK
            content += string(self.check)
        if self.merge:
            bits |= _MERGE
            content += bytes([self.merge.policy])
            content += string(self.merge.function) if self.merge.policy == CUSTOM else b""
        return string(self.name) + bytes([self.type, bits]) + content


@dataclass(frozen=True)
class Index:
    is_unique: bool
    columns: tuple[str, ...]

    @staticmethod
    def read(reader: Reader) -> Index:
        return Index(reader.flag(), tuple(reader.list(reader.string, 1_902)))

    def encoded(self) -> bytes:
        return flag(self.is_unique) + counted([string(column) for column in self.columns])


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    key_count: int = 1
    bits: int = SYNCED
    indexes: tuple[Index, ...] = ()

    @staticmethod
    def read(reader: Reader) -> Table:
        name, bits, key_count = reader.string(), reader.u8(), reader.varint()
        columns = tuple(reader.list(lambda: Column.read(reader), 1_902))
        return Table(name, columns, key_count, bits, tuple(reader.list(lambda: Index.read(reader), 64)))

    def encoded(self) -> bytes:
        head = string(self.name) + bytes([self.bits]) + varint(self.key_count)
        columns = counted([column.encoded() for column in self.columns])
        return head + columns + counted([index.encoded() for index in self.indexes])
