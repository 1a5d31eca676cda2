"""Encrypted data that works offline and agrees across machines.

>>> import godwit
>>> with godwit.open("notes") as replica:
...     replica.collection("people")["ada"] = {"name": "Ada"}
"""

from ._cache import Cache
from ._documents import Collection, Document, Documents
from ._errors import (
    BusyError,
    ConstraintError,
    DamageError,
    Error,
    ForkedError,
    KeyringError,
    MisuseError,
    NotFoundError,
    RemoteError,
    SchemaError,
    SQLError,
)
from ._library import Value, version
from ._replica import Replica, Transaction, open
from ._rows import Row, Rows

__version__ = version
__all__ = [
    "BusyError",
    "Cache",
    "Collection",
    "ConstraintError",
    "DamageError",
    "Document",
    "Documents",
    "Error",
    "ForkedError",
    "KeyringError",
    "MisuseError",
    "NotFoundError",
    "RemoteError",
    "Replica",
    "Row",
    "Rows",
    "SQLError",
    "SchemaError",
    "Transaction",
    "Value",
    "open",
    "version",
]
