# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from typing import NamedTuple

class DriverInfo(NamedTuple):
    version: tuple[int, int] | None
    library: str | None
    is_emulated: bool
    error: str | None

def driver_info() -> DriverInfo: ...
def use_emulator(devices: int | Sequence[str | tuple[int, int]] | None = None) -> None: ...
