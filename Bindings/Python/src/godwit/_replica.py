"""Replicas and their transactions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import weakref
from ctypes import byref, c_void_p, sizeof
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, Iterable, List, Optional, Tuple, Type, Union

from . import _library
from ._cache import Cache
from ._documents import Collection, Documents
from ._errors import MisuseError
from ._library import Value, optional_text, text
from ._parameters import Values, bound
from ._rows import Row, Rows

_READ, _WRITE = range(2)
# How many rows are bound at once.
_BATCH = 500
_ALL, _STATE, _REJOIN, _COLLECT = 1, 2, 4, 8


class Transaction:
    """What :meth:`Replica.read` and :meth:`Replica.write` give to ``with``: it is committed at the end, and rolled back
    when the body raises, or ends in another thread than the one that began it, which alone may use it."""

    def __init__(self, replica: "Replica", kind: int) -> None:
        self._replica = replica
        self._kind = kind
        self._handle = c_void_p()
        # The handles of its rows, and what is held while one of them is read.
        self._rows: List[c_void_p] = []
        self._reading = threading.RLock()

    def __enter__(self) -> "Transaction":
        if self._handle:
            raise RuntimeError("the transaction has begun")
        try:
            _library.call("begin", self._replica._open(), self._kind, byref(self._handle))
            return self
        except BaseException:
            # Ctrl-C may come when it has just begun.
            self._roll_back()
            raise

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if not self._handle:
            return
        try:
            _library.call("commit" if kind is None else "rollback", self._handle)
        except BaseException:
            # It may be another thread's, or Ctrl-C have come before the call; what has ended is no more to be ended.
            self._roll_back()
            raise
        for handle in (self._handle, *self._rows):
            handle.value = None

    def __del__(self) -> None:
        self._roll_back()

    def _roll_back(self) -> None:
        """Ends it whatever thread this is, once no other one reads a row of it."""
        with self._reading:
            for rows in list(self._rows):
                _library.close_quietly("rows_close", rows)
            _library.close_quietly("rollback", self._handle)
        # Of a replica and a transaction that nobody has any more the collector may have taken the replica first.
        if not self._handle and not self._replica._closing.alive:
            _library.close_quietly("close", self._replica._handle)

    @property
    def is_open(self) -> bool:
        """Whether it has begun and not ended."""
        return bool(self._handle)

    def _open(self) -> c_void_p:
        if not self._handle:
            raise MisuseError(11, "misuse", "the transaction is not open", "use it inside its `with`")
        return self._handle

    def execute(self, sql: str, values: Values = ()) -> int:
        """Runs one statement that writes, with the values bound to its ``?``, or by name to its ``:name``; how many rows
        it changed.

        A statement that fails leaves nothing behind, and the transaction continues. One that only finds rows is an
        error: it is for :meth:`query`.
        """
        return _library.execute(self._open(), text(sql, "statement"), bound(sql, values))

    def executemany(self, sql: str, rows: Iterable[Values]) -> int:
        """The same statement for each of the rows; how many rows they changed.

        Rows go to the database in batches, of which one that fails leaves nothing behind.
        """
        statement, changed = text(sql, "statement"), 0
        batch: List[Tuple[Value, ...]] = []
        for row in rows:
            values = bound(sql, row)
            if batch and (len(batch) == _BATCH or len(values) != len(batch[0])):
                changed += _library.execute_many(self._open(), statement, batch)
                batch = []
            if values:
                batch.append(values)
            else:
                changed += self.execute(sql)
        if batch:
            changed += _library.execute_many(self._open(), statement, batch)
        return changed

    def query(self, sql: str, values: Values = ()) -> Rows:
        """The rows that one statement finds, read while the transaction lasts."""
        array = _library.bound(bound(sql, values))
        return Rows(self, "query", text(sql, "statement"), array, len(array))

    def collection(self, name: str) -> Documents:
        """A collection of documents, in this transaction."""
        return Documents(self, name)


class Replica:
    """One copy of a group's data (:func:`godwit.open`). Used by any thread."""

    def __init__(self, path: str, options: _library.Options) -> None:
        self._handle = c_void_p()
        #: Where it is.
        self.path = path
        # What wakes each iteration of its changes, in that one's thread.
        self._wakers: List[Callable[[], object]] = []
        # One that nobody has any more is closed; at the interpreter's exit the library does so.
        self._closing = weakref.finalize(self, _library.close_quietly, "close", self._handle)
        self._closing.atexit = False
        _library.call("open", text(path, "path"), byref(options), byref(self._handle))

    def _open(self) -> c_void_p:
        if not self._handle:
            raise MisuseError(11, "misuse", "the replica is closed", None)
        return self._handle

    @property
    def is_open(self) -> bool:
        """Whether it has not been closed."""
        return bool(self._handle)

    def close(self) -> None:
        """Closes it. What is still open when the interpreter exits is closed then."""
        if self._handle:
            _library.call("close", self._handle)
            self._handle.value = None
            for wake in list(self._wakers):
                wake()

    def interrupt(self) -> None:
        """Breaks off what other threads do with it now: they get an :class:`Error` named ``cancelled``. A transaction
        that is open can only be rolled back; what was committed, and files, stay whole."""
        _library.call("interrupt", self._open())

    def __enter__(self) -> "Replica":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<godwit.Replica at {self.path!r}{'' if self.is_open else ', closed'}>"

    # Reading and writing

    def read(self) -> Transaction:
        """A transaction that sees one state, waits for nobody and holds nobody up."""
        return Transaction(self, _READ)

    def write(self) -> Transaction:
        """A transaction that writes, one at a time."""
        return Transaction(self, _WRITE)

    def query(self, sql: str, values: Values = ()) -> List[Row]:
        """The rows that one statement finds, all of them."""
        with self.read() as transaction:
            return transaction.query(sql, values).fetchall()

    def execute(self, sql: str, values: Values = ()) -> int:
        """Runs one statement that writes as a transaction of its own; how many rows it changed."""
        with self.write() as transaction:
            return transaction.execute(sql, values)

    def collection(self, name: str) -> Collection:
        """A collection of documents, each call of which is a transaction of its own."""
        return Collection(self, name)

    def cache(self, name: str, max_bytes: int = 0, max_entries: int = 0) -> Cache:
        """An encrypted cache beside the replica, without a bound where that is 0. The bounds are those of the first call."""
        return Cache(self, name, max_bytes, max_entries)

    # Exchange

    def status(self) -> Dict[str, Any]:
        """Where the replica stands: what ``godwit status --json`` prints."""
        return self._json("status")  # type: ignore[no-any-return]

    def export(
        self, file: Union[str, "os.PathLike[str]"], member: Optional[str] = None, *, all: bool = False,
        state: bool = False,
    ) -> Dict[str, Any]:
        """Writes what other members may lack as a sync file; with ``state`` the whole state."""
        flags = (_ALL if all else 0) | (_STATE if state else 0)
        return self._json(  # type: ignore[no-any-return]
            "export", text(os.fspath(file), "file"), optional_text(member, "member"), flags
        )

    def import_(self, file: Union[str, "os.PathLike[str]"], *, rejoin: bool = False) -> Dict[str, Any]:
        """Applies a sync file, whole or not at all."""
        return self._json(  # type: ignore[no-any-return]
            "import", text(os.fspath(file), "file"), _REJOIN if rejoin else 0
        )

    def add_remote(self, name: str, url: str) -> None:
        """Names a folder, an ssh host or a bucket that keeps sync files for the group."""
        _library.call("remote_add", self._open(), text(name, "name"), text(url, "URL"))

    def remove_remote(self, name: str) -> None:
        """Forgets one; its files stay."""
        _library.call("remote_remove", self._open(), text(name, "name"))

    def remotes(self) -> List[Dict[str, Any]]:
        """The remotes, when they were last synced, and what is wrong with them."""
        return self._json("remotes")  # type: ignore[no-any-return]

    def sync(
        self, remote: Optional[str] = None, *, rejoin: bool = False, collect: bool = False
    ) -> List[Dict[str, Any]]:
        """Fetches what others have published, and publishes what they may lack; at all remotes when none is named.

        Raises the failure of the first that failed, with the reports as ``reports``; the others were synced.
        """
        flags = (_REJOIN if rejoin else 0) | (_COLLECT if collect else 0)
        report, failure = _library.take_report("sync", self._open(), optional_text(remote, "remote"), flags)
        reports: List[Dict[str, Any]] = json.loads(report) if report is not None else []
        if failure is not None:
            failure.reports = reports  # type: ignore[attr-defined]
            raise failure
        return reports

    def conflicts(self, limit: int = 50) -> List[Dict[str, Any]]:
        """The latest writes that lost a merge, newest first."""
        return self._json("conflicts", _library.size(limit, "limit"))  # type: ignore[no-any-return]

    def restore_conflict(self, number: int) -> bool:
        """Writes again what lost, as a new change; whether anything was left to write."""
        return bool(_library.take_int("conflict_restore", self._open(), _library.size(number, "conflict's number")))

    def _json(self, name: str, *arguments: Any) -> Any:
        found = _library.take_text(name, self._open(), *arguments)
        return None if found is None else json.loads(found)

    # Changes

    async def changes(self, *tables: str) -> AsyncIterator[None]:
        """Yields once at the beginning, and after changes of these tables, or of any: of this process at once, of
        another one within a second. It may yield when nothing has changed, and ends when the replica is closed."""
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        handle = c_void_p()
        descriptor = -1

        is_ended = False

        def wake() -> None:
            nonlocal is_ended
            try:
                _library.take_int("watch_clear", handle)
            except MisuseError:
                is_ended = True
            woken.set()

        def close() -> None:
            # The loop may have ended, and its iterations with it.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(woken.set)

        try:
            descriptor = _library.open_watch(self._open(), tables, handle)
            self._wakers.append(close)
            loop.add_reader(descriptor, wake)
            while self.is_open and not is_ended:
                yield
                await woken.wait()
                woken.clear()
        finally:
            if descriptor >= 0:
                loop.remove_reader(descriptor)
            with contextlib.suppress(ValueError):
                self._wakers.remove(close)
            _library.close_quietly("watch_close", handle)


def open(
    path: Union[str, "os.PathLike[str]"], *, name: Optional[str] = None,
    keyring: Union[None, str, "os.PathLike[str]"] = None, machine_key: Union[None, str, "os.PathLike[str]"] = None,
    passphrase_file: Union[None, str, "os.PathLike[str]"] = None,
    migrations: Union[None, str, Dict[str, Any], List[Dict[str, Any]]] = None,
    must_exist: bool = False, read_only: bool = False, post_quantum: bool = False, timeout: float = 5.0,
) -> Replica:
    """Opens the replica in a folder, or makes one there, as the first of a new group. One that the program ``godwit``
    has made lies in ``.godwit`` in its working folder, and is found there, too.

    ``machine_key`` is the file with the key that opens it. By default that lies in the replica's folder, or, for one of
    the program's, in ``~/.config/godwit``.

    ``migrations`` are the tables, version by version: a list of migrations, or the whole of a migration file as a
    dictionary or JSON. ``timeout`` is how many seconds a transaction waits for others of this process.
    """
    if isinstance(migrations, list):
        migrations = {"format": "godwit migrations 1", "migrations": migrations}
    if isinstance(migrations, dict):
        migrations = json.dumps(migrations)

    def place(value: Union[None, str, "os.PathLike[str]"], title: str) -> Optional[bytes]:
        return None if value is None else text(os.fspath(value), title)

    options = _library.Options()
    options.size = sizeof(options)
    options.name = optional_text(name, "name")
    options.keyring = place(keyring, "keyring")
    options.machine_key = place(machine_key, "machine key")
    options.passphrase_file = place(passphrase_file, "passphrase file")
    options.migrations = optional_text(migrations, "migrations")
    options.must_exist, options.read_only, options.post_quantum = must_exist, read_only, post_quantum
    options.busy_milliseconds = max(1, round(min(timeout * 1000, (1 << 31) - 1)))
    return Replica(os.fspath(path), options)
