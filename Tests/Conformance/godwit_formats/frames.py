"""Frames: transactions whose like parts stand together (Specs/sync-file.md, "Frame")."""

from __future__ import annotations

from dataclasses import dataclass

import zstandard

from .changes import (
    DELETE,
    INSERT,
    UPDATE,
    ChangedTable,
    ChangeSet,
    Operation,
    Transaction,
    read_tables_head,
    tables_head,
)
from .encoding import (
    FormatError,
    Origin,
    Reader,
    Vector,
    counted,
    difference,
    flag,
    rising,
    signed_varint,
    sized,
    u32,
    value,
    values,
    varint,
)

FRAME, TRAILER, BLOCK = 1, 2, 3
_MIB = 1 << 20
_RATIO = 8
_SKIPPABLE = bytes.fromhex("502a4d18")


@dataclass
class Part:
    """A frame or block as it stands in a file, without its signature."""

    kind: int
    unpacked_size: int
    packed: bytes

    @staticmethod
    def packing(kind: int, content: bytes, level: int = 3) -> Part:
        packed = zstandard.ZstdCompressor(level=level).compress(content)
        needed = -(-len(content) // _RATIO) if len(content) > _MIB else 0
        if len(packed) < needed:
            padding = max(needed - len(packed) - 8, 0)
            packed += _SKIPPABLE + padding.to_bytes(4, "little") + bytes(padding)
        return Part(kind, len(content), packed)

    def unpacked(self) -> bytes:
        """What zstd makes of it, with skippable frames passed over."""
        content = b""
        rest = self.packed
        while rest:
            unpacker = zstandard.ZstdDecompressor().decompressobj()
            if rest[:4] == _SKIPPABLE:
                rest = rest[8 + int.from_bytes(rest[4:8], "little") :]
                continue
            content += unpacker.decompress(rest)
            if not unpacker.eof:
                raise FormatError("a zstd frame is not complete")
            rest = unpacker.unused_data
        if len(content) != self.unpacked_size:
            raise FormatError(f"a part unpacks to {len(content)} bytes, not {self.unpacked_size}")
        return content

    def encoded(self) -> bytes:
        return bytes([self.kind]) + u32(len(self.packed)) + u32(self.unpacked_size) + self.packed


class _Entry:
    """A dictionary entry with its streams, one list of values for each column and one for the keys of each table."""

    def __init__(self, tables: list[ChangedTable]):
        self.tables = tables
        self.keys: list[list[bytes]] = [[] for _ in tables]
        self.columns: list[dict[int, list[bytes]]] = [
            {number: [] for number in table.other_columns} for table in tables
        ]

    def encoded(self) -> bytes:
        content = b""
        for written, columns in zip(self.keys, self.columns):
            content += sized(b"".join(written))
            content += b"".join(sized(b"".join(columns[number])) for number in sorted(columns))
        return content


def _others(present: Vector, origin: Origin) -> Vector:
    """What an origin's contexts differ from: they never name the origin itself."""
    return {other: sequence for other, sequence in present.items() if other != origin}


def frame(transactions: list[Transaction], origins: list[Origin], present: Vector) -> bytes:
    """Packs transactions; `origins` are those of the header's ranges, in their order, and `present` is what the sender
    has."""
    dictionary: dict[bytes, int] = {}
    entries: list[_Entry] = []
    heads: list[bytes] = []
    operations: list[bytes] = []
    last_hlc = 0
    for transaction in transactions:
        named = tables_head(transaction.changes.tables, 0)
        if named not in dictionary:
            dictionary[named] = len(entries)
            entries.append(_Entry(transaction.changes.tables))
        entry = entries[dictionary[named]]
        context = transaction.context
        heads += [
            varint(origins.index(transaction.origin)),
            signed_varint(transaction.hlc - last_hlc),
            varint(transaction.schema),
            flag(context is not None)
            + (difference(context, _others(present, transaction.origin)) if context is not None else b""),
            varint(dictionary[named]),
            varint(len(transaction.changes.operations)),
        ]
        last_hlc = transaction.hlc
        for operation in transaction.changes.operations:
            operations.append(_take_apart(operation, entry))
    content = varint(len(transactions)) + counted([sized(named) for named in dictionary])
    content += sized(b"".join(heads)) + sized(b"".join(operations))
    return content + b"".join(entry.encoded() for entry in entries)


def _take_apart(operation: Operation, entry: _Entry) -> bytes:
    """Puts an operation's values into the streams; returns what stands among the operation heads."""
    written = entry.keys[operation.table]
    columns = entry.columns[operation.table]
    written.append(values(operation.key))
    head = varint(operation.head)
    if operation.kind == UPDATE:
        head += counted([varint(number) for number in sorted(operation.cells)])
    for number in sorted(operation.cells):
        columns[number].append(value(operation.cells[number]))
    return head


class _Streams:
    """A dictionary entry's streams while a frame is read."""

    def __init__(self, tables: list[ChangedTable], reader: Reader):
        self.tables = tables
        self.keys: list[Reader] = []
        self.columns: list[dict[int, Reader]] = []
        for table in tables:
            self.keys.append(Reader(reader.sized()))
            self.columns.append({number: Reader(reader.sized()) for number in table.other_columns})

    def end(self) -> None:
        for written, columns in zip(self.keys, self.columns):
            for stream in [written, *columns.values()]:
                stream.end("a stream")


def read_frame(
    content: bytes, origins: list[Origin], sequences: dict[Origin, int], present: Vector
) -> list[Transaction]:
    """The transactions of a frame. `sequences` has the last one read of each origin and is moved on; `present` is what
    the sender has."""
    reader = Reader(content)
    count = reader.varint()
    dictionary = [_read_entry(reader.sized()) for _ in range(reader.varint())]
    heads, operations = Reader(reader.sized()), Reader(reader.sized())
    streams = [_Streams(tables, reader) for tables in dictionary]
    reader.end("a frame")
    transactions = []
    hlc = 0
    for _ in range(count):
        origin = origins[heads.varint()]
        hlc += heads.signed_varint()
        schema = heads.varint()
        context = heads.difference(_others(present, origin)) if heads.flag() else None
        entry = streams[heads.varint()]
        put_together = [_put_together(operations, entry) for _ in range(heads.varint())]
        sequences[origin] += 1
        changes = ChangeSet(entry.tables, put_together)
        transactions.append(Transaction(origin, sequences[origin], hlc, schema, context, changes))
    heads.end("transaction heads")
    operations.end("operation heads")
    for entry in streams:
        entry.end()
    return transactions


def _read_entry(content: bytes) -> list[ChangedTable]:
    reader = Reader(content)
    tables, count = read_tables_head(reader)
    reader.end("a dictionary entry")
    if count or not tables:
        raise FormatError("a dictionary entry with operations, or without a table")
    return tables


def _put_together(operations: Reader, entry: _Streams) -> Operation:
    head = operations.varint()
    number, kind = head >> 2, head & 3
    if kind > DELETE:
        raise FormatError("an operation of no kind")
    table = entry.tables[number]
    key = entry.keys[number].values(table.key_count)
    columns = entry.columns[number]
    if kind == DELETE:
        return Operation(number, kind, key)
    if kind == INSERT:
        return Operation(number, kind, key, {column: columns[column].value() for column in table.other_columns})
    changed = [operations.varint() for _ in range(operations.varint())]
    rising(changed, "changed columns")
    return Operation(number, kind, key, {column: columns[column].value() for column in changed})
