"""Changes to bytes at every layer, with all signatures around them made anew, or not."""

from __future__ import annotations

from dataclasses import replace

import zstandard

from godwit_formats import age
from godwit_formats.container import Draft
from godwit_formats.encoding import u32, u64, varint
from godwit_formats.frames import Part

from .chance import Chance

_TOKENS = [
    b"\0",
    b"\1",
    b"\x7f",
    b"\x80",
    b"\xff",
    varint(255),
    varint(1 << 14),
    varint(1 << 24),
    varint(1 << 31),
    varint((1 << 40) - 2),
    varint((1 << 63) - 1),
    varint((1 << 64) - 1),
    b"\xff" * 10,
    u32(0xFFFF_FFFF),
    u64((1 << 62) - 1),
    u64(1 << 62),
    bytes(32),
    bytes(20),
]


def mutated(chance: Chance, content: bytes) -> bytes:
    """The content with one to four changes."""
    changed = bytearray(content)
    for _ in range(chance.number(1, 4)):
        place = chance.number(0, len(changed))
        length = chance.one([1, 1, 2, 4, 8, 20, 64])
        drawn = chance.number(0, 6)
        if drawn == 0 and place < len(changed):
            changed[place] ^= 1 << chance.number(0, 7)
        elif drawn == 1:
            changed[place : place + length] = b""
        elif drawn == 2:
            changed[place:place] = chance.one(_TOKENS)
        elif drawn == 3:
            token = chance.one(_TOKENS)
            changed[place : place + len(token)] = token
        elif drawn == 4:
            other = chance.number(0, len(changed))
            changed[place:place] = changed[other : other + length]
        elif drawn == 5:
            changed[place : place + length] = chance.random.randbytes(length)
        else:
            del changed[place : len(changed) if chance.happens(0.1) else place + 1]
    return bytes(changed)


def file(chance: Chance, draft: Draft) -> bytes:
    """The draft as a file, changed at one layer."""
    layer = chance.one(
        [
            "header",
            "header",
            "frame",
            "frame",
            "frame",
            "introduction",
            "part",
            "count",
            "content",
            "age",
            "recipients",
        ]
    )
    if layer == "header":
        return replace(draft, header_content=mutated(chance, draft.header.encoded())).file()
    if layer == "introduction":
        return replace(draft, introduction_content=mutated(chance, draft.introduction.encoded())).file()
    if layer == "frame" and draft.parts:
        return replace(draft, parts=[_repacked(chance, part) for part in draft.parts]).file()
    if layer == "part" and draft.parts:
        return replace(draft, parts=_other_parts(chance, draft.parts)).file()
    if layer == "count":
        return replace(draft, count=chance.one([0, 1, draft.count + 1, (1 << 64) - 1])).file()
    if layer == "recipients":
        some = chance.some(draft.header.recipients, chance.number(1, len(draft.header.recipients)))
        return draft.file(some * chance.number(1, 3))
    sealer = age.Sealer(sorted(draft.header.recipients))
    content = draft.content(sealer.binding)
    if layer == "content":
        return sealer.file(mutated(chance, content))
    return mutated(chance, sealer.file(content))


def _repacked(chance: Chance, part: Part) -> Part:
    return Part.packing(part.kind, mutated(chance, part.unpacked()))


def _other_parts(chance: Chance, parts: list[Part]) -> list[Part]:
    """Parts that come twice, in another order, of another kind or size, or that unpack to far more than they are."""
    first = parts[0]
    drawn = chance.number(0, 6)
    if drawn == 0:
        return parts * chance.number(2, 4)
    if drawn == 1:
        return []
    if drawn == 2:
        return [replace(part, kind=chance.one([0, 1, 3, 4, 255])) for part in parts]
    if drawn == 3:
        sizes = [0, 1, first.unpacked_size + 1, 1 << 26, 0xFFFF_FFFF]
        return [replace(part, unpacked_size=chance.one(sizes)) for part in parts]
    if drawn == 4:
        return [replace(part, packed=mutated(chance, part.packed)) for part in parts]
    size = chance.one([1 << 16, 1 << 20, 1 << 24])
    content = (first.unpacked() + bytes(size))[:size] if chance.happens(0.5) else bytes(size)
    packed = zstandard.ZstdCompressor(level=1).compress(content)
    return [replace(first, unpacked_size=size, packed=packed)]
