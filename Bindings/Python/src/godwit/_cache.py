"""A cache, as a mapping of keys to bytes."""

from __future__ import annotations

from ctypes import byref, c_void_p
from datetime import timedelta
from typing import TYPE_CHECKING, Optional, Union

from . import _library
from ._library import text

if TYPE_CHECKING:
    from ._replica import Replica


class Cache:
    """Bytes by key that are encrypted and never leave the machine (:meth:`Replica.cache`).

    What was not used for longest goes when a bound is reached, so that there is no number of keys to rely on and none
    to list.
    """

    def __init__(self, replica: "Replica", name: str, max_bytes: int, max_entries: int) -> None:
        self._handle = c_void_p()
        # It closes with the replica, which so lives as long.
        self._replica = replica
        #: The cache's name.
        self.name = name
        bounds = [_library.size(bound, "bound") for bound in (max_bytes, max_entries)]
        _library.call("cache_open", replica._open(), text(name, "cache's name"), *bounds, byref(self._handle))

    def __del__(self) -> None:
        if self._replica.is_open:
            _library.close_quietly("cache_close", self._handle)

    def __getitem__(self, key: str) -> bytes:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def get(self, key: str, default: Optional[bytes] = None) -> Optional[bytes]:
        """The bytes under a key, or ``default``."""
        found = _library.take_bytes("cache_get", self._handle, text(key, "key"))
        return default if found is None else found

    def __setitem__(self, key: str, value: Union[bytes, bytearray, memoryview]) -> None:
        self.set(key, value)

    def set(
        self, key: str, value: Union[bytes, bytearray, memoryview], lifetime: Optional[timedelta] = None
    ) -> None:
        """Puts bytes under a key, for so long or until something else pushes them out."""
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise TypeError(f"a cache holds bytes, and this is a {type(value).__name__}")
        milliseconds = 0 if lifetime is None else max(1, round(lifetime / timedelta(milliseconds=1)))
        data = bytes(value)
        _library.call("cache_set", self._handle, text(key, "key"), data, len(data), milliseconds)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        _library.call("cache_remove", self._handle, text(key, "key"))

    #: There are none to list: `for key in cache` is a TypeError that says so.
    __iter__ = None

    def pop(self, key: str, *default: Optional[bytes]) -> Optional[bytes]:
        """Removes the bytes under a key and returns them; ``default``, or else a KeyError, where there are none."""
        found = self.get(key)
        if found is not None:
            _library.call("cache_remove", self._handle, text(key, "key"))
            return found
        if not default:
            raise KeyError(key)
        return default[0]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def clear(self) -> None:
        """Removes everything."""
        _library.call("cache_clear", self._handle)
