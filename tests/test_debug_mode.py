# SPDX-License-Identifier: Apache-2.0
"""Faults of device code: which call reports them, what is said then, and SE_CY_DEBUG=1."""

import pathlib

import pytest
from helpers.child import check_python

pytestmark = pytest.mark.emulator

ARGUMENTS = pathlib.Path(__file__).parent / "kernels" / "arguments.ptx"

BEGINNING = f"""
    import numpy as np
    import se_cy
    from se_cy import emulator

    device = se_cy.Device(0)
    spec = se_cy.KernelLoaderSpec("double_it").add_ptx(se_cy.Code.from_file({str(ARGUMENTS)!r}))
    double_it, add_hundred, nothing = (device.create_kernel(spec.named(name))
                                       for name in ("double_it", "add_hundred", "nothing"))
    stream = device.create_stream()
    out = device.to_device(np.ones(1, np.int32))

    def error_of(call):
        try:
            call()
        except se_cy.CudaError as error:
            return error
        raise AssertionError("no error")
"""


def run(program, debug):
    return check_python(BEGINNING + program, environment={"SE_CY_DEBUG": "1"} if debug else None)


@pytest.mark.parametrize("stream", ["stream", "None", "1", "2"])
@pytest.mark.parametrize("attributes", ["", "priority=0", "hold_gil=True"])
def test_debug_mode_raises_at_the_launch_that_faulted(stream, attributes):
    # B04
    run(
        f"""
    add_hundred.bind(1, 1, stream={stream}, {attributes})(out)
    error = error_of(lambda: double_it.bind(1, 1, stream={stream}, {attributes})(16))
    text = str(error)
    assert error.status == 700 and error.call == "cuStreamSynchronize" and not isinstance(error, se_cy.ContextLostError)
    assert "'double_it'" in text and "SE_CY_DEBUG" in text and "must be restarted" in text, text
    assert "grid (1, 1, 1)" in text and "'add_hundred'" not in text, text
    """,
        debug=True,
    )


def test_without_debug_mode_a_later_call_says_that_earlier_work_may_be_the_cause():
    run(
        """
    double_it[1, 1, stream](16)
    error = error_of(stream.synchronize)
    assert error.status == 700 and "earlier work" in str(error) and "must be restarted" in str(error), error
    """,
        debug=False,
    )


def test_refused_launch_does_not_speak_of_earlier_work():
    run(
        """
    for status in 1, 400, 701, 720:
        emulator.fail("cuLaunchKernel", nth=1, status=status)
        text = str(error_of(lambda: nothing[1, 1, stream]()))
        assert "earlier" not in text and "restart" not in text, text
    """,
        debug=False,
    )


@pytest.mark.parametrize("debug", [False, True])
def test_first_fault_is_kept(debug):
    # B06
    run(
        """
    import gc
    memory = [device.allocate(4, "f4") for _ in range(50)]
    head = ".version 7.0\\n.target sm_52\\n.address_size 64\\n"
    modules = [device.load(head + ".visible .entry k() { ret; }", shared=False) for _ in range(10)]
    def fault():
        double_it[1, 1, stream](16)
        stream.synchronize()
    first = error_of(fault)
    assert type(first) is se_cy.CudaError
    del memory, modules
    gc.collect()
    for later in (lambda: nothing[1, 1, stream](), lambda: nothing[1, 1](), device.synchronize, stream.synchronize):
        error = error_of(later)
        assert type(error) is se_cy.ContextLostError and error.status == 700, repr(error)
        assert first.args[0].splitlines()[0] in str(error) and "new process" in str(error), error
    """,
        debug,
    )


@pytest.mark.parametrize("mode", ["GLOBAL", "THREAD_LOCAL", "RELAXED"])
def test_debug_mode_waits_for_no_capture_and_breaks_none(mode):
    run(
        f"""
    from cuda.bindings import driver

    def ok(returned):
        assert returned[0] == driver.CUresult.CUDA_SUCCESS, returned[0]
        return returned[1] if len(returned) > 1 else None

    other = device.create_stream(non_blocking=True)
    captured = device.create_stream(non_blocking=True)
    ok(driver.cuStreamBeginCapture(captured.handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_{mode}))
    with emulator.record() as log:
        double_it[1, 1, captured](16)   # would fault if it ran
        add_hundred[1, 1, other](out)   # is waited for
    assert len(log.of("cuStreamSynchronize")) == 1
    graph = ok(driver.cuStreamEndCapture(captured.handle))
    assert ok(driver.cuGraphGetNodes(graph, 1)) and out.to_host()[0] == 101
    ok(driver.cuGraphDestroy(graph))
    """,
        debug=True,
    )


def test_debug_mode_waits_after_each_launch_and_only_then():
    for debug, functions in [
        (False, ["cuLaunchKernel"]),
        (True, ["cuLaunchKernel", "cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode", "cuStreamSynchronize",
                "cuThreadExchangeStreamCaptureMode"]),
    ]:
        run(
            f"""
    bound, empty = nothing.bind(1, 1, stream=stream), nothing.bind(0, 1, stream=stream)
    for _ in range(2):
        with emulator.record() as log:
            bound()
        assert log.functions == {functions}, log.functions
        assert not any(call.has_gil for call in log)
        with emulator.record() as log:
            empty()
        assert log.functions == []
    """,
            debug,
        )


@pytest.mark.parametrize("function", ["cuStreamIsCapturing", "cuStreamSynchronize"])
def test_failure_of_the_wait_counts_the_launch_out(function):
    run(
        f"""
    emulator.fail({function!r}, nth=1, status=999)
    error = error_of(lambda: nothing[1, 1]())
    assert error.status == 999 and error.call == {function!r}, error
    nothing[1, 1]()
    device.clear()
    """,
        debug=True,
    )
