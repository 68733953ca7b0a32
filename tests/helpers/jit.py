# SPDX-License-Identifier: Apache-2.0
"""cuModuleLoadDataEx as C calls it: cuda.bindings does not tell what the driver writes back among the values."""

import ctypes
from typing import NamedTuple

from cuda.bindings import driver

from helpers.driver_api import name_of, ok

Option = driver.CUjit_option
INFO_LOG, INFO_LOG_SIZE = Option.CU_JIT_INFO_LOG_BUFFER, Option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES
ERROR_LOG, ERROR_LOG_SIZE = Option.CU_JIT_ERROR_LOG_BUFFER, Option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES


class Loaded(NamedTuple):
    status: str
    log: bytes  # the whole buffer
    size: int  # what the driver wrote back

    @property
    def text(self):
        return self.log.split(b"\0")[0].decode(errors="replace")


def load_with_options(image, options):
    """Load an image with options, a dict of integers whose values are changed to what the driver leaves there.

    Zeros follow the image, as the driver is told no length. Returns a status; the module is unloaded again.
    """
    load = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2, ctypes.c_uint, *[ctypes.c_void_p] * 2)(
        ok(driver.cuGetProcAddress(b"cuModuleLoadDataEx", 12000, 0))[0]
    )
    module = ctypes.c_void_p()
    names = (ctypes.c_int * len(options))(*options)
    values = (ctypes.c_void_p * len(options))(*options.values())
    status = load(ctypes.addressof(module), image + bytes(65536), len(options), names, values)
    options.update(zip(options, (value or 0 for value in values)))
    if status == 0:
        ok(driver.cuModuleUnload(driver.CUmodule(module.value)))
    return name_of(status)


def load_with_log(image, capacity=4096):
    """Load an image with a buffer for the error log; the module is unloaded again."""
    log = ctypes.create_string_buffer(b"\xff" * capacity, capacity)
    options = {ERROR_LOG: ctypes.addressof(log), ERROR_LOG_SIZE: capacity}
    status = load_with_options(image, options)
    return Loaded(status, log.raw, options[ERROR_LOG_SIZE])
