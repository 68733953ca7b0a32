# SPDX-License-Identifier: Apache-2.0
"""What waits for running kernels and what does not."""

import ctypes
import threading
import time
from pathlib import Path

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import PTX, SPIN_NS, WAITED_NS, get, launch, load, put, spin


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


@pytest.fixture
def machine_code(context, driver_option):
    """kernels.cu as the driver loads it without compiling; the emulated driver takes PTX for that."""
    if driver_option == "emulator":
        return PTX
    major = ok(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0))
    if major != 9:
        pytest.skip("the cubin is for 9.0")
    return (Path(__file__).parent / "kernels_sm90.cubin").read_bytes()


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
    ok(driver.cuMemFree(ok(driver.cuMemAlloc(1 << 20))))
    assert answer(driver.cuStreamQuery(stream)) == "NOT_READY"
    ok(driver.cuModuleUnload(later))


def test_loading_machine_code_does_not_wait(module, stream, machine_code):
    ok(spin(module, stream, 5 * SPIN_NS))
    later = ok(driver.cuModuleLoadData(machine_code))
    assert answer(driver.cuStreamQuery(stream)) == "NOT_READY"
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
    ok(driver.cuMemFree(ok(driver.cuMemAlloc(1 << 20))))
    was_done = done.is_set()
    waiter.join()
    assert not was_done and done.is_set()
