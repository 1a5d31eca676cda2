"""State files whose rows, states and heads nobody ever had."""

from __future__ import annotations

import os
from dataclasses import replace

from godwit_formats import keys, rowstates
from godwit_formats.container import Draft
from godwit_formats.encoding import Origin, counted, values, varint
from godwit_formats.frames import BLOCK, Part
from godwit_formats.header import STATEMENTS, HeldChain
from godwit_formats.proofs import Proof
from godwit_formats.state_files import AHEAD, HOLD, ROW, STATE, HeadOrigin, Item, StateHead
from godwit_formats.writing import Author, hlc, now

from .chance import Chance
from .histories import cell, key
from .schemas import KnownTable


def stamp(chance: Chance) -> tuple[int, int, int]:
    place = chance.number(0, 3) if chance.is_wild else 0
    return place, chance.number(1, 3), hlc(now() - chance.number(0, 1_000), chance.number(0, 3))


def dots(chance: Chance) -> list[tuple[int, int]]:
    return [(place, chance.number(1, 3)) for place in range(chance.number(0, 2 if chance.is_wild else 1))]


def several(chance: Chance, make, most: int = 2) -> list:
    return [make() for _ in range(chance.number(0, most))]


def row_state(chance: Chance, known: KnownTable) -> rowstates.RowState:
    """A state of some of its parts, most of which do not fit each other."""
    columns = len(known.table.columns)

    def column() -> int:
        if chance.is_wild or columns == known.table.key_count:
            return chance.number(0, columns + 1)
        return chance.number(known.table.key_count, columns - 1)

    def dot() -> tuple[int, int]:
        return stamp(chance)[:2]

    def stamped() -> tuple:
        return column(), stamp(chance)

    def contribution() -> tuple:
        return column(), [(dot(), chance.value())]

    parts = {
        "settled": lambda: True,
        "base": lambda: stamp(chance),
        "overrides": lambda: several(chance, stamped),
        "touches": lambda: (dots(chance), dots(chance)),
        "deletes": lambda: (several(chance, lambda: stamp(chance)), dots(chance)),
        "contributions": lambda: several(chance, contribution),
        "image": lambda: list(chance.values(columns - known.table.key_count + chance.is_wild)),
        "masks": lambda: several(chance, lambda: (column(), chance.value())),
    }
    chosen = chance.some(list(parts), chance.number(0, 3))
    return {name: make() for name, make in parts.items() if name in chosen}


def state_bytes(chance: Chance, known: KnownTable) -> bytes:
    """A row state; now and then one that claims more than anybody could hold."""
    if not chance.is_wild or "states" in chance.without:
        return rowstates.encoded(row_state(chance, known))
    count = chance.one([100, 10_000, 300_000])
    return chance.one(
        [
            varint(16) + varint(count) + bytes(count),
            varint(64) + counted([varint(1) + varint(count) + bytes(3 * count)]),
            varint(8) + varint(count) + bytes(10 * count),
            varint(chance.number(0, 4_096)) + chance.random.randbytes(chance.number(0, 40)),
        ]
    )


def items(chance: Chance, tables: list[KnownTable]) -> list[Item]:
    made = []
    for _ in range(chance.number(1, 6)):
        place = chance.number(0, len(tables) - 1)
        known = tables[place]
        chosen = key(chance, known.table)
        others = range(known.table.key_count, len(known.table.columns))
        row = values(chosen) + values(tuple(cell(chance, known.table, number, 0) for number in others))
        kind = chance.one([ROW, ROW, STATE, STATE, HOLD, AHEAD])
        if kind == ROW:
            made.append(Item(ROW, (place, row)))
        elif kind == STATE:
            made.append(Item(STATE, (place, values(chosen), state_bytes(chance, known))))
        elif kind == HOLD:
            target = chance.one([b"", varint(1), values(chosen), chance.random.randbytes(3)])
            made.append(Item(HOLD, (chance.number(0, 5), chance.number(0, place + 1), target, place, values(chosen))))
        else:
            made.append(Item(AHEAD, (place, values(chosen), hlc(now() + 1_000))))
    if not chance.is_wild:
        made.sort(key=lambda item: ([ROW, STATE, HOLD, AHEAD].index(item.kind), item.encoded()))
    return made


def state_file(chance: Chance, author: Author, tables: list[KnownTable]) -> Draft:
    """A state file of an origin that is the author's own, beside what it says of others."""
    own = Origin(author.identity.replica, chance.number(1 << 20, 1 << 21))
    chain = keys.sha256(os.urandom(8))
    sequence = chance.number(1, 3) if chance.is_wild else 3
    floor = sequence if not chance.is_wild else chance.number(0, sequence)
    head = HeadOrigin(own, sequence, sequence, floor, chain, chain, {}, author.proof(own, sequence, chain))
    if chance.is_wild:
        head = replace(head, proof=Proof((chain,), bytes(64)))
    vector = {own: sequence}
    header = replace(
        author.header,
        created_at=now(),
        vector=vector,
        tables=[known.table for known in tables],
        ranges=[],
        chains={own: HeldChain(chain)},
        floor={own: floor} if floor else {},
        state_file=StateHead(hlc(now()), (head,)),
        fields={tag: content for tag, content in author.header.fields.items() if tag != STATEMENTS},
    )
    content = b"".join(item.encoded() for item in items(chance, tables))
    parts = [Part.packing(BLOCK, content, level=3)]
    return Draft(author.group, author.identity, author.introduction, header, parts, len(parts))
