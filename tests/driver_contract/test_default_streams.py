# SPDX-License-Identifier: Apache-2.0
"""The legacy default stream waits for the blocking streams, and they for it; each thread has a stream of its own."""

import ctypes

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import LEGACY, PER_THREAD, in_new_thread, put, read_int, spin


@pytest.fixture
def blocking(context):
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_DEFAULT))
    yield stream
    ok(driver.cuStreamDestroy(stream))


def test_legacy_stream_waits_for_blocking_streams(module, memory, blocking):
    ok(spin(module, blocking, 10_000_000))
    ok(put(module, memory, 8, blocking))
    assert read_int(memory) == 8


@pytest.mark.parametrize("legacy", [0, LEGACY])
def test_blocking_streams_wait_for_the_legacy_stream(module, memory, blocking, legacy):
    ok(spin(module, legacy, 10_000_000))
    ok(put(module, memory, 9, legacy))
    ok(driver.cuMemcpyDtoDAsync(int(memory) + 4, memory, 4, blocking))
    ok(driver.cuStreamSynchronize(blocking))
    assert read_int(int(memory) + 4) == 9


def test_non_blocking_streams_do_not_wait_for_the_legacy_stream(module, memory, stream):
    # A kernel's first launch returns at once, but the driver may bring the code to the GPU behind what runs there.
    ok(put(module, memory, 1, stream))
    ok(driver.cuStreamSynchronize(stream))
    ok(spin(module, LEGACY))
    ok(put(module, memory, 10, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert answer(driver.cuStreamQuery(LEGACY)) == "NOT_READY"


def test_legacy_stream_waits_for_per_thread_streams(module, memory, context):
    def body():
        ok(driver.cuCtxSetCurrent(context))
        ok(put(module, int(memory) + 4, 2, PER_THREAD))

    ok(put(module, memory, 1, PER_THREAD))
    in_new_thread(body)
    words = (ctypes.c_int * 2)()
    ok(driver.cuMemcpyDtoH(ctypes.addressof(words), memory, 8))
    assert list(words) == [1, 2]


def test_per_thread_stream_is_the_threads_own(module, context):
    def body():
        ok(driver.cuCtxSetCurrent(context))
        ok(driver.cuStreamQuery(PER_THREAD))

    ok(spin(module, PER_THREAD))
    in_new_thread(body)
    assert answer(driver.cuStreamQuery(PER_THREAD)) == "NOT_READY"
