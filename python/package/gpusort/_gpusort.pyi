from collections.abc import Callable, Sequence
from typing import Any, Final, final

__all__ = [
    "LOOKED",
    "VERSION",
    "ArrowArray",
    "ArrowTable",
    "Device",
    "Task",
    "after_fork",
    "argtop",
    "check_file",
    "checksum",
    "devices",
    "is_packed",
    "is_sorted",
    "lexsort",
    "sort",
    "sort_file",
    "top",
    "unpacked",
]

LOOKED: Final[int]
VERSION: Final[str]

_Tell = Callable[[str, int, int | None], object]

@final
class Device:
    def __new__(cls, name: str, number: int | None) -> Device: ...
    @property
    def name(self) -> str: ...

@final
class ArrowArray:
    def __new__(cls, object: Any) -> ArrowArray: ...
    @staticmethod
    def of_texts(texts: Any, ends: Any, valid: Any) -> ArrowArray: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[object, object]: ...
    def ranks(self, ranks: Any, descending: bool, nulls_first: bool, threads: int | None) -> None: ...
    def sort(
        self, descending: bool, nulls_first: bool, device: Device | None, threads: int | None
    ) -> ArrowArray: ...
    def take(self, positions: Any) -> ArrowArray: ...
    def is_sorted(self, descending: bool, nulls_first: bool, threads: int | None) -> bool: ...

@final
class ArrowTable:
    def __new__(cls, object: Any) -> ArrowTable: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...
    @property
    def names(self) -> list[str]: ...
    def sort(
        self,
        keys: Sequence[int],
        orders: Sequence[_Order],
        device: Device | None,
        threads: int | None,
    ) -> ArrowTable: ...
    def divided(
        self,
        keys: Sequence[int],
        orders: Sequence[_Order],
        splitters: ArrowTable,
        places: Sequence[tuple[int, float]],
        number: int,
        device: Device | None,
        threads: int | None,
    ) -> list[ArrowTable]: ...

_Order = tuple[bool, bool, bool]
_Stretch = tuple[str, bytes | str, tuple[int, bool] | None]
_Place = tuple[str, str | None, tuple[int, int, int, int], str | None, str]

@final
class Task:
    @staticmethod
    def of(
        arguments: Any, to: str | None, temp_dir: Sequence[str], looked: Sequence[tuple[str, bytes, bool]]
    ) -> Task: ...
    @property
    def format(self) -> tuple[str, int | None]: ...
    def records(self, beginning: bytes, is_all: bool) -> tuple[int, bool] | None: ...
    def begin(self, bytes: bytes) -> int | None: ...
    def end(self, bytes: bytes, at: int) -> int | None: ...
    def sample(
        self, given: Sequence[_Stretch], many: int, task: int, begin: int, end: int, threads: int | None
    ) -> str: ...
    def splitters(self, samples: Sequence[str], parts: int) -> tuple[str, int]: ...
    def map(
        self,
        given: Sequence[_Stretch],
        task: int,
        splitters: str,
        to: str,
        device: Device | None,
        threads: int | None,
    ) -> tuple[list[tuple[str | None, bytes]], list[int], tuple[int, int]]: ...
    def reduce(
        self, places: Sequence[_Place], has_head: bool, to: str, threads: int | None
    ) -> dict[str, Any]: ...
    def tally(self, part: str, threads: int | None) -> tuple[int, int, list[str], list[str], int]: ...

def is_packed(name: str, is_binary: bool, begin: bytes) -> bool: ...
def unpacked(packed: bytes, most: int) -> bytes: ...
def after_fork() -> None: ...
def devices() -> list[tuple[str, str, str, str]]: ...
def sort(
    array: Any,
    result: Any,
    row: int,
    inner: int,
    descending: bool,
    nulls_first: bool,
    device: Device | None,
    threads: int | None,
) -> None: ...
def argtop(
    array: Any,
    positions: Any,
    row: int,
    inner: int,
    k: int,
    descending: bool,
    nulls_first: bool,
    device: Device | None,
    threads: int | None,
) -> None: ...
def top(
    array: Any,
    result: Any,
    row: int,
    inner: int,
    k: int,
    descending: bool,
    nulls_first: bool,
    device: Device | None,
    threads: int | None,
) -> None: ...
def is_sorted(array: Any, row: int, descending: bool, nulls_first: bool, threads: int | None) -> bool: ...
def lexsort(
    keys: Sequence[Any],
    positions: Any,
    descending: Sequence[bool],
    nulls_first: Sequence[bool],
    device: Device | None,
    threads: int | None,
) -> None: ...
def sort_file(
    from_: Sequence[Any],
    to: Any,
    arguments: dict[str, Any],
    output: dict[str, Any],
    device: Device | None,
    threads: int | None,
    progress: _Tell | None,
) -> dict[str, Any]: ...
def checksum(path: str) -> int: ...
def check_file(
    from_: Sequence[Any], arguments: dict[str, Any], threads: int | None, progress: _Tell | None
) -> tuple[str, str, str] | None: ...
