# SPDX-License-Identifier: Apache-2.0
"""What a kernel does wrong is told by the next call that waits, and by every call after it."""

import contextlib
import os

from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok
from helpers.kernels import get, launch, load, start, write_to

NOBODYS = 16
ASSERTS = b"""
.version 7.0
.target sm_75
.address_size 64
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.global .align 1 .b8 text[8] = {110, 111, 0};
.visible .entry fails()
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd2, %rd1;
  mov.u32 %r1, 1;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %rd2; st.param.b64 [p1], %rd2; st.param.b32 [p2], %r1; st.param.b64 [p3], %rd2;
    mov.u64 %rd1, 1;
    st.param.b64 [p4], %rd1;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
  ret;
}
"""


def lose_context():
    """Make a context that an illegal address has spoilt; return its module and a stream."""
    start()
    module = load()
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    ok(write_to(module, NOBODYS, stream))
    assert answer(driver.cuStreamSynchronize(stream)) == "ILLEGAL_ADDRESS"
    return module, stream


@in_own_process
def test_nobodys_memory_is_an_illegal_address():
    start()
    ok(write_to(load(), NOBODYS))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"


@in_own_process
def test_misaligned_address_has_a_status_of_its_own():
    start()
    memory = ok(driver.cuMemAlloc(4096))
    ok(write_to(load(), int(memory) + 2))
    assert answer(driver.cuCtxSynchronize()) == "MISALIGNED_ADDRESS"


@in_own_process
def test_trap_is_a_failed_launch():
    start()
    ok(launch(get(load(), "trap")))
    assert answer(driver.cuCtxSynchronize()) == "LAUNCH_FAILED"


@contextlib.contextmanager
def silent():
    """Nothing reaches the standard error, where the driver tells of assertions."""
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@in_own_process
def test_failed_assertion_has_a_status_of_its_own():
    start()
    ok(launch(get(ok(driver.cuModuleLoadData(ASSERTS)), "fails")))
    with silent():
        status = answer(driver.cuCtxSynchronize())
    assert status == "ASSERT"


@in_own_process
def test_every_call_that_uses_the_device_is_refused_after_a_fault():
    module, stream = lose_context()
    refused = "ILLEGAL_ADDRESS"
    assert answer(driver.cuStreamSynchronize(stream)) == refused
    assert answer(driver.cuCtxSynchronize()) == refused
    assert answer(driver.cuMemAlloc(16)) == refused
    assert answer(driver.cuMemFree(0)) == refused
    assert answer(driver.cuModuleGetFunction(module, b"nothing")) == refused
    assert answer(driver.cuModuleUnload(module)) == refused
    assert answer(driver.cuStreamDestroy(stream)) == refused


@in_own_process
def test_functions_and_events_are_refused_after_a_fault():
    start()
    module = load()
    nothing = get(module, "nothing")
    event = ok(driver.cuEventCreate(0))
    ok(write_to(module, NOBODYS))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    assert answer(launch(nothing)) == "ILLEGAL_ADDRESS"
    assert answer(driver.cuFuncGetParamInfo(nothing, 0)) == "ILLEGAL_ADDRESS"
    assert answer(driver.cuEventDestroy(event)) == "ILLEGAL_ADDRESS"


@in_own_process
def test_calls_that_only_look_at_contexts_work_after_a_fault():
    lose_context()
    context = ok(driver.cuCtxGetCurrent())
    assert int(ok(driver.cuCtxGetDevice())) == 0
    assert ok(driver.cuCtxGetId(context)) == 1
    ok(driver.cuCtxPushCurrent(context))
    assert int(ok(driver.cuCtxPopCurrent())) == int(context)
    ok(driver.cuCtxSetCurrent(context))


@in_own_process
def test_reset_does_not_help_after_a_fault():
    lose_context()
    ok(driver.cuDevicePrimaryCtxReset(0))
    # The handle that a refused retain leaves must not be used: it crashed the process on a GPU.
    assert answer(driver.cuDevicePrimaryCtxRetain(0)) == "ILLEGAL_ADDRESS"
