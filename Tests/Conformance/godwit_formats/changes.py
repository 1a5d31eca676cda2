"""Change sets, transaction records and hash chains (Specs/change-log.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import keys
from .encoding import (
    FormatError,
    Origin,
    Reader,
    Value,
    Vector,
    counted,
    flag,
    rising,
    sized,
    string,
    u64,
    value,
    values,
    varint,
    vector,
)

INSERT, UPDATE, DELETE = range(3)
_BLOCK = 16_384
CHAIN_START = bytes(32)


@dataclass(frozen=True)
class ChangedColumn:
    number: int
    name: str
    is_relative: bool = False


@dataclass(frozen=True)
class ChangedTable:
    """A table as a change set names it."""

    name: str
    column_count: int
    key_count: int
    columns: tuple[ChangedColumn, ...]

    @staticmethod
    def read(reader: Reader) -> ChangedTable:
        name, column_count, key_count = reader.string(), reader.varint(), reader.varint()
        if not 1 <= key_count <= column_count <= 1_902:
            raise FormatError(f"the table {name} of a change set has another number of columns or key columns")
        columns = []
        for _ in range(reader.varint()):
            number = reader.varint()
            columns.append(ChangedColumn(number >> 1, reader.string(), number & 1 == 1))
        numbers = [column.number for column in columns]
        rising(numbers, "columns of a change set")
        if numbers[:key_count] != list(range(key_count)) or numbers[-1] >= column_count:
            raise FormatError(f"the table {name} of a change set names other columns")
        return ChangedTable(name, column_count, key_count, tuple(columns))

    def encoded(self) -> bytes:
        columns = [varint(column.number << 1 | column.is_relative) + string(column.name) for column in self.columns]
        return string(self.name) + varint(self.column_count) + varint(self.key_count) + counted(columns)

    @property
    def other_columns(self) -> range:
        return range(self.key_count, self.column_count)


@dataclass(frozen=True)
class Operation:
    """One row's change. `cells`: what is written beside the key."""

    table: int
    kind: int
    key: tuple[Value, ...]
    cells: dict[int, Value] = field(default_factory=dict)

    @property
    def head(self) -> int:
        return self.table << 2 | self.kind

    def encoded(self) -> bytes:
        content = varint(self.head) + values(self.key)
        if self.kind == UPDATE:
            return content + counted([varint(number) + value(self.cells[number]) for number in sorted(self.cells)])
        return content + b"".join(value(self.cells[number]) for number in sorted(self.cells))

    @staticmethod
    def read(reader: Reader, tables: list[ChangedTable]) -> Operation:
        head = reader.varint()
        number, kind = head >> 2, head & 3
        if number >= len(tables):
            raise FormatError("an operation of a table that is not listed")
        if kind > DELETE:
            raise FormatError("an operation of no kind")
        table = tables[number]
        key = reader.values(table.key_count)
        if kind == DELETE:
            return Operation(number, kind, key)
        if kind == UPDATE:
            written = [(reader.varint(), reader.value()) for _ in range(reader.varint())]
            rising([column for column, _ in written], "the columns of an update")
            return Operation(number, kind, key, dict(written))
        return Operation(number, kind, key, {column: reader.value() for column in table.other_columns})


def tables_head(tables: list[ChangedTable], operation_count: int) -> bytes:
    """A change set up to its operations."""
    return sized(counted([table.encoded() for table in tables]) + varint(operation_count))


@dataclass
class ChangeSet:
    tables: list[ChangedTable]
    operations: list[Operation]

    @staticmethod
    def read(content: bytes) -> ChangeSet:
        reader = Reader(content)
        tables, count = read_tables_head(reader)
        operations = [Operation.read(reader, tables) for _ in range(count)]
        reader.end("a change set")
        return ChangeSet(tables, operations)

    @property
    def head(self) -> bytes:
        return tables_head(self.tables, len(self.operations))

    def encoded(self) -> bytes:
        return self.head + b"".join(operation.encoded() for operation in self.operations)


def read_tables_head(reader: Reader) -> tuple[list[ChangedTable], int]:
    head = Reader(reader.sized())
    tables = head.list(lambda: ChangedTable.read(head), 1_024)
    count = head.varint()
    head.end("a change set's header")
    return tables, count


@dataclass
class Transaction:
    """A transaction as its author wrote it. `context` is None where none is stated."""

    origin: Origin
    sequence: int
    hlc: int
    schema: int
    context: Vector | None
    changes: ChangeSet

    def record(self, size: int) -> bytes:
        stated = flag(self.context is not None) + (vector(self.context) if self.context is not None else b"")
        ahead = b"\1" + self.origin.encoded() + varint(self.sequence) + u64(self.hlc) + varint(self.schema)
        return ahead + stated + varint(size)

    def digest(self) -> bytes:
        content = self.changes.encoded()
        start = len(self.changes.head)
        blocks = [keys.sha256(content[place : place + _BLOCK]) for place in range(start, len(content), _BLOCK)]
        return keys.sha256(self.record(len(content)), content[:start], *blocks)

    def chain(self, before: bytes) -> bytes:
        return keys.sha256(before, self.digest())
