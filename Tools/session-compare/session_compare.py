"""The rows of godwit-bench's merge group with SQLite's session extension, by apsw, on plain SQLite.

Prints the row's name and what the extension takes for one row, kept apart by two spaces or more: µs, or bytes.
"""

import os
import statistics
import sys
import tempfile
import time

import apsw
import zstandard

MASK = (1 << 64) - 1
WORDS = "river stone harbour quiet ninety window bread north paper kestrel".split()
TABLE = "CREATE TABLE captured (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT, views INTEGER, created)"
INSERT = "INSERT INTO captured VALUES (?, ?, ?, ?, ?)"


def numbers(state):
    """SplitMix64, as godwit-bench makes its rows with."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        yield mixed ^ (mixed >> 31)


def rows(count):
    random = numbers(42)
    draw = lambda: WORDS[next(random) % 10]
    made = []
    for index in range(count):
        title = f"note {index} about {draw()} and {draw()}"
        body = " ".join(draw() for _ in range(8))
        views = next(random) % 10_000
        key = (0x0190_0000_0000 + index // 100).to_bytes(6, "big") + os.urandom(10)
        made.append((key, title, body, views, 700_000_000 + index * 1.5))
    return sorted(made)


class Database:
    def __init__(self, folder, name):
        self.connection = apsw.Connection(os.path.join(folder, name))
        for pragma in ("page_size=4096", "journal_mode=WAL", "synchronous=NORMAL", "cache_size=-8000"):
            self.connection.execute(f"PRAGMA {pragma}")
        self.connection.execute(TABLE)

    def insert(self, made):
        with self.connection:
            self.connection.executemany(INSERT, made)

    def record(self, body):
        session = apsw.Session(self.connection, "main")
        session.attach("captured")
        body()
        changes = session.changeset()
        session.close()
        return changes

    def apply(self, changes):
        start = time.perf_counter()
        apsw.Changeset.apply(changes, self.connection)
        return time.perf_counter() - start

    def close(self):
        self.connection.close()


def edit(database, keys):
    with database.connection:
        database.connection.executemany(
            "UPDATE captured SET views = views + 1 WHERE id = ?", ((key,) for key in keys))


def main(count, rounds):
    made = rows(count)
    keys = [row[0] for row in made[: count // 2]]
    new, edits = [], []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 1):
            sender, receiver = Database(folder, f"sender-{turn}"), Database(folder, f"receiver-{turn}")
            inserted = sender.record(lambda: sender.insert(made))
            new.append(receiver.apply(inserted))
            edited = sender.record(lambda: edit(sender, keys))
            edits.append(receiver.apply(edited))
            sender.close()
            receiver.close()
    packed = zstandard.ZstdCompressor(level=3)
    lines = [
        ("merge: import, new rows", statistics.median(new[1:]) / count * 1e6),
        ("merge: import, one-column edits of half the rows", statistics.median(edits[1:]) / len(keys) * 1e6),
        ("merge: bytes of new rows", len(packed.compress(inserted)) / count),
        ("merge: bytes of one-column edits", len(packed.compress(edited)) / len(keys)),
    ]
    for name, value in lines:
        print(f"{name:<52}{value:12.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
