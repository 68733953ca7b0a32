# SPDX-License-Identifier: Apache-2.0
"""What one thread does on the emulated driver while another thread's call waits."""

import ctypes
import time
from contextlib import contextmanager

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.emulated import PTX, in_thread, launch

pytestmark = pytest.mark.emulator

NON_BLOCKING = 1


class Flag:
    """An integer of page-locked memory that a kernel waits for."""

    def __init__(self):
        self.address = ok(driver.cuMemHostAlloc(4, 0))
        self._value = ctypes.c_int.from_address(self.address)

    def wait_for(self, function, stream=0):
        """Launch a kernel that runs until the flag is set."""
        ok(launch(function, (self.address, ctypes.c_void_p), stream=stream))

    def set(self):
        self._value.value = 1


class Waiting:
    """A call by another thread, which is in its wait already: it has the driver's lock until then."""

    def __init__(self, control, context, function, *arguments):
        def call():
            ok(driver.cuCtxSetCurrent(context))
            self._answer = answer(function(*arguments))

        before = control.calls(function.__name__)
        self._thread = in_thread(call)
        while control.calls(function.__name__) == before:
            time.sleep(0.001)

    def is_waiting(self):
        self._thread.join(0.2)
        return self._thread.is_alive()

    def answer(self):
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self._answer


@contextmanager
def full_queue(kernel, flag):
    """A stream whose context takes no more work until the flag is set."""
    stream = ok(driver.cuStreamCreate(NON_BLOCKING))
    flag.wait_for(kernel("spin_until"), stream)
    for _ in range(1023):
        ok(launch(kernel("nothing"), stream=stream))
    yield stream
    flag.set()
    ok(driver.cuCtxSynchronize())


def test_context_retained_during_its_last_release_lives(control, context, kernel):
    flag = Flag()
    flag.wait_for(kernel("spin_until"))
    identifier = ok(driver.cuCtxGetId(context))
    release = Waiting(control, context, driver.cuDevicePrimaryCtxRelease, 0)
    assert ok(driver.cuDevicePrimaryCtxRetain(0)) == context
    flag.set()
    assert release.answer() == "SUCCESS"
    ok(driver.cuCtxSynchronize())
    assert ok(driver.cuCtxGetId(context)) == identifier
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert answer(driver.cuCtxSynchronize()) == "CONTEXT_IS_DESTROYED"


def test_context_retained_during_its_reset_ends(control, context, kernel):
    flag = Flag()
    flag.wait_for(kernel("spin_until"))
    reset = Waiting(control, context, driver.cuDevicePrimaryCtxReset, 0)
    ok(driver.cuDevicePrimaryCtxRetain(0))
    flag.set()
    assert reset.answer() == "SUCCESS"
    assert answer(driver.cuCtxSynchronize()) == "CONTEXT_IS_DESTROYED"


def test_second_of_two_destroys_of_a_context_is_refused(control, context):
    made = ok(driver.cuCtxCreate(None, 0, 0))
    flag = Flag()
    flag.wait_for(ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(PTX)), b"spin_until")))
    destroys = [Waiting(control, context, driver.cuCtxDestroy, made) for _ in range(2)]
    flag.set()
    assert sorted(destroy.answer() for destroy in destroys) == ["INVALID_CONTEXT", "SUCCESS"]
    ok(driver.cuCtxSetCurrent(context))


def test_unload_of_a_library_waits_for_modules_that_come_meanwhile(control, context):
    library = ok(driver.cuLibraryLoadData(PTX, [], [], 0, [], [], 0))
    kernel = ok(driver.cuLibraryGetKernel(library, b"spin_until"))
    flag, later = Flag(), Flag()
    flag.wait_for(ok(driver.cuKernelGetFunction(kernel)))
    unload = Waiting(control, context, driver.cuLibraryUnload, library)
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    later.wait_for(ok(driver.cuKernelGetFunction(kernel)))
    flag.set()
    assert unload.is_waiting()
    later.set()
    assert unload.answer() == "SUCCESS"
    assert control.live("modules") == control.live("libraries") == 0


def test_stream_that_is_destroyed_while_a_launch_waits_for_room_is_refused(control, context, kernel):
    nothing, flag = kernel("nothing"), Flag()
    with full_queue(kernel, flag) as stream:
        waiting = Waiting(control, context, driver.cuLaunchKernel, nothing, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0)
        ok(driver.cuStreamDestroy(stream))
        flag.set()
        assert waiting.answer() == "INVALID_HANDLE"


def test_stream_that_is_destroyed_while_a_memset_waits_for_room_is_refused(control, context, kernel):
    flag = Flag()
    with full_queue(kernel, flag) as stream:
        waiting = Waiting(control, context, driver.cuMemsetD8Async, flag.address, 1, 1, stream)
        ok(driver.cuStreamDestroy(stream))
        flag.set()
        assert waiting.answer() == "INVALID_HANDLE"


@pytest.mark.parametrize("work", ["launch", "memset", "copy"])
def test_work_that_waits_for_room_goes_into_a_capture_that_begins_meanwhile(control, context, kernel, work):
    nothing, flag = kernel("nothing"), Flag()
    memory = ok(driver.cuMemHostAlloc(8, 0))
    with full_queue(kernel, flag) as stream:
        function, *arguments = {
            "launch": (driver.cuLaunchKernel, nothing, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0),
            "memset": (driver.cuMemsetD8Async, memory, 1, 1, stream),
            "copy": (driver.cuMemcpyDtoDAsync, memory, memory + 4, 4, stream),
        }[work]
        waiting = Waiting(control, context, function, *arguments)
        ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
        flag.set()
        assert waiting.answer() == "SUCCESS"
        graph = ok(driver.cuStreamEndCapture(stream))
        assert ok(driver.cuGraphGetNodes(graph, 0))[1] == 1
        ok(driver.cuGraphDestroy(graph))


def test_graph_that_is_destroyed_while_its_launch_waits_for_room_is_refused(control, context, kernel):
    graph = ok(driver.cuGraphCreate(0))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    flag = Flag()
    with full_queue(kernel, flag) as stream:
        waiting = Waiting(control, context, driver.cuGraphLaunch, executable, stream)
        ok(driver.cuGraphExecDestroy(executable))
        flag.set()
        assert waiting.answer() == "INVALID_VALUE"
    ok(driver.cuGraphDestroy(graph))
