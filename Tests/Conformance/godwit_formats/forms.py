"""Forms put together: how something is read, and how it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .encoding import Reader, counted, flag, signed_varint, sized, string, u64, value, varint


class Form(NamedTuple):
    read: Callable[[Reader], Any]
    write: Callable[[Any], bytes]


def form(read: Callable[[Reader], Any], write: Callable[[Any], bytes]) -> Form:
    return Form(read, write)


byte = Form(Reader.u8, lambda content: bytes([content]))
number = Form(Reader.varint, varint)
signed_number = Form(Reader.signed_varint, signed_varint)
time = Form(Reader.u64, u64)
text = Form(Reader.string, string)
blob = Form(Reader.sized, sized)
stored = Form(Reader.value, value)


def together(*forms: Form) -> Form:
    """Several, one after another, as a tuple."""
    return Form(
        lambda reader: tuple(part.read(reader) for part in forms),
        lambda contents: b"".join(part.write(content) for part, content in zip(forms, contents, strict=True)),
    )


def listed(element: Form, at_most: int = 1 << 32) -> Form:
    """A varint count, then as many."""
    return Form(
        lambda reader: reader.list(lambda: element.read(reader), at_most),
        lambda contents: counted([element.write(content) for content in contents]),
    )


def flagged(optional: Form) -> Form:
    """A flag, then what it announces; None where there is nothing."""
    return Form(
        lambda reader: optional.read(reader) if reader.flag() else None,
        lambda content: flag(content is not None) + (optional.write(content) if content is not None else b""),
    )


values_list = listed(stored)
