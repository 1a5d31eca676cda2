"""Writes files as a member would, beginning with what its replica says in a file of its own."""

from __future__ import annotations

import time
from dataclasses import replace

from .changes import CHAIN_START, Transaction
from .container import Container, Draft, Introduction
from .encoding import Origin, Vector
from .frames import FRAME, Part, frame
from .header import STATEMENTS, HeldChain, Range
from .members import PrivateIdentity
from .proofs import Proof, head_message
from .tables import Table


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def hlc(milliseconds: int, counter: int = 0) -> int:
    return milliseconds << 16 | counter


class Author:
    """A member, or whoever has or had its keys, that writes histories by itself.

    Its files say of others what the container that it begins with says, and are for the same recipients.
    """

    def __init__(self, identity: PrivateIdentity, honest: Container):
        self.identity = identity
        self.group = honest.group
        self.introduction: Introduction = honest.introduction
        self.header = honest.header
        self.chains: dict[Origin, HeldChain] = dict(honest.header.chains)
        self.chains.update({found.origin: HeldChain(found.chain) for found in honest.header.ranges})
        self.vector: Vector = dict(honest.header.vector)
        self.contexts: dict[Origin, Vector] = {}

    def proof(self, origin: Origin, sequence: int, chain: bytes) -> Proof:
        return Proof((), self.identity.sign(head_message(self.group, origin, sequence, chain)))

    def numbered(self, transactions: list[Transaction]) -> list[Transaction]:
        """The transactions with the numbers that follow from what was written before."""
        reached = dict(self.vector)
        for transaction in transactions:
            reached[transaction.origin] = reached.get(transaction.origin, 0) + 1
            transaction.sequence = reached[transaction.origin]
        return transactions

    def ranges(self, transactions: list[Transaction]) -> list[Range]:
        found: dict[Origin, Range] = {}
        for transaction in transactions:
            origin, sequence = transaction.origin, transaction.sequence
            before = found.get(origin)
            if before is None:
                start = self.chains[origin].chain if origin in self.chains else CHAIN_START
                inherited = self.contexts.get(origin, {}) if transaction.context is None else transaction.context
                context = inherited if sequence > 1 else {}
                before = Range(origin, sequence, sequence, start, start, context, Proof((), bytes(64)))
            found[origin] = replace(before, last=sequence, chain=transaction.chain(before.chain))
        signed = [replace(r, proof=self.proof(r.origin, r.last, r.chain)) for r in found.values()]
        return sorted(signed, key=lambda found: found.origin)

    def draft(self, transactions: list[Transaction], tables: list[Table]) -> Draft:
        """A container with numbered transactions in one frame; `accepted` continues from it."""
        ranges = self.ranges(transactions)
        vector = dict(self.vector)
        vector.update({found.origin: found.last for found in ranges})
        ranged = [found.origin for found in ranges]
        header = replace(
            self.header,
            created_at=now(),
            vector=vector,
            tables=tables,
            ranges=ranges,
            chains={origin: held for origin, held in self.chains.items() if origin not in ranged},
            state_file=None,
            floor={},
            fields={tag: content for tag, content in self.header.fields.items() if tag != STATEMENTS},
        )
        parts = [Part.packing(FRAME, frame(transactions, ranged, header.present))] if transactions else []
        return Draft(self.group, self.identity, self.introduction, header, parts, len(transactions))

    def accepted(self, draft: Draft, transactions: list[Transaction]) -> None:
        """What the draft brings is held from now on."""
        for found in draft.header.ranges:
            self.vector[found.origin] = found.last
            self.chains[found.origin] = HeldChain(found.chain)
        for transaction in transactions:
            if transaction.context is not None:
                self.contexts[transaction.origin] = transaction.context
