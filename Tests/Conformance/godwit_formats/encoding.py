"""The primitives of every format (Specs/encoding.md)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class FormatError(Exception):
    """Bytes that are not of the form that the specification gives them."""


class Raw(bytes):
    """Bytes that are written as they are where a value would stand."""


class Origin(NamedTuple):
    """One incarnation of a replica: the author of a history."""

    replica: bytes
    incarnation: int

    def encoded(self) -> bytes:
        return self.replica + u32(self.incarnation)


Value = None | int | float | str | bytes
Vector = dict[Origin, int]


def u16(number: int) -> bytes:
    return struct.pack(">H", number)


def u32(number: int) -> bytes:
    return struct.pack(">I", number)


def u64(number: int) -> bytes:
    return struct.pack(">Q", number)


def i64(number: int) -> bytes:
    return struct.pack(">q", number)


def varint(number: int) -> bytes:
    """Unsigned LEB128 in its shortest form."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def signed_varint(number: int) -> bytes:
    return varint((number << 1 ^ number >> 63) & 0xFFFF_FFFF_FFFF_FFFF)


def flag(is_set: bool) -> bytes:
    return b"\1" if is_set else b"\0"


def sized(content: bytes) -> bytes:
    """`bytes` of the specification: a length and that many bytes."""
    return varint(len(content)) + content


def string(text: str | bytes) -> bytes:
    return sized(text if isinstance(text, bytes) else text.encode())


def counted(parts: list[bytes]) -> bytes:
    """A list: how many, then one after another."""
    return varint(len(parts)) + b"".join(parts)


def value(content: Value) -> bytes:
    if isinstance(content, Raw):
        return bytes(content)
    if content is None:
        return b"\0"
    if isinstance(content, int):
        return b"\1" + signed_varint(content)
    if isinstance(content, float):
        return b"\2" + struct.pack(">d", content)
    if isinstance(content, str):
        return b"\3" + string(content)
    return b"\4" + sized(content)


def values(contents: tuple[Value, ...]) -> bytes:
    return b"".join(value(content) for content in contents)


def vector(entries: Vector) -> bytes:
    return counted([origin.encoded() + varint(entries[origin]) for origin in sorted(entries)])


def places(chosen: list[int]) -> bytes:
    """Rising places in a list, each by how many are passed over before it."""
    before = [-1] + chosen[:-1]
    return counted([varint(place - last - 1) for last, place in zip(before, chosen)])


def difference(entries: Vector, base: Vector) -> bytes:
    """A vector as what differs from another one (Specs/sync-file.md, "Differences of vectors")."""
    origins = sorted(base)
    changed = [place for place, origin in enumerate(origins) if entries.get(origin, 0) != base[origin]]
    content = places(changed) + b"".join(varint(entries.get(origins[place], 0)) for place in changed)
    return content + vector({origin: entries[origin] for origin in entries if origin not in base})


class Reader:
    """Takes bytes apart from front to end, and refuses what is not in its one form."""

    def __init__(self, content: bytes):
        self.content = content
        self.place = 0

    @property
    def remaining(self) -> int:
        return len(self.content) - self.place

    def take(self, count: int) -> bytes:
        if count > self.remaining:
            raise FormatError(f"{count} bytes are wanted at {self.place}, and {self.remaining} are left")
        taken = self.content[self.place : self.place + count]
        self.place += count
        return taken

    def rest(self) -> bytes:
        return self.take(self.remaining)

    def end(self, what: str) -> None:
        if self.remaining:
            raise FormatError(f"{self.remaining} bytes stand behind {what}")

    def u8(self) -> int:
        return self.take(1)[0]

    def u16(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "big")

    def i64(self) -> int:
        return int.from_bytes(self.take(8), "big", signed=True)

    def varint(self) -> int:
        number = 0
        for index in range(10):
            byte = self.u8()
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                if (index and not byte) or number >= 1 << 64:
                    break
                return number
        raise FormatError(f"a varint before {self.place} is not in its shortest form, or beyond 64 bits")

    def signed_varint(self) -> int:
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def flag(self) -> bool:
        byte = self.u8()
        if byte > 1:
            raise FormatError(f"a flag at {self.place - 1} is {byte}")
        return byte == 1

    def sized(self) -> bytes:
        return self.take(self.varint())

    def string(self) -> str:
        try:
            return self.sized().decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"a string before {self.place} is not UTF-8") from error

    def list(self, read: Callable[[], T], at_most: int) -> list[T]:
        """A counted list whose elements take a byte or more each."""
        count = self.varint()
        if count > min(at_most, self.remaining):
            raise FormatError(f"a list before {self.place} would have {count} elements")
        return [read() for _ in range(count)]

    def value(self) -> Value:
        tag = self.u8()
        if tag == 0:
            return None
        if tag == 1:
            return self.signed_varint()
        if tag == 2:
            number = struct.unpack(">d", self.take(8))[0]
            if number != number:
                raise FormatError(f"a value before {self.place} is no number")
            return number
        if tag == 3:
            return self.string()
        if tag == 4:
            return self.sized()
        raise FormatError(f"a value at {self.place} has the tag {tag}")

    def values(self, count: int) -> tuple[Value, ...]:
        return tuple(self.value() for _ in range(count))

    def origin(self) -> Origin:
        return Origin(self.take(16), self.u32())

    def vector(self) -> Vector:
        entries = self.list(lambda: (self.origin(), self.varint()), at_most=65_536)
        rising([origin for origin, _ in entries], "the origins of a vector")
        if any(not 0 < sequence < (1 << 40) - 1 for _, sequence in entries):
            raise FormatError("a sequence in a vector is out of range")
        return dict(entries)

    def places(self, count: int) -> list[int]:
        """Places in a list of so many."""
        found: list[int] = []
        for _ in range(self.varint()):
            distance = self.varint()
            found.append(distance if not found else found[-1] + 1 + distance)
        if found and found[-1] >= count:
            raise FormatError(f"the place {found[-1]} is beyond a list of {count}")
        return found

    def difference(self, base: Vector) -> Vector:
        """A vector that is said by what differs from another one."""
        origins = sorted(base)
        entries = dict(base)
        for place in self.places(len(origins)):
            sequence = self.varint()
            if sequence == base[origins[place]] or sequence >= (1 << 40) - 1:
                raise FormatError("a difference that is none, or out of range")
            entries[origins[place]] = sequence
        further = self.vector()
        if any(origin in base for origin in further):
            raise FormatError("a further origin that is none")
        return {origin: sequence for origin, sequence in {**entries, **further}.items() if sequence}


def rising(elements: list, what: str) -> None:
    """Refuses a list that does not rise, or has an element twice."""
    if any(left >= right for left, right in zip(elements, elements[1:])):
        raise FormatError(f"{what} do not rise")
