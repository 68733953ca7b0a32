# SPDX-License-Identifier: Apache-2.0
"""The kernels of driver_contract/kernels.cu: loaded, launched, and what they wrote read back."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cuda.bindings import driver

from helpers.driver_api import ok

PTX = (Path(__file__).parent.parent / "driver_contract/kernels.ptx").read_bytes()
LEGACY, PER_THREAD = 1, 2
SPIN_NS = 200_000_000
WAITED_NS = 150_000_000  # what passes at least where something waits for a kernel that spins for SPIN_NS


def start():
    """Make the primary context of device 0 current and return it."""
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuCtxSetCurrent(context))
    return context


def load():
    """Load kernels.ptx."""
    return ok(driver.cuModuleLoadData(PTX))


def get(module, name):
    """A function of the module by name."""
    return ok(driver.cuModuleGetFunction(module, name.encode()))


def launch(function, *arguments, stream=0, grid=(1, 1, 1), block=(1, 1, 1), shared=0):
    """Launch; each argument is a pair of a value and a ctypes type. One thread unless told otherwise."""
    values = tuple(zip(*arguments)) or 0
    return driver.cuLaunchKernel(function, *grid, *block, shared, stream, values, 0)


def put(module, address, value, stream=0):
    """Launch what writes an int to an address."""
    return launch(get(module, "put"), (int(address), ctypes.c_void_p), (value, ctypes.c_int), stream=stream)


def spin(module, stream=0, nanoseconds=SPIN_NS):
    """Launch what runs for some time."""
    return launch(get(module, "spin"), (nanoseconds, ctypes.c_longlong), stream=stream)


def write_to(module, address, stream=0):
    """Launch what writes to an address, whatever it is: 16 is nobody's."""
    return launch(get(module, "write_to"), (int(address), ctypes.c_ulonglong), stream=stream)


def read_int(address):
    """An int of device memory, by a copy on the legacy default stream."""
    value = ctypes.c_int(-1)
    ok(driver.cuMemcpyDtoH(ctypes.addressof(value), address, 4))
    return value.value


def in_new_thread(function, *arguments):
    """What a function returns or raises in a thread of its own, in which no context is current."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function, *arguments).result()
