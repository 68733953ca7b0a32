# SPDX-License-Identifier: Apache-2.0
"""A reset of the primary context: the next one has the same address, and what belonged to the old one is refused."""

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok
from helpers.kernels import get, launch, load, start

NON_BLOCKING = driver.CUstream_flags.CU_STREAM_NON_BLOCKING


@in_own_process
def test_next_context_has_the_same_address_and_another_id():
    before = start()
    assert ok(driver.cuCtxGetId(before)) == 1
    ok(driver.cuDevicePrimaryCtxReset(0))
    assert ok(driver.cuDevicePrimaryCtxGetState(0))[1] == 0
    after = start()
    assert int(after) == int(before)
    assert ok(driver.cuCtxGetId(after)) == 2
    ok(launch(get(load(), "nothing")))
    ok(driver.cuCtxSynchronize())


@in_own_process
def test_destroyed_context_stays_current_and_is_refused():
    context = start()
    nothing = get(load(), "nothing")
    ok(driver.cuDevicePrimaryCtxReset(0))
    assert int(ok(driver.cuCtxGetCurrent())) == int(context)
    assert answer(driver.cuCtxGetId(context)) == "CONTEXT_IS_DESTROYED"
    assert answer(driver.cuCtxSynchronize()) == "CONTEXT_IS_DESTROYED"
    assert answer(driver.cuMemAlloc(16)) == "CONTEXT_IS_DESTROYED"
    assert answer(driver.cuStreamSynchronize(0)) == "CONTEXT_IS_DESTROYED"
    assert answer(launch(nothing)) == "CONTEXT_IS_DESTROYED"


@pytest.mark.emulator
@in_own_process
def test_destroyed_context_can_be_made_current_again():
    context = start()
    ok(driver.cuDevicePrimaryCtxReset(0))
    ok(driver.cuCtxSetCurrent(context))
    assert answer(driver.cuCtxSynchronize()) == "CONTEXT_IS_DESTROYED"


def old_handles():
    """A module, its function and a stream, after a reset and with the next context current."""
    start()
    module = load()
    nothing = get(module, "nothing")
    stream = ok(driver.cuStreamCreate(NON_BLOCKING))
    ok(driver.cuDevicePrimaryCtxReset(0))
    start()
    return module, nothing, stream


# A process for each: in one process the H200's driver crashed at a later one of them.
@in_own_process
def test_launch_of_a_function_of_the_context_before_is_refused():
    _, nothing, _ = old_handles()
    assert answer(launch(nothing)) == "INVALID_HANDLE"


@in_own_process
def test_unload_of_a_module_of_the_context_before_is_refused():
    module, _, _ = old_handles()
    assert answer(driver.cuModuleUnload(module)) == "INVALID_HANDLE"


@in_own_process
def test_look_up_in_a_module_of_the_context_before_is_refused():
    module, _, _ = old_handles()
    assert answer(driver.cuModuleGetFunction(module, b"nothing")) == "INVALID_HANDLE"


@in_own_process
def test_parameters_of_a_function_of_the_context_before_are_refused():
    _, nothing, _ = old_handles()
    assert answer(driver.cuFuncGetParamInfo(nothing, 0)) == "INVALID_HANDLE"


# An H200's driver answered INVALID_HANDLE, CONTEXT_IS_DESTROYED, or crashed.
@pytest.mark.emulator
@in_own_process
def test_query_of_a_stream_of_the_context_before_is_refused():
    _, _, stream = old_handles()
    assert answer(driver.cuStreamQuery(stream)) == "INVALID_HANDLE"


@in_own_process
def test_memory_of_the_context_before_is_gone():
    start()
    address = ok(driver.cuMemAlloc(1 << 20))
    ok(driver.cuDevicePrimaryCtxReset(0))
    start()
    assert answer(driver.cuMemFree(address)) == "INVALID_VALUE"


@in_own_process
def test_last_release_ends_the_context_like_a_reset():
    context = start()
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert answer(driver.cuCtxGetId(context)) == "CONTEXT_IS_DESTROYED"
    assert ok(driver.cuCtxGetId(start())) == 2
