# SPDX-License-Identifier: Apache-2.0
import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import put, read_int, spin

UNTIMED = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING


@pytest.fixture
def event(context):
    event = ok(driver.cuEventCreate(0))
    yield event
    ok(driver.cuEventDestroy(event))


@pytest.fixture
def later(context):
    event = ok(driver.cuEventCreate(0))
    yield event
    ok(driver.cuEventDestroy(event))


def test_event_without_a_record_is_ready(event):
    ok(driver.cuEventQuery(event))
    ok(driver.cuEventSynchronize(event))


def test_asking_again_and_again_gets_there(module, memory, stream, event):
    ok(spin(module, stream))
    ok(put(module, memory, 6, stream))
    ok(driver.cuEventRecord(event, stream))
    assert answer(driver.cuEventQuery(event)) == "NOT_READY"
    while (status := answer(driver.cuEventQuery(event))) == "NOT_READY":
        pass
    assert status == "SUCCESS"
    assert read_int(memory) == 6


def test_events_order_streams(module, memory, stream, event):
    other = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    ok(spin(module, stream, 10_000_000))
    ok(put(module, memory, 7, stream))
    ok(driver.cuEventRecord(event, stream))
    ok(driver.cuStreamWaitEvent(other, event, 0))
    ok(driver.cuMemcpyDtoDAsync(int(memory) + 4, memory, 4, other))
    ok(driver.cuStreamSynchronize(other))
    assert read_int(int(memory) + 4) == 7
    ok(driver.cuStreamDestroy(other))


def test_events_measure_time(module, stream, event, later):
    ok(driver.cuEventRecord(event, stream))
    ok(spin(module, stream))
    ok(driver.cuEventRecord(later, stream))
    assert answer(driver.cuEventElapsedTime(event, later)) == "NOT_READY"
    ok(driver.cuEventSynchronize(later))
    assert ok(driver.cuEventElapsedTime(event, later)) >= 150


def test_events_without_timing_measure_nothing(stream, event):
    untimed = ok(driver.cuEventCreate(UNTIMED))
    ok(driver.cuEventRecord(event, stream))
    ok(driver.cuEventRecord(untimed, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert answer(driver.cuEventElapsedTime(event, untimed)) == "INVALID_HANDLE"
    ok(driver.cuEventDestroy(untimed))
