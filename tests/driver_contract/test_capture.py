# SPDX-License-Identifier: Apache-2.0
"""Stream capture: what becomes a graph, and which calls a capture does not survive."""

import ctypes
import threading
from pathlib import Path

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, name_of, ok

INT, POINTER = ctypes.c_int, ctypes.c_void_p
PTX = (Path(__file__).parent / "kernels.ptx").read_bytes()
GLOBAL = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
THREAD_LOCAL = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
RELAXED = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
ACTIVE = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
INVALIDATED = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_INVALIDATED
NONE = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE

strict = pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL], ids=["global", "thread_local"])
every_mode = pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL, RELAXED], ids=["global", "thread_local", "relaxed"])


def launch(function, stream, *arguments):
    """Launch one thread; each argument is a pair of a value and a ctypes type."""
    return driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, tuple(zip(*arguments)) or 0, 0)


def at(memory, index=0):
    """The argument that points to an int of device memory."""
    return int(memory) + 4 * index, POINTER


def read(memory, index=0):
    values = np.zeros(1024, np.int32)
    ok(driver.cuMemcpyDtoH(values, memory, values.nbytes))
    return values[index]


def begin(stream, mode=GLOBAL):
    ok(driver.cuStreamBeginCapture(stream, mode))


def end(stream):
    """End a capture that failed: the answer, after which there is no graph and no capture."""
    status, graph = driver.cuStreamEndCapture(stream)
    assert graph is None or int(graph) == 0
    assert ok(driver.cuStreamIsCapturing(stream)) == NONE
    return name_of(status)


def end_and_count(stream):
    """End a valid capture: the number of its nodes."""
    graph = ok(driver.cuStreamEndCapture(stream))
    _, count = ok(driver.cuGraphGetNodes(graph))
    ok(driver.cuGraphDestroy(graph))
    return count


def end_and_run(stream, times=1):
    graph = ok(driver.cuStreamEndCapture(stream))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    for _ in range(times):
        ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuGraphExecDestroy(executable))
    ok(driver.cuGraphDestroy(graph))


def in_thread(context, run, *arguments):
    """What a function answers in another thread, where the context is current."""
    answers = []

    def body():
        ok(driver.cuCtxSetCurrent(context))
        answers.append(run(*arguments))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return answers[0]


@pytest.fixture
def memory(memory):
    ok(driver.cuCtxSynchronize())  # the zeros come by the legacy stream, for which the others do not wait
    return memory


@pytest.fixture
def streams(context):
    """Two streams that do not wait for the legacy stream and one that does; what they still capture is ended."""
    non_blocking = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    streams = [ok(driver.cuStreamCreate(flags)) for flags in (non_blocking, non_blocking, 0)]
    yield streams
    ok(driver.cuThreadExchangeStreamCaptureMode(GLOBAL))
    for stream in streams:
        if ok(driver.cuStreamIsCapturing(stream)) != NONE:
            driver.cuStreamEndCapture(stream)
    for stream in streams:
        ok(driver.cuStreamDestroy(stream))


@pytest.fixture
def stream(streams):
    return streams[0]


@pytest.fixture
def other(streams):
    return streams[1]


@pytest.fixture
def blocking(streams):
    return streams[2]


@pytest.fixture
def event(context):
    event = ok(driver.cuEventCreate(0))
    yield event
    ok(driver.cuEventDestroy(event))


@pytest.fixture
def spare(context):
    """A module and memory which a test may end; the rest is ended here."""
    things = {driver.cuModuleUnload: ok(driver.cuModuleLoadData(PTX)), driver.cuMemFree: ok(driver.cuMemAlloc(64))}
    yield things
    for release, thing in things.items():
        if thing is not None:
            ok(release(thing))


def release(things):
    """Unload the spare module and free the spare memory; what worked is not released again."""
    answers = []
    for function, thing in things.items():
        answers.append(answer(function(thing)))
        if answers[-1] == "SUCCESS":
            things[function] = None
    return answers


@every_mode
def test_captured_work_runs_only_with_the_graph(kernel, memory, stream, mode):
    begin(stream, mode)
    assert ok(driver.cuStreamIsCapturing(stream)) == ACTIVE
    ok(launch(kernel("add"), stream, at(memory), (2, INT)))
    ok(launch(kernel("copy"), stream, at(memory, 1), at(memory)))
    graph = ok(driver.cuStreamEndCapture(stream))
    assert ok(driver.cuStreamIsCapturing(stream)) == NONE
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 0
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    for _ in range(3):
        ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert (read(memory), read(memory, 1)) == (6, 6)
    ok(driver.cuGraphExecDestroy(executable))
    ok(driver.cuGraphDestroy(graph))


def test_copies_and_fills_become_nodes(memory, stream):
    begin(stream)
    ok(driver.cuMemsetD32Async(memory, 7, 1, stream))
    ok(driver.cuMemcpyDtoDAsync(int(memory) + 4, memory, 4, stream))
    ok(driver.cuMemsetD32Async(memory, 8, 1, stream))
    graph = ok(driver.cuStreamEndCapture(stream))
    nodes, _ = ok(driver.cuGraphGetNodes(graph, 3))
    types = sorted(ok(driver.cuGraphNodeGetType(node)).name.removeprefix("CU_GRAPH_NODE_TYPE_") for node in nodes)
    assert types == ["MEMCPY", "MEMSET", "MEMSET"]
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert (read(memory), read(memory, 1)) == (8, 7)
    ok(driver.cuGraphExecDestroy(executable))
    ok(driver.cuGraphDestroy(graph))


def test_events_fork_and_join_another_stream(kernel, memory, stream, other):
    fork, join = ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0))
    begin(stream)
    ok(launch(kernel("put"), stream, at(memory), (3, INT)))
    ok(driver.cuEventRecord(fork, stream))
    ok(driver.cuStreamWaitEvent(other, fork, 0))
    assert ok(driver.cuStreamIsCapturing(other)) == ACTIVE
    ok(launch(kernel("spin"), other, (3_000_000, ctypes.c_longlong)))
    ok(launch(kernel("copy"), other, at(memory, 1), at(memory)))
    ok(driver.cuEventRecord(join, other))
    ok(driver.cuStreamWaitEvent(stream, join, 0))
    ok(launch(kernel("copy"), stream, at(memory, 2), at(memory, 1)))
    end_and_run(stream)
    assert ok(driver.cuStreamIsCapturing(other)) == NONE
    assert [read(memory, index) for index in range(3)] == [3, 3, 3]
    ok(driver.cuEventDestroy(fork))
    ok(driver.cuEventDestroy(join))


def test_fork_that_is_not_joined_fails_the_capture(kernel, stream, other, event):
    begin(stream)
    ok(launch(kernel("nothing"), stream))
    ok(driver.cuEventRecord(event, stream))
    ok(driver.cuStreamWaitEvent(other, event, 0))
    ok(launch(kernel("nothing"), other))
    assert end(stream) == "STREAM_CAPTURE_UNJOINED"
    assert ok(driver.cuStreamIsCapturing(other)) == NONE
    ok(launch(kernel("nothing"), other))


def test_capture_info(kernel, stream):
    assert ok(driver.cuStreamGetCaptureInfo(stream))[0] == NONE
    begin(stream)
    first = ok(driver.cuStreamGetCaptureInfo(stream))
    assert first[0] == ACTIVE and first[-1] == 0
    ok(launch(kernel("nothing"), stream))
    status, identifier, graph, dependencies, *_, count = ok(driver.cuStreamGetCaptureInfo(stream))
    assert (status, int(identifier), count) == (ACTIVE, int(first[1]), 1)
    nodes, _ = ok(driver.cuGraphGetNodes(graph, 1))
    assert [int(node) for node in nodes] == [int(node) for node in dependencies]
    ended = ok(driver.cuStreamEndCapture(stream))
    assert int(ended) == int(graph)
    ok(driver.cuGraphDestroy(ended))
    begin(stream)
    assert int(ok(driver.cuStreamGetCaptureInfo(stream))[1]) != int(first[1])
    assert end_and_count(stream) == 0


@every_mode
def test_calls_that_a_capture_survives(module, stream, other, mode):
    begin(stream, mode)
    loaded = ok(driver.cuModuleLoadData(PTX))
    function = ok(driver.cuModuleGetFunction(loaded, b"nothing"))
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    ok(driver.cuFuncSetAttribute(function, attribute, 60000))
    event = ok(driver.cuEventCreate(0))
    ok(launch(function, stream))
    ok(launch(function, other))
    assert end_and_count(stream) == 1
    ok(driver.cuEventDestroy(event))
    ok(driver.cuModuleUnload(loaded))


@every_mode
def test_waiting_calls_on_the_legacy_stream_are_free_during_the_capture_of_a_non_blocking_one(memory, stream, mode):
    host = np.zeros(16, np.uint8)
    begin(stream, mode)
    ok(driver.cuMemcpyHtoD(memory, host, 16))
    ok(driver.cuMemcpyDtoH(host, memory, 16))
    ok(driver.cuMemcpyDtoD(memory, int(memory) + 16, 16))
    ok(driver.cuMemsetD8(memory, 0, 16))
    assert end_and_count(stream) == 0


@every_mode
def test_asynchronous_copies_on_other_streams_are_free_during_a_capture(memory, stream, other, blocking, mode):
    host = np.zeros(16, np.uint8)
    begin(stream, mode)
    ok(driver.cuMemcpyHtoDAsync(memory, host, 16, other))
    ok(driver.cuMemcpyDtoHAsync(host, memory, 16, other))
    ok(driver.cuMemcpyHtoDAsync(memory, host, 16, blocking))
    assert end_and_count(stream) == 0


@every_mode
def test_questions_that_a_capture_survives(memory, stream, other, event, mode):
    ok(driver.cuEventRecord(event, other))
    begin(stream, mode)
    ok(driver.cuStreamGetPriority(stream))
    ok(driver.cuStreamGetCtx(stream))
    ok(driver.cuMemGetInfo())
    ok(driver.cuPointerGetAttribute(driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT, memory))
    ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuDevicePrimaryCtxRelease(0))
    ok(driver.cuStreamDestroy(ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))))
    assert answer(driver.cuStreamBeginCapture(stream, mode)) == "ILLEGAL_STATE"
    assert end_and_count(stream) == 0


@every_mode
def test_event_of_a_capture_has_no_time(stream, other, event, mode):
    before = ok(driver.cuEventCreate(0))
    ok(driver.cuEventRecord(before, other))
    ok(driver.cuStreamSynchronize(other))
    begin(stream, mode)
    ok(driver.cuEventRecord(event, stream))
    assert answer(driver.cuEventElapsedTime(before, event)) == "CAPTURED_EVENT"
    assert end_and_count(stream) == 0
    ok(driver.cuEventDestroy(before))


@every_mode
@pytest.mark.parametrize("ask", [driver.cuStreamGetFlags, driver.cuStreamGetId], ids=["flags", "id"])
def test_flags_and_id_of_a_capturing_stream_can_not_be_asked(stream, ask, mode):
    begin(stream, mode)
    assert answer(ask(stream)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


@every_mode
def test_destroying_the_stream_ends_its_capture(context, stream, mode):
    capturing = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    begin(capturing, mode)
    ok(driver.cuStreamDestroy(capturing))
    ok(driver.cuMemFree(ok(driver.cuMemAlloc(64))))
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuCtxSynchronize())


UNSAFE = {
    "unload": lambda stream, other, spare: driver.cuModuleUnload(spare[driver.cuModuleUnload]),
    "allocate": lambda stream, other, spare: driver.cuMemAlloc(64),
    "allocate_on_other": lambda stream, other, spare: driver.cuMemAllocAsync(64, other),
    "allocate_on_host": lambda stream, other, spare: driver.cuMemHostAlloc(64, 0),
    "free_on_other": lambda stream, other, spare: driver.cuMemFreeAsync(spare[driver.cuMemFree], other),
    "query_other": lambda stream, other, spare: driver.cuStreamQuery(other),
    "free": lambda stream, other, spare: driver.cuMemFree(spare[driver.cuMemFree]),
    "synchronize_other": lambda stream, other, spare: driver.cuStreamSynchronize(other),
}
CONFLICTING = {
    "synchronize": lambda stream, other, spare: driver.cuStreamSynchronize(stream),
    "synchronize_context": lambda stream, other, spare: driver.cuCtxSynchronize(),
    "query": lambda stream, other, spare: driver.cuStreamQuery(stream),
}


@strict
@pytest.mark.parametrize("call", (UNSAFE | CONFLICTING).values(), ids=(UNSAFE | CONFLICTING).keys())
def test_unsafe_call_invalidates_the_capture(kernel, stream, other, spare, mode, call):
    begin(stream, mode)
    assert answer(call(stream, other, spare)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert ok(driver.cuStreamIsCapturing(stream)) == INVALIDATED
    assert answer(launch(kernel("nothing"), stream)) == "STREAM_CAPTURE_INVALIDATED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"
    ok(launch(kernel("nothing"), stream))
    ok(driver.cuStreamSynchronize(stream))


@pytest.mark.parametrize("call", CONFLICTING.values(), ids=CONFLICTING.keys())
def test_waiting_for_a_relaxed_capture_invalidates_it(stream, other, spare, call):
    begin(stream, RELAXED)
    assert answer(call(stream, other, spare)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_relaxed_capture_survives_unsafe_calls(kernel, stream, other, spare):
    begin(stream, RELAXED)
    assert release(spare) == ["SUCCESS", "SUCCESS"]
    ok(driver.cuMemFree(ok(driver.cuMemAlloc(64))))
    ok(driver.cuStreamSynchronize(other))
    ok(launch(kernel("nothing"), stream))
    assert end_and_count(stream) == 1


@strict
def test_relaxed_thread_unloads_and_frees_during_its_own_capture(kernel, stream, spare, mode):
    begin(stream, mode)
    assert ok(driver.cuThreadExchangeStreamCaptureMode(RELAXED)) == GLOBAL
    assert release(spare) == ["SUCCESS", "SUCCESS"]
    assert ok(driver.cuThreadExchangeStreamCaptureMode(GLOBAL)) == RELAXED
    ok(launch(kernel("nothing"), stream))
    assert end_and_count(stream) == 1


def test_other_thread_invalidates_a_global_capture(kernel, context, stream, spare):
    begin(stream, GLOBAL)
    assert in_thread(context, driver.cuModuleUnload, spare[driver.cuModuleUnload])[0].name.endswith(
        "STREAM_CAPTURE_UNSUPPORTED"
    )
    assert answer(launch(kernel("nothing"), stream)) == "STREAM_CAPTURE_INVALIDATED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_other_thread_that_is_relaxed_leaves_a_global_capture_valid(kernel, context, stream, spare):
    def relax_and_release():
        ok(driver.cuThreadExchangeStreamCaptureMode(RELAXED))
        return release(spare)

    begin(stream, GLOBAL)
    assert in_thread(context, relax_and_release) == ["SUCCESS", "SUCCESS"]
    ok(launch(kernel("nothing"), stream))
    assert end_and_count(stream) == 1


def test_other_thread_is_free_during_a_thread_local_capture(kernel, context, stream, other, spare):
    begin(stream, THREAD_LOCAL)
    assert in_thread(context, release, spare) == ["SUCCESS", "SUCCESS"]
    assert answer(in_thread(context, driver.cuStreamSynchronize, other)) == "SUCCESS"
    ok(launch(kernel("nothing"), stream))
    assert end_and_count(stream) == 1


def test_capture_mode_belongs_to_the_thread(context):
    assert ok(driver.cuThreadExchangeStreamCaptureMode(THREAD_LOCAL)) == GLOBAL
    assert ok(in_thread(context, driver.cuThreadExchangeStreamCaptureMode, RELAXED)) == GLOBAL
    assert ok(driver.cuThreadExchangeStreamCaptureMode(GLOBAL)) == THREAD_LOCAL


@strict
def test_other_thread_ends_a_capture_without_a_graph(context, stream, mode):
    begin(stream, mode)
    assert answer(in_thread(context, driver.cuStreamEndCapture, stream)) == "STREAM_CAPTURE_WRONG_THREAD"
    assert ok(driver.cuStreamIsCapturing(stream)) == NONE
    assert answer(driver.cuStreamEndCapture(stream)) == "ILLEGAL_STATE"


def test_other_thread_can_end_a_relaxed_capture(kernel, context, stream):
    begin(stream, RELAXED)
    ok(launch(kernel("nothing"), stream))
    assert in_thread(context, end_and_count, stream) == 1


@strict
def test_one_unsafe_call_invalidates_every_capture_of_the_thread(stream, other, mode):
    begin(stream, mode)
    begin(other, mode)
    assert answer(driver.cuMemAlloc(64)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"
    assert end(other) == "STREAM_CAPTURE_INVALIDATED"


def test_legacy_stream_can_not_be_captured(context):
    assert answer(driver.cuStreamBeginCapture(0, GLOBAL)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert answer(driver.cuStreamBeginCapture(driver.CU_STREAM_LEGACY, RELAXED)) == "STREAM_CAPTURE_UNSUPPORTED"


def test_legacy_stream_would_depend_on_the_capture_of_a_blocking_stream(kernel, blocking):
    begin(blocking, RELAXED)
    assert answer(driver.cuStreamIsCapturing(0)) == "STREAM_CAPTURE_IMPLICIT"
    assert ok(driver.cuStreamIsCapturing(blocking)) == ACTIVE
    assert answer(launch(kernel("nothing"), 0)) == "STREAM_CAPTURE_IMPLICIT"
    assert end(blocking) == "STREAM_CAPTURE_INVALIDATED"


def test_legacy_stream_is_free_during_the_capture_of_a_non_blocking_stream(kernel, memory, stream):
    begin(stream, GLOBAL)
    assert ok(driver.cuStreamIsCapturing(0)) == NONE
    ok(launch(kernel("put"), 0, at(memory), (4, INT)))
    assert end_and_count(stream) == 0
    assert read(memory) == 4


def test_graph_launched_into_a_capture_invalidates_it(kernel, memory, stream):
    begin(stream)
    ok(launch(kernel("add"), stream, at(memory), (1, INT)))
    graph = ok(driver.cuStreamEndCapture(stream))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    begin(stream, THREAD_LOCAL)
    assert answer(driver.cuGraphLaunch(executable, stream)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 0
    ok(driver.cuGraphExecDestroy(executable))
    ok(driver.cuGraphDestroy(graph))


@strict
def test_executable_can_be_set_during_a_capture(kernel, memory, stream, mode):
    begin(stream)
    ok(launch(kernel("add"), stream, at(memory), (1, INT)))
    graph = ok(driver.cuStreamEndCapture(stream))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    (node,), _ = ok(driver.cuGraphGetNodes(graph, 1))
    parameters = ok(driver.cuGraphKernelNodeGetParams(node))
    changed = driver.CUDA_KERNEL_NODE_PARAMS()
    changed.func = parameters.func
    changed.gridDimX = changed.gridDimY = changed.gridDimZ = 1
    changed.blockDimX = changed.blockDimY = changed.blockDimZ = 1
    changed.kernelParams = tuple(zip(at(memory), (5, INT)))
    begin(stream, mode)
    ok(driver.cuGraphExecKernelNodeSetParams(executable, node, changed))
    assert end_and_count(stream) == 0
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 5
    ok(driver.cuGraphExecDestroy(executable))
    ok(driver.cuGraphDestroy(graph))


def test_capture_can_not_wait_for_an_event_from_outside(kernel, stream, other, event):
    ok(launch(kernel("nothing"), other))
    ok(driver.cuEventRecord(event, other))
    begin(stream, RELAXED)
    assert answer(driver.cuStreamWaitEvent(stream, event, 0)) == "STREAM_CAPTURE_ISOLATION"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_two_captures_can_not_be_merged(kernel, stream, other, event):
    begin(stream, RELAXED)
    begin(other, RELAXED)
    ok(launch(kernel("nothing"), other))
    ok(driver.cuEventRecord(event, other))
    assert answer(driver.cuStreamWaitEvent(stream, event, 0)) == "STREAM_CAPTURE_MERGE"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"
    driver.cuStreamEndCapture(other)


def test_event_of_a_capture_can_not_be_queried(stream, event):
    begin(stream, RELAXED)
    ok(driver.cuEventRecord(event, stream))
    assert answer(driver.cuEventQuery(event)) == "CAPTURED_EVENT"
    driver.cuStreamEndCapture(stream)


def test_only_the_origin_can_end_the_capture(kernel, stream, other, event):
    begin(stream)
    ok(driver.cuEventRecord(event, stream))
    ok(driver.cuStreamWaitEvent(other, event, 0))
    assert answer(driver.cuStreamEndCapture(other)) == "STREAM_CAPTURE_UNMATCHED"
    driver.cuStreamEndCapture(stream)
    assert ok(driver.cuStreamIsCapturing(other)) == NONE


def test_arguments_are_copied_when_the_launch_is_captured(kernel, memory, stream):
    value, address = INT(6), POINTER(int(memory))
    array = (POINTER * 2)(ctypes.addressof(address), ctypes.addressof(value))
    begin(stream)
    ok(driver.cuLaunchKernel(kernel("put"), 1, 1, 1, 1, 1, 1, 0, stream, ctypes.addressof(array), 0))
    value.value, address.value = 9, 0
    end_and_run(stream)
    assert read(memory) == 6


def test_invalid_launch_invalidates_the_capture(kernel, stream):
    begin(stream)
    function = kernel("nothing")
    assert answer(driver.cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, stream, 0, 0)) == "INVALID_VALUE"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


@pytest.mark.emulator
def test_memory_nodes_are_refused_with_a_reason(emulator, stream):
    begin(stream)
    assert answer(driver.cuMemAllocAsync(64, stream)) == "NOT_SUPPORTED"
    assert "no memory nodes" in emulator.explanation()
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


@pytest.mark.emulator
def test_invalidated_capture_names_the_call_that_did_it(emulator, kernel, stream):
    begin(stream)
    began = emulator.calls()
    assert answer(driver.cuMemAlloc(64)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert "global capture begun by cuStreamBeginCapture" in emulator.explanation()
    assert answer(launch(kernel("nothing"), stream)) == "STREAM_CAPTURE_INVALIDATED"
    assert f"invalidated by cuMemAlloc (call {began + 1}, " in emulator.explanation()
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


@pytest.mark.emulator
def test_reset_ends_captures(control):
    from se_cy import emulator

    ok(driver.cuInit(0))
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
    stream = ok(driver.cuStreamCreate(0))
    begin(stream)
    emulator.reset()
    assert emulator.live("graphs") == 0
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
    ok(driver.cuMemFree(ok(driver.cuMemAlloc(64))))


@strict
def test_graph_can_not_become_executable_during_a_capture(stream, mode):
    graph = ok(driver.cuGraphCreate(0))
    begin(stream, mode)
    assert answer(driver.cuGraphInstantiate(graph, 0)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"
    ok(driver.cuGraphDestroy(graph))


def test_graph_needs_a_context_to_become_executable(context):
    graph = ok(driver.cuGraphCreate(0))
    ok(driver.cuCtxPopCurrent())
    try:
        assert answer(driver.cuGraphInstantiate(graph, 0)) == "INVALID_CONTEXT"
    finally:
        ok(driver.cuCtxPushCurrent(context))
        ok(driver.cuGraphDestroy(graph))


@pytest.mark.emulator
def test_thread_does_not_inherit_the_capture_of_one_that_has_ended(control):
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    per_thread = driver.CUstream(driver.CU_STREAM_PER_THREAD)
    in_thread(context, begin, per_thread, RELAXED)
    assert ok(in_thread(context, driver.cuStreamIsCapturing, per_thread)) == NONE
