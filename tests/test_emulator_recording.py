# SPDX-License-Identifier: Apache-2.0
"""The emulated driver's log of calls."""

import ctypes
import struct
import threading

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.driver_api import ok
from helpers.emulated import PTX, in_thread, launch

import se_cy

pytestmark = pytest.mark.emulator


def test_log_has_calls_in_order_inside_the_block_and_after(control, context):
    with control.record() as log:
        stream = ok(driver.cuStreamCreate(1))
        assert log.functions == ["cuStreamCreate"]
        ok(driver.cuStreamDestroy(stream))
        assert len(log) == 2 and log[-1].function == "cuStreamDestroy"
    ok(driver.cuCtxSynchronize())
    assert log.functions == ["cuStreamCreate", "cuStreamDestroy"]
    assert log.of("cuStreamDestroy")[0].arguments == (int(stream),)
    assert log[0].arguments[1:] == (1,)
    assert log[0].context == int(context) and log[0].thread == threading.get_native_id()
    assert (log[0].kernel, log[0].parameters) == ("", ())


def test_negative_arguments_are_as_given(control, context):
    with control.record() as log:
        driver.cuStreamCreateWithPriority(0, -3)
        driver.cuDeviceGet(-1)
    assert log[0].arguments[1:] == (0, -3)
    assert log[1].arguments[1:] == (-1,)


def test_failed_calls_are_in_the_log(control, context):
    control.fail("cuMemAlloc")
    with control.record() as log:
        driver.cuMemAlloc(16)
        driver.cuStreamDestroy(0xdead)
    assert [(call.function, call.arguments[-1]) for call in log] == [("cuMemAlloc", 16), ("cuStreamDestroy", 0xdead)]


@pytest.mark.parametrize("extra", [False, True])
def test_launch_has_kernel_and_parameters(control, kernel, extra):
    memory = int(ok(driver.cuMemAlloc(4)))
    function = kernel("put")
    with control.record() as log:
        if extra:
            buffer = ctypes.create_string_buffer(struct.pack("<Qi", memory, -7), 12)
            size = ctypes.c_size_t(12)
            keys = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
            ok(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, 0, ctypes.addressof(keys)))
        else:
            ok(launch(function, (memory, ctypes.c_void_p), (-7, ctypes.c_int)))
    (call,) = log
    assert call.kernel == "put"
    assert call.parameters == (struct.pack("<Q", memory), struct.pack("<i", -7))
    assert call.arguments[:9] == (int(function), 1, 1, 1, 1, 1, 1, 0, 0)


def test_launch_by_se_cy_is_one_call_without_the_gil(control):
    device = se_cy.Device(0)
    stream = device.create_stream()
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("put").add_ptx(PTX))
    memory = device.to_device(np.zeros(1, "i4"))
    released, held = kernel.bind(1, 1, stream=stream), kernel.bind(1, 1, stream=stream, hold_gil=True)
    with control.record() as log:
        released(memory, 3)
        held(memory, 4)
    launches = [call for call in log if call.kernel]
    assert [call.has_gil for call in launches] == [False, True]
    assert [call.parameters[1] for call in launches] == [b"\3\0\0\0", b"\4\0\0\0"]


def test_threads_are_told_apart(control, context):
    threads, identifiers = [], []
    barrier = threading.Barrier(4)

    def create():
        identifiers.append(threading.get_native_id())
        ok(driver.cuCtxSetCurrent(context))
        barrier.wait(30)
        for _ in range(200):
            ok(driver.cuStreamQuery(0))

    with control.record() as log:
        threads = [in_thread(create) for _ in range(4)]
        while any(thread.is_alive() for thread in threads):
            len(log)  # read while it grows
        for thread in threads:
            thread.join(30)
    for identifier in identifiers:
        own = [call for call in log if call.thread == identifier]
        assert [call.function for call in own] == ["cuCtxSetCurrent"] + ["cuStreamQuery"] * 200
        assert [call.context for call in own] == [0] + [int(context)] * 200


def test_one_recording_at_a_time(control, context):
    with control.record() as log:
        with pytest.raises(RuntimeError, match="one recording at a time"):
            with control.record():
                pass
        ok(driver.cuCtxSynchronize())
    assert log.functions == ["cuCtxSynchronize"]
    with control.record() as later:
        pass
    assert len(later) == 0 and log.functions == ["cuCtxSynchronize"]


def test_recording_can_not_be_entered_inside_itself(control, context):
    with control.record() as log:
        with pytest.raises(RuntimeError, match="one recording at a time"):
            log.__enter__()
        ok(driver.cuCtxSynchronize())
    assert log.functions == ["cuCtxSynchronize"]
    with log:  # once it has ended, it can begin anew
        ok(driver.cuMemGetInfo())
    assert log.functions == ["cuMemGetInfo"]


def test_error_inside_a_recording_ends_it(control, context):
    with pytest.raises(KeyError), control.record() as log:
        ok(driver.cuCtxSynchronize())
        raise KeyError
    ok(driver.cuMemGetInfo())
    assert log.functions == ["cuCtxSynchronize"]
    with control.record():
        pass


def test_one_of_two_recordings_begun_by_two_threads_at_once_is_refused(control, context):
    answers = []
    together, apart = threading.Barrier(2), threading.Barrier(2)

    def begin():
        together.wait(30)
        try:
            with control.record() as log:
                apart.wait(30)
                answers.append(len(log))
        except RuntimeError:
            apart.wait(30)
            answers.append("refused")

    for thread in [in_thread(begin) for _ in range(2)]:
        thread.join(60)
    assert sorted(answers, key=str) == [0, "refused"]


def test_held_call_is_recorded_when_it_goes_on(control, context):
    with control.record() as log:
        with control.block("cuMemGetInfo") as block:
            thread = in_thread(driver.cuMemGetInfo)
            block.wait_until_reached()
            assert log.functions == []
        thread.join(30)
    assert log.functions == ["cuMemGetInfo"]
