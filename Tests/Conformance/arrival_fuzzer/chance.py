"""Odd values: what a generator draws from."""

from __future__ import annotations

import random

from godwit_formats.encoding import Raw, Value

_PLAIN_NAMES = [
    "a",
    "b",
    "c",
    "x",
    "y",
    "id",
    "group",
    "order",
    "A",
    "é",
    "É",
    "K",
    "k",
    "ſ",
    "İ",
    "i",
    "ß",
    "ss",
    "a b",
    "a-b",
]
_KNOWN_NAMES = ["rowid", "_rowid_", "oid", "main", "temp", "_key", "_expires", "index_t_on_a", "documents_", "sqlite"]
_BAD_NAMES = ['"q', "a$0.b", "[x]", "`", "\\", "a\0b", "\u202ea", "", "x" * 129, "godwit_x", "sqlite_x", ";--", "'"]
_TEXTS = [
    "",
    "a",
    "+1",
    "-1",
    "+[",
    "[1]",
    '["a","b"]',
    "[1,2",
    '+"a"\n-"b"',
    '-"a"',
    '+"a"\n+"b"',
    "[]",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1e5",
    " 1",
    "\0",
    '{"a":1}',
    "[[]]",
    "+",
    "-",
    "\n",
    "++",
    "0",
    "null",
    "NaN",
    "inf",
    "\\",
    "é",
]
_INTEGERS = [0, 1, 2, -1, 3, 5, -5, (1 << 63) - 1, -(1 << 63), (1 << 53) + 1, 1 << 40, 10**18]
_REALS = [0.0, -0.0, 1.0, 1.5, float("inf"), float("-inf"), 9.3e18, -9.3e18, 1e308, 5e-324, 2.0**63, -(2.0**63)]
_NOT_VALUES = [
    Raw(b"\2\x7f\xf8\0\0\0\0\0\0"),
    Raw(b"\3\1\xff"),
    Raw(b"\5"),
    Raw(b"\1\x80\0"),
    Raw(b"\4\xff\xff\xff\xff\x0f"),
]


# What can be left out, when it is known what it does and not mended yet.
LEFT_OUT = ("absent-rows", "references", "checks", "states", "migrations")


class Chance:
    """Draws for one file. `wildness` is how often something is drawn that no honest replica writes."""

    without: frozenset[str] = frozenset()

    def __init__(self, seed: str, wildness: float = 0):
        self.random = random.Random(seed)
        self.wildness = wildness

    def one(self, choices):
        return self.random.choice(choices)

    def some(self, choices: list, count: int) -> list:
        return self.random.sample(choices, min(count, len(choices)))

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def happens(self, share: float) -> bool:
        return self.random.random() < share

    @property
    def is_wild(self) -> bool:
        return self.happens(self.wildness)

    def name(self) -> str:
        if self.is_wild:
            return self.one(_BAD_NAMES)
        return self.one(_KNOWN_NAMES if self.happens(0.1) else _PLAIN_NAMES)

    def text(self) -> str:
        return "x" * self.number(0, 400) if self.happens(0.03) else self.one(_TEXTS)

    def integer(self) -> int:
        return self.one(_INTEGERS)

    def value(self) -> Value:
        if self.is_wild and self.happens(0.2):
            return self.one(_NOT_VALUES)
        kind = self.number(0, 9)
        if kind == 0:
            return None
        if kind < 4:
            return self.integer()
        if kind < 6:
            return self.one(_REALS)
        return self.text() if kind < 9 else self.random.randbytes(self.number(0, 20))

    def values(self, count: int) -> tuple[Value, ...]:
        return tuple(self.value() for _ in range(count))
