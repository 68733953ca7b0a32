# SPDX-License-Identifier: Apache-2.0
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import put, read_int, spin

NON_BLOCKING = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
CaptureMode = driver.CUstreamCaptureMode


def test_streams_know_their_properties(context):
    least, greatest = ok(driver.cuCtxGetStreamPriorityRange())
    assert greatest < least == 0
    stream = ok(driver.cuStreamCreateWithPriority(NON_BLOCKING, greatest))
    assert int(ok(driver.cuStreamGetCtx(stream))) == int(context)
    assert ok(driver.cuStreamGetFlags(stream)) == NON_BLOCKING
    assert ok(driver.cuStreamGetPriority(stream)) == greatest
    ok(driver.cuStreamDestroy(stream))


def test_idle_stream_is_ready(stream):
    ok(driver.cuStreamQuery(stream))


def test_busy_stream_is_not_ready(module, stream):
    ok(spin(module, stream))
    assert answer(driver.cuStreamQuery(stream)) == "NOT_READY"
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuStreamQuery(stream))


def test_asking_again_and_again_gets_there(module, memory, stream):
    ok(spin(module, stream, 10_000_000))
    ok(put(module, memory, 6, stream))
    while (status := answer(driver.cuStreamQuery(stream))) == "NOT_READY":
        pass
    assert status == "SUCCESS"
    assert read_int(memory) == 6


def test_destroyed_stream_finishes_its_work(module, memory):
    stream = ok(driver.cuStreamCreate(NON_BLOCKING))
    ok(spin(module, stream, 10_000_000))
    ok(put(module, memory, 11, stream))
    ok(driver.cuStreamDestroy(stream))
    ok(driver.cuCtxSynchronize())
    assert read_int(memory) == 11


def test_far_more_launches_than_a_queue_holds_are_done_in_order(module, memory, stream):
    for value in range(1, 3001):
        ok(put(module, memory, value, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read_int(memory) == 3000


def test_capture_mode_is_exchanged(stream):
    relaxed = CaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = ok(driver.cuThreadExchangeStreamCaptureMode(relaxed))
    assert before == CaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    assert ok(driver.cuThreadExchangeStreamCaptureMode(before)) == relaxed
    status = ok(driver.cuStreamIsCapturing(stream))
    assert status == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
