# SPDX-License-Identifier: Apache-2.0
"""Tiers: no driver; the emulated driver (the default); a real GPU (`pytest --driver=cuda`)."""

import gc
import pathlib

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.driver_api import ok
from helpers.emulated import PTX

import se_cy

KERNELS = pathlib.Path(__file__).parent / "kernels"


def pytest_addoption(parser):
    parser.addoption(
        "--driver",
        choices=("emulator", "cuda"),
        default="emulator",
        help="what the tests that need a device run on",
    )


def pytest_configure(config):
    if config.getoption("--driver") == "emulator":
        se_cy.use_emulator(devices=["9.0", "8.0"])


def pytest_collection_modifyitems(config, items):
    is_emulated = config.getoption("--driver") == "emulator"
    for item in items:
        if is_emulated and item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a real GPU: --driver=cuda"))
        if not is_emulated and item.get_closest_marker("emulator"):
            item.add_marker(pytest.mark.skip(reason="needs the emulated driver"))


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    """Every handle and every byte that a test made on the emulated driver is released again."""
    if request.config.getoption("--driver") != "emulator":
        yield
        return
    from se_cy import emulator

    before = _held(emulator)
    yield
    after = _held(emulator)
    assert after == before, f"left on the driver: {after}, before: {before}"


def _held(emulator):
    gc.collect()
    for ordinal in range(se_cy.Device.count()):
        device = se_cy.Device(ordinal)
        try:
            device.synchronize()
            device.clear()
        except se_cy.CudaError:
            emulator.reset()  # lost to a fault, as the test meant it to be
            break
    # A primary context stays while anybody retains it, se_cy above all.
    return {kind: count for kind, count in emulator.live().items() if kind != "contexts"}


@pytest.fixture
def device():
    """Device 0 with an empty module cache."""
    device = se_cy.Device(0)
    device.clear()
    return device


@pytest.fixture
def saxpy_ptx():
    import importlib.resources

    return importlib.resources.files("se_cy.demo").joinpath("saxpy.ptx").read_bytes()


@pytest.fixture
def arguments_ptx():
    return (KERNELS / "arguments.ptx").read_bytes()


@pytest.fixture
def kernel_of(device, arguments_ptx):
    """A kernel of tests/kernels/arguments.cu by name."""
    spec = se_cy.KernelLoaderSpec("nothing").add_ptx(arguments_ptx)
    return lambda name: device.create_kernel(spec.named(name))


@pytest.fixture
def zeros(device):
    """Make device memory full of zeros. It is closed when the test has ended."""
    made = []

    def make(shape, dtype):
        made.append(device.to_device(np.zeros(shape, dtype)))
        return made[-1]

    yield make
    for memory in made:
        memory.close()


@pytest.fixture
def emulator():
    """The emulated driver's control, without failures left behind."""
    from se_cy import emulator

    emulator.clear_failures()
    yield emulator
    emulator.clear_failures()


@pytest.fixture
def control():
    """The emulated driver's control, with the driver at its start before and after."""
    from se_cy import emulator

    emulator.reset()
    yield emulator
    emulator.reset()


@pytest.fixture
def context(control):
    """The primary context of the emulated device 0, current in this thread."""
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuCtxSetCurrent(context))
    return context


@pytest.fixture
def kernel(context):
    """Get a function of driver_contract/kernels.cu by name."""
    module = ok(driver.cuModuleLoadData(PTX))
    return lambda name: ok(driver.cuModuleGetFunction(module, name.encode()))
