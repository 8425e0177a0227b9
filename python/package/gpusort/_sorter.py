"""A device with the sorts of the module as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _arrays, _tables
from ._devices import KeptDevice, device_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class Sorter(KeptDevice):
    """Sorts on one device, which it holds.

    >>> sorter = Sorter(device="cpu")
    >>> sorter.name
    'CPU'
    >>> sorter.sort([3, 1, 2])
    array([1, 2, 3])

    The methods are the module's sorts of arrays and tables; ``sort_file`` takes a Sorter as ``device=``.
    """

    def __init__(self, device: str | int = "gpu") -> None:
        if device == "auto":
            raise ValueError('a Sorter keeps one device; name it, or use "gpu" for the first one')
        kept = device_of(device)
        assert kept is not None
        super().__init__(kept)

    @property
    def name(self) -> str:
        """The name of the device."""
        return self.device.name

    def __repr__(self) -> str:
        return f"<gpusort.Sorter on {self.name}>"

    def sort(self, x: Any, /, axis: int | None = -1, **options: Any) -> Any:
        """:func:`gpusort.sort` on this device."""
        return _arrays.sort(x, axis, device=self, **options)

    def argsort(self, x: Any, /, axis: int | None = -1, **options: Any) -> Any:
        """:func:`gpusort.argsort` on this device."""
        return _arrays.argsort(x, axis, device=self, **options)

    def top(self, x: Any, /, k: int, **options: Any) -> Any:
        """:func:`gpusort.top` on this device."""
        return _arrays.top(x, k, device=self, **options)

    def argtop(self, x: Any, /, k: int, **options: Any) -> Any:
        """:func:`gpusort.argtop` on this device."""
        return _arrays.argtop(x, k, device=self, **options)

    def lexsort(self, keys: Sequence[Any], /, **options: Any) -> Any:
        """:func:`gpusort.lexsort` on this device."""
        return _arrays.lexsort(keys, device=self, **options)

    def unique(self, x: Any, /, **options: Any) -> Any:
        """:func:`gpusort.unique` on this device."""
        return _arrays.unique(x, device=self, **options)

    def rank(self, x: Any, /, **options: Any) -> Any:
        """:func:`gpusort.rank` on this device."""
        return _arrays.rank(x, device=self, **options)

    def sort_table(self, table: Any, /, keys: Any = None, **options: Any) -> Any:
        """:func:`gpusort.sort_table` on this device."""
        return _tables.sort_table(table, keys, device=self, **options)

    def top_table(self, table: Any, n: int, /, keys: Any = None, **options: Any) -> Any:
        """:func:`gpusort.top_table` on this device."""
        return _tables.top_table(table, n, keys, device=self, **options)
