# SPDX-License-Identifier: Apache-2.0
"""Protocols and aliases for annotations."""

from collections.abc import Sequence
from typing import Protocol, SupportsIndex, TypeAlias, runtime_checkable

__all__ = ["Dimensions", "HasCode", "SupportsCudaStream"]


@runtime_checkable
class SupportsCudaStream(Protocol):
    """An object that is, or has, a CUDA stream: se_cy's, cuda.core's, torch's and CuPy's streams."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


class HasCode(Protocol):
    """An object that holds device code as bytes, such as cuda.core's `ObjectCode`."""

    @property
    def code(self) -> bytes: ...


Dimensions: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
