"""Documents of a collection, as a mapping of keys to dictionaries."""

from __future__ import annotations

import json
from abc import abstractmethod
from datetime import datetime
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    ItemsView,
    Iterable,
    Iterator,
    List,
    Mapping,
    MutableMapping,
    Optional,
    Tuple,
    ValuesView,
)

from . import _library
from ._library import optional_text, text
from ._rows import Rows

if TYPE_CHECKING:
    from ._replica import Replica, Transaction

#: A document: what ``json`` makes of a JSON object.
Document = Dict[str, Any]


def _written(document: Mapping[str, Any]) -> Optional[bytes]:
    if not isinstance(document, Mapping):
        raise TypeError(f"a document is a dict, and this is a {type(document).__name__}")
    return text(json.dumps(document, ensure_ascii=False, allow_nan=False))


class _Mapping(MutableMapping[str, Document]):
    """What a collection is inside and outside of transactions: views are of one state."""

    @abstractmethod
    def put(self, key: str, document: Mapping[str, Any], expires: Optional[datetime] = None) -> None: ...

    @abstractmethod
    def find(
        self, where: Optional[str] = None, order: Optional[str] = None, limit: int = 0
    ) -> Iterable[Tuple[str, Document]]: ...

    def __setitem__(self, key: str, document: Mapping[str, Any]) -> None:
        self.put(key, document)

    def __iter__(self) -> Iterator[str]:
        return iter([key for key, _ in self.find()])

    def __len__(self) -> int:
        return sum(1 for _ in self.find())

    def items(self) -> ItemsView[str, Document]:
        """Keys and documents of one state."""
        return dict(self.find()).items()

    def values(self) -> ValuesView[Document]:
        """Documents of one state."""
        return dict(self.find()).values()


class Documents(_Mapping):
    """A collection in a transaction (:meth:`Transaction.collection`)."""

    def __init__(self, transaction: "Transaction", name: str) -> None:
        self._transaction = transaction
        self._name = text(name, "collection's name")

    def __getitem__(self, key: str) -> Document:
        found = _library.take_text("get", self._transaction._open(), self._name, text(key, "key"))
        if found is None:
            raise KeyError(key)
        return json.loads(found)  # type: ignore[no-any-return]

    def put(self, key: str, document: Mapping[str, Any], expires: Optional[datetime] = None) -> None:
        """Stores a document in place of the one that is there; from ``expires`` on it is gone."""
        if expires is not None and expires.tzinfo is None:
            raise ValueError("the expiry has no time zone")
        # 0 is never.
        milliseconds = 0 if expires is None else round(expires.timestamp() * 1000) or -1
        _library.call("put", self._transaction._open(), self._name, text(key, "key"), _written(document), milliseconds)

    def merge(self, key: str, members: Mapping[str, Any]) -> None:
        """Writes these members of a document, and leaves its others; it is made where there is none."""
        _library.call("merge", self._transaction._open(), self._name, text(key, "key"), _written(members))

    def __delitem__(self, key: str) -> None:
        if not _library.take_int("delete", self._transaction._open(), self._name, text(key, "key")):
            raise KeyError(key)

    def find(
        self, where: Optional[str] = None, order: Optional[str] = None, limit: int = 0
    ) -> Iterator[Tuple[str, Document]]:
        """Keys and documents for which a condition holds, ``"age > 30 and name = 'Ada'"``; all when ``limit`` is 0."""
        rows = Rows(
            self._transaction, "find", self._name, optional_text(where, "condition"), optional_text(order, "order"),
            _library.size(limit, "limit"),
        )
        return ((str(key), json.loads(str(found))) for key, found in rows)

    def clear(self) -> None:
        """Deletes all documents."""
        for key in list(self):
            # One may have expired meanwhile.
            _library.take_int("delete", self._transaction._open(), self._name, text(key, "key"))


class Collection(_Mapping):
    """A collection outside transactions: each call is one of its own (:meth:`Replica.collection`)."""

    def __init__(self, replica: "Replica", name: str) -> None:
        self._replica = replica
        self._name = name

    def __getitem__(self, key: str) -> Document:
        with self._replica.read() as transaction:
            return transaction.collection(self._name)[key]

    def put(self, key: str, document: Mapping[str, Any], expires: Optional[datetime] = None) -> None:
        """As :meth:`Documents.put`."""
        with self._replica.write() as transaction:
            transaction.collection(self._name).put(key, document, expires)

    def merge(self, key: str, members: Mapping[str, Any]) -> None:
        """As :meth:`Documents.merge`."""
        with self._replica.write() as transaction:
            transaction.collection(self._name).merge(key, members)

    def __delitem__(self, key: str) -> None:
        with self._replica.write() as transaction:
            del transaction.collection(self._name)[key]

    def find(
        self, where: Optional[str] = None, order: Optional[str] = None, limit: int = 0
    ) -> List[Tuple[str, Document]]:
        """As :meth:`Documents.find`, in a list."""
        with self._replica.read() as transaction:
            return list(transaction.collection(self._name).find(where, order, limit))

    def clear(self) -> None:
        """Deletes all documents, in one transaction."""
        with self._replica.write() as transaction:
            transaction.collection(self._name).clear()

    def update(self, *arguments: Any, **documents: Any) -> None:
        """As of a dictionary, in one transaction."""
        with self._replica.write() as transaction:
            transaction.collection(self._name).update(*arguments, **documents)

    def pop(self, key: str, *default: Any) -> Any:
        """As of a dictionary, in one transaction."""
        with self._replica.write() as transaction:
            return transaction.collection(self._name).pop(key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """As of a dictionary, in one transaction."""
        with self._replica.write() as transaction:
            return transaction.collection(self._name).setdefault(key, default)
