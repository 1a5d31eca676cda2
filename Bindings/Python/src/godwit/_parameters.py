"""Values for a statement's parameters, by position or by name, as ``sqlite3`` takes them."""

from __future__ import annotations

import functools
import re
from typing import Mapping, Sequence, Tuple, Union

from ._library import Value
from ._rows import Row

#: By position, for ``?``; or by name, for ``:name``, ``@name`` and ``$name``.
Values = Union[Sequence[Value], Mapping[str, Value], Row]

# What SQLite takes for one word (https://www.sqlite.org/lang_expr.html, "Parameters"), so far as a parameter could be
# taken for a part of it: texts, names in quotes, comments, names, of which `$` may be a part, and parameters.
_WORD = re.compile(
    r"""
      '(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] | --[^\n]* | /\*.*?(?:\*/|\Z)
    | [A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*
    | (?P<name>[:@$\#](?:::|[A-Za-z0-9_$\u0080-\U0010ffff])+(?:\([^\s)]*\))?)
    | (?P<place>\?)
    """,
    re.DOTALL | re.VERBOSE,
)


@functools.lru_cache(maxsize=256)
def _names(sql: str) -> Tuple[str, ...]:
    """The names of a statement's parameters, which SQLite numbers as they first come."""
    names = []
    for word in _WORD.finditer(sql):
        if word["place"] is not None:
            raise TypeError("the statement has ? and names: give it either")
        if word["name"] is not None and word["name"] not in names:
            names.append(word["name"])
    return tuple(name[1:] for name in names)


def bound(sql: str, values: object) -> Tuple[Value, ...]:
    """The values in the order of the parameters."""
    if type(values) is tuple:
        return values
    if isinstance(values, Mapping):
        try:
            return tuple(values[name] for name in _names(sql))
        except KeyError as error:
            raise TypeError(f"there is no value for the parameter {error.args[0]}") from None
    if isinstance(values, Row):
        return tuple(values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise TypeError("give the values as a tuple or a list, or by name as a dictionary")
    # Whoever gives a list may use it again for the next row.
    return tuple(values)
