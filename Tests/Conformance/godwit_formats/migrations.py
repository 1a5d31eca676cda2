"""Migrations in their canonical form (Specs/migration-forms.md, "Canonical form")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .encoding import FormatError, Reader
from .forms import Form, byte, flagged, form, listed, number, text, together
from .tables import Column, Table

FORM = 2
(
    CREATE_TABLE,
    DROP_TABLE,
    RENAME_TABLE,
    ADD_COLUMN,
    DROP_COLUMN,
    RENAME_COLUMN,
    CHANGE_COLUMN,
    ADD_INDEX,
    DROP_INDEX,
    DATA_STEP,
    SET_SYNC,
) = range(1, 12)

_table = form(Table.read, lambda table: table.encoded())
_column = form(Column.read, lambda column: column.encoded())


def _read_rule(reader: Reader) -> tuple[int, Any]:
    kind = reader.u8()
    return kind, reader.string() if kind else reader.u8()


def _write_rule(rule: tuple[int, Any]) -> bytes:
    return byte.write(rule[0]) + (text.write(rule[1]) if rule[0] else byte.write(rule[1]))


_rule = form(_read_rule, _write_rule)
_flag = form(lambda reader: reader.flag(), lambda is_set: b"\1" if is_set else b"\0")
_STEPS: dict[int, Form] = {
    CREATE_TABLE: together(_table),
    DROP_TABLE: together(text),
    RENAME_TABLE: together(text, text),
    ADD_COLUMN: together(text, _column, flagged(together(text, _rule))),
    DROP_COLUMN: together(text, text),
    RENAME_COLUMN: together(text, text, text),
    CHANGE_COLUMN: together(text, _column, _rule),
    ADD_INDEX: together(text, _flag, listed(text)),
    DROP_INDEX: together(text, listed(text)),
    DATA_STEP: together(text, _flag, form(lambda reader: reader.take(32), bytes)),
    SET_SYNC: together(text, _flag),
}


@dataclass(frozen=True)
class Step:
    """A step's kind, and what stands behind it in the order of the specification."""

    kind: int
    parts: tuple


@dataclass(frozen=True)
class Migration:
    form: int
    version: int
    name: str
    steps: tuple[Step, ...]

    @staticmethod
    def read(content: bytes) -> Migration:
        reader = Reader(content)
        found = reader.u8()
        if found != FORM:
            raise FormatError(f"a migration of the form {found}")
        migration = Migration(
            found, reader.varint(), reader.string(), tuple(reader.list(lambda: _read_step(reader), 1_024))
        )
        reader.end("a migration")
        return migration

    def encoded(self) -> bytes:
        steps = [byte.write(step.kind) + _STEPS[step.kind].write(step.parts) for step in self.steps]
        return (
            byte.write(self.form)
            + number.write(self.version)
            + text.write(self.name)
            + number.write(len(steps))
            + b"".join(steps)
        )


def _read_step(reader: Reader) -> Step:
    kind = reader.u8()
    if kind not in _STEPS:
        raise FormatError(f"a step of the kind {kind}")
    return Step(kind, _STEPS[kind].read(reader))
