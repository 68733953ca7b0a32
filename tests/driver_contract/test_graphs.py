# SPDX-License-Identifier: Apache-2.0
"""Graphs of kernel nodes and their executables."""

import ctypes
import threading

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok

INT, POINTER, LONG = ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong


def parameters_of(function, *arguments):
    """Parameters of a kernel node of one thread; each argument is a pair of a value and a ctypes type."""
    parameters = driver.CUDA_KERNEL_NODE_PARAMS()
    parameters.func = function
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1
    parameters.kernelParams = tuple(zip(*arguments)) or 0
    return parameters


def at(memory, index=0):
    """The argument that points to an int of device memory."""
    return int(memory) + 4 * index, POINTER


def add_node(graph, function, *arguments, after=()):
    return ok(driver.cuGraphAddKernelNode(graph, list(after), len(after), parameters_of(function, *arguments)))


def read(memory, index=0):
    values = np.zeros(1024, np.int32)
    ok(driver.cuMemcpyDtoH(values, memory, values.nbytes))
    return values[index]


@pytest.fixture
def memory(memory):
    ok(driver.cuCtxSynchronize())  # the zeros come by the legacy stream, for which the others do not wait
    return memory


@pytest.fixture
def graph(module):
    graph = ok(driver.cuGraphCreate(0))
    yield graph
    ok(driver.cuGraphDestroy(graph))


@pytest.fixture
def instantiate(graph):
    """Make an executable of the graph."""
    executables = []

    def make():
        executables.append(ok(driver.cuGraphInstantiate(graph, 0)))
        return executables[-1]

    yield make
    for executable in executables:
        ok(driver.cuGraphExecDestroy(executable))


@pytest.fixture
def streams(context):
    streams = [ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2)]
    yield streams
    for stream in streams:
        ok(driver.cuStreamDestroy(stream))


@pytest.fixture
def flag(context):
    """Page-locked zeros that kernels and the host share: what spin_until waits for."""
    address = ok(driver.cuMemHostAlloc(64, driver.CU_MEMHOSTALLOC_DEVICEMAP))
    values = (INT * 16).from_address(int(address))
    ctypes.memset(values, 0, 64)
    yield values, int(address)
    values[0] = 1
    ok(driver.cuCtxSynchronize())
    ok(driver.cuMemFreeHost(address))


def test_launch_runs_the_nodes(graph, instantiate, kernel, memory, stream):
    add_node(graph, kernel("add"), at(memory), (5, INT))
    executable = instantiate()
    for _ in range(3):
        ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 15


def test_nodes_wait_for_their_dependencies(graph, instantiate, kernel, memory, stream):
    spin = add_node(graph, kernel("spin"), (3_000_000, LONG))
    put = add_node(graph, kernel("put"), at(memory), (3, INT), after=[spin])
    add_node(graph, kernel("copy"), at(memory, 1), at(memory), after=[put, spin])
    ok(driver.cuGraphLaunch(instantiate(), stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory, 1) == 3


def test_launch_keeps_the_order_of_the_stream(graph, instantiate, kernel, memory, stream):
    add_node(graph, kernel("copy"), at(memory, 1), at(memory))
    executable = instantiate()
    ok(driver.cuMemsetD32Async(memory, 1, 1, stream))
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuMemsetD32Async(memory, 2, 1, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert (read(memory), read(memory, 1)) == (2, 1)


def test_runs_of_one_executable_do_not_overlap(graph, instantiate, kernel, memory, streams, flag):
    values, address = flag
    spin = add_node(graph, kernel("spin_until"), (address, POINTER))
    add_node(graph, kernel("add"), at(memory), (1, INT), after=[spin])
    executable = instantiate()
    for stream in streams:
        ok(driver.cuGraphLaunch(executable, stream))
    event = ok(driver.cuEventCreate(0))
    ok(driver.cuEventRecord(event, streams[1]))
    assert answer(driver.cuEventQuery(event)) == "NOT_READY"
    values[0] = 1
    ok(driver.cuEventSynchronize(event))
    assert answer(driver.cuStreamQuery(streams[0])) == "SUCCESS"
    assert read(memory) == 2
    ok(driver.cuEventDestroy(event))


def test_second_run_waits_for_the_first_in_another_stream(graph, instantiate, kernel, streams):
    add_node(graph, kernel("spin"), (20_000_000, LONG))
    executable = instantiate()
    events = [ok(driver.cuEventCreate(0)) for _ in range(3)]
    ok(driver.cuEventRecord(events[0], streams[0]))
    for stream, event in zip(streams, events[1:]):
        ok(driver.cuGraphLaunch(executable, stream))
        ok(driver.cuEventRecord(event, stream))
    ok(driver.cuCtxSynchronize())
    assert ok(driver.cuEventElapsedTime(events[0], events[2])) >= 40
    for event in events:
        ok(driver.cuEventDestroy(event))


def test_each_run_uses_the_parameters_of_its_launch(graph, instantiate, kernel, memory, streams, flag):
    values, address = flag
    spin = add_node(graph, kernel("spin_until"), (address, POINTER))
    node = add_node(graph, kernel("put"), at(memory), (1, INT), after=[spin])
    executable = instantiate()
    ok(driver.cuGraphLaunch(executable, streams[0]))
    parameters = parameters_of(kernel("put"), at(memory, 1), (2, INT))
    ok(driver.cuGraphExecKernelNodeSetParams(executable, node, parameters))
    ok(driver.cuGraphLaunch(executable, streams[1]))
    values[0] = 1
    ok(driver.cuCtxSynchronize())
    assert (read(memory), read(memory, 1)) == (1, 2)


def test_arguments_are_copied_when_the_node_is_added(graph, instantiate, kernel, memory, stream):
    value, address = INT(4), POINTER(int(memory))
    array = (POINTER * 2)(ctypes.addressof(address), ctypes.addressof(value))
    parameters = parameters_of(kernel("put"))
    parameters.kernelParams = ctypes.addressof(array)
    ok(driver.cuGraphAddKernelNode(graph, [], 0, parameters))
    value.value, address.value = 9, 0
    ok(driver.cuGraphLaunch(instantiate(), stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 4


def test_arguments_are_copied_when_they_are_set(graph, instantiate, kernel, memory, stream):
    node = add_node(graph, kernel("put"), at(memory), (4, INT))
    executable = instantiate()
    value, address = INT(5), POINTER(int(memory))
    array = (POINTER * 2)(ctypes.addressof(address), ctypes.addressof(value))
    parameters = parameters_of(kernel("put"))
    parameters.kernelParams = ctypes.addressof(array)
    ok(driver.cuGraphExecKernelNodeSetParams(executable, node, parameters))
    value.value, address.value = 9, 0
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 5


def test_executable_does_not_see_later_changes_of_the_graph(graph, instantiate, kernel, memory, stream):
    node = add_node(graph, kernel("put"), at(memory), (1, INT))
    before = instantiate()
    ok(driver.cuGraphKernelNodeSetParams(node, parameters_of(kernel("put"), at(memory, 1), (2, INT))))
    add_node(graph, kernel("put"), at(memory, 2), (3, INT))
    ok(driver.cuGraphLaunch(before, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert [read(memory, index) for index in range(3)] == [1, 0, 0]
    ok(driver.cuGraphLaunch(instantiate(), stream))
    ok(driver.cuStreamSynchronize(stream))
    assert [read(memory, index) for index in range(3)] == [1, 2, 3]


def test_node_runs_another_function_after_it_is_set(graph, instantiate, kernel, memory, stream):
    node = add_node(graph, kernel("put"), at(memory), (1, INT))
    executable = instantiate()
    parameters = parameters_of(kernel("add"), at(memory), (6, INT))
    ok(driver.cuGraphExecKernelNodeSetParams(executable, node, parameters))
    for _ in range(2):
        ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 12


def test_parameters_of_a_node_can_be_read(graph, kernel, memory):
    node = add_node(graph, kernel("put"), at(memory), (77, INT))
    parameters = ok(driver.cuGraphKernelNodeGetParams(node))
    assert int(parameters.func) == int(kernel("put"))
    assert (parameters.gridDimX, parameters.blockDimX, parameters.sharedMemBytes) == (1, 1, 0)
    addresses = (POINTER * 2).from_address(int(parameters.kernelParams))
    assert POINTER.from_address(addresses[0]).value == int(memory)
    assert INT.from_address(addresses[1]).value == 77


def test_nodes_of_a_graph_are_listed(graph, kernel):
    first = add_node(graph, kernel("nothing"))
    second = add_node(graph, kernel("nothing_else"), after=[first])
    nodes, count = ok(driver.cuGraphGetNodes(graph))
    assert count == 2
    nodes, count = ok(driver.cuGraphGetNodes(graph, 2))
    assert {int(node) for node in nodes} == {int(first), int(second)}
    assert ok(driver.cuGraphNodeGetType(first)) == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL


def test_executable_lives_without_its_graph_but_can_not_be_set(kernel, memory, stream):
    graph = ok(driver.cuGraphCreate(0))
    node = add_node(graph, kernel("add"), at(memory), (1, INT))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    ok(driver.cuGraphDestroy(graph))
    parameters = parameters_of(kernel("add"), at(memory), (2, INT))
    assert answer(driver.cuGraphExecKernelNodeSetParams(executable, node, parameters)) == "INVALID_VALUE"
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 1
    ok(driver.cuGraphExecDestroy(executable))


def test_executable_can_be_destroyed_while_it_runs(graph, instantiate, kernel, memory, stream, flag):
    values, address = flag
    spin = add_node(graph, kernel("spin_until"), (address, POINTER))
    add_node(graph, kernel("put"), at(memory), (8, INT), after=[spin])
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuGraphExecDestroy(executable))
    values[0] = 1
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 8


def test_launch_needs_a_current_context_only_on_a_default_stream(graph, instantiate, kernel, memory, stream):
    add_node(graph, kernel("add"), at(memory), (1, INT))
    executable = instantiate()
    answers = []

    def launch():
        answers.append(answer(driver.cuGraphLaunch(executable, stream)))
        answers.append(answer(driver.cuGraphLaunch(executable, 0)))

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    assert answers == ["SUCCESS", "INVALID_CONTEXT"]
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 1


def test_empty_graph_can_be_launched(instantiate, stream):
    ok(driver.cuGraphLaunch(instantiate(), stream))
    ok(driver.cuStreamSynchronize(stream))


def test_upload_launches_nothing(graph, instantiate, kernel, memory, stream):
    add_node(graph, kernel("add"), at(memory), (1, INT))
    executable = instantiate()
    ok(driver.cuGraphUpload(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 0
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert read(memory) == 1


@pytest.mark.parametrize("block", [0, 1025])
def test_block_beyond_the_limits_is_refused(graph, kernel, block):
    parameters = parameters_of(kernel("nothing"))
    parameters.blockDimX = block
    assert answer(driver.cuGraphAddKernelNode(graph, [], 0, parameters)) == "INVALID_VALUE"


def test_null_handles_are_invalid_values(graph, kernel, stream):
    assert answer(driver.cuGraphLaunch(0, stream)) == "INVALID_VALUE"
    assert answer(driver.cuGraphInstantiate(0, 0)) == "INVALID_VALUE"
    assert answer(driver.cuGraphDestroy(0)) == "INVALID_VALUE"
    assert answer(driver.cuGraphAddKernelNode(0, [], 0, parameters_of(kernel("nothing")))) == "INVALID_VALUE"


@pytest.mark.emulator
def test_graphs_are_counted(emulator, context):
    before = emulator.live()
    graph = ok(driver.cuGraphCreate(0))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    assert emulator.live() == before | {"graphs": before["graphs"] + 1, "graph_execs": before["graph_execs"] + 1}
    ok(driver.cuGraphDestroy(graph))
    ok(driver.cuGraphExecDestroy(executable))
    assert emulator.live() == before


@pytest.mark.emulator
def test_dead_graph_has_a_history(emulator, context):
    graph = ok(driver.cuGraphCreate(0))
    ok(driver.cuGraphDestroy(graph))
    assert answer(driver.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"
    assert "made by cuGraphCreate" in emulator.explanation()
    assert "ended by cuGraphDestroy" in emulator.explanation()


@pytest.mark.emulator
@in_own_process
def test_run_with_an_unloaded_module_is_a_fault():
    from helpers.emulated import PTX

    from se_cy import emulator

    ok(driver.cuInit(0))
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
    module = ok(driver.cuModuleLoadData(PTX))
    graph = ok(driver.cuGraphCreate(0))
    add_node(graph, ok(driver.cuModuleGetFunction(module, b"nothing")))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    ok(driver.cuModuleUnload(module))
    ok(driver.cuGraphLaunch(executable, 0))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    assert "kernel nothing" in emulator.last_fault() and "cuModuleUnload" in emulator.last_fault()


@pytest.mark.emulator
@pytest.mark.parametrize("seed", range(8))
def test_dependencies_hold_in_every_order(graph, instantiate, kernel, memory, streams, emulator, seed):
    first = add_node(graph, kernel("add"), at(memory), (1, INT))
    branches = [add_node(graph, kernel("copy"), at(memory, 1 + index), at(memory), after=[first]) for index in range(2)]
    last = add_node(graph, kernel("copy"), at(memory, 3), at(memory, 1), after=branches)
    add_node(graph, kernel("copy"), at(memory, 4), at(memory, 2), after=[last])
    executable = instantiate()
    emulator.seed(seed)
    for stream in streams * 2:
        ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuCtxSynchronize())
    emulator.seed(None)
    assert [read(memory, index) for index in range(5)] == [4] * 5
