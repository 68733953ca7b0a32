# SPDX-License-Identifier: Apache-2.0
"""A thread in which no context is current: handles carry theirs, what has none is refused."""

import ctypes

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import LEGACY, PER_THREAD, PTX, in_new_thread, launch, load


@pytest.fixture
def nothing(kernel):
    return kernel("nothing")


def test_no_context_is_current_in_a_new_thread(context):
    assert int(in_new_thread(lambda: ok(driver.cuCtxGetCurrent()))) == 0
    assert int(ok(driver.cuCtxGetCurrent())) == int(context)


def test_a_launch_needs_an_explicit_stream(nothing, stream):
    def body():
        ok(launch(nothing, stream=stream))
        ok(driver.cuStreamSynchronize(stream))
        ok(driver.cuStreamQuery(stream))
        for default_stream in (0, LEGACY, PER_THREAD):
            assert answer(launch(nothing, stream=default_stream)) == "INVALID_CONTEXT"
            assert answer(driver.cuStreamSynchronize(default_stream)) == "INVALID_CONTEXT"

    in_new_thread(body)


def test_what_needs_the_current_context_is_refused(nothing, memory):
    def body():
        word = ctypes.c_int()
        assert answer(driver.cuModuleLoadData(PTX)) == "INVALID_CONTEXT"
        assert answer(driver.cuMemAlloc(16)) == "INVALID_CONTEXT"
        assert answer(driver.cuCtxSynchronize()) == "INVALID_CONTEXT"
        assert answer(driver.cuStreamCreate(0)) == "INVALID_CONTEXT"
        assert answer(driver.cuMemcpyHtoD(memory, ctypes.addressof(word), 4)) == "INVALID_CONTEXT"
        assert answer(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 32, 0)) == "INVALID_CONTEXT"

    in_new_thread(body)


def test_functions_and_modules_carry_their_context(module):
    def body():
        function = ok(driver.cuModuleGetFunction(module, b"take_mixed"))
        assert ok(driver.cuFuncGetParamInfo(function, 0)) == (0, 24)
        ok(driver.cuFuncGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function))

    in_new_thread(body)


def test_memory_operations_work_on_an_explicit_stream(stream):
    def body():
        word = ctypes.c_int(5)
        back = ctypes.c_int()
        address = ok(driver.cuMemAllocAsync(16, stream))
        ok(driver.cuMemcpyHtoDAsync(address, ctypes.addressof(word), 4, stream))
        ok(driver.cuMemsetD32Async(int(address) + 4, 6, 1, stream))
        ok(driver.cuMemcpyDtoHAsync(ctypes.addressof(back), int(address) + 4, 4, stream))
        ok(driver.cuMemFreeAsync(address, stream))
        ok(driver.cuStreamSynchronize(stream))
        assert back.value == 6

    in_new_thread(body)


def test_memory_is_freed(context):
    address = ok(driver.cuMemAlloc(16))
    in_new_thread(lambda: ok(driver.cuMemFree(address)))
    in_new_thread(lambda: ok(driver.cuMemFree(0)))
    assert answer(driver.cuMemFree(address)) == "INVALID_VALUE"


def test_modules_are_unloaded(context):
    module = load()
    in_new_thread(lambda: ok(driver.cuModuleUnload(module)))
