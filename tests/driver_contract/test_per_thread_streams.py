# SPDX-License-Identifier: Apache-2.0
"""cuGetProcAddress gives, if asked, forms of the functions whose stream 0 is the calling thread's own stream."""

import ctypes

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, name_of, ok
from helpers.kernels import LEGACY, PER_THREAD, launch, read_int, spin

Flags = driver.CUdriverProcAddress_flags
OWN, SHARED = Flags.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, Flags.CU_GET_PROC_ADDRESS_LEGACY_STREAM


def find(name, flags=OWN):
    return ok(driver.cuGetProcAddress(name, 12000, flags))[0]


def call(name, *arguments, flags=OWN):
    """Call a function as C does, and return the name of its status."""
    return name_of(ctypes.CFUNCTYPE(ctypes.c_int, *map(type, arguments))(find(name, flags))(*arguments))


def pointer(address):
    return ctypes.c_void_p(int(address))


def test_only_functions_that_use_a_stream_have_two_forms(context):
    for name in (b"cuLaunchKernel", b"cuStreamQuery", b"cuMemcpyHtoD", b"cuMemsetD32Async", b"cuEventRecord"):
        assert find(name, OWN) != find(name, SHARED) == find(name, 0)
    for name in (b"cuMemAlloc", b"cuModuleLoadData", b"cuCtxSynchronize", b"cuStreamDestroy"):
        assert find(name, OWN) == find(name, SHARED)


def test_stream_zero_is_the_threads_own(module, stream):
    ok(spin(module, PER_THREAD))
    assert call(b"cuStreamQuery", pointer(0)) == "NOT_READY"
    assert call(b"cuStreamSynchronize", pointer(0)) == "SUCCESS"
    ok(driver.cuStreamQuery(PER_THREAD))


def test_other_streams_stay_what_they_are(module, stream):
    ok(spin(module, stream))
    assert call(b"cuStreamQuery", pointer(0)) == "SUCCESS"
    assert call(b"cuStreamQuery", pointer(stream)) == "NOT_READY"
    assert call(b"cuStreamSynchronize", pointer(stream)) == "SUCCESS"
    assert call(b"cuStreamQuery", pointer(LEGACY)) == "SUCCESS"


def test_launch_without_a_stream_is_on_the_threads_own(kernel, memory):
    flag = ok(driver.cuMemHostAlloc(4, 0))
    word = ctypes.c_int.from_address(int(flag))
    word.value = 0
    address = ctypes.c_void_p(int(flag))
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    shape = [ctypes.c_uint(1)] * 6
    assert call(b"cuLaunchKernel", pointer(kernel("spin_until")), *shape, ctypes.c_uint(0), pointer(0),
                pointer(ctypes.addressof(parameters)), pointer(0)) == "SUCCESS"
    assert answer(driver.cuStreamQuery(PER_THREAD)) == "NOT_READY"
    word.value = 1
    ok(driver.cuStreamSynchronize(PER_THREAD))
    ok(driver.cuMemFreeHost(flag))


def test_copy_and_fill_follow_the_threads_own_work(kernel, memory):
    ok(launch(kernel("put"), (int(memory), ctypes.c_void_p), (5, ctypes.c_int), stream=PER_THREAD))
    word = ctypes.c_int()
    assert call(b"cuMemcpyDtoH", pointer(ctypes.addressof(word)), pointer(memory), ctypes.c_size_t(4)) == "SUCCESS"
    assert word.value == 5
    assert call(b"cuMemsetD32", pointer(memory), ctypes.c_uint(6), ctypes.c_size_t(1)) == "SUCCESS"
    ok(driver.cuStreamSynchronize(PER_THREAD))
    assert read_int(memory) == 6


@pytest.mark.emulator
def test_call_that_fails_leaves_the_next_one_alone(module, context):
    """The form is the call's: what follows it in the thread is on the legacy stream again."""
    assert call(b"cuMemcpyDtoH", pointer(0), pointer(16), ctypes.c_size_t(4)) == "INVALID_VALUE"
    ok(spin(module, 0))
    assert answer(driver.cuStreamQuery(LEGACY)) == "NOT_READY"
    ok(driver.cuStreamSynchronize(LEGACY))
