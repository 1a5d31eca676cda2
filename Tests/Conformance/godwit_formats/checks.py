"""Everything that can be said of an honest file: that it decodes, is signed, and has one form."""

from __future__ import annotations

from . import age, acknowledgements
from .changes import ChangeSet, Transaction
from .container import Container, open_container
from .encoding import FormatError, Reader
from .frames import BLOCK, frame, read_frame
from .keyring import KeyringBody
from .members import MemberRecord, Roster
from .migrations import Migration
from .rowstates import encoded as encoded_state
from .rowstates import read as read_state
from .state_files import STATE, TRANSACTION, read_block


def require(is_so: bool, what: str) -> None:
    if not is_so:
        raise FormatError(what)


def check_file(file: bytes, reader: KeyringBody) -> Container:
    """Checks a file as an honest one; returns what it holds."""
    container, opened = open_container(file, reader.identity)
    header = container.header
    require(container.group == reader.group, "a file of another group")
    require(len(header.recipients) == opened.stanza_count, "another number of recipients than of stanzas")
    require(reader.identity.public.agreement in header.recipients, "the reader is not among the recipients")
    check_signatures(container, opened)
    check_records(header.roster, container.group)
    _ = header.held
    check_one_form(container)
    check_histories(container)
    return container


def check_signatures(container: Container, opened: age.Opened) -> None:
    """Those of the container's places, of the acknowledgements and of what is said of whose history."""
    header, roster = container.header, container.header.roster
    sender = roster.present(container.sender)
    require(container.unsigned_places(sender.signing, opened.binding) == [], "a place is not signed by the sender")
    introduced = [record.replica for record in container.introduction.members]
    is_founder = any(record.replica == record.issuer == container.sender for record in header.members)
    require(is_founder or container.sender in introduced, "an introduction without its sender")
    for acknowledgement in header.acknowledgements(container.group):
        require(
            acknowledgement.is_signed_by(roster.present(acknowledgement.author.replica).signing), "an acknowledgement is not its maker's"
        )
    origins = {found.origin: (found.last, found.chain, found.proof) for found in header.ranges}
    for head in header.state_file.origins if header.state_file else ():
        origins[head.origin] = (head.sequence, head.chain, head.proof)
    for origin, held in header.chains.items():
        if held.proof:
            origins[origin] = (header.vector[origin], held.chain, held.proof)
    for origin, (sequence, chain, proof) in origins.items():
        keys_of_author = roster.signing_keys(origin.replica)
        require(
            proof.holds(container.group, origin, sequence, chain, keys_of_author), "a history is not its author's"
        )
    own = [s for s in header.acknowledgements(container.group) if s.author == (container.sender, header.incarnation)]
    if own and len(header.chains) == len(header.vector):
        chains = {origin: held.chain for origin, held in header.chains.items()}
        require(own[0].chains == acknowledgements.chains_hash(header.vector, chains), "the own acknowledgement has other chains")


def check_records(roster: Roster, group: bytes) -> None:
    """Records are of the group and signed by a key in their issuer's history; histories prove themselves."""
    require(all(history.proves_itself(group) for history in roster.histories), "a history does not prove itself")
    further = roster.further
    members: list[MemberRecord] = roster.members + (further.members if further else [])
    names = roster.names + (further.names if further else [])
    for record in [*members, *names]:
        require(record.group == group, "a record of another group")
        signers = roster.signing_keys(record.issuer)
        require(any(record.is_signed_by(key) for key in signers), f"the record {record.name} is not its issuer's")


def check_one_form(container: Container) -> None:
    """Everything that was read is written again as it was."""
    header = container.header
    require(header.encoded() == container.header_content, "a header is written otherwise")
    fields = header.acknowledgements(container.group)
    if fields:
        written = acknowledgements.field(fields, header.surroundings(container.group))
        require(written == header.fields[17], "acknowledgements are written otherwise")
    for migration in header.migrations:
        require(Migration.read(migration).encoded() == migration, "a migration is written otherwise")
    origins = [found.origin for found in header.ranges]
    sequences = {found.origin: found.first - 1 for found in header.ranges}
    for part in container.parts:
        content = part.unpacked()
        if part.kind == BLOCK:
            check_block(content)
        else:
            again = frame(read_frame(content, origins, sequences, header.present), origins, header.present)
            require(again == content, "a frame is written otherwise")


def check_block(content: bytes) -> None:
    items = read_block(content)
    require(b"".join(item.encoded() for item in items) == content, "a block is written otherwise")
    for item in items:
        if item.kind == STATE:
            require(encoded_state(read_state(item.parts[2])) == item.parts[2], "a row state is written otherwise")
        elif item.kind == TRANSACTION:
            require(ChangeSet.read(item.parts[4]).encoded() == item.parts[4], "a change set is written otherwise")
            cells = Reader(item.parts[5])
            while cells.remaining:
                cells.value()


def check_histories(container: Container) -> None:
    """Chains lead from the beginning of each range to its end, and the trailer's count is what came."""
    header = container.header
    transactions = container.transactions()
    count = len(container.parts) if header.state_file else len(transactions)
    require(container.count == count, "the trailer counts something else")
    ends = {found.origin: (found.last, found.chain) for found in header.ranges}
    chains = {found.origin: found.chain_before for found in header.ranges}
    reached = {found.origin: found.first - 1 for found in header.ranges}
    for head in header.state_file.origins if header.state_file else ():
        ends[head.origin] = (head.sequence, head.chain)
        chains[head.origin] = head.floor_chain
        reached[head.origin] = head.floor
    for transaction in transactions:
        chains[transaction.origin] = transaction.chain(chains[transaction.origin])
        reached[transaction.origin] = transaction.sequence
    require(ends == {origin: (reached[origin], chains[origin]) for origin in chains}, "a chain ends elsewhere")


def check_keyring(body: KeyringBody) -> None:
    if body.group is not None:
        check_records(body.roster, body.group)


def described(transaction: Transaction) -> dict:
    """A transaction as JSON, to be compared with another's."""

    def shown(content: object) -> object:
        return {"$blob": content.hex()} if isinstance(content, bytes) else content

    tables = transaction.changes.tables
    return {
        "replica": transaction.origin.replica.hex(),
        "incarnation": f"{transaction.origin.incarnation:08x}",
        "sequence": transaction.sequence,
        "hlc": transaction.hlc,
        "schemaVersion": transaction.schema,
        "digest": transaction.digest().hex(),
        "operations": [
            {
                "table": tables[operation.table].name,
                "kind": ["insert", "update", "delete"][operation.kind],
                "key": [shown(part) for part in operation.key],
                "cells": {
                    column.name: shown(operation.cells[column.number])
                    for column in tables[operation.table].columns
                    if column.number in operation.cells
                },
            }
            for operation in transaction.changes.operations
        ],
    }
