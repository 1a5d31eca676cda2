"""What is raised. Each class stands for the codes that a program treats alike; ``Error.name`` has the code itself."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, Type


class Error(Exception):
    """A failure of Godwit's.

    ``code`` is its number in ``godwit.h``, ``name`` the same in words, such as ``"noReplica"``, and ``hint`` what to do
    about it, or None.
    """

    def __init__(self, code: int, name: str, message: str, hint: Optional[str]) -> None:
        super().__init__(f"{message} ({hint})" if hint is not None else message)
        self.code = code
        self.name = name
        self.message = message
        self.hint = hint

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.code, self.name, self.message, self.hint), self.__dict__


class MisuseError(Error):
    """A closed object was used, or a transaction by another thread than the one that began it."""


class ForkedError(Error):
    """The process is a child of the one that opened the replica."""


class BusyError(Error):
    """Somebody else writes, for longer than was to be waited."""


class ConstraintError(Error):
    """NOT NULL, UNIQUE, CHECK, a key or a reference refused a write."""


class SQLError(Error):
    """A statement does not compile, cannot run, or is not allowed where it is."""


class NotFoundError(Error):
    """There is no replica, member, remote or conflict of that name."""


class KeyringError(Error):
    """The keys are missing, damaged, or do not open what they should."""


class DamageError(Error):
    """A file or database is not what it claims to be, or was changed by somebody else."""


class SchemaError(Error):
    """The tables and what they should be differ."""


class RemoteError(Error):
    """A remote cannot be reached, or refuses."""


_CLASSES: Dict[int, Type[Error]] = {
    11: MisuseError,
    12: ForkedError,
    32: DamageError,
    33: DamageError,
    34: DamageError,
    35: BusyError,
    36: ConstraintError,
    37: SQLError,
    38: SQLError,
    39: MisuseError,
    40: MisuseError,
    52: SchemaError,
    53: SchemaError,
    54: SchemaError,
    57: NotFoundError,
    70: NotFoundError,
    73: DamageError,
    74: SchemaError,
    76: SchemaError,
    77: SchemaError,
    31: KeyringError,
    90: KeyringError,
    91: KeyringError,
    92: KeyringError,
    93: KeyringError,
    94: KeyringError,
    100: DamageError,
    101: DamageError,
    103: DamageError,
    104: DamageError,
    120: RemoteError,
    121: RemoteError,
}


def error_of(code: int, name: str, message: str, hint: Optional[str]) -> Error:
    """The exception of a failure."""
    return _CLASSES.get(code, Error)(code, name, message, hint)
