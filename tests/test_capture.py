# SPDX-License-Identifier: Apache-2.0
"""se_cy while a stream is captured: launches become nodes of the graph; what it does by itself ends no capture."""

import gc

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.driver_api import ok

import se_cy

MODE = driver.CUstreamCaptureMode
every_mode = pytest.mark.parametrize(
    "mode",
    [MODE.CU_STREAM_CAPTURE_MODE_GLOBAL, MODE.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, MODE.CU_STREAM_CAPTURE_MODE_RELAXED],
    ids=["global", "thread_local", "relaxed"],
)


@pytest.fixture
def spec(device, arguments_ptx):
    """Of a kernel that doubles four ints; no device has loaded its code."""
    return se_cy.KernelLoaderSpec("double_it").add_ptx(arguments_ptx)


@pytest.fixture
def stream(device):
    with device.create_stream() as stream:
        yield stream


@pytest.fixture
def memory(device):
    with device.to_device(np.array([1, 2, 3, 4], np.int32)) as memory:
        yield memory


class Graph:
    """What was captured on a stream while the block ran. A capture that is not valid any more fails at the end."""

    def __init__(self, stream, mode):
        self.stream = driver.CUstream(stream.handle)
        self.mode = mode

    def __enter__(self):
        ok(driver.cuStreamBeginCapture(self.stream, self.mode))
        return self

    def __exit__(self, *raised):
        self.graph = ok(driver.cuStreamEndCapture(self.stream))

    def nodes(self):
        return ok(driver.cuGraphGetNodes(self.graph, 0))[1]

    def run(self):
        ok(driver.cuCtxPushCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
        executable = ok(driver.cuGraphInstantiate(self.graph, 0))
        ok(driver.cuGraphLaunch(executable, self.stream))
        ok(driver.cuStreamSynchronize(self.stream))
        ok(driver.cuGraphExecDestroy(executable))
        ok(driver.cuGraphDestroy(self.graph))
        ok(driver.cuCtxPopCurrent())
        ok(driver.cuDevicePrimaryCtxRelease(0))


@every_mode
@pytest.mark.parametrize("is_warm", [True, False], ids=["warm", "cold"])
def test_launch_is_captured(device, spec, stream, memory, mode, is_warm):
    # B22
    if is_warm:
        device.create_kernel(spec)[1, 4, stream](memory)
        stream.synchronize()
    before = memory.to_host()
    with Graph(stream, mode) as graph:
        kernel = device.create_kernel(spec)
        kernel[1, 4, stream](memory)
        kernel.bind(1, 4, stream=stream, shared_bytes=60000)(memory)
    assert graph.nodes() == 2
    assert (memory.to_host() == before).all()
    graph.run()
    assert (memory.to_host() == 4 * before).all()
    kernel[1, 4, stream](memory)
    stream.synchronize()
    assert (memory.to_host() == 8 * before).all()


@every_mode
def test_what_is_dropped_meanwhile_leaves_the_capture_valid(device, spec, stream, memory, arguments_ptx, mode):
    kernel = device.create_kernel(spec)
    other = device.create_stream()
    held = [device.load(arguments_ptx, shared=False), device.allocate(4, np.int32),
            device.allocate(4, np.int32, stream=stream), device.allocate(4, np.int32, stream=other)]
    stream.synchronize()
    with Graph(stream, mode) as graph:
        held.clear()
        other = None
        gc.collect()
        kernel[1, 4, stream](memory)
    assert graph.nodes() == 1
    graph.run()


@every_mode
def test_modules_are_unloaded_meanwhile(device, spec, stream, memory, arguments_ptx, mode):
    kernel = device.create_kernel(spec)
    with Graph(stream, mode) as graph:
        other = device.load(arguments_ptx, shared=False)
        kernel[1, 4, stream](memory)
        other.unload()
    assert graph.nodes() == 1
    graph.run()


@every_mode
def test_refused_launch_leaves_the_capture_valid(device, spec, stream, memory, mode):
    kernel = device.create_kernel(spec)
    with Graph(stream, mode) as graph:
        with pytest.raises(TypeError):
            kernel[1, 4, stream]("no address")
        with pytest.raises(se_cy.KernelNotFoundError):
            device.create_kernel(spec.named("absent"))
        with pytest.raises(ValueError):
            kernel[1, 4096, stream](memory)
        kernel[1, 4, stream](memory)
    assert graph.nodes() == 1
    graph.run()


def test_call_that_ends_a_capture_says_so(device, spec, stream, memory):
    kernel = device.create_kernel(spec)
    ok(driver.cuStreamBeginCapture(driver.CUstream(stream.handle), MODE.CU_STREAM_CAPTURE_MODE_GLOBAL))
    with pytest.raises(se_cy.CudaError, match="STREAM_CAPTURE_UNSUPPORTED"):
        stream.synchronize()
    with pytest.raises(se_cy.CudaError, match="STREAM_CAPTURE_INVALIDATED"):
        kernel[1, 4, stream](memory)
    ended = driver.cuStreamEndCapture(driver.CUstream(stream.handle))[0]
    assert ended == driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    kernel[1, 4, stream](memory)
    stream.synchronize()
    assert memory.to_host().tolist() == [2, 4, 6, 8]
