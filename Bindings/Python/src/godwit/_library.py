"""The functions of ``godwit.h``, called by ctypes, and their failures as exceptions."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Optional, Sequence, Tuple, Union

from ._errors import SQLError, error_of

#: What a column holds, and what is bound to a parameter.
Value = Union[None, int, float, str, bytes]

_NULL, _INTEGER, _REAL, _TEXT, _BLOB = range(5)
_OK, _ROW, _DONE = range(3)
_BUSY = 35


class _Failure(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("code", c_int),
        ("name", c_char_p),
        ("message", c_char_p),
        ("hint", c_char_p),
    ]


class Options(ctypes.Structure):
    """``godwit_options``."""

    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("keyring", c_char_p),
        ("machine_key", c_char_p),
        ("passphrase_file", c_char_p),
        ("migrations", c_char_p),
        ("must_exist", c_int),
        ("read_only", c_int),
        ("post_quantum", c_int),
        ("busy_milliseconds", c_int),
    ]


class _CValue(ctypes.Structure):
    _fields_ = [
        ("type", c_int32),
        ("reserved", c_int32),
        ("integer", c_int64),
        ("real", c_double),
        ("bytes", c_void_p),
        ("length", c_size_t),
    ]


_Handle = c_void_p
_Row = POINTER(_CValue)

# The arguments of each function, as godwit.h declares them; all return a code.
_FUNCTIONS = {
    "open": [c_char_p, POINTER(Options), POINTER(_Handle)],
    "close": [_Handle],
    "interrupt": [_Handle],
    "status": [_Handle, POINTER(c_void_p)],
    "begin": [_Handle, c_int, POINTER(_Handle)],
    "commit": [_Handle],
    "rollback": [_Handle],
    "execute": [_Handle, c_char_p, POINTER(_CValue), c_size_t, POINTER(c_int64)],
    "execute_many": [_Handle, c_char_p, POINTER(_CValue), c_size_t, c_size_t, POINTER(c_int64)],
    "query": [_Handle, c_char_p, POINTER(_CValue), c_size_t, POINTER(_Handle)],
    "next": [_Handle, POINTER(_Row)],
    "rows_close": [_Handle],
    "put": [_Handle, c_char_p, c_char_p, c_char_p, c_int64],
    "merge": [_Handle, c_char_p, c_char_p, c_char_p],
    "get": [_Handle, c_char_p, c_char_p, POINTER(c_void_p)],
    "delete": [_Handle, c_char_p, c_char_p, POINTER(c_int)],
    "find": [_Handle, c_char_p, c_char_p, c_char_p, c_size_t, POINTER(_Handle)],
    "cache_open": [_Handle, c_char_p, c_size_t, c_size_t, POINTER(_Handle)],
    "cache_set": [_Handle, c_char_p, c_char_p, c_size_t, c_int64],
    "cache_get": [_Handle, c_char_p, POINTER(c_void_p), POINTER(c_size_t)],
    "cache_remove": [_Handle, c_char_p],
    "cache_clear": [_Handle],
    "cache_close": [_Handle],
    "export": [_Handle, c_char_p, c_char_p, c_int, POINTER(c_void_p)],
    "import": [_Handle, c_char_p, c_int, POINTER(c_void_p)],
    "remote_add": [_Handle, c_char_p, c_char_p],
    "remote_remove": [_Handle, c_char_p],
    "remotes": [_Handle, POINTER(c_void_p)],
    "sync": [_Handle, c_char_p, c_int, POINTER(c_void_p)],
    "conflicts": [_Handle, c_size_t, POINTER(c_void_p)],
    "conflict_restore": [_Handle, c_int64, POINTER(c_int)],
    "watch_open": [_Handle, POINTER(c_char_p), c_size_t, POINTER(c_int), POINTER(_Handle)],
    "watch_clear": [_Handle, POINTER(c_int)],
    "watch_close": [_Handle],
}


def _load() -> ctypes.CDLL:
    place = os.path.join(os.path.dirname(__file__), "libgodwit.so")
    library = ctypes.CDLL(place if os.path.exists(place) else "libgodwit.so")
    for name, arguments in _FUNCTIONS.items():
        function = getattr(library, "godwit_" + name)
        function.argtypes = arguments
        function.restype = c_int
    library.godwit_free.argtypes = [c_void_p]
    library.godwit_free.restype = None
    library.godwit_version.restype = c_char_p
    library.godwit_copy_error.restype = c_void_p
    library.godwit_column_count.argtypes = [_Handle]
    library.godwit_column_count.restype = c_size_t
    library.godwit_column_name.argtypes = [_Handle, c_size_t]
    library.godwit_column_name.restype = c_char_p
    return library


_library = _load()
_next = _library.godwit_next

#: The version of the library.
version: str = _library.godwit_version().decode()


def _latest_failure(code: int) -> Exception:
    # A copy: what a finalizer or a signal's handler calls meanwhile may fail, too, and be the latest.
    place = _library.godwit_copy_error()
    if place is None:
        return MemoryError()
    try:
        failure = _Failure.from_address(place)
        if failure.code != code:
            return error_of(code, "failed", f"the call failed with code {code}; another one has failed since", None)
        hint = failure.hint.decode() if failure.hint is not None else None
        return error_of(failure.code, failure.name.decode(), failure.message.decode(), hint)
    finally:
        _library.godwit_free(place)


def call(name: str, *arguments: Any) -> None:
    """Calls a function; raises its failure."""
    code = getattr(_library, "godwit_" + name)(*arguments)
    if code != _OK:
        raise _latest_failure(code)


def close_quietly(name: str, handle: c_void_p) -> None:
    """Closes a handle that nobody has any more, if there is one. It stays where something is still done with it."""
    if handle and getattr(_library, "godwit_" + name)(handle) != _BUSY:
        handle.value = None


def size(value: int, title: str) -> int:
    """A number of what there is in memory."""
    if not 0 <= value < 1 << 63:
        raise ValueError(f"the {title} is out of range: {value}")
    return value


def optional_text(value: Optional[str], title: str) -> Optional[bytes]:
    """A text as C reads it, if there is one."""
    return None if value is None else text(value, title)


def text(value: str, title: str = "text") -> bytes:
    """A text as C reads it."""
    if not isinstance(value, str):
        raise TypeError(f"the {title} is a {type(value).__name__}, and must be a str")
    if "\0" in value:
        raise ValueError(f"the {title} has a NUL character")
    return value.encode()


def take_text(name: str, *arguments: Any) -> Optional[str]:
    """Calls a function whose last argument is a place for a text."""
    place = c_void_p()
    try:
        call(name, *arguments, byref(place))
        return ctypes.string_at(place).decode() if place.value is not None else None
    finally:
        _library.godwit_free(place)


def take_report(name: str, *arguments: Any) -> Tuple[Optional[str], Optional[Exception]]:
    """The same of a function that gives a report also when it fails."""
    place = c_void_p()
    try:
        code = getattr(_library, "godwit_" + name)(*arguments, byref(place))
        failure = None if code == _OK else _latest_failure(code)
        return (ctypes.string_at(place).decode() if place.value is not None else None), failure
    finally:
        _library.godwit_free(place)


def take_bytes(name: str, *arguments: Any) -> Optional[bytes]:
    """Calls a function whose last arguments are places for bytes and their number."""
    place, length = c_void_p(), c_size_t()
    try:
        call(name, *arguments, byref(place), byref(length))
        return ctypes.string_at(place, length.value) if place.value is not None else None
    finally:
        _library.godwit_free(place)


def take_int(name: str, *arguments: Any) -> int:
    """Calls a function whose last argument is a place for a C int."""
    place = c_int()
    call(name, *arguments, byref(place))
    return place.value


def open_watch(replica: c_void_p, tables: Sequence[str], handle: c_void_p) -> int:
    """The descriptor of a watch, whose handle is put in its place."""
    names = (c_char_p * len(tables))(*[text(table, "table's name") for table in tables])
    descriptor = c_int()
    call("watch_open", replica, names, len(tables), byref(descriptor), byref(handle))
    return descriptor.value


def bound(values: Sequence[Value]) -> Any:
    """Values as C binds them; they last as long as what this returns."""
    array: Any = (_CValue * len(values))()
    kept = []
    for place, value in zip(array, values):
        if value is None:
            continue
        if isinstance(value, int):
            if not -(1 << 63) <= value < 1 << 63:
                raise OverflowError("an int has more than 64 bits")
            place.type, place.integer = _INTEGER, value
        elif isinstance(value, float):
            place.type, place.real = _REAL, value
        elif isinstance(value, (str, bytes, bytearray, memoryview)):
            data = value.encode() if isinstance(value, str) else bytes(value)
            buffer = c_char_p(data)
            kept.append(buffer)
            place.type = _TEXT if isinstance(value, str) else _BLOB
            place.bytes, place.length = ctypes.cast(buffer, c_void_p), len(data)
        else:
            raise TypeError(f"a {type(value).__name__} cannot be bound; give None, int, float, str or bytes")
    array._kept = kept
    return array


def execute(transaction: c_void_p, sql: Optional[bytes], values: Sequence[Value]) -> int:
    """How many rows a statement changed."""
    changed = c_int64()
    array = bound(values)
    call("execute", transaction, sql, array, len(array), byref(changed))
    return changed.value


def execute_many(transaction: c_void_p, sql: Optional[bytes], rows: Sequence[Sequence[Value]]) -> int:
    """How many rows a statement changed for all of the rows, which have equally many values."""
    changed = c_int64()
    array = bound([value for row in rows for value in row])
    call("execute_many", transaction, sql, array, len(array) // len(rows), len(rows), byref(changed))
    return changed.value


def columns(rows: c_void_p) -> Tuple[str, ...]:
    """The names of columns."""
    count = _library.godwit_column_count(rows)
    return tuple(_library.godwit_column_name(rows, index).decode() for index in range(count))


def next_row(rows: c_void_p, count: int, place: Any) -> Optional[Tuple[Value, ...]]:
    """The next row's values, or None after the last one."""
    code = _next(rows, byref(place))
    if code == _DONE:
        return None
    if code != _ROW:
        raise _latest_failure(code)
    return tuple(map(_value, place[:count]))


def row_place() -> Any:
    """Where rows are read to."""
    return _Row()


def _value(value: _CValue) -> Value:
    kind = value.type
    if kind == _TEXT:
        data = ctypes.string_at(value.bytes, value.length)
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise SQLError(37, "sql", "a text of the row is not UTF-8", "read it with CAST(column AS BLOB)") from None
    if kind == _INTEGER:
        return value.integer  # type: ignore[no-any-return]
    if kind == _NULL:
        return None
    if kind == _REAL:
        return value.real  # type: ignore[no-any-return]
    return ctypes.string_at(value.bytes, value.length) if value.length > 0 else b""
