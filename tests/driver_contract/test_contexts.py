# SPDX-License-Identifier: Apache-2.0
from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok
from helpers.kernels import LEGACY, PER_THREAD, get, launch, load, start


@in_own_process
def test_first_context_has_id_one():
    assert ok(driver.cuCtxGetId(start())) == 1


def test_retaining_again_gives_the_same_context(context):
    again = ok(driver.cuDevicePrimaryCtxRetain(0))
    assert int(again) == int(context)
    assert ok(driver.cuCtxGetId(again)) == ok(driver.cuCtxGetId(context))
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert ok(driver.cuDevicePrimaryCtxGetState(0))[1] == 1


@in_own_process
def test_primary_context_is_active_until_its_last_release():
    ok(driver.cuInit(0))
    assert ok(driver.cuDevicePrimaryCtxGetState(0))[1] == 0
    assert answer(driver.cuDevicePrimaryCtxRelease(0)) == "INVALID_CONTEXT"
    ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert ok(driver.cuDevicePrimaryCtxGetState(0))[1] == 1
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert ok(driver.cuDevicePrimaryCtxGetState(0))[1] == 0
    assert answer(driver.cuDevicePrimaryCtxRelease(0)) == "INVALID_CONTEXT"


@in_own_process
def test_contexts_form_a_stack():
    primary = start()
    ok(driver.cuCtxPushCurrent(primary))
    assert int(ok(driver.cuCtxPopCurrent())) == int(primary)
    assert int(ok(driver.cuCtxGetCurrent())) == int(primary)
    assert int(ok(driver.cuCtxGetDevice())) == 0
    ok(driver.cuCtxPopCurrent())
    assert int(ok(driver.cuCtxGetCurrent())) == 0
    assert answer(driver.cuCtxPopCurrent()) == "INVALID_CONTEXT"
    assert answer(driver.cuCtxSynchronize()) == "INVALID_CONTEXT"
    assert answer(driver.cuCtxGetDevice()) == "INVALID_CONTEXT"
    ok(driver.cuCtxSetCurrent(primary))
    ok(driver.cuCtxSynchronize())


@in_own_process
def test_another_context_of_the_device_refuses_only_the_default_streams():
    primary = start()
    module = load()
    nothing = get(module, "nothing")
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    foreign = ok(driver.cuCtxCreate(None, 0, 0))
    assert int(ok(driver.cuCtxGetCurrent())) == int(foreign)
    ok(launch(nothing, stream=stream))
    for default_stream in (0, LEGACY, PER_THREAD):
        assert answer(launch(nothing, stream=default_stream)) == "INVALID_HANDLE"
    ok(driver.cuModuleUnload(module))
    ok(driver.cuCtxDestroy(foreign))
    assert int(ok(driver.cuCtxGetCurrent())) == int(primary)
