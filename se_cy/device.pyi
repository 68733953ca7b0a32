# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping
from typing import NamedTuple, final
from uuid import UUID

from numpy.typing import ArrayLike, DTypeLike
from typing_extensions import Buffer

from se_cy.code.interned import Code
from se_cy.code.modules import ModuleCache
from se_cy.code.spec import KernelLoaderSpec
from se_cy.launch.kernel import Kernel
from se_cy.launch.module import Module
from se_cy.memory import DeviceMemory
from se_cy.stream import Stream
from se_cy.typing import HasCode

class DeviceAttributes(NamedTuple):
    multiprocessor_count: int
    warp_size: int
    clock_rate: int
    max_threads_per_block: int
    max_threads_per_multiprocessor: int
    max_registers_per_block: int
    max_shared_bytes_per_block: int
    max_shared_bytes_per_block_opt_in: int
    l2_bytes: int
    supports_cooperative_launch: int

class MemoryInfo(NamedTuple):
    free: int
    total: int

@final
class Device:
    def __new__(cls, ordinal: int = 0) -> Device: ...
    @staticmethod
    def count() -> int: ...
    @staticmethod
    def current() -> Device: ...
    @property
    def ordinal(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def uuid(self) -> UUID: ...
    @property
    def compute_capability(self) -> tuple[int, int]: ...
    @property
    def arch(self) -> str: ...
    @property
    def attributes(self) -> DeviceAttributes: ...
    @property
    def is_emulated(self) -> bool: ...
    @property
    def handle(self) -> int: ...
    @property
    def modules(self) -> ModuleCache: ...
    @property
    def default_stream(self) -> Stream: ...
    def memory_info(self) -> MemoryInfo: ...
    def create_kernel(self, spec: KernelLoaderSpec) -> Kernel: ...
    def load(
        self,
        code: str | Buffer | Code | HasCode,
        *,
        shared: bool = True,
        options: Mapping[str, int | bool | str | None] | None = None,
    ) -> Module: ...
    def preload(self, *specs: KernelLoaderSpec) -> None: ...
    def clear(self, wait: bool = True) -> None: ...
    def create_stream(self, *, non_blocking: bool = False, priority: int = 0) -> Stream: ...
    def allocate(
        self, shape: int | tuple[int, ...], dtype: DTypeLike, *, stream: Stream | None = None
    ) -> DeviceMemory: ...
    def to_device(self, array: ArrayLike, *, stream: Stream | None = None) -> DeviceMemory: ...
    def synchronize(self) -> None: ...

def is_available() -> bool: ...
