# SPDX-License-Identifier: Apache-2.0
"""Every driver call of every path fails once: the error names the call, nothing leaks, the next attempt succeeds."""

import gc
from collections import Counter

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.emulated import PTX

import se_cy

pytestmark = pytest.mark.emulator

KINDS = ("modules", "streams", "allocations")

# A failed pop leaves what was pushed, and a failed free is not tried again: the driver may have done it.
HOPELESS = {("cuCtxPopCurrent", "context"), ("cuMemFree", "leak")}

# An error on the way to a message that does not need it.
OPTIONAL = {"cuGetErrorName", "cuGetErrorString", "cuModuleGetFunctionCount", "cuModuleEnumerateFunctions",
            "cuFuncGetName"}


def create(device, state):
    device.create_kernel(state["spec"])


def missing(device, state):
    with pytest.raises(se_cy.KernelNotFoundError):
        device.create_kernel(state["spec"].named("absent"))


def bind(device, state):
    device.create_kernel(state["spec"]).bind(1, 1, shared_bytes=60000)


def launch(device, state):
    device.create_kernel(state["spec"])[1, 1](state["memory"])


def launch_on_stream(device, state):
    device.create_kernel(state["spec"])[1, 1, state["stream"]](state["memory"])


def stream(device, state):
    with device.create_stream() as made:
        made.synchronize()
        assert made.is_done in (True, False)


def memory(device, state):
    with device.to_device(np.arange(10)) as made:
        made.to_host()


def memory_on_stream(device, state):
    with device.to_device(np.arange(10), stream=state["stream"]) as made:
        made.to_host()
    state["stream"].synchronize()


def clear(device, state):
    device.create_kernel(state["spec"])
    device.clear()


def synchronize(device, state):
    device.allocate(4, "f4")
    device.synchronize()


def attributes(device, state):
    kernel = device.create_kernel(state["spec"])
    assert kernel.attributes and kernel.module.kernels and device.memory_info()


def trim(device, state):
    device.load(state["code"])
    assert device.modules.trim() >= 1


def limit(device, state):
    device.create_kernel(state["spec"])
    limit, device.modules.limit = device.modules.limit, 0
    try:
        device.load(state["code"])
        device.synchronize()
    finally:
        device.modules.limit = limit


def own_module(device, state):
    module = device.load(state["code"], shared=False)
    assert module["nothing"].name == "nothing"
    module.unload()


def own_module_dropped(device, state):
    device.load(state["code"], shared=False, options={"max_registers": 64})
    device.synchronize()


def global_variable(device, state):
    counter = device.load(state["code"], shared=False).get_global("counter", 1, np.int32)
    counter.copy_from_host(np.array([1], np.int32))
    counter.to_host()


def preload(device, state):
    device.preload(state["spec"])


PATHS = [create, missing, bind, launch, launch_on_stream, stream, memory, memory_on_stream, clear, synchronize,
         attributes, trim, limit, own_module, own_module_dropped, global_variable, preload]


def current_context():
    return int(driver.cuCtxGetCurrent()[1])


@pytest.fixture
def state(device, emulator, arguments_ptx):
    device.synchronize()
    state = {"spec": se_cy.KernelLoaderSpec("double_it").add_ptx(arguments_ptx), "stream": device.create_stream(),
             "memory": device.allocate(4, np.int32), "code": se_cy.Code(PTX)}
    yield state
    while current_context():
        driver.cuCtxPopCurrent()
    emulator.reset()  # frees what a failed cuMemFree has left: it is not tried again


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
def test_every_driver_call_of_the_path_may_fail(device, emulator, state, path):
    def settle():
        emulator.clear_failures()
        while current_context():
            driver.cuCtxPopCurrent()
        gc.collect()
        device.clear()
        device.synchronize()
        return {kind: emulator.live(kind) for kind in KINDS}

    path(device, state)  # what only the first use does is not what is counted
    settle()
    with emulator.record() as log:
        path(device, state)
    counts = Counter(log.functions)
    tried = 0
    for function, count in counts.items():
        if function in OPTIONAL:
            continue
        for nth in range(1, count + 1):
            live = settle()
            emulator.fail(function, nth=nth, status=801)
            error = None
            try:
                path(device, state)
            except se_cy.CudaError as caught:
                error = caught
            where = f"{function}, call {nth} of {count}"
            # The incarnation is asked for before a destructor or a retry, which go on without the answer.
            assert error is None or error.call == function, f"{where}: {error}"
            goes_on = function in ("cuCtxGetId", "cuDevicePrimaryCtxRelease") or path is missing
            assert error is not None or goes_on, f"{where}: no error"
            del error
            if (function, "context") not in HOPELESS:
                assert current_context() == 0, where
            if (function, "leak") not in HOPELESS:
                assert settle() == live, where
            settle()
            path(device, state)
            tried += 1
    assert tried >= 3
