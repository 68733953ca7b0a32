# SPDX-License-Identifier: Apache-2.0
from typing import Any, Literal, final

from se_cy.device import Device
from se_cy.launch.attributes import KernelAttributes
from se_cy.launch.module import Module
from se_cy.launch.parameters import ParameterInfo
from se_cy.stream import Stream
from se_cy.typing import Dimensions, SupportsCudaStream

@final
class Kernel:
    @property
    def name(self) -> str: ...
    @property
    def device(self) -> Device: ...
    @property
    def module(self) -> Module: ...
    @property
    def parameters(self) -> tuple[ParameterInfo, ...]: ...
    @property
    def handle(self) -> int: ...
    @property
    def attributes(self) -> KernelAttributes: ...
    def bind(
        self,
        grid: Dimensions,
        block: Dimensions,
        *,
        stream: Stream | SupportsCudaStream | int | Literal["current"] | None = None,
        shared_bytes: int = 0,
        cluster: Dimensions | None = None,
        cooperative: bool = False,
        hold_gil: bool = False,
        programmatic_stream_serialization: bool = False,
        priority: int | None = None,
        preferred_shared_memory_carveout: int | None = None,
    ) -> BoundKernel: ...
    def __getitem__(
        self,
        configuration: tuple[Dimensions, Dimensions]
        | tuple[Dimensions, Dimensions, Stream | SupportsCudaStream | int | Literal["current"] | None]
        | tuple[Dimensions, Dimensions, Stream | SupportsCudaStream | int | Literal["current"] | None, int],
    ) -> BoundKernel: ...
    def launch(
        self,
        grid: Dimensions,
        block: Dimensions,
        *args: Any,
        stream: Stream | SupportsCudaStream | int | Literal["current"] | None = None,
        shared_bytes: int = 0,
    ) -> None: ...

@final
class BoundKernel:
    def __call__(self, *args: Any) -> None: ...
    @property
    def kernel(self) -> Kernel: ...
    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def block(self) -> tuple[int, int, int]: ...
    @property
    def shared_bytes(self) -> int: ...
    @property
    def cluster(self) -> tuple[int, int, int] | None: ...
