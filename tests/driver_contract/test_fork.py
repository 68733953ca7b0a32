# SPDX-License-Identifier: Apache-2.0
"""A forked child of a process that has initialised the driver can do nothing with it, and crashes at nothing.

Not asked: cuStreamQuery, which answered SUCCESS in a child on an H200.
"""

import os

from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok
from helpers.kernels import get, launch, load, start


def answers_in_a_forked_child(calls):
    """The answers of the calls, made in a child of this process."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writable, " ".join(answer(call()) for call in calls).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writable)
    with os.fdopen(readable) as pipe:
        answers = pipe.read().split()
    assert os.waitpid(child, 0)[1] == 0
    return answers


@in_own_process
def test_forked_child_is_not_initialised():
    context = start()
    module = load()
    nothing = get(module, "nothing")
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    calls = [
        driver.cuCtxGetCurrent,
        lambda: launch(nothing, stream=stream),
        lambda: driver.cuModuleUnload(module),
        driver.cuCtxSynchronize,
        lambda: driver.cuCtxSetCurrent(context),
        lambda: driver.cuMemAlloc(16),
        lambda: driver.cuDevicePrimaryCtxRetain(0),
        lambda: driver.cuInit(0),
        lambda: driver.cuInit(0),
    ]
    assert answers_in_a_forked_child(calls) == ["NOT_INITIALIZED"] * len(calls)
    ok(launch(nothing, stream=stream))
    ok(driver.cuCtxSynchronize())
