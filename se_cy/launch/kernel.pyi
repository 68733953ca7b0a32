# SPDX-License-Identifier: Apache-2.0
from typing import Any, final

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
        stream: Stream | SupportsCudaStream | int | None = None,
        shared_bytes: int = 0,
        hold_gil: bool = False,
    ) -> BoundKernel: ...
    def __getitem__(
        self,
        configuration: tuple[Dimensions, Dimensions]
        | tuple[Dimensions, Dimensions, Stream | SupportsCudaStream | int | None]
        | tuple[Dimensions, Dimensions, Stream | SupportsCudaStream | int | None, int],
    ) -> BoundKernel: ...
    def launch(
        self,
        grid: Dimensions,
        block: Dimensions,
        *args: Any,
        stream: Stream | SupportsCudaStream | int | None = None,
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
