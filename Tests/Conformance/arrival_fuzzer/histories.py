"""Transactions with all operations, odd values, contexts and schema versions."""

from __future__ import annotations

from godwit_formats.changes import DELETE, INSERT, UPDATE, ChangeSet, Operation, Transaction
from godwit_formats.encoding import Origin, Value, Vector
from godwit_formats.tables import COUNTER, INTEGER, TEXT, Table
from godwit_formats.writing import hlc, now

from .chance import Chance
from .schemas import KnownTable, is_relative

_KEYS: list[Value] = [1, 2, 3, "a", "b"]
_ODD_KEYS: list[Value] = [1.0, None, b"x", "", -0.0, 9.3e18]
_DIFFERENCES = [1, -1, 5, (1 << 63) - 1, -(1 << 63)]
_SET_CHANGES = ['+"a"', '-"a"', '+"b"\n-"a"', "+1", '+"a"\n+"b"']
_ODD_SET_CHANGES = ["[]", '["a"]', "+", "-", "+[", '-"a"\n+"b"', '+"a"\n+"a"', "\n"]
_HOUR = 3_600_000
# Of no operation.
_NO_KIND = 3


def key(chance: Chance, table: Table) -> tuple[Value, ...]:
    """A key that is likely to be one of few, so that rows meet."""
    parts: list[Value] = []
    for column in table.columns[: table.key_count]:
        if chance.is_wild:
            parts.append(chance.one(_ODD_KEYS))
        elif table.name.startswith("documents_"):
            parts.append(chance.one(["a", "b", "c"]))
        else:
            parts.append(
                {INTEGER: chance.number(1, 3), TEXT: chance.one(["a", "b"])}.get(column.type, chance.one(_KEYS))
            )
    return tuple(parts)


def cell(chance: Chance, table: Table, number: int, kind: int) -> Value:
    """A value for a column, mostly one that fits."""
    column = table.columns[number]
    if chance.is_wild:
        return chance.value()
    if is_relative(column):
        if column.merge and column.merge.policy == COUNTER:
            return chance.one(_DIFFERENCES)
        if kind == INSERT:
            return chance.one(["[]", '["a"]', '["a","b"]'])
        return chance.one(_ODD_SET_CHANGES if chance.happens(0.05) else _SET_CHANGES)
    if column.is_optional and chance.happens(0.2):
        return None
    if column.reference and chance.happens(0.8):
        return chance.number(1, 3)
    return (
        {1: chance.integer(), 2: 1.5, 3: chance.text(), 4: b"x"}.get(column.type)
        if chance.happens(0.8)
        else chance.value()
    )


def operation(chance: Chance, place: int, known: KnownTable, origin: Origin) -> Operation:
    """An operation, mostly on a row that is likely to be there."""
    table = known.table
    others = list(range(table.key_count, len(table.columns)))
    chosen = key(chance, table)
    kind = chance.one([INSERT, INSERT, UPDATE, UPDATE, DELETE])
    strict = "absent-rows" in chance.without
    there = [row for row, origins in known.rows.items() if not strict or origin in origins]
    if there and kind != INSERT and (strict or not chance.is_wild):
        chosen = chance.one(there)
    elif kind != INSERT and (strict or not chance.is_wild):
        kind = INSERT
    cells = {number: cell(chance, table, number, kind) for number in others}
    if kind == INSERT:
        known.rows[chosen] = known.rows.get(chosen, frozenset()) | {origin}
    if kind == DELETE:
        known.rows.pop(chosen, None)
        return Operation(place, kind, chosen)
    changed = sorted(chance.some(others, chance.number(0 if chance.is_wild else 1, len(others)))) if others else []
    if kind == UPDATE:
        return Operation(place, kind, chosen, {number: cells[number] for number in changed})
    return Operation(place, _NO_KIND if chance.is_wild and chance.happens(0.1) else kind, chosen, cells)


def change_set(chance: Chance, tables: list[KnownTable], origin: Origin) -> ChangeSet:
    used = chance.some(tables, chance.number(1, 2))
    named = [known.changed(chance) for known in used]
    operations: list[Operation] = []
    touched: set = set()
    for _ in range(chance.number(1, 5)):
        place = chance.number(0, len(used) - 1)
        made = operation(chance, place, used[place], origin)
        row = (place, made.key)
        if row not in touched or chance.is_wild:
            operations.append(made)
            touched.add(row)
    needed = sorted({made.table for made in operations})
    if len(needed) < len(used) and not chance.is_wild:
        named = [named[place] for place in needed]
        operations = [Operation(needed.index(o.table), o.kind, o.key, o.cells) for o in operations]
    return ChangeSet(named, operations)


def context(chance: Chance, origin: Origin, held: Vector, honest: Vector) -> Vector | None:
    """Everything that is held, nothing, a part, or more than there is. `honest`: what all held from the beginning."""
    drawn = chance.number(0, 9)
    if drawn < 3:
        return None
    others = {other: sequence for other, sequence in held.items() if other != origin}
    if "absent-rows" in chance.without:
        others = {other: sequence for other, sequence in others.items() if other not in honest}
    if drawn < 8:
        return others
    part = {other: chance.number(0, sequence + chance.is_wild) for other, sequence in others.items()}
    if chance.is_wild:
        part[Origin(b"\xaa" * 16, chance.number(0, 3))] = chance.number(1, 5)
    return {other: sequence for other, sequence in part.items() if sequence}


def time(chance: Chance) -> int:
    present = hlc(now(), chance.number(0, 9))
    if chance.is_wild:
        return chance.one([1, 0, (1 << 62) - 1, 1 << 62, hlc(now() + 2 * _HOUR), hlc(1)])
    return present - hlc(chance.number(0, 2_000))


def transactions(
    chance: Chance, origins: list[Origin], tables: list[KnownTable], held: Vector, honest: Vector, schema: int
) -> list[Transaction]:
    made = []
    for _ in range(chance.number(1, 6)):
        origin = chance.one(origins)
        changes = change_set(chance, tables, origin)
        version = chance.number(0, 3) if chance.is_wild else schema
        made.append(Transaction(origin, 0, time(chance), version, context(chance, origin, held, honest), changes))
    return made
