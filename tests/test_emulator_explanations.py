# SPDX-License-Identifier: Apache-2.0
"""Why the emulated driver refused a call: where a handle or an address came from and where it ended."""

import ctypes
import pickle
import threading

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.emulated import PTX, in_thread, launch

import se_cy

pytestmark = pytest.mark.emulator


def test_dead_stream_has_both_ends_of_its_history(control, context):
    stream = ok(driver.cuStreamCreate(0))
    made = control.calls()

    def destroy():
        ok(driver.cuStreamDestroy(stream))
        assert control.explanation() == ""

    in_thread(destroy).join(30)
    assert answer(driver.cuStreamSynchronize(stream)) == "INVALID_HANDLE"
    text = control.explanation()
    own, identifier = threading.get_native_id(), ok(driver.cuCtxGetId(None))
    assert f"stream {int(stream):#x} was made by cuStreamCreate (call {made}, thread {own})" in text
    assert f"in context {identifier} of device 0" in text
    assert f"ended by cuStreamDestroy (call {made + 1}, thread " in text
    assert f"(call {made + 1}, thread {own})" not in text
    ok(driver.cuCtxSynchronize())
    assert control.explanation() == text


@pytest.mark.parametrize(
    "create, destroy, use, kind",
    [
        (lambda: driver.cuStreamCreate(0), driver.cuStreamDestroy, driver.cuStreamDestroy, "stream"),
        (lambda: driver.cuEventCreate(0), driver.cuEventDestroy, driver.cuEventDestroy, "event"),
        (lambda: driver.cuModuleLoadData(PTX), driver.cuModuleUnload, driver.cuModuleUnload, "module"),
    ],
    ids=["stream", "event", "module"],
)
def test_second_release_is_explained(control, context, create, destroy, use, kind):
    handle = ok(create())
    ok(destroy(handle))
    assert answer(use(handle)) == "INVALID_HANDLE"
    assert f"{kind} {int(handle):#x} was made by " in control.explanation()
    assert f"ended by {destroy.__name__} (call {control.calls() - 1}, " in control.explanation()


def test_function_of_an_unloaded_module_is_explained(control, context):
    module = ok(driver.cuModuleLoadData(PTX))
    function = ok(driver.cuModuleGetFunction(module, b"nothing"))
    ok(driver.cuModuleUnload(module))
    assert answer(launch(function)) == "INVALID_HANDLE"
    assert "made by cuModuleGetFunction" in control.explanation()
    assert "ended by cuModuleUnload" in control.explanation()


def test_reused_handle_names_the_earlier_holder(control, context):
    functions = []
    for _ in range(2):
        module = ok(driver.cuModuleLoadData(PTX))
        functions.append(int(ok(driver.cuModuleGetFunction(module, b"nothing"))))
        ok(driver.cuModuleUnload(module))
    assert functions[0] == functions[1]
    assert answer(driver.cuFuncLoad(functions[0])) == "INVALID_HANDLE"
    assert control.explanation().count("ended by cuModuleUnload") == 2
    assert "an earlier one of the same address" in control.explanation()


def test_number_that_never_was_a_handle(control, context):
    assert answer(driver.cuStreamSynchronize(0x1234)) == "INVALID_HANDLE"
    assert control.explanation() == "0x1234 is no handle of this driver"
    event = ok(driver.cuEventCreate(0))
    assert answer(driver.cuStreamSynchronize(int(event))) == "INVALID_HANDLE"
    assert control.explanation() == f"{int(event):#x} is the handle of an event, not of a stream"
    assert answer(driver.cuModuleUnload(0)) == "INVALID_HANDLE"
    assert control.explanation() == "the module handle is null"


def test_no_current_context_is_explained(control, context):
    ok(driver.cuCtxSetCurrent(0))
    assert answer(driver.cuMemAlloc(4)) == "INVALID_CONTEXT"
    assert control.explanation() == "no context is current in this thread"


def test_destroyed_context_is_explained(control, context):
    own = ok(driver.cuCtxCreate(None, 0, 0))
    ok(driver.cuCtxDestroy(own))
    ok(driver.cuCtxSetCurrent(own))
    assert answer(driver.cuMemAlloc(4)) == "CONTEXT_IS_DESTROYED"
    assert "made by cuCtxCreate" in control.explanation() and "ended by cuCtxDestroy" in control.explanation()


def test_foreign_handles_have_both_histories(control, context, kernel):
    function = kernel("nothing")
    first = ok(driver.cuCtxGetId(None))
    event = ok(driver.cuEventCreate(0))
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    second = ok(driver.cuCtxGetId(None))
    stream = ok(driver.cuStreamCreate(0))
    assert answer(launch(function, stream=stream)) == "INVALID_HANDLE"
    text = control.explanation()
    assert f"function {int(function):#x} was made by cuModuleGetFunction" in text
    assert f"stream {int(stream):#x} was made by cuStreamCreate" in text
    assert f"in context {first} of device 0" in text and f"in context {second} of device 1" in text
    assert answer(driver.cuEventRecord(event, stream)) == "INVALID_HANDLE"
    assert "made by cuEventCreate" in control.explanation() and "made by cuStreamCreate" in control.explanation()
    assert answer(launch(function)) == "INVALID_HANDLE"
    assert f"the default stream is that of context {second} of device 1" in control.explanation()


@pytest.mark.parametrize("is_async", [False, True])
def test_double_free_is_explained(control, context, is_async):
    memory = ok(driver.cuMemAlloc(4))
    free = (lambda: driver.cuMemFreeAsync(memory, 0)) if is_async else (lambda: driver.cuMemFree(memory))
    ok(free())
    assert answer(free()) == "INVALID_VALUE"
    text = control.explanation()
    assert f"the allocation at {int(memory):#x} was made by cuMemAlloc (call " in text
    assert f"ended by cuMemFree{'Async' if is_async else ''} (call {control.calls() - 1}, " in text


def test_double_free_of_host_memory_is_explained(control, context):
    memory = ok(driver.cuMemHostAlloc(16, 0))
    ok(driver.cuMemFreeHost(memory))
    assert answer(driver.cuMemFreeHost(memory)) == "INVALID_VALUE"
    assert "made by cuMemHostAlloc" in control.explanation() and "ended by cuMemFreeHost" in control.explanation()


def test_addresses_that_are_no_allocation_are_explained(control, context):
    memory = ok(driver.cuMemAlloc(64))
    assert answer(driver.cuMemFree(int(memory) + 16)) == "INVALID_VALUE"
    assert "16 bytes into an allocation of 64 bytes" in control.explanation()
    assert answer(driver.cuMemFree(0x1000)) == "INVALID_VALUE"
    assert control.explanation() == "0x1000 is no address of this driver"


def test_copy_past_the_end_says_how_much_and_of_what(control, context):
    memory = int(ok(driver.cuMemAlloc(64)))
    for use in (lambda: driver.cuMemcpyHtoD(memory + 16, bytes(100), 100),
                lambda: driver.cuMemsetD32(memory + 16, 0, 25),
                lambda: driver.cuMemcpyDtoH(bytearray(100), memory + 16, 100)):
        assert answer(use()) == "INVALID_VALUE"
        assert "all of 100 bytes from there" in control.explanation()
        assert "16 bytes into an allocation of 64 bytes" in control.explanation()
    assert answer(driver.cuMemsetD8(0, 0, 4)) == "INVALID_VALUE"
    assert control.explanation().endswith("0x0 is the null pointer")


@pytest.mark.parametrize("address_of, text", [
    (lambda other, host: 0, ": the null pointer"),
    (lambda other, host: 4, ": just past the null pointer"),
    (lambda other, host: other, "memory of device 1, and not of device 0: 0 bytes into an allocation of 16 bytes"),
    (lambda other, host: host, "no device memory; host memory must be page-locked"),
])
def test_kernel_that_writes_elsewhere_is_told_whose_memory_it_is(control, context, kernel, address_of, text):
    second = ok(driver.cuDevicePrimaryCtxRetain(1))
    ok(driver.cuCtxPushCurrent(second))
    other = int(ok(driver.cuMemAlloc(16)))
    ok(driver.cuCtxPopCurrent())
    host = ctypes.c_int()
    address = address_of(other, ctypes.addressof(host))
    ok(launch(kernel("put"), (address, ctypes.c_void_p), (1, ctypes.c_int)))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    assert text in control.last_fault() and f"{address:#x}" in control.last_fault()


def test_kernel_past_the_end_of_page_locked_memory_is_told_so(control, context, kernel):
    memory = int(ok(driver.cuMemHostAlloc(16, 0)))
    ok(launch(kernel("put"), (memory + 16, ctypes.c_void_p), (1, ctypes.c_int)))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    assert "0 bytes past the end of an allocation of 16 bytes" in control.last_fault()


def test_use_of_freed_memory_is_explained(control, context):
    memory = ok(driver.cuMemAlloc(64))
    ok(driver.cuMemFree(memory))
    assert answer(driver.cuMemcpyHtoD(memory, bytes(64), 64)) == "INVALID_VALUE"
    assert "ended by cuMemFree" in control.explanation()
    for use, status in ((lambda: driver.cuMemsetD8(memory, 0, 64), "INVALID_VALUE"),
                        (lambda: driver.cuMemcpyDtoD(memory, memory, 64), "INVALID_VALUE"),
                        (lambda: driver.cuMemGetAddressRange(memory), "NOT_FOUND")):
        assert answer(driver.cuStreamQuery(0x1234)) == "INVALID_HANDLE"  # another explanation in between
        assert answer(use()) == status
        assert "ended by cuMemFree" in control.explanation()


def test_kernel_on_freed_memory_names_its_histories(control, kernel):
    memory = ok(driver.cuMemAlloc(4))
    ok(launch(kernel("put"), (int(memory), ctypes.c_void_p), (1, ctypes.c_int)))
    ok(driver.cuMemFree(memory))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    assert "made by cuMemAlloc (call " in control.last_fault()
    assert "ended by cuMemFree (call " in control.last_fault()


def test_histories_of_long_dead_handles_are_given_up(control, context):
    first = ok(driver.cuEventCreate(0))
    ok(driver.cuEventDestroy(first))
    library = ctypes.CDLL(control.library_path())
    event = ctypes.c_void_p()
    for _ in range(65536):
        library.cuEventCreate(ctypes.byref(event), 0)
        library.cuEventDestroy_v2(event)
    assert answer(driver.cuEventQuery(first)) == "INVALID_HANDLE"
    assert control.explanation() == f"event {int(first):#x} was released long ago"
    assert answer(driver.cuEventQuery(event.value)) == "INVALID_HANDLE"
    assert "made by cuEventCreate" in control.explanation()


def test_explanations_are_of_their_thread(control, context):
    assert answer(driver.cuStreamSynchronize(0x1234)) == "INVALID_HANDLE"
    seen = []
    in_thread(lambda: seen.append(control.explanation())).join(30)
    assert seen == [""] and control.explanation()
    control.reset()
    assert control.explanation() == ""


# In se_cy's own exceptions


def test_out_of_range_write_is_named_in_the_exception(control):
    device = se_cy.Device(0)
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("put").add_ptx(PTX))
    memory = device.allocate(4, "i4")
    address = memory.handle + 16
    kernel[1, 1](address, 1)
    with pytest.raises(se_cy.CudaError) as caught:
        device.synchronize()
    text = str(caught.value)
    assert "kernel put, block (0,0,0), thread (0,0,0)" in text and f"{address:#x}" in text
    assert "made by cuMemAlloc" in text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text
    with pytest.raises(se_cy.ContextLostError, match="kernel put, block"):
        device.synchronize()


def test_dead_handle_is_named_in_the_exception(control):
    device = se_cy.Device(0)
    stream = device.create_stream()
    ok(driver.cuStreamDestroy(stream.handle))
    with pytest.raises(se_cy.CudaError, match="made by cuStreamCreate.*ended by cuStreamDestroy"):
        stream.synchronize()


def test_explanation_is_only_in_the_exception_of_its_call(control, context):
    device = se_cy.Device(0)
    stream = device.create_stream()
    assert answer(driver.cuStreamSynchronize(0x1234)) == "INVALID_HANDLE"
    for function, use in (("cuMemAlloc", lambda: device.allocate(1, "f4")),
                          ("cuStreamSynchronize", stream.synchronize)):
        control.fail(function, status=400)
        with pytest.raises(se_cy.CudaError) as caught:
            use()
        assert "0x1234" not in str(caught.value)
