"""The Python half of ConformanceTests.

conformance.py check REPLICA MACHINE-KEY FILE…   checks honest files; a line of JSON for each transaction in them
conformance.py invitation REPLICA MACHINE-KEY FILE
conformance.py write REPLICA MACHINE-KEY HONEST FILE
                                                 writes a file as the member whose replica this is; HONEST is one of
                                                 its own. Prints its transactions as `check` does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from godwit_formats import age, checks
from godwit_formats.changes import (
    DELETE,
    INSERT,
    UPDATE,
    ChangedColumn,
    ChangedTable,
    ChangeSet,
    Operation,
    Transaction,
)
from godwit_formats.container import open_container
from godwit_formats.encoding import Origin
from godwit_formats.keyring import Keyring
from godwit_formats.members import Invitation, Roster
from godwit_formats.tables import (
    ADD_WINS_SET,
    ANY,
    BLOB,
    CASCADE,
    COUNTER,
    INTEGER,
    REAL,
    SYNCED,
    TEXT,
    Column,
    Index,
    Merge,
    Reference,
    Table,
)
from godwit_formats.writing import Author, hlc, now

# The incarnation under which Python writes; the replica itself has another one.
INCARNATION = 0x0C0F_FEE0
_MAX, _MIN = (1 << 63) - 1, -(1 << 63)


def check(keyring: Keyring, files: list[str]) -> None:
    checks.check_keyring(keyring.body)
    for file in files:
        container = checks.check_file(Path(file).read_bytes(), keyring.body)
        for transaction in container.transactions():
            print(json.dumps(checks.described(transaction), sort_keys=True))


def invitation(keyring: Keyring, file: str) -> None:
    identity = keyring.body.identity
    content = age.open_file(Path(file).read_bytes(), identity.agreement, identity.version).payload
    found = Invitation.read(content)
    checks.require(found.encoded() == content, "an invitation is written otherwise")
    checks.require(found.is_signed(), "an invitation is not its inviter's")
    checks.check_records(Roster(found.members, [], []), found.group)


def sample_tables() -> list[Table]:
    """A table of every type and policy, and one that refers to it."""
    everything = Table(
        "everything",
        (
            Column("id", INTEGER),
            Column("whole", INTEGER, is_optional=True),
            Column("real", REAL, is_optional=True),
            Column("text", TEXT, default="none"),
            Column("blob", BLOB, is_optional=True),
            Column("any", ANY, is_optional=True),
            Column("count", INTEGER, default=0, merge=Merge(COUNTER)),
            Column("tags", TEXT, default="[]", merge=Merge(ADD_WINS_SET)),
        ),
        indexes=(Index(False, ("text",)),),
    )
    part = Table(
        "part",
        (
            Column("owner", INTEGER, reference=Reference("everything", CASCADE)),
            Column("name", TEXT),
            Column("weight", REAL, is_optional=True, check='"weight" > 0'),
        ),
        key_count=2,
        bits=SYNCED,
    )
    return [everything, part]


def changed(table: Table) -> ChangedTable:
    """The table as change sets name it, with all its columns."""
    columns = [
        ChangedColumn(number, column.name, bool(column.merge) and column.merge.policy in (COUNTER, ADD_WINS_SET))
        for number, column in enumerate(table.columns)
    ]
    return ChangedTable(table.name, len(columns), table.key_count, tuple(columns))


def sample_operations() -> list[list[Operation]]:
    """What three transactions do: rows with every kind of value, then all other operations."""
    first = {1: _MIN, 2: -0.0, 3: "", 4: b"\x00\xff", 5: 1.0, 6: 3, 7: '["a","b"]'}
    second = {1: _MAX, 2: float("inf"), 3: "größer \U0001f426", 4: b"", 5: "1", 6: 0, 7: "[]"}
    third = {1: None, 2: None, 3: "x" * 40_000, 4: None, 5: None, 6: -5, 7: "[]"}
    inserts = [Operation(0, INSERT, (key,), cells) for key, cells in enumerate([first, second, third], 1)]
    parts = [Operation(1, INSERT, (1, "wing"), {2: 1.5}), Operation(1, INSERT, (1, "tail"), {2: None})]
    written = {2: 5e-324, 5: b"five", 6: 4, 7: '+"c"\n-"a"'}
    rekeyed = {**third, 3: "under another key"}
    changes = [
        Operation(0, UPDATE, (1,), written),
        Operation(1, DELETE, (1, "tail")),
        Operation(0, DELETE, (3,)),
        Operation(0, INSERT, (4,), rekeyed),
    ]
    return [inserts, parts, changes]


def write(keyring: Keyring, honest: str, file: str) -> None:
    identity = keyring.body.identity
    container, _ = open_container(Path(honest).read_bytes(), identity)
    author = Author(identity, container)
    tables = sample_tables()
    origin = Origin(identity.replica, INCARNATION)
    transactions = author.numbered(
        [
            Transaction(
                origin,
                0,
                hlc(now(), number),
                0,
                dict(container.header.vector) if not number else None,
                ChangeSet([changed(table) for table in tables], operations),
            )
            for number, operations in enumerate(sample_operations())
        ]
    )
    inserts, parts, _ = transactions
    inserts.changes.tables, parts.changes.tables = inserts.changes.tables[:1], parts.changes.tables
    Path(file).write_bytes(author.draft(transactions, tables).file())
    for transaction in transactions:
        print(json.dumps(checks.described(transaction), sort_keys=True))


def main(arguments: list[str]) -> None:
    command, replica, machine_key, *files = arguments
    keyring = Keyring.of(Path(replica), Path(machine_key))
    checks.require(keyring.encoded() == (Path(replica) / "keyring").read_bytes(), "a keyring is written otherwise")
    if command == "check":
        check(keyring, files)
    elif command == "invitation":
        invitation(keyring, *files)
    elif command == "write":
        write(keyring, *files)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
