"""What is remembered of a row (Specs/merge.md, "Row state")."""

from __future__ import annotations

from typing import Any

from .encoding import FormatError, Reader, varint
from .forms import listed, number, stored, time, together

_dot = together(number, number)
_stamp = together(number, number, time)
_dots = listed(_dot)
_contribution = together(number, listed(together(_dot, stored)))
_SETTLED = 32

# In the order of the bytes: the bit, the part's name, and its form.
_PARTS = (
    (1, "base", _stamp),
    (2, "overrides", listed(together(number, _stamp))),
    (4, "touches", together(_dots, _dots)),
    (8, "deletes", together(listed(_stamp), _dots)),
    (64, "contributions", listed(_contribution)),
    (16, "image", listed(stored)),
    (128, "masks", listed(together(number, stored))),
)

RowState = dict[str, Any]


def read(content: bytes) -> RowState:
    """The parts that are present, by name; `settled` is True where that bit is set."""
    reader = Reader(content)
    bits = reader.varint()
    if bits >= 256:
        raise FormatError(f"a row state has the bits {bits}")
    state: RowState = {"settled": True} if bits & _SETTLED else {}
    for bit, name, form in _PARTS:
        if bits & bit:
            state[name] = form.read(reader)
    reader.end("a row state")
    return state


def encoded(state: RowState) -> bytes:
    bits = _SETTLED if state.get("settled") else 0
    content = b""
    for bit, name, form in _PARTS:
        if name in state:
            bits |= bit
            content += form.write(state[name])
    return varint(bits) + content
