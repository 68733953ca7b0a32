# SPDX-License-Identifier: Apache-2.0
"""What one launch may cost: its driver calls, counted on the emulated driver's log, and no allocation."""

import os
import pathlib
import subprocess

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.child import check_python
from helpers.driver_api import ok

import se_cy

pytestmark = pytest.mark.emulator

IN_CONTEXT = ["cuCtxGetCurrent", "cuLaunchKernel"]
SWITCHED = ["cuCtxGetCurrent", "cuCtxPushCurrent", "cuLaunchKernel", "cuCtxPopCurrent"]


@pytest.fixture
def current(device):
    """Make a device's primary context current, or none; the thread's own afterwards."""
    before = ok(driver.cuCtxGetCurrent())
    device.synchronize()

    def make_current(ordinal):
        context = 0 if ordinal is None else ok(driver.cuDevicePrimaryCtxRetain(ordinal))
        ok(driver.cuCtxSetCurrent(context))
        return int(context)

    yield make_current
    ok(driver.cuCtxSetCurrent(before))


def launches(emulator, launch):
    """Launch cold and warm; what each asked of the driver."""
    logs = []
    for _ in range(2):
        before = int(ok(driver.cuCtxGetCurrent()))
        with emulator.record() as log:
            launch()
        assert int(ok(driver.cuCtxGetCurrent())) == before
        logs.append(log.functions)
    return logs


@pytest.mark.parametrize("ordinal", [0, 1, None])
def test_explicit_stream_takes_one_driver_call(device, kernel_of, emulator, current, ordinal):
    # B05, B15
    kernel, stream = kernel_of("sixteen"), device.create_stream()
    bound, held = kernel.bind(1, 1, stream=stream), kernel.bind(1, 1, stream=stream, hold_gil=True)
    arguments = range(16)
    current(ordinal)
    for launch in (
        lambda: bound(*arguments),
        lambda: held(*arguments),
        lambda: kernel[1, 1, stream](*arguments),
        lambda: kernel.launch(1, 1, *arguments, stream=stream),
    ):
        assert launches(emulator, launch) == [["cuLaunchKernel"]] * 2


@pytest.mark.parametrize("ordinal, calls", [(0, IN_CONTEXT), (1, SWITCHED), (None, SWITCHED)])
@pytest.mark.parametrize("stream", [None, 0, 1, 2])
def test_default_stream_asks_for_the_context(device, kernel_of, emulator, current, ordinal, calls, stream):
    bound = kernel_of("nothing").bind(1, 1, stream=stream)
    current(ordinal)
    assert launches(emulator, bound) == [calls] * 2


def test_stream_of_others_is_asked_for_its_device_once(device, kernel_of, emulator, current):
    stream = device.create_stream()
    kernel, handle = kernel_of("nothing"), stream.handle
    current(None)
    with emulator.record() as log:
        bound = kernel.bind(1, 1, stream=handle)
    assert log.functions == ["cuStreamGetCtx"]
    assert launches(emulator, bound) == [["cuLaunchKernel"]] * 2


def test_launch_into_a_capture_takes_one_driver_call(device, kernel_of, emulator):
    stream = device.create_stream()
    bound = kernel_of("nothing").bind(1, 1, stream=stream)
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    ok(driver.cuStreamBeginCapture(stream.handle, mode))
    logs = launches(emulator, bound)
    graph = ok(driver.cuStreamEndCapture(stream.handle))
    try:
        assert logs == [["cuLaunchKernel"]] * 2
        assert ok(driver.cuGraphGetNodes(graph, 0))[1] == 2
    finally:
        ok(driver.cuGraphDestroy(graph))


def test_empty_grid_and_refused_arguments_take_none(device, kernel_of, emulator):
    stream = device.create_stream()
    kernel = kernel_of("double_it")
    out = device.to_device(np.ones(1, np.int32))
    for bound in (kernel.bind(0, 1, stream=stream), kernel.bind((1, 1, 0), 1), kernel[(1, 0), 1]):
        assert launches(emulator, lambda bound=bound: bound(out)) == [[]] * 2

    def refused():
        with pytest.raises(TypeError):
            kernel[1, 1, stream](2.5)

    assert launches(emulator, refused) == [[]] * 2


@pytest.mark.parametrize("failing", ["cuCtxPushCurrent", "cuLaunchKernel", "cuCtxPopCurrent"])
def test_failed_launch_leaves_the_current_context(device, kernel_of, emulator, current, failing):
    bound = kernel_of("nothing")[1, 1]
    other = current(1)
    emulator.fail(failing, nth=1, status=1)
    with pytest.raises(se_cy.CudaError) as caught:
        bound()
    assert caught.value.call == failing
    if failing == "cuCtxPopCurrent":
        ok(driver.cuCtxPopCurrent())  # the driver refused it: nobody could
    assert int(ok(driver.cuCtxGetCurrent())) == other
    device.clear()  # would wait for ever for a launch that was not counted out


def test_driver_below_13_asks_for_the_context_at_each_launch():
    check_python(
        """
        import se_cy
        from se_cy import emulator
        emulator.set_driver_version((12, 4))
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        device = se_cy.Device(0)
        kernel = device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(ptx))
        stream = device.create_stream()
        switched = ["cuCtxGetCurrent", "cuCtxPushCurrent", "cuLaunchKernel", "cuCtxPopCurrent"]
        for bound in (kernel.bind(1, 1, stream=stream), kernel.bind(1, 1)):
            for _ in range(2):
                with emulator.record() as log:
                    bound()
                assert log.functions == switched, log.functions
        """
    )


COUNTER = r"""
#include <stddef.h>

/* glibc's own, behind the names that this library takes over. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static unsigned long allocations;

void *malloc(size_t size) { ++allocations; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { ++allocations; return __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { ++allocations; return __libc_realloc(block, size); }
unsigned long allocations_so_far(void) { return allocations; }
"""

COUNTING = """
    import ctypes
    import gc
    import sys
    sys.path.insert(0, {bench!r})
    import null_driver  # returns at once: the emulated driver allocates
    null_driver.use()
    from instructions import launch
    from itertools import repeat

    allocations = ctypes.CDLL(None).allocations_so_far
    allocations.restype = ctypes.c_ulong
    names = launch(1000)[1]
    bound, x, y, out = (names[name] for name in ("bound", "x", "y", "out"))
    kernel, device = bound.kernel, bound.kernel.device
    stream = device.create_stream()
    default, held = kernel.bind(1, 128), kernel.bind(1, 128, stream=stream, hold_gil=True)
    attributes = kernel.bind(1, 128, stream=stream, priority=None, programmatic_stream_serialization=True)

    def launch_bound(times):
        for _ in repeat(None, times):
            bound(2.0, x, y, out, 256)

    def launch_default(times):
        for _ in repeat(None, times):
            default(2.0, x, y, out, 256)

    def launch_held(times):
        for _ in repeat(None, times):
            held(2.0, x, y, out, 256)

    def launch_with_attributes(times):
        for _ in repeat(None, times):
            attributes(2.0, x, y, out, 256)

    def launch_unbound(times):
        for _ in repeat(None, times):
            kernel[1, 128, stream](2.0, x, y, out, 256)

    def allocate(times):
        for _ in repeat(None, times):
            [None] * 99

    def count(run, times):
        before = allocations()
        run(times)
        return allocations() - before

    gc.disable()
    for run in launch_bound, launch_default, launch_held, launch_with_attributes, launch_unbound, allocate:
        run(1000)
        print(run.__name__, count(run, 1010) - count(run, 10))
"""


def test_launch_allocates_nothing(tmp_path):
    source = tmp_path / "counter.c"
    source.write_text(COUNTER)
    counter = tmp_path / "counter.so"
    subprocess.run([*os.environ.get("CC", "gcc").split(), "-O2", "-shared", "-fPIC", "-fno-builtin", source, "-o",
                    counter], check=True)
    bench = pathlib.Path(__file__).parent.parent / "bench"
    printed = check_python(COUNTING.format(bench=str(bench)), driver=None,
                           environment={"LD_PRELOAD": str(counter), "PYTHONMALLOC": "malloc"})
    counts = {name: int(count) for name, count in (line.split() for line in printed.splitlines())}
    assert counts.pop("allocate") >= 1000
    assert counts == dict.fromkeys(
        ["launch_bound", "launch_default", "launch_held", "launch_with_attributes", "launch_unbound"], 0)
