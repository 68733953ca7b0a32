# SPDX-License-Identifier: Apache-2.0
"""What waits for running kernels and what does not.

Not asked: cuModuleLoadData and cuMemFree, which on one H200 waited in one program and not in another.
"""

import ctypes
import threading
import time

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import SPIN_NS, WAITED_NS, get, launch, load, put, spin


@pytest.fixture
def other(context):
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    yield stream
    ok(driver.cuStreamDestroy(stream))


@pytest.fixture
def page_locked(context):
    address = ok(driver.cuMemHostAlloc(4, 0))
    word = ctypes.c_int.from_address(int(address))
    word.value = 0
    yield word
    ok(driver.cuMemFreeHost(address))


def elapsed(function):
    start = time.perf_counter_ns()
    function()
    return time.perf_counter_ns() - start


@pytest.mark.parametrize("unloads", ["the running module", "another module"])
def test_unload_waits_for_all_work_of_the_context(module, stream, unloads):
    unloaded = load()
    running = unloaded if unloads == "the running module" else module
    ok(spin(running, stream))
    assert elapsed(lambda: ok(driver.cuModuleUnload(unloaded))) >= WAITED_NS
    ok(driver.cuStreamQuery(stream))


def test_what_ran_before_an_unload_is_done_after_it(module, memory, stream, page_locked):
    unloaded = load()
    ok(spin(module, stream))
    ok(put(module, memory, 12, stream))
    ok(driver.cuMemcpyDtoHAsync(ctypes.addressof(page_locked), memory, 4, stream))
    ok(driver.cuModuleUnload(unloaded))
    assert page_locked.value == 12


@pytest.mark.parametrize("synchronise", ["stream", "context", "event"])
def test_synchronising_waits(module, stream, synchronise):
    event = ok(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    calls = {
        "stream": lambda: driver.cuStreamSynchronize(stream),
        "context": driver.cuCtxSynchronize,
        "event": lambda: driver.cuEventSynchronize(event),
    }
    ok(spin(module, stream))
    ok(driver.cuEventRecord(event, stream))
    assert elapsed(lambda: ok(calls[synchronise]())) >= WAITED_NS
    ok(driver.cuEventDestroy(event))


def test_look_up_first_launch_and_allocation_do_not_wait(module, stream, other):
    later = load()
    ok(spin(module, stream, 5 * SPIN_NS))
    ok(launch(get(later, "nothing"), stream=other))
    memory = ok(driver.cuMemAlloc(1 << 20))
    assert answer(driver.cuStreamQuery(stream)) == "NOT_READY"
    ok(driver.cuMemFree(memory))
    ok(driver.cuModuleUnload(later))


def test_other_threads_calls_do_not_wait_for_a_waiting_thread(module, stream, other):
    done = threading.Event()

    def wait():
        ok(driver.cuStreamSynchronize(stream))
        done.set()

    ok(spin(module, stream, 5 * SPIN_NS))
    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.02)
    ok(launch(get(module, "nothing"), stream=other))
    memory = ok(driver.cuMemAlloc(1 << 20))
    was_done = done.is_set()
    waiter.join()
    ok(driver.cuMemFree(memory))
    assert not was_done and done.is_set()
