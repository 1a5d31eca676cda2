"""One hostile file after another, each made from its number."""

from __future__ import annotations

from dataclasses import dataclass, replace

from godwit_formats.changes import Transaction
from godwit_formats.container import Container, Draft
from godwit_formats.encoding import Origin, Vector
from godwit_formats.header import HeldChain
from godwit_formats.writing import Author

from . import histories, mutations, oddities, schemas, states
from .chance import Chance
from .schemas import KnownTable

_KINDS = (
    ["history"] * 9
    + ["mutation"] * 5
    + ["stateFile"] * 2
    + ["roster", "acknowledgements", "lists", "lists"]
    + ["migration", "stranger"]
)
_WILDNESS = [0, 0, 0, 0.003, 0.02, 0.1]


@dataclass
class Case:
    """A file, who made it, and what is held once it has been taken in."""

    number: int
    kind: str
    author: str
    file: bytes
    draft: Draft
    transactions: list[Transaction]
    tables: list[KnownTable]
    rows: list[tuple[KnownTable, dict]]


class Generator:
    """Makes the files of one session. `authors` are the member and the former one; a stranger has keys of its own."""

    def __init__(self, seed: int, authors: dict[str, Author]):
        self.seed = seed
        self.authors = authors
        self.known: list[KnownTable] = []
        # Origins that a file of this batch continues already: two that do would be a fork.
        self.continued: set[Origin] = set()
        self.stranger = Author(oddities.stranger(), authors["mallory"])

    def case(self, number: int) -> Case:
        chance = Chance(f"{self.seed}:{number}")
        chance.wildness = chance.one(_WILDNESS)
        kind = chance.one(_KINDS)
        name = "stranger" if kind == "stranger" else chance.one(["mallory", "mallory", "mallory", "trent"])
        author = self.stranger if kind == "stranger" else self.authors[name]
        new = []
        for place in range(chance.one([0, 1, 1, 2] if self.known else [1, 2])):
            new.append(schemas.table(chance, f"t{number}{'ab'[place]}", self.known + new))
        chosen = chance.some(self.known, 3)
        tables = new + [replace(known, rows=dict(known.rows)) for known in chosen]
        origins = self._origins(chance, author, number)
        transactions: list[Transaction] = []
        if kind == "stateFile":
            draft = states.state_file(chance, author, tables)
        else:
            transactions = author.numbered(
                histories.transactions(chance, origins, tables, self.held, author.header.vector, author.header.schema)
            )
            draft = author.draft(transactions, [known.table for known in tables])
        draft = self._odd(chance, kind, author, draft, tables)
        file = mutations.file(chance, draft) if kind == "mutation" else draft.file()
        rows = [(known, used.rows) for known, used in zip(chosen, tables[len(new) :])]
        return Case(number, kind, name, file, draft, transactions, new, rows)

    def _origins(self, chance: Chance, author: Author, number: int) -> list[Origin]:
        """New incarnations of the author, or those that have been taken in."""
        own = author.identity.replica
        earlier = [origin for origin in author.contexts if origin.replica == own and origin not in self.continued]
        made = [Origin(own, 1_000 + number * 2 + place) for place in range(chance.number(1, 2))]
        if earlier and chance.happens(0.4):
            made[0] = chance.one(earlier)
            self.continued.add(made[0])
        return made

    @property
    def held(self) -> Vector:
        """All that a replica is likely to hold by now."""
        vector: Vector = {}
        for author in self.authors.values():
            vector.update(author.vector)
        return vector

    def learn(self, container: Container) -> None:
        """What an honest file says of other replicas is held, too."""
        header = container.header
        chains = {**header.chains, **{found.origin: HeldChain(found.chain) for found in header.ranges}}
        own = [author.identity.replica for author in self.authors.values()]
        for author in self.authors.values():
            for origin, sequence in header.vector.items():
                if origin.replica not in own:
                    author.vector[origin] = sequence
                    author.chains[origin] = HeldChain(chains[origin].chain)

    def _odd(self, chance: Chance, kind: str, author: Author, draft: Draft, tables: list[KnownTable]) -> Draft:
        if kind == "roster":
            return oddities.with_roster(chance, author, draft)
        if kind == "acknowledgements":
            return oddities.with_acknowledgements(chance, author, draft)
        if kind == "lists":
            return oddities.with_lists(chance, author, draft)
        if kind == "migration" and "migrations" not in chance.without:
            return oddities.with_migrations(chance, draft, tables)
        return draft

    def accepted(self, case: Case) -> None:
        """What a replica has taken in is there for the files to come."""
        if case.kind in ("mutation", "stateFile", "migration") or case.author == "stranger":
            return
        author = self.authors[case.author]
        author.accepted(case.draft, case.transactions)
        # A header's vector covers what its transactions have seen, of the other author, too.
        for other in self.authors.values():
            for found in case.draft.header.ranges:
                other.vector[found.origin] = found.last
                other.chains[found.origin] = HeldChain(found.chain)
        for transaction in case.transactions:
            author.contexts.setdefault(transaction.origin, {})
        for known, rows in case.rows:
            known.rows = rows
        self.known = (self.known + case.tables)[-12:]
