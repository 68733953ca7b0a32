# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator
from typing import NamedTuple, final

from se_cy.launch.module import Module

class ModuleCacheStats(NamedTuple):
    hits: int
    misses: int
    loads: int
    failures: int
    unloads: int
    modules: int
    nbytes: int

@final
class ModuleCache:
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Module]: ...
    limit: int | None
    def trim(self, *, max_modules: int | None = None, max_bytes: int | None = None) -> int: ...
    def stats(self) -> ModuleCacheStats: ...
