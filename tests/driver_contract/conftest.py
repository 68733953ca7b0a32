# SPDX-License-Identifier: Apache-2.0
"""What a CUDA driver promises, asked through cuda.bindings: the same tests on the emulated driver and on a real GPU."""

from pathlib import Path

import pytest
from cuda.bindings import driver
from helpers.driver_api import ok

KERNELS = Path(__file__).parent


@pytest.fixture(scope="session")
def driver_option(pytestconfig):
    """Which driver the tests run on: "emulator" or "cuda"."""
    return pytestconfig.getoption("--driver")


@pytest.fixture
def context():
    """The primary context of device 0, current in this thread."""
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuCtxPushCurrent(context))
    yield context
    ok(driver.cuCtxSynchronize())
    ok(driver.cuCtxPopCurrent())
    ok(driver.cuDevicePrimaryCtxRelease(0))


@pytest.fixture
def module(context):
    """The kernels of kernels.cu, loaded."""
    module = ok(driver.cuModuleLoadData((KERNELS / "kernels.ptx").read_bytes()))
    yield module
    ok(driver.cuModuleUnload(module))


@pytest.fixture
def kernel(module):
    """Get a function of kernels.cu by name."""
    return lambda name: ok(driver.cuModuleGetFunction(module, name.encode()))


@pytest.fixture
def stream(context):
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    yield stream
    ok(driver.cuStreamDestroy(stream))


@pytest.fixture
def memory(context):
    """4 KiB of device memory, zeroed."""
    memory = ok(driver.cuMemAlloc(4096))
    ok(driver.cuMemsetD8(memory, 0, 4096))
    ok(driver.cuCtxSynchronize())
    yield memory
    ok(driver.cuCtxSynchronize())
    ok(driver.cuMemFree(memory))
