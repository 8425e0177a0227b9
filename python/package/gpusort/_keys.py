"""The keys of tables and files: all their forms, converted to one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Nulls = Literal["first", "last"]


@dataclass(frozen=True)
class Key:
    """A column to sort by, with its own direction and place of nulls.

    >>> Key("price", descending=True, nulls="first")
    Key(name='price', descending=True, nulls='first')
    """

    name: Any
    """The name of the column, of any type that the table's library permits."""
    descending: bool | None = None
    """True for descending order; None for the direction of the call."""
    nulls: Nulls | None = None
    """The place of nulls and NaN; None for the place of the call."""


class Expression(Protocol):
    """A column as a Polars expression: ``pl.col("price")``."""

    @property
    def meta(self) -> Any: ...  # noqa: D102


KeyLike = str | int | tuple[str | int | Expression, str] | Key | Expression
Keys = KeyLike | Iterable[KeyLike] | Mapping[str, str]


def nulls_first(nulls: object) -> bool:
    """Returns True for "first" and False for "last"; raises ValueError for other values."""
    if nulls not in ("first", "last"):
        raise ValueError(f'nulls is "first" or "last", not {nulls!r}')
    return nulls == "first"


def each(value: Any, count: int, what: str) -> list[Any]:
    """Returns a value for each key, from one value for all keys or a sequence of values.

    Raises TypeError for other types, and ValueError for a sequence of another length.
    """
    if value is None or isinstance(value, (bool, np.bool_, str)):
        return [value] * count
    if not hasattr(value, "__iter__"):
        raise TypeError(f"{what} is one value, or one for each key, not {value!r}")
    values: list[Any] = list(value)
    if len(values) != count:
        raise ValueError(f"{count} keys, but {len(values)} values of {what}")
    return values


def either(**spellings: Any) -> Any:
    """Returns the value of an argument with two names; raises TypeError if both are given."""
    said = {name: value for name, value in spellings.items() if value is not None}
    if len(said) > 1:
        raise TypeError(f"{' and '.join(said)} are one argument; leave out one of them")
    return next(iter(said.values()), None)


def keys_of(
    keys: Keys | None,
    *,
    by: Keys | None = None,
    descending: bool | Sequence[bool] | None = None,
    ascending: bool | Sequence[bool] | None = None,
    nulls: Nulls | Sequence[Nulls] | None = None,
    na_position: Nulls | None = None,
) -> list[Key]:
    """Returns the keys of a call, primary key first. The arguments complete keys without an order of their own."""
    keys = either(keys=keys, by=by)
    either(descending=descending, ascending=ascending)
    if isinstance(keys, Mapping):
        keys = list(cast("Mapping[str, str]", keys).items())
    is_one = isinstance(keys, (str, tuple)) or not hasattr(keys, "__iter__")
    found = [_key(key) for key in ([keys] if is_one else cast("Iterable[Any]", keys))]
    if not found:
        raise ValueError("no keys to sort by")
    count = len(found)
    what, value = ("descending", descending) if ascending is None else ("ascending", ascending)
    downs = each(value, count, what)
    if value is not None:
        if not all(isinstance(down, (bool, np.bool_)) for down in downs):
            raise TypeError(f"{what} is True or False, for all keys or one for each, not {value!r}")
        downs = [bool(down) == (ascending is None) for down in downs]
    places = each(either(nulls=nulls, na_position=na_position), count, "nulls")
    return [
        Key(key.name, down if key.descending is None else key.descending, key.nulls or place)
        for key, down, place in zip(found, downs, places)
    ]


def _key(key: Any) -> Key:
    if isinstance(key, Key):
        return key
    pair = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key, None))
    name, direction = pair if len(pair) == 2 else (None, None)
    meta: Any = getattr(name, "meta", None)
    if hasattr(meta, "is_column") and meta.is_column():
        name = meta.output_name()
    is_name = isinstance(name, str) or (hasattr(name, "__index__") and not isinstance(name, bool))
    if not is_name or direction not in (None, "asc", "desc", "ascending", "descending"):
        remedy = 'write "name", ("name", "desc") or gpusort.Key("name", descending=True)'
        raise TypeError(f"a key is the name of a column, alone or with its direction, not {key!r}; {remedy}")
    return Key(name, None if direction is None else direction.startswith("desc"))
