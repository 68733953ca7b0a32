# SPDX-License-Identifier: Apache-2.0
"""Libraries: code that belongs to no context, and kernels that are launched as if they were functions."""

import ctypes

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok
from helpers.kernels import PER_THREAD, PTX, in_new_thread, launch, load, read_int, start


def load_library(image=PTX):
    return driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)


def get_kernel(library, name):
    return ok(driver.cuLibraryGetKernel(library, name.encode()))


def as_function(kernel):
    return driver.CUfunction(int(kernel))


def put(kernel, address, value, stream=0):
    return launch(as_function(kernel), (int(address), ctypes.c_void_p), (value, ctypes.c_int), stream=stream)


@pytest.fixture
def library(context):
    library = ok(load_library())
    yield library
    ok(driver.cuLibraryUnload(library))


@in_own_process
def test_library_needs_no_context():
    ok(driver.cuInit(0))
    library = ok(load_library())
    assert ok(driver.cuKernelGetName(get_kernel(library, "put"))) == b"put"
    assert answer(driver.cuKernelGetParamInfo(get_kernel(library, "take_mixed"), 1)) == "INVALID_CONTEXT"
    ok(driver.cuLibraryUnload(library))


def test_library_names_its_kernels(library, module):
    count = ok(driver.cuLibraryGetKernelCount(library))
    names = {ok(driver.cuKernelGetName(kernel)) for kernel in ok(driver.cuLibraryEnumerateKernels(count, library))}
    functions = ok(driver.cuModuleEnumerateFunctions(ok(driver.cuModuleGetFunctionCount(module)), module))
    assert names == {ok(driver.cuFuncGetName(function)) for function in functions}
    assert int(get_kernel(library, "put")) == int(get_kernel(library, "put"))
    assert answer(driver.cuLibraryGetKernel(library, b"absent")) == "NOT_FOUND"


def test_kernel_tells_its_parameters(library):
    kernel = get_kernel(library, "take_mixed")
    assert ok(driver.cuKernelGetParamInfo(kernel, 0)) == (0, 24)
    assert ok(driver.cuKernelGetParamInfo(kernel, 1)) == (24, 8)
    assert answer(driver.cuKernelGetParamInfo(kernel, 2)) == "INVALID_VALUE"


@pytest.mark.parametrize("default_stream", [0, PER_THREAD])
def test_kernel_is_launched_for_a_function(library, memory, default_stream):
    ok(put(get_kernel(library, "put"), memory, 5, default_stream))
    ok(driver.cuCtxSynchronize())
    assert read_int(memory) == 5


def test_kernel_is_launched_without_a_current_context(library, memory, stream):
    kernel = get_kernel(library, "put")

    def body():
        other = ok(load_library())
        ok(put(kernel, memory, 6, stream))
        ok(put(get_kernel(other, "put"), int(memory) + 4, 7, stream))
        ok(driver.cuStreamSynchronize(stream))
        assert answer(put(kernel, memory, 8)) == "INVALID_CONTEXT"
        ok(driver.cuLibraryUnload(other))

    in_new_thread(body)
    assert (read_int(memory), read_int(int(memory) + 4)) == (6, 7)


def test_kernel_has_a_function_in_the_current_context(library, memory):
    kernel = get_kernel(library, "put")
    function = ok(driver.cuKernelGetFunction(kernel))
    assert ok(driver.cuFuncGetName(function)) == b"put"
    ok(launch(function, (int(memory), ctypes.c_void_p), (9, ctypes.c_int)))
    assert read_int(memory) == 9
    assert in_new_thread(lambda: answer(driver.cuKernelGetFunction(kernel))) == "INVALID_CONTEXT"


def test_library_has_a_module_in_the_current_context(library, memory):
    module = ok(driver.cuLibraryGetModule(library))
    assert int(ok(driver.cuLibraryGetModule(library))) == int(module)
    function = ok(driver.cuModuleGetFunction(module, b"count"))
    counter, _ = ok(driver.cuModuleGetGlobal(module, b"counter"))
    ok(launch(function, (int(memory), ctypes.c_void_p)))
    ok(launch(as_function(get_kernel(library, "count")), (int(memory), ctypes.c_void_p)))
    assert read_int(counter) == read_int(memory) == 9
    assert answer(driver.cuModuleUnload(module)) == "NOT_PERMITTED"


def test_kernel_answers_for_occupancy(library, kernel):
    ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
    assert ok(ask(as_function(get_kernel(library, "nothing")), 256, 0)) == ok(ask(kernel("nothing"), 256, 0))


def test_limits_are_the_functions(library):
    assert answer(launch(as_function(get_kernel(library, "nothing")), block=(1025, 1, 1))) == "INVALID_VALUE"
    assert answer(launch(as_function(get_kernel(library, "put")))) == "INVALID_VALUE"


@pytest.mark.parametrize(("image", "status"), [
    (b"hello world" + bytes(64), "INVALID_IMAGE"),
    (PTX.replace(b"mov.u32", b"mvv.u32", 1), "INVALID_PTX"),
    (PTX.replace(b".version 9.0", b".version 9.9", 1), "UNSUPPORTED_PTX_VERSION"),
])
def test_images_are_judged_when_something_is_asked_of_them(context, image, status):
    library = ok(load_library(image))
    assert answer(driver.cuLibraryGetKernel(library, b"put")) == status
    assert answer(driver.cuLibraryGetModule(library)) == status
    ok(driver.cuLibraryUnload(library))
    assert answer(driver.cuModuleLoadData(image)) == status


@in_own_process
def test_kernel_is_launched_after_a_reset():
    start()
    library = ok(load_library())
    kernel = get_kernel(library, "count")
    ok(launch(as_function(kernel), (int(ok(driver.cuMemAlloc(4))), ctypes.c_void_p)))
    ok(driver.cuDevicePrimaryCtxReset(0))
    start()
    memory = ok(driver.cuMemAlloc(4))
    ok(launch(as_function(kernel), (int(memory), ctypes.c_void_p)))
    assert read_int(memory) == 8  # the variables are new, too
    ok(driver.cuLibraryUnload(library))
    load()


@in_own_process
def test_kernels_are_in_each_context():
    primary = start()
    library = ok(load_library())
    kernel = get_kernel(library, "count")
    other = ok(driver.cuCtxCreate(None, 0, 0))
    for context in (primary, other):
        ok(driver.cuCtxSetCurrent(context))
        memory = ok(driver.cuMemAlloc(4))
        ok(launch(as_function(kernel), (int(memory), ctypes.c_void_p)))
        assert read_int(memory) == 8
    ok(driver.cuLibraryUnload(library))


@pytest.mark.emulator
def test_live_libraries_are_counted(context):
    from se_cy import emulator

    before = emulator.live()
    library = ok(load_library())
    assert emulator.live("libraries") == before["libraries"] + 1
    ok(launch(as_function(get_kernel(library, "nothing"))))
    assert emulator.live("modules") == before["modules"] + 1
    kernel = get_kernel(library, "nothing")
    ok(driver.cuLibraryUnload(library))
    assert emulator.live() == before
    assert answer(driver.cuLibraryUnload(library)) == "INVALID_HANDLE"
    assert answer(driver.cuLibraryGetKernel(library, b"put")) == "INVALID_HANDLE"
    assert answer(launch(as_function(kernel))) == "INVALID_HANDLE"
    assert "kernel" in emulator.explanation() and "ended by cuLibraryUnload" in emulator.explanation()


@pytest.mark.emulator
def test_refused_libraries_leave_nothing(context):
    from se_cy import emulator

    before = emulator.live()
    library = ok(load_library(b"hello" + bytes(64)))
    assert answer(driver.cuLibraryGetKernel(library, b"put")) == "INVALID_IMAGE"
    ok(driver.cuLibraryUnload(library))
    assert emulator.live() == before


@pytest.mark.emulator
def test_launch_of_a_kernel_is_recorded_by_name_and_values(library, memory):
    from se_cy import emulator

    kernel = get_kernel(library, "put")
    with emulator.record() as calls:
        ok(put(kernel, memory, 5))
    recorded, = calls.of("cuLaunchKernel")
    assert recorded.kernel == "put"
    assert recorded.parameters == (int(memory).to_bytes(8, "little"), (5).to_bytes(4, "little"))


@pytest.mark.emulator
@in_own_process
def test_library_works_in_contexts_that_no_fault_has_spoilt():
    primary = start()
    library = ok(load_library())
    kernel = get_kernel(library, "put")
    other = ok(driver.cuCtxCreate(None, 0, 0))
    ok(put(kernel, 16, 1))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    assert answer(put(kernel, 16, 1)) == "ILLEGAL_ADDRESS"
    assert answer(driver.cuLibraryUnload(library)) == "ILLEGAL_ADDRESS"
    ok(driver.cuCtxSetCurrent(primary))
    memory = ok(driver.cuMemAlloc(4))
    ok(put(kernel, memory, 3))
    assert read_int(memory) == 3
    ok(driver.cuCtxDestroy(other))
    ok(driver.cuLibraryUnload(library))
