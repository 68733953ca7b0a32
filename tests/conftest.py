# SPDX-License-Identifier: Apache-2.0
"""Tiers: no driver; the emulated driver (the default); a real GPU (`pytest --driver=cuda`)."""

import pathlib

import numpy as np
import pytest

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
    """Make device memory full of zeros."""
    return lambda shape, dtype: device.to_device(np.zeros(shape, dtype))


@pytest.fixture
def emulator():
    """The emulated driver's control, without failures left behind."""
    from se_cy import emulator

    emulator.clear_failures()
    yield emulator
    emulator.clear_failures()
