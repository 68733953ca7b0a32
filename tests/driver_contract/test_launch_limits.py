# SPDX-License-Identifier: Apache-2.0
"""What a launch may ask for: shapes, shared memory, a grid that is resident as a whole."""

import ctypes

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import launch

DYNAMIC_SHARED = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def attribute_of_device(name):
    return ok(driver.cuDeviceGetAttribute(getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), 0))


@pytest.fixture
def nothing(kernel):
    return kernel("nothing")


@pytest.mark.parametrize("kind", ["grid", "block"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_zero_is_refused(nothing, kind, axis):
    shape = [1, 1, 1]
    shape[axis] = 0
    assert answer(launch(nothing, **{kind: shape})) == "INVALID_VALUE"


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_blocks_have_limits(nothing, axis):
    shape = [1, 1, 1]
    shape[axis] = attribute_of_device(f"MAX_BLOCK_DIM_{'XYZ'[axis]}")
    ok(launch(nothing, block=shape))
    shape[axis] += 1
    assert answer(launch(nothing, block=shape)) == "INVALID_VALUE"


def test_threads_of_a_block_have_a_limit(nothing):
    most = attribute_of_device("MAX_THREADS_PER_BLOCK")
    ok(launch(nothing, block=(most // 2, 2, 1)))
    assert answer(launch(nothing, block=(most // 2, 3, 1))) == "INVALID_VALUE"


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_grids_have_limits(nothing, axis):
    shape = [1, 1, 1]
    shape[axis] = attribute_of_device(f"MAX_GRID_DIM_{'XYZ'[axis]}") + 1
    assert answer(launch(nothing, grid=shape)) == "INVALID_VALUE"


@pytest.mark.parametrize("axis", [1, 2])
def test_grids_reach_their_limits(nothing, axis):
    shape = [1, 1, 1]
    shape[axis] = attribute_of_device(f"MAX_GRID_DIM_{'XYZ'[axis]}")
    ok(launch(nothing, grid=shape))


@pytest.mark.gpu  # two thousand million blocks: minutes on the emulated driver
def test_longest_grid_is_taken(nothing):
    ok(launch(nothing, grid=(attribute_of_device("MAX_GRID_DIM_X"), 1, 1)))


def test_null_function_is_refused(context):
    assert answer(launch(driver.CUfunction(0))) == "INVALID_HANDLE"


def test_required_block_must_be_met(context):
    ptx = b"""
        .version 7.0
        .target sm_75
        .address_size 64
        .visible .entry exact() .reqntid 128, 1, 1 { ret; }
    """
    module = ok(driver.cuModuleLoadData(ptx))
    exact = ok(driver.cuModuleGetFunction(module, b"exact"))
    ok(launch(exact, block=(128, 1, 1)))
    assert answer(launch(exact, block=(64, 1, 1))) == "INVALID_VALUE"
    assert answer(launch(exact, block=(1, 128, 1))) == "INVALID_VALUE"
    ok(driver.cuModuleUnload(module))


def test_dynamic_shared_memory_has_a_limit(nothing):
    most = attribute_of_device("MAX_SHARED_MEMORY_PER_BLOCK")
    ok(launch(nothing, shared=most))
    assert answer(launch(nothing, shared=most + 1)) == "INVALID_VALUE"


def test_more_dynamic_shared_memory_needs_an_opt_in(nothing):
    most = attribute_of_device("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    assert answer(driver.cuFuncSetAttribute(nothing, DYNAMIC_SHARED, most + 1)) == "INVALID_VALUE"
    ok(driver.cuFuncSetAttribute(nothing, DYNAMIC_SHARED, most))
    assert ok(driver.cuFuncGetAttribute(DYNAMIC_SHARED, nothing)) == most
    ok(launch(nothing, shared=most))
    assert answer(launch(nothing, shared=most + 1)) == "INVALID_VALUE"


def test_opt_in_is_the_functions_alone(kernel):
    most = attribute_of_device("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    ok(driver.cuFuncSetAttribute(kernel("nothing"), DYNAMIC_SHARED, most))
    assert answer(launch(kernel("nothing_else"), shared=most)) == "INVALID_VALUE"


def test_dynamic_shared_memory_is_the_blocks(kernel, memory):
    ok(launch(kernel("use_shared"), (int(memory), ctypes.c_void_p), block=(64, 1, 1), shared=256))
    words = (ctypes.c_int * 64)()
    ok(driver.cuMemcpyDtoH(ctypes.addressof(words), memory, 256))
    assert list(words) == list(range(63, -1, -1))


def cooperative_launch(function, grid, block):
    return driver.cuLaunchCooperativeKernel(function, *grid, *block, 0, 0, 0)


def extended_cooperative_launch(function, grid, block):
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    attribute.value.cooperative = 1
    configuration = driver.CUlaunchConfig()
    configuration.gridDimX, configuration.gridDimY, configuration.gridDimZ = grid
    configuration.blockDimX, configuration.blockDimY, configuration.blockDimZ = block
    configuration.attrs = [attribute]
    configuration.numAttrs = 1
    return driver.cuLaunchKernelEx(configuration, function, 0, 0)


@pytest.mark.parametrize("cooperate", [cooperative_launch, extended_cooperative_launch])
def test_cooperative_grid_must_fit_the_device(nothing, cooperate):
    ok(cooperate(nothing, (4, 1, 1), (32, 1, 1)))
    blocks = ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 1024, 0))
    most = blocks * attribute_of_device("MULTIPROCESSOR_COUNT")
    ok(cooperate(nothing, (most, 1, 1), (1024, 1, 1)))
    assert answer(cooperate(nothing, (most + 1, 1, 1), (1024, 1, 1))) == "COOPERATIVE_LAUNCH_TOO_LARGE"


def test_occupancy_is_positive_and_within_the_device(nothing):
    threads = attribute_of_device("MAX_THREADS_PER_MULTIPROCESSOR")
    blocks = ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 1024, 0))
    assert 1 <= blocks <= threads // 1024
    grid, block = ok(driver.cuOccupancyMaxPotentialBlockSize(nothing, None, 0, 0))
    assert grid >= 1 and 1 <= block <= attribute_of_device("MAX_THREADS_PER_BLOCK")
