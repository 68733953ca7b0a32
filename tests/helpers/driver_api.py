# SPDX-License-Identifier: Apache-2.0
"""The driver API as cuda.bindings offers it, with its answers made short, and tests in processes of their own."""

import ctypes
import functools
import inspect
import subprocess
import sys
from pathlib import Path

from cuda.bindings import driver

TESTS = Path(__file__).parent.parent
# CUDA 12.4: the oldest driver that has all that the tests call by address.
OLDEST_VERSION = 12040


def name_of(status):
    """The facts page's name of a CUresult: "INVALID_VALUE"; "SUCCESS"."""
    return driver.CUresult(status).name.removeprefix("CUDA_").removeprefix("ERROR_")


def answer(returned):
    """The name of the status that a driver call answered."""
    return name_of(returned[0])


def ok(returned):
    """What a driver call that must succeed returned: nothing, one value, or a tuple."""
    status, *values = returned
    assert status == driver.CUresult.CUDA_SUCCESS, name_of(status)
    return values[0] if len(values) == 1 else tuple(values) or None


def entry_point(name, *argument_types):
    """A driver function as ctypes calls it, for what cuda.bindings does not pass on; it returns the CUresult."""
    address, found = ok(driver.cuGetProcAddress(name.encode(), OLDEST_VERSION, 0))
    assert found == driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SUCCESS, name
    return ctypes.CFUNCTYPE(ctypes.c_int, *argument_types)(address)


def load(image):
    """Load a module and unload it again: the name of the status, and the JIT's error log as text."""
    option = driver.CUjit_option
    log = bytearray(8192)
    status, module = driver.cuModuleLoadDataEx(
        image, 2, [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, len(log)]
    )
    if status == driver.CUresult.CUDA_SUCCESS:
        ok(driver.cuModuleUnload(module))
    return name_of(status), log.partition(b"\0")[0].decode()


def attribute(name, device=0):
    """A device's attribute: "MAX_BLOCK_DIM_Z"."""
    return ok(driver.cuDeviceGetAttribute(driver.CUdevice_attribute[f"CU_DEVICE_ATTRIBUTE_{name}"], device))


def capability(device=0):
    """A device's compute capability: 90."""
    return attribute("COMPUTE_CAPABILITY_MAJOR", device) * 10 + attribute("COMPUTE_CAPABILITY_MINOR", device)


def start():
    """Initialise the driver and make the primary context of device 0 current: returns it."""
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuCtxSetCurrent(context))
    return context


def load_kernels():
    """Load the kernels of driver_contract/kernels.cu."""
    return ok(driver.cuModuleLoadData((TESTS / "driver_contract" / "kernels.ptx").read_bytes()))


def launch(function, *arguments, stream=0, grid=(1, 1, 1), block=(1, 1, 1), shared_bytes=0):
    """Launch with arguments that are ctypes values: the name of the status."""
    values = tuple(argument.value for argument in arguments)
    types = tuple(type(argument) for argument in arguments)
    return answer(driver.cuLaunchKernel(function, *grid, *block, shared_bytes, stream, (values, types), 0))


def read_int(address):
    """Copy an int from the device, synchronously."""
    value = ctypes.c_int(-1)
    ok(driver.cuMemcpyDtoH(ctypes.addressof(value), address, 4))
    return value.value


def in_own_process(test):
    """Run a test in a new process, without pytest: it takes no fixture but `driver_option` and prints nothing.

    For what would spoil the driver for other tests: resets, faults, forks.
    """

    @functools.wraps(test)
    def run(driver_option):
        program = (
            "import importlib.util\n"
            f"spec = importlib.util.spec_from_file_location('contract', {inspect.getfile(test)!r})\n"
            "module = importlib.util.module_from_spec(spec)\n"
            "spec.loader.exec_module(module)\n"
            f"module.{test.__name__}.body()\n"
        )
        child = subprocess.run(
            [sys.executable, "-c", _USE_EMULATOR + program if driver_option == "emulator" else program],
            capture_output=True, text=True, timeout=120, cwd=TESTS,
        )
        assert child.returncode == 0 and child.stderr == "", (
            f"exit status {child.returncode}\nstdout: {child.stdout}\nstderr: {child.stderr}"
        )

    run.body = test
    del run.__wrapped__  # pytest would read the body's signature
    return run


_USE_EMULATOR = "import se_cy\nse_cy.use_emulator(devices=['9.0', '8.0'])\n"
