"""Rows, as ``sqlite3.Row`` has them."""

from __future__ import annotations

import contextlib
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple, Union, overload

from . import _library
from ._library import Value

if TYPE_CHECKING:
    from ._replica import Transaction


class Row:
    """One row: values by column's number and name, in any letter case, as of ``sqlite3.Row``."""

    __slots__ = ("_columns", "_values")

    def __init__(self, columns: Tuple[str, ...], values: Tuple[Value, ...]) -> None:
        self._columns = columns
        self._values = values

    @overload
    def __getitem__(self, column: Union[int, str]) -> Value: ...

    @overload
    def __getitem__(self, column: slice) -> Tuple[Value, ...]: ...

    def __getitem__(self, column: Union[int, str, slice]) -> Union[Value, Tuple[Value, ...]]:
        if not isinstance(column, str):
            return self._values[column]
        wanted = column.lower()
        for name, value in zip(self._columns, self._values):
            if name.lower() == wanted:
                return value
        raise IndexError(f"no column is named {column}")

    def keys(self) -> List[str]:
        """The columns' names."""
        return list(self._columns)

    def __iter__(self) -> Iterator[Value]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self._columns == other._columns and self._values == other._values

    def __hash__(self) -> int:
        return hash((self._columns, self._values))

    def __repr__(self) -> str:
        return "Row(" + ", ".join(f"{name}={value!r}" for name, value in zip(self._columns, self._values)) + ")"


class Rows:
    """The rows that a statement finds, read one after another while their transaction lasts: an iterator with
    ``fetchone``, ``fetchmany`` and ``fetchall``."""

    def __init__(self, transaction: "Transaction", function: str, *arguments: Any) -> None:
        # The library writes into it, so that a handle is never without an owner.
        self._handle = c_void_p()
        self._is_closed = False
        self._transaction = transaction
        self._place: Any = _library.row_place()
        transaction._rows.append(self._handle)
        _library.call(function, transaction._open(), *arguments, byref(self._handle))
        #: The names of the columns.
        self.columns = _library.columns(self._handle)

    def __iter__(self) -> "Rows":
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def fetchone(self) -> Optional[Row]:
        """The next row, or None after the last one."""
        if self._is_closed:
            return None
        with self._transaction._reading:
            self._transaction._open()
            values = _library.next_row(self._handle, len(self.columns), self._place)
        if values is None:
            self.close()
            return None
        return Row(self.columns, values)

    def fetchmany(self, size: int = 100) -> List[Row]:
        """The next rows, at most so many."""
        rows: List[Row] = []
        while len(rows) < size:
            row = self.fetchone()
            if row is None:
                break
            rows.append(row)
        return rows

    def fetchall(self) -> List[Row]:
        """All rows that are left."""
        return list(self)

    def close(self) -> None:
        """Reads no more of them. Rows also end with their transaction."""
        self._is_closed = True
        with self._transaction._reading:
            if self._handle:
                _library.call("rows_close", self._handle)
                self._handle.value = None
        self._leave()

    def __del__(self) -> None:
        _library.close_quietly("rows_close", self._handle)
        # Where another thread works in the transaction, that closes them.
        if not self._handle:
            self._leave()

    def _leave(self) -> None:
        with contextlib.suppress(ValueError):
            self._transaction._rows.remove(self._handle)
