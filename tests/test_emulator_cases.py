# SPDX-License-Identifier: Apache-2.0
"""Faults that users of CUDA packages reported, staged on the emulated driver: one short example each.

What se_cy makes of them is tested where it belongs; here the question is whether the driver can be made to do it.
"""

import gc
import threading

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.child import check_python
from helpers.driver_api import answer, ok
from helpers.emulated import PTX, in_thread
from test_modules import ptx

import se_cy

pytestmark = pytest.mark.emulator


@pytest.fixture
def device(control):
    return se_cy.Device(0)


@pytest.fixture
def spec():
    return se_cy.KernelLoaderSpec("put").add_ptx(PTX)


def test_b04_fault_is_reported_by_a_later_call_and_says_whose_it_is(device, spec):
    write = device.create_kernel(spec.named("write_to"))
    write[1, 1](16)  # returns: the fault comes later
    device.load(ptx(comment="harmless"))
    with pytest.raises(se_cy.CudaError, match="kernel write_to") as error:
        device.synchronize()
    assert "earlier work" in error.value.hint


def test_b04_fault_can_be_injected_late(device, control, spec):
    kernel = device.create_kernel(spec.named("nothing"))
    control.fail("cuCtxSynchronize", status=700, sticky=True)
    kernel[1, 1]()
    with pytest.raises(se_cy.CudaError, match="ILLEGAL_ADDRESS"):
        device.synchronize()
    with pytest.raises(se_cy.ContextLostError):
        kernel[1, 1]()


def test_b05_kernel_runs_on_its_own_device_whatever_is_current(device, spec):
    other = se_cy.Device(1)
    memory = other.to_device(np.zeros(1, np.int32))
    device.memory_info()
    current = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuCtxPushCurrent(current))
    other.create_kernel(spec)[1, 1](memory, 5)
    assert int(ok(driver.cuCtxGetCurrent())) == int(current)
    assert memory.to_host()[0] == 5
    ok(driver.cuCtxPopCurrent())
    ok(driver.cuDevicePrimaryCtxRelease(0))


def test_b06_one_fault_then_everything_fails_and_dropping_is_silent(device, control, spec):
    buffers = [device.allocate(4, "i4") for _ in range(50)]
    modules = [device.load(ptx(comment=f"b06 {i}")) for i in range(10)]
    control.fail("cuCtxSynchronize", status=700, sticky=True)
    with pytest.raises(se_cy.CudaError):
        device.synchronize()
    buffers.clear()
    modules.clear()
    gc.collect()
    for use in (lambda: device.load(ptx(comment="b06 later")), lambda: device.create_kernel(spec), device.synchronize):
        with pytest.raises(se_cy.ContextLostError, match="since an earlier fault"):
            use()


def test_b07_function_of_one_device_on_the_other_is_refused_with_both_histories(control):
    functions = []
    for ordinal in (0, 1):
        ok(driver.cuInit(0))
        ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(ordinal))))
        module = ok(driver.cuModuleLoadData(PTX))
        functions.append(ok(driver.cuModuleGetFunction(module, b"nothing")))
    stream = ok(driver.cuStreamCreate(0))
    assert answer(driver.cuLaunchKernel(functions[1], 1, 1, 1, 1, 1, 1, 0, stream, 0, 0)) == "SUCCESS"
    assert answer(driver.cuLaunchKernel(functions[0], 1, 1, 1, 1, 1, 1, 0, stream, 0, 0)) == "INVALID_HANDLE"
    explanation = control.explanation()
    assert "device 0" in explanation and "device 1" in explanation
    ok(driver.cuCtxSetCurrent(0))


@pytest.mark.parametrize("body, line", [("\n  nonsense.u32 %r1, 5;\n ret;", 6), ("\n" * 7 + "  float x = 1;", 12)])
def test_b16_compiler_log_names_the_line(device, body, line):
    with pytest.raises(se_cy.JitError) as error:
        device.load(ptx(comment="b16", body=body))
    assert f"line {line}" in error.value.log


def test_b17_empty_launch_is_refused_by_the_driver(control, context, kernel):
    for shape in ((0, 1, 1, 1, 1, 1), (1, 1, 0, 1, 1, 1), (1, 1, 1, 0, 1, 1)):
        assert answer(driver.cuLaunchKernel(kernel("nothing"), *shape, 0, 0, 0, 0)) == "INVALID_VALUE"


def test_b18_too_large_a_grid_or_block_is_refused_by_the_driver(control, context, kernel):
    for shape in ((1, 65536, 1, 1, 1, 1), (2**31, 1, 1, 1, 1, 1), (1, 1, 1, 32, 33, 1), (1, 1, 1, 1, 1, 65)):
        assert answer(driver.cuLaunchKernel(kernel("nothing"), *shape, 0, 0, 0, 0)) == "INVALID_VALUE"


def test_b19_registers_can_be_too_many_for_a_block(device, control, spec):
    control.claim_registers("nothing", 128)
    kernel = device.create_kernel(spec.named("nothing"))
    with pytest.raises(se_cy.CudaError, match="128 registers") as error:
        kernel[1, 1024]()
    assert error.value.name == "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
    kernel[1, 512]()
    device.synchronize()


def test_b21_fresh_thread_has_no_current_context(device, control, spec):
    kernel = device.create_kernel(spec)
    memory = device.to_device(np.zeros(1, np.int32))
    seen = []

    def work():
        seen.append(int(ok(driver.cuCtxGetCurrent())))
        seen.append(answer(driver.cuMemAlloc(4)))
        kernel[1, 1](memory, 9)
        seen.append(int(memory.to_host()[0]))
        seen.append(int(device.to_device(np.full(1, 3)).to_host()[0]))

    in_thread(work).join()
    assert seen == [0, "INVALID_CONTEXT", 9, 3]


def test_b33_load_can_be_held_while_others_arrive(device, control):
    codes = [se_cy.Code(ptx(comment=f"b33 {i}")) for i in range(2)]
    modules = [se_cy.Device(1), device]
    loads = control.calls("cuModuleLoadDataEx")
    results = []
    with control.block("cuModuleLoadDataEx") as held:
        threads = [in_thread(lambda code=code, on=on: results.append(on.load(code)))
                   for code in codes for on in modules for _ in range(8)]
        held.wait_until_reached(4)
    for thread in threads:
        thread.join()
    assert control.calls("cuModuleLoadDataEx") == loads + 4 and len(set(results)) == 4


def test_b35_load_can_wait_while_another_thread_launches_what_is_loaded(device, control, spec):
    kernel = device.create_kernel(spec.named("nothing"))
    with control.block("cuModuleLoadDataEx") as held:
        cold = in_thread(device.load, ptx(comment="b35"))
        held.wait_until_reached()
        kernel[1, 1]()
        device.synchronize()
        assert se_cy.Device(1).memory_info().free and cold.is_alive()
    cold.join()


def test_b35_kernel_can_spin_until_the_host_says_so(device, control, spec):
    import ctypes

    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
    address = ok(driver.cuMemHostAlloc(4, driver.CU_MEMHOSTALLOC_DEVICEMAP))
    flag = ctypes.c_int.from_address(int(address))
    flag.value = 0
    stream = device.create_stream(non_blocking=True)
    device.create_kernel(spec.named("spin_until"))[1, 1, stream](int(address))
    waiting = in_thread(stream.synchronize)
    device.load(ptx(comment="b35 behind"))
    waiting.join(0.2)
    assert waiting.is_alive()
    flag.value = 1
    waiting.join(30)
    assert not waiting.is_alive()
    ok(driver.cuCtxSetCurrent(0))


@pytest.mark.parametrize("status", [803, 804, 802, 999])
def test_b39_initialisation_can_fail_and_heal(status):
    check_python(
        f"""
        import se_cy
        from se_cy import emulator
        emulator.fail("cuInit", status={status})
        try:
            se_cy.Device(0)
        except se_cy.CudaError as error:
            assert error.status == {status} and error.call == "cuInit"
        else:
            raise AssertionError("no error")
        assert se_cy.Device(0).ordinal == 0
        """
    )


def test_b48_compiler_can_be_missing(device, control, spec):
    control.fail("cuModuleLoadDataEx", status=221)
    with pytest.raises(se_cy.JitError, match="JIT_COMPILER_NOT_FOUND"):
        device.create_kernel(spec)
    assert device.create_kernel(spec).name == "put"


def test_b63_somebody_else_can_reset_the_device(device, control, spec):
    kernel = device.create_kernel(spec.named("nothing"))
    before = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuDevicePrimaryCtxReset(0))
    assert int(ok(driver.cuDevicePrimaryCtxRetain(0))) == int(before)  # another context at the same address
    with pytest.raises(se_cy.ContextResetError):
        kernel[1, 1]()
    device.create_kernel(spec.named("nothing"))[1, 1]()
    device.synchronize()


def test_b66_what_is_dropped_in_another_thread_is_released_in_its_own_context(device, control):
    live = control.live("streams")
    things = [device.create_stream(), se_cy.Device(1).create_stream()]
    currents = []

    def drop():
        ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
        before = int(ok(driver.cuCtxGetCurrent()))
        things.clear()
        gc.collect()
        currents.append((int(ok(driver.cuCtxGetCurrent())) == before, control.explanation()))

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    assert currents == [(True, "")] and control.live("streams") == live
