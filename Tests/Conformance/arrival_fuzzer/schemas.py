"""Tables, and what is known of those that replicas have taken in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from godwit_formats.changes import ChangedColumn, ChangedTable
from godwit_formats.tables import (
    ABSENT,
    ADD_WINS_SET,
    ANY,
    BLOB,
    COUNTER,
    CUSTOM,
    DELETE_WINS,
    INTEGER,
    NUMBERS_KEYS,
    REAL,
    SYNCED,
    TEXT,
    Column,
    Index,
    Merge,
    Reference,
    Table,
)

from .chance import Chance

_CHECKS = [
    "length({})<3",
    "{}>0",
    "typeof({})='text'",
    "{} IS NOT NULL",
    "1",
    "0",
    "{} GLOB 'a*'",
    "abs({})>0",
    "{}",
    "round({})=1",
    "substr({},1,1)<>'a'",
    "{} IN (1,2)",
    "CASE {} WHEN 1 THEN 1 ELSE 0 END",
    "coalesce({},1)=1",
    "{} BETWEEN 1 AND 5",
]
_BAD_CHECKS = [
    "random()>0",
    "printf('%.*g',2147483647,0.01)",
    "zeroblob(1000000000) IS NULL",
    "(SELECT 1)",
    "{}>0)--",
    "{};",
    "date('now')>0",
    "replace({},'a','aaaaaaaa')<>''",
    "randomblob(9)<>0",
    "load_extension('x')",
    "{} GLOB '" + "*a" * 60 + "'",
    "((((((((1))))))))",
    "like('%','a')",
    "nope({})",
    "{} MATCH 'a'",
    "RAISE(ABORT,'x')",
    "quote({})=''",
    "{} COLLATE nocase='a'",
    "?1",
    "1 OR " * 90 + "1",
]


@dataclass
class KnownTable:
    """A table that a generator uses, with the rows that are likely to be there."""

    table: Table
    rows: dict = field(default_factory=dict)

    def changed(self, chance: Chance) -> ChangedTable:
        """As a change set names it: with all its columns or, now and then, not all."""
        columns = [
            ChangedColumn(number, column.name, is_relative(column) != chance.is_wild)
            for number, column in enumerate(self.table.columns)
        ]
        return ChangedTable(self.table.name, len(columns), self.table.key_count, tuple(columns))


def is_relative(column: Column) -> bool:
    return column.merge is not None and column.merge.policy in (COUNTER, ADD_WINS_SET)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def column(chance: Chance, name: str, is_key: bool, others: list[str]) -> Column:
    made = Column(name, chance.one([INTEGER, INTEGER, REAL, TEXT, TEXT, BLOB, ANY]))
    if chance.happens(0.6) and (not is_key or chance.is_wild):
        made = replace(made, is_optional=True)
    if chance.happens(0.3):
        made = replace(made, default=chance.value())
    if chance.happens(0.12) and "checks" not in chance.without:
        text = chance.one(_BAD_CHECKS if chance.is_wild else _CHECKS)
        made = replace(made, check=text.replace("{}", _quoted(name)))
    if chance.happens(0.3) and (not is_key or chance.is_wild):
        return _merged(chance, made)
    if chance.happens(0.2) and others and "references" not in chance.without:
        made = replace(made, reference=Reference(chance.one(others + ["nowhere"]), chance.number(1, 3)))
        made = replace(made, is_acyclic=chance.is_wild)
    return made


def _merged(chance: Chance, made: Column) -> Column:
    policy = chance.number(1, 5) if chance.is_wild else chance.number(1, 4)
    made = replace(made, merge=Merge(policy, chance.name() if policy == CUSTOM else ""))
    if chance.is_wild:
        return made
    if policy == COUNTER:
        made = replace(made, type=INTEGER, is_optional=False, default=chance.one([0, 1, -3, ABSENT]))
    elif policy == ADD_WINS_SET:
        made = replace(made, type=TEXT, is_optional=False, default=chance.one(["[]", '["a"]', ABSENT]))
    return made


def table(chance: Chance, prefix: str, known: list[KnownTable]) -> KnownTable:
    """A new table. Its name begins with the prefix, but now and then it is one that others have."""
    if chance.happens(0.12):
        return collection(chance, prefix)
    name = f"{prefix}_{chance.name()}"[: 128 if not chance.is_wild else 200]
    if chance.is_wild:
        name = chance.one([chance.name(), name, *(found.table.name for found in known)])
    others = [found.table.name for found in known if found.table.key_count == 1 or chance.is_wild] + [name]
    key_count = chance.one([1, 1, 1, 2])
    names: list[str] = []
    for _ in range(key_count + chance.number(0, 4)):
        drawn = chance.name()
        if chance.is_wild or drawn.casefold() not in [other.casefold() for other in names]:
            names.append(drawn)
    key_count = min(key_count, len(names))
    columns = tuple(column(chance, drawn, number < key_count, others) for number, drawn in enumerate(names))
    bits = SYNCED | DELETE_WINS * chance.happens(0.3)
    if chance.is_wild:
        bits = chance.one([bits | NUMBERS_KEYS, bits & ~SYNCED, bits & ~SYNCED | NUMBERS_KEYS, bits | 8])
    indexes = []
    plain = [made.name for made in columns if made.merge is None or chance.is_wild]
    for _ in range(chance.one([0, 0, 1, 2])):
        if plain:
            indexes.append(Index(chance.happens(0.5), tuple(chance.some(plain, chance.number(1, 3)))))
    return KnownTable(Table(name, columns, key_count, bits, tuple(indexes)))


def collection(chance: Chance, prefix: str) -> KnownTable:
    """The table of a collection of documents, as it is everywhere or nearly so."""
    members = chance.some(["a", "b", "c", "a$_counter", "b$_set", "d$_set", "$b"], chance.number(0, 4))
    columns = [Column("_key", TEXT), Column("_expires", ANY, is_optional=True)]
    for name in members:
        if name.endswith("_counter"):
            columns.append(Column(name, INTEGER, default=0, merge=Merge(COUNTER)))
        elif name.endswith("_set"):
            columns.append(Column(name, TEXT, default="[]", merge=Merge(ADD_WINS_SET)))
        else:
            columns.append(Column(name, ANY, is_optional=True))
    name = "documents_" + chance.one(["a", "b", "c", prefix.lower()])
    return KnownTable(Table(name, tuple(columns)))
