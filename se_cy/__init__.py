# SPDX-License-Identifier: Apache-2.0
"""From Python to a CUDA kernel of one's own, for about the price of the driver call."""

import os as _os

from se_cy.code.interned import Code
from se_cy.code.modules import ModuleCache
from se_cy.code.spec import KernelLoaderSpec
from se_cy.device import Device, is_available
from se_cy.driver.library import driver_info, use_emulator
from se_cy.driver.status import (
    ContextLostError,
    ContextResetError,
    CudaError,
    DriverNotFoundError,
    ForkError,
    GlobalNotFoundError,
    InvalidValueError,
    JitError,
    KernelNotFoundError,
    ModuleUnloadedError,
    NoVariantError,
    OutOfMemoryError,
)
from se_cy.launch.kernel import BoundKernel, Kernel
from se_cy.launch.module import Module, Pin
from se_cy.memory import DeviceMemory
from se_cy.stream import Stream

__version__ = "0.1.0"

__all__ = [
    "BoundKernel",
    "Code",
    "ContextLostError",
    "ContextResetError",
    "CudaError",
    "Device",
    "DeviceMemory",
    "DriverNotFoundError",
    "ForkError",
    "GlobalNotFoundError",
    "InvalidValueError",
    "JitError",
    "Kernel",
    "KernelLoaderSpec",
    "KernelNotFoundError",
    "Module",
    "ModuleCache",
    "ModuleUnloadedError",
    "NoVariantError",
    "OutOfMemoryError",
    "Pin",
    "Stream",
    "driver_info",
    "is_available",
    "use_emulator",
]

_driver = _os.environ.get("SE_CY_DRIVER", "")
if _driver == "emulator":
    use_emulator()
elif _driver:
    raise ValueError(f"SE_CY_DRIVER can be 'emulator', or unset for the CUDA driver; it is {_driver!r}")
