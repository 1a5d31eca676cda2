"""Headers whose migrations, rosters, acknowledgements, heads or lists are odd."""

from __future__ import annotations

import os
from dataclasses import replace

from godwit_formats import keys, acknowledgements
from godwit_formats.container import Draft
from godwit_formats.encoding import Origin, counted
from godwit_formats.header import FURTHER_RECORDS, NAMES, STATEMENTS, HeldChain
from godwit_formats.members import ACTIVE, REMOVED, FurtherRecords, MemberRecord, NameRecord, PrivateIdentity
from godwit_formats.migrations import (
    ADD_COLUMN,
    ADD_INDEX,
    CHANGE_COLUMN,
    CREATE_TABLE,
    DATA_STEP,
    DROP_COLUMN,
    DROP_INDEX,
    DROP_TABLE,
    FORM,
    RENAME_COLUMN,
    RENAME_TABLE,
    SET_SYNC,
    Migration,
    Step,
)
from godwit_formats.proofs import Proof
from godwit_formats.acknowledgements import Acknowledgement
from godwit_formats.writing import Author, now

from . import schemas
from .chance import Chance
from .schemas import KnownTable


def step(chance: Chance, tables: list[KnownTable]) -> Step:
    """A step about one of the tables."""
    table = chance.one(tables).table
    column = chance.one(table.columns).name
    new = schemas.column(chance, chance.name(), False, [])
    rule = chance.one(
        [(0, chance.number(1, 5)), (1, f'"{column}"'), (1, f'upper("{column}")'), (1, "random()"), (1, "1)")]
    )
    index = tuple(chance.some([c.name for c in table.columns], 2))
    return chance.one(
        [
            Step(CREATE_TABLE, (schemas.table(chance, "m", tables).table,)),
            Step(DROP_TABLE, (table.name,)),
            Step(RENAME_TABLE, (table.name, chance.name())),
            Step(ADD_COLUMN, (table.name, new, (column, rule) if chance.happens(0.5) else None)),
            Step(DROP_COLUMN, (table.name, column)),
            Step(RENAME_COLUMN, (table.name, column, chance.name())),
            Step(CHANGE_COLUMN, (table.name, replace(new, name=column), rule)),
            Step(ADD_INDEX, (table.name, chance.happens(0.5), list(index))),
            Step(DROP_INDEX, (table.name, list(index))),
            data_step(chance),
            Step(SET_SYNC, (table.name, chance.happens(0.5))),
        ]
    )


def data_step(chance: Chance) -> Step:
    """A step travels by its name and the hash of what it does."""
    return Step(DATA_STEP, ("tidy", chance.happens(0.5), os.urandom(32)))


def with_migrations(chance: Chance, draft: Draft, tables: list[KnownTable]) -> Draft:
    """Migrations that nobody has run, 1, 2 … behind those that are known."""
    migrations = list(draft.header.migrations)
    for _ in range(chance.number(1, 2)):
        version = len(migrations) + 1 if not chance.is_wild else chance.number(0, 1_025)
        steps = tuple(step(chance, tables) for _ in range(chance.number(1, 3)))
        migrations.append(Migration(FORM, version, chance.name(), steps).encoded())
    schema = len(migrations) if chance.happens(0.7) else draft.header.schema
    return replace(draft, header=replace(draft.header, migrations=migrations, schema=schema))


def stranger() -> PrivateIdentity:
    return PrivateIdentity(1, os.urandom(16), os.urandom(32), os.urandom(32))


def record(chance: Chance, author: Author, subject: PrivateIdentity, status: int, name: str) -> MemberRecord:
    """A member record by the author, on the ground by which it is a member."""
    version = author.header.members[0].version
    own = next((r for r in author.header.members if r.replica == author.identity.replica), None)
    ground = keys.sha256(own.encoded()) if own and not chance.is_wild else bytes(32)
    issued = now() if not chance.is_wild else chance.one([0, 1, (1 << 62) - 1, 1 << 62, -(1 << 63), (1 << 63) - 1])
    made = MemberRecord(version, author.group, subject.public, name, status, issued, author.identity.replica, ground)
    made = made.signed_by(author.identity)
    return replace(made, signature=bytes(64)) if chance.is_wild else made


def with_roster(chance: Chance, author: Author, draft: Draft) -> Draft:
    """Members that nobody met, removals of nobody that matters, and names."""
    members = {record_.replica: record_ for record_ in draft.header.members}
    for _ in range(chance.number(1, 3)):
        puppet = stranger()
        status = chance.one([ACTIVE, ACTIVE, REMOVED])
        members[puppet.replica] = record(chance, author, puppet, status, chance.name()[:20])
    header = replace(draft.header, members=[members[replica] for replica in sorted(members)])
    if chance.happens(0.3):
        version = header.members[0].version
        renamed = chance.one(header.members).replica
        name = NameRecord(version, author.group, renamed, chance.name()[:20], now(), author.identity.replica)
        name = replace(name, signature=author.identity.sign(name.context + name.unsigned()))
        header = replace(header, fields={**header.fields, NAMES: counted([name.encoded()])})
    if chance.happens(0.2) and header.members[0].version > 1:
        further = FurtherRecords(
            members=[record(chance, author, stranger(), ACTIVE, "p") for _ in range(chance.number(1, 3))]
        )
        header = replace(header, fields={**header.fields, FURTHER_RECORDS: further.encoded()})
    return replace(draft, header=header)


def with_acknowledgements(chance: Chance, author: Author, draft: Draft) -> Draft:
    """Acknowledgements in the author's name, of more or less than there is."""
    header = draft.header
    around = header.surroundings(author.group)
    made = []
    incarnations = sorted({chance.number(0, 1 << 32 - 1) for _ in range(chance.number(1, 3))})
    for incarnation in incarnations:
        vector = {o: chance.number(1, s + chance.is_wild) for o, s in header.vector.items() if chance.happens(0.8)}
        if chance.is_wild:
            vector[Origin(os.urandom(16), 1)] = chance.number(1, (1 << 40) - 2)
        acknowledgement = Acknowledgement(
            author.group,
            Origin(author.identity.replica, incarnation),
            now() - chance.number(-5, 5),
            vector,
            os.urandom(32),
            tuple(around.statuses),
            tuple(around.ended),
        )
        made.append(replace(acknowledgement, signature=author.identity.sign(acknowledgement.message())))
    try:
        content = acknowledgements.field(made, around)
    except ValueError:  # the author is in no record of the header, so it cannot be named
        return draft
    return replace(draft, header=replace(header, fields={**header.fields, STATEMENTS: content}))


def with_lists(chance: Chance, author: Author, draft: Draft) -> Draft:
    """Origins that nobody knows, in every list of the header; histories of others under the author's own head."""
    header = draft.header
    drawn = chance.number(0, 4)
    count = chance.one([1, 3, 2_000, 20_000]) if chance.is_wild else chance.number(1, 30)
    unknown = sorted(Origin(b"\xbb" * 16, number) for number in range(count))
    if drawn == 0:
        chains = {**header.chains, **{origin: HeldChain(bytes(32)) for origin in unknown}}
        return replace(
            draft, header=replace(header, vector={**header.vector, **dict.fromkeys(unknown, 1)}, chains=chains)
        )
    if drawn == 1:
        return replace(draft, header=replace(header, floor=dict.fromkeys(unknown, chance.number(1, 9))))
    if drawn == 2:
        return replace(draft, header=replace(header, ended=[(origin, chance.number(0, 9)) for origin in unknown]))
    if drawn == 3 and header.ranges:
        lie = replace(header.ranges[0], context=dict.fromkeys(unknown, 1))
        return replace(draft, header=replace(header, ranges=[lie, *header.ranges[1:]]))
    digests = tuple(os.urandom(32) for _ in range(min(count, 300)))
    ranges = [replace(found, proof=Proof(digests, found.proof.signature)) for found in header.ranges]
    return replace(draft, header=replace(header, ranges=ranges))
