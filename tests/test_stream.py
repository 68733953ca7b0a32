# SPDX-License-Identifier: Apache-2.0
import pickle
import threading

import numpy as np
import pytest

import se_cy
import se_cy.typing


def test_stream_is_an_ordered_queue(device, kernel_of):
    with device.create_stream() as stream:
        assert isinstance(stream, se_cy.typing.SupportsCudaStream)
        assert stream.__cuda_stream__() == (0, stream.handle) and stream.handle > 2 and stream.device is device
        out = device.to_device(np.ones(1, np.int32))
        for _ in range(10):
            kernel_of("double_it")[1, 1, stream](out)
            kernel_of("add_hundred")[1, 1, stream](out)
        stream.synchronize()
        assert stream.is_done
        expected = 1
        for _ in range(10):
            expected = 2 * expected + 100
        assert out.to_host()[0] == expected


def test_blocking_stream_is_waited_for_by_a_plain_copy(device, kernel_of):
    stream = device.create_stream()
    out = device.to_device(np.ones(1, np.int32))
    kernel_of("double_it")[1, 1, stream](out)
    assert out.to_host()[0] == 2


def test_closed_stream_can_not_be_used(device):
    stream = device.create_stream(priority=-1)
    stream.close()
    stream.close()
    assert stream.is_closed and "closed" in repr(stream)
    for use in (stream.synchronize, lambda: stream.handle, lambda: stream.is_done, stream.__cuda_stream__):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_default_stream_is_one_object_that_can_not_be_closed(device):
    stream = device.default_stream
    assert stream is device.default_stream and stream.handle == 0
    stream.close()
    stream.synchronize()
    assert not stream.is_closed and "legacy default" in repr(stream)


@pytest.mark.emulator
def test_dropped_stream_is_destroyed_from_any_thread(device, emulator):
    live = emulator.live("streams")
    streams = [device.create_stream() for _ in range(5)]
    assert emulator.live("streams") == live + 5
    thread = threading.Thread(target=streams.clear)
    thread.start()
    thread.join()
    assert emulator.live("streams") == live


@pytest.mark.emulator
def test_failed_creation_leaves_no_stream(device, emulator):
    live = emulator.live("streams")
    emulator.fail("cuStreamCreateWithPriority", nth=1, status=2)
    with pytest.raises(se_cy.OutOfMemoryError):
        device.create_stream()
    assert emulator.live("streams") == live


def test_stream_refuses_pickling(device):
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(device.create_stream())
