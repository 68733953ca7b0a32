# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self, overload

class Call(NamedTuple):
    function: str
    arguments: tuple[int, ...]
    thread: int
    context: int
    has_gil: bool
    kernel: str
    parameters: tuple[bytes, ...]
    attributes: dict[str, int | tuple[int, int, int]]

class Recording(Sequence[Call]):
    def __init__(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Call]: ...
    def of(self, function: str) -> list[Call]: ...
    @property
    def functions(self) -> list[str]: ...

def record() -> Recording: ...
