# SPDX-License-Identifier: Apache-2.0
"""Control of the emulated driver: failing, held, recorded and hidden calls, claims, versions, and the way back."""

import ctypes
import os
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.child import check_python, run_python
from helpers.driver_api import answer, ok
from helpers.emulated import OPEN, PTX, START, in_thread, launch

import se_cy

pytestmark = pytest.mark.emulator

# Failures


def test_sticky_failure_loses_the_current_context(control, context):
    control.fail("cuMemAlloc", status=719, sticky=True)
    assert answer(driver.cuMemAlloc(16)) == "LAUNCH_FAILED"
    assert answer(driver.cuMemAlloc(16)) == "LAUNCH_FAILED"
    assert answer(driver.cuStreamCreate(0)) == "LAUNCH_FAILED"
    assert "cuMemAlloc" in control.last_fault()
    control.clear_failures()
    assert answer(driver.cuCtxSynchronize()) == "LAUNCH_FAILED"


def test_failure_that_is_not_sticky_leaves_the_context(control, context):
    control.fail("cuMemAlloc", status=719)
    assert answer(driver.cuMemAlloc(16)) == "LAUNCH_FAILED"
    assert answer(driver.cuMemAlloc(16)) == "SUCCESS"


def test_sticky_failure_takes_the_context_of_the_arguments_where_none_is_current(control, context):
    other = ok(driver.cuDevicePrimaryCtxRetain(1))
    stream = ok(driver.cuStreamCreate(0))
    ok(driver.cuCtxSetCurrent(0))
    control.fail("cuStreamQuery", status=719, sticky=True)
    assert answer(driver.cuStreamQuery(stream)) == "LAUNCH_FAILED"
    ok(driver.cuCtxSetCurrent(other))
    assert answer(driver.cuCtxSynchronize()) == "SUCCESS"
    ok(driver.cuCtxSetCurrent(context))
    assert answer(driver.cuCtxSynchronize()) == "LAUNCH_FAILED"


def test_sticky_failure_of_a_call_about_no_context_loses_all(control, context):
    other = ok(driver.cuDevicePrimaryCtxRetain(1))
    ok(driver.cuCtxSetCurrent(0))
    control.fail("cuDeviceGetCount", status=719, sticky=True)
    assert answer(driver.cuDeviceGetCount()) == "LAUNCH_FAILED"
    for lost in (context, other):
        ok(driver.cuCtxSetCurrent(lost))
        assert answer(driver.cuCtxSynchronize()) == "LAUNCH_FAILED"


def test_sticky_failure_discards_pending_work(control, kernel):
    memory = ok(driver.cuMemHostAlloc(4, 0))
    value = ctypes.c_int.from_address(memory)
    ok(launch(kernel("put"), (memory, ctypes.c_void_p), (7, ctypes.c_int)))
    control.fail("cuMemAlloc", status=700, sticky=True)
    driver.cuMemAlloc(4)
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    assert value.value == 0


def test_sticky_failure_is_a_lost_context_to_se_cy(control):
    device = se_cy.Device(0)
    device.synchronize()
    control.fail("cuCtxSynchronize", status=719, sticky=True)
    with pytest.raises(se_cy.CudaError, match="told to fail"):
        device.synchronize()
    with pytest.raises(se_cy.ContextLostError):
        device.allocate(1, "f4")


@pytest.mark.parametrize("use", ["fail", "calls", "block", "hide"])
def test_unknown_function_is_refused_with_names_that_are_like_it(control, use):
    with pytest.raises(ValueError, match="cuMemAllocAsync"):
        getattr(control, use)("cuMemAlocAsync")
    with pytest.raises(ValueError, match="no function 'frobnicate'$"):
        getattr(control, use)("frobnicate")


@pytest.mark.parametrize("use", ["fail", "block", "hide"])
def test_what_is_no_name_of_a_function_is_refused(control, use):
    for name in ("", "cuMemAlloc\0", "cuMemAlloc\0x", "cuMemAlloc ", "cuMem\u0391lloc", "cuMemAlloc\udc80"):
        with pytest.raises(ValueError, match="no function"):
            getattr(control, use)(name)
    for name in (b"cuMemAlloc", 7, None, driver.cuMemAlloc):
        with pytest.raises(TypeError, match="goes by its name"):
            getattr(control, use)(name)


@pytest.mark.parametrize("use", ["fail", "calls", "block"])
def test_function_that_is_not_counted_is_refused(control, use):
    with pytest.raises(ValueError, match="not counted"):
        getattr(control, use)("cuGetErrorName")


def test_version_suffix_does_not_matter(control, context):
    before = control.calls("cuMemAlloc")
    control.fail("cuMemAlloc_v2", status=2)
    assert answer(driver.cuMemAlloc(4)) == "OUT_OF_MEMORY"
    assert control.calls("cuMemAlloc_v2") == before + 1


@pytest.mark.parametrize(
    "arguments", [{"nth": 0}, {"nth": -1}, {"nth": 1 << 64 | 1}, {"status": 0}, {"status": 1 << 32}]
)
def test_bad_failure_is_refused(control, arguments):
    with pytest.raises(ValueError):
        control.fail("cuMemAlloc", **arguments)


# Held calls


def test_blocked_calls_wait_and_other_calls_go_on(control, context):
    answers = []

    def allocate():
        ok(driver.cuCtxSetCurrent(context))
        answers.append(answer(driver.cuMemAlloc(16)))

    with control.block("cuMemAlloc") as block:
        threads = [in_thread(allocate) for _ in range(3)]
        block.wait_until_reached(3)
        assert answer(driver.cuCtxSynchronize()) == "SUCCESS"
        assert answers == [] and control.live("allocations") == 0
    for thread in threads:
        thread.join(30)
    assert answers == ["SUCCESS"] * 3
    ok(driver.cuMemAlloc(16))  # no longer held


def test_released_block_holds_nothing_and_can_not_be_waited_for(control, context):
    block = control.block("cuMemAlloc")
    block.release()
    block.release()
    ok(driver.cuMemAlloc(16))
    with pytest.raises(RuntimeError, match="not held"):
        block.wait_until_reached(timeout=5)


@pytest.mark.parametrize("timeout", [float("nan"), -1, -1e-9, -float("inf")])
def test_wait_of_a_time_that_can_not_be_is_refused(control, timeout):
    with control.block("cuMemAlloc") as block, pytest.raises(ValueError, match="0 or more"):
        block.wait_until_reached(timeout=timeout)


@pytest.mark.parametrize("count, error", [(0, ValueError), (-1, ValueError), (1 << 64 | 1, ValueError),
                                          (1.5, TypeError), ("1", TypeError)])
def test_wait_for_a_number_of_calls_that_can_not_be_is_refused(control, count, error):
    with control.block("cuMemAlloc") as block, pytest.raises(error):
        block.wait_until_reached(count, timeout=0)


def test_wait_for_calls_that_do_not_come_times_out(control):
    with control.block("cuMemAlloc") as block, pytest.raises(TimeoutError, match="cuMemAlloc"):
        block.wait_until_reached(timeout=0.05)


def test_call_passes_only_when_every_block_of_it_is_released(control, context):
    first, second = control.block("cuCtxSynchronize"), control.block("cuCtxSynchronize")
    done = threading.Event()

    def synchronize():
        ok(driver.cuCtxSetCurrent(context))
        ok(driver.cuCtxSynchronize())
        done.set()

    thread = in_thread(synchronize)
    first.wait_until_reached()
    first.release()
    second.wait_until_reached()
    assert not done.wait(0.05)
    second.release()
    thread.join(30)
    assert done.is_set()


def test_call_released_from_one_block_is_not_caught_by_the_next(control, context):
    for _ in range(50):
        with control.block("cuDriverGetVersion") as block:
            thread = in_thread(driver.cuDriverGetVersion)
            block.wait_until_reached()
        with control.block("cuDriverGetVersion") as block:
            thread.join(30)
            assert not thread.is_alive()
            with pytest.raises(TimeoutError):
                block.wait_until_reached(timeout=0)


def test_se_cy_load_of_one_thread_is_waited_for_by_another(control, saxpy_ptx):
    device = se_cy.Device(0)
    spec = se_cy.KernelLoaderSpec("saxpy").add_ptx(saxpy_ptx)
    before = control.calls("cuModuleLoadDataEx")
    made = []
    with control.block("cuModuleLoadDataEx") as block:
        threads = [in_thread(lambda: made.append(device.create_kernel(spec))) for _ in range(4)]
        block.wait_until_reached()
        assert made == []
    for thread in threads:
        thread.join(30)
    assert len(made) == 4 and len(set(map(id, made))) == 1
    assert control.calls("cuModuleLoadDataEx") == before + 1


def test_call_with_the_gil_held_is_let_through_and_reported(control, context):
    library = ctypes.PyDLL(control.library_path(), mode=os.RTLD_NOLOAD)
    with control.block("cuCtxSynchronize") as block:
        assert library.cuCtxSynchronize() == 0
        with pytest.raises(RuntimeError, match="GIL"):
            block.wait_until_reached(timeout=5)


def test_exit_with_a_blocked_thread_does_not_hang():
    check_python(START + """
def synchronize():
    ok(driver.cuCtxSetCurrent(context))
    ok(driver.cuCtxSynchronize())
    print("released", flush=True)

block = emulator.block("cuCtxSynchronize")
threading.Thread(target=synchronize).start()
block.wait_until_reached()
""", timeout=60)


def test_exit_with_a_blocked_daemon_thread_does_not_hang():
    check_python(START + """
block = emulator.block("cuMemGetInfo")
threading.Thread(target=driver.cuMemGetInfo, daemon=True).start()
block.wait_until_reached()
""", timeout=60)


def test_fork_with_a_blocked_thread_does_not_hang():
    check_python(START + """
block = emulator.block("cuMemGetInfo")
thread = threading.Thread(target=driver.cuMemGetInfo)
thread.start()
block.wait_until_reached()
pid = os.fork()
if pid == 0:
    assert answer(driver.cuMemGetInfo()) == "NOT_INITIALIZED"
    block.release()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
block.release()
thread.join(30)
""", timeout=60)


def test_child_forked_before_initialisation_is_not_blocked():
    check_python(OPEN + """
block = emulator.block("cuInit")
pid = os.fork()
if pid == 0:
    ok(driver.cuInit(0))
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
""", timeout=60)


def test_exit_of_a_forked_child_with_a_blocked_thread_does_not_hang():
    check_python(OPEN + """
emulator.block("cuInit").release()  # whatever the parent has begun for it does not go into the child
pid = os.fork()
if pid:
    assert os.waitpid(pid, 0)[1] == 0
else:
    block = emulator.block("cuInit")
    in_thread(driver.cuInit, 0)
    block.wait_until_reached()
""", timeout=60)


# Live handles


def test_live_has_every_kind_and_returns_to_the_start(control, context):
    start = control.live()
    assert {"contexts", "modules", "functions", "streams", "events", "allocations", "host_allocations"} <= set(start)
    stream = ok(driver.cuStreamCreate(0))
    memory = ok(driver.cuMemHostAlloc(16, 0))
    assert control.live() == start | {"streams": 1, "host_allocations": 1}
    assert control.live("streams") == 1
    ok(driver.cuStreamDestroy(stream))
    ok(driver.cuMemFreeHost(memory))
    assert control.live() == start
    with pytest.raises(ValueError, match="'threads' is none of contexts, "):
        control.live("threads")


# Registers


def test_claimed_registers_limit_the_block(control, context):
    module = ok(driver.cuModuleLoadData(PTX))
    function = ok(driver.cuModuleGetFunction(module, b"nothing"))
    attribute = driver.CUfunction_attribute
    control.claim_registers("nothing", 128)
    assert ok(driver.cuFuncGetAttribute(attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)) == 128
    assert ok(driver.cuFuncGetAttribute(attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function)) == 512
    launch_block = lambda threads: driver.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, 0, 0, 0)  # noqa: E731
    assert answer(launch_block(512)) == "SUCCESS"
    assert answer(launch_block(513)) == "LAUNCH_OUT_OF_RESOURCES"
    assert "nothing uses 128 registers" in control.explanation()
    assert answer(launch_block(1025)) == "INVALID_VALUE"
    other = ok(driver.cuModuleGetFunction(module, b"nothing_else"))
    assert answer(driver.cuLaunchKernel(other, 1, 1, 1, 1024, 1, 1, 0, 0, 0, 0)) == "SUCCESS"
    control.claim_registers("nothing", 0)
    assert answer(launch_block(1024)) == "SUCCESS"


@pytest.mark.parametrize("count", [-1, 256, 1 << 40])
def test_bad_claim_is_refused(control, count):
    with pytest.raises(ValueError):
        control.claim_registers("nothing", count)


# Hidden functions and versions


def test_hidden_function_is_not_found():
    check_python(OPEN + """
emulator.hide("cuLaunchKernelEx", "cuStreamGetId_v2")
ok(driver.cuInit(0))
found, status = ok(driver.cuGetProcAddress(b"cuLaunchKernelEx", 12000, 0))
assert not found and status == driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
try:
    driver.cuLaunchKernelEx(driver.CUlaunchConfig(), 0, 0, 0)
except RuntimeError as error:
    assert "cuLaunchKernelEx" in str(error)
else:
    raise AssertionError
emulator.reset()
assert ok(driver.cuGetProcAddress(b"cuLaunchKernelEx", 12000, 0))[0]
""")


def test_function_that_was_asked_for_can_not_be_hidden(control, context):
    with pytest.raises(RuntimeError, match="cuLaunchKernel was asked for"):
        control.hide("cuLaunchKernel")
    assert ok(driver.cuGetProcAddress(b"cuLaunchKernel", 12000, 0))[0]


def test_driver_version_decides_entry_points_and_ptx():
    check_python(OPEN + """
emulator.set_driver_version((12, 4))
ok(driver.cuInit(0))
assert ok(driver.cuDriverGetVersion()) == 12040
assert se_cy.driver_info().version == (12, 4)
query = driver.CUdriverProcAddressQueryResult
assert ok(driver.cuGetProcAddress(b"cuFuncGetParamInfo", 12040, 0))[0]
assert answer(driver.cuGetProcAddress(b"cuFuncGetParamInfo", 12050, 0)) == "INVALID_VALUE"
device = se_cy.Device(0)
text = b".version %s\\n.target sm_75\\n.address_size 64\\n.visible .entry nothing() { ret; }\\n"
device.load(text % b"8.4")
try:
    device.load(text % b"8.5")
except se_cy.JitError as error:
    assert error.name == "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", error
else:
    raise AssertionError
kernel = device.create_kernel(se_cy.KernelLoaderSpec("put").add_ptx(PTX.replace(b".version 9.0", b".version 8.4")))
memory = device.allocate(1, "i4")
kernel[1, 1, device.create_stream()](memory, 3)
device.synchronize()
assert memory.to_host()[0] == 3
emulator.set_driver_version((12, 4))
for version, error in (((13, 0), RuntimeError), ((12, 99), ValueError), ((14, 0), ValueError)):
    try:
        emulator.set_driver_version(version)
    except error:
        continue
    raise AssertionError(version)
""")


def test_older_driver_lacks_newer_functions():
    check_python(OPEN + """
emulator.set_driver_version((12, 2))
ok(driver.cuInit(0))
found, status = ok(driver.cuGetProcAddress(b"cuFuncGetParamInfo", 12020, 0))
assert not found and status == driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
try:
    se_cy.Device(0)
except se_cy.DriverNotFoundError as error:
    assert "12.2" in str(error) and "12.4" in str(error)
else:
    raise AssertionError
""")


# Back to the start


def test_reset_heals_a_fault_for_the_same_device(control, saxpy_ptx):
    device = se_cy.Device(0)
    stale = device.create_stream()
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("put").add_ptx(PTX))
    memory = device.allocate(1, "i4")
    kernel[1, 1](memory.handle + 4, 1)
    with pytest.raises(se_cy.CudaError):
        device.synchronize()
    with pytest.raises(se_cy.ContextLostError):
        device.allocate(1, "i4")
    control.reset()
    assert control.last_fault() == "" and set(control.live().values()) == {0}
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("put").add_ptx(PTX))
    memory = device.to_device(np.zeros(1, "i4"))
    kernel[1, 1](memory, 5)
    assert memory.to_host()[0] == 5
    with pytest.raises(se_cy.ContextResetError):
        stale.synchronize()
    kernel[1, 1](memory.handle + 4, 1)
    with pytest.raises(se_cy.CudaError) as error:  # a first fault again
        device.synchronize()
    assert not isinstance(error.value, se_cy.ContextLostError)


def test_reset_forgets_what_was_asked_for(control, kernel):
    control.fail("cuMemAlloc", always=True)
    control.claim_registers("nothing", 255)
    control.block("cuCtxSynchronize")
    recording = control.record()
    recording.__enter__()
    identifier = ok(driver.cuCtxGetId(None))
    control.reset()
    assert control.calls() == 0
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    assert ok(driver.cuCtxGetCurrent()) == driver.CUcontext(0)
    ok(driver.cuCtxSetCurrent(context))
    assert ok(driver.cuCtxGetId(None)) > identifier
    ok(driver.cuMemAlloc(4))
    ok(driver.cuCtxSynchronize())
    function = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(PTX)), b"nothing"))
    assert answer(driver.cuLaunchKernel(function, 1, 1, 1, 1024, 1, 1, 0, 0, 0, 0)) == "SUCCESS"
    with control.record() as log:
        pass
    assert list(log) == []
    recording.__exit__(None, None, None)


def test_reset_discards_work_that_never_ends_and_frees_who_waits(control, kernel):
    flag = ok(driver.cuMemHostAlloc(4, 0))
    ctypes.c_int.from_address(flag).value = 0
    ok(launch(kernel("spin_until"), (flag, ctypes.c_void_p)))
    context = ok(driver.cuCtxGetCurrent())

    def wait():
        ok(driver.cuCtxSetCurrent(context))
        driver.cuCtxSynchronize()

    thread = in_thread(wait)
    while not control.calls("cuCtxSynchronize"):
        time.sleep(0.001)
    control.reset()
    thread.join(30)
    assert not thread.is_alive()


def test_control_needs_the_emulator():
    child = run_python("from se_cy import emulator\nemulator.live()", driver=None)
    assert "call se_cy.use_emulator() first" in child.stderr


def test_control_header_is_c(tmp_path):
    source = tmp_path / "use.c"
    source.write_text('#include "control.h"\n')
    folder = Path(__file__).parent.parent / "se_cy/emulator"
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", f"-I{folder}", str(source)], check=True)
