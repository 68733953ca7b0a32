# SPDX-License-Identifier: Apache-2.0
"""Fork and exit of programs that use the emulated driver through the driver API alone, or while threads launch."""

import pytest
from helpers.child import check_python
from helpers.emulated import START

pytestmark = pytest.mark.emulator


def test_exit_with_everything_open_is_silent():
    check_python(START + """
module = ok(driver.cuModuleLoadData(PTX))
put = ok(driver.cuModuleGetFunction(module, b"put"))
memory = ok(driver.cuMemAlloc(64))
pinned = ok(driver.cuMemHostAlloc(64, 0))
event = ok(driver.cuEventCreate(0))
graph = ok(driver.cuGraphCreate(0))
executable = ok(driver.cuGraphInstantiate(graph, 0))
streams = [ok(driver.cuStreamCreate(1)) for _ in range(3)]
for stream in streams:
    ok(launch(put, (int(memory), ctypes.c_void_p), (1, ctypes.c_int), stream=stream))
ok(driver.cuEventRecord(event, streams[0]))
ok(driver.cuStreamBeginCapture(streams[1], driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
ok(launch(put, (int(memory), ctypes.c_void_p), (1, ctypes.c_int), stream=streams[1]))
block = emulator.block("cuMemGetInfo")
threading.Thread(target=driver.cuMemGetInfo, daemon=True).start()
block.wait_until_reached()
recording = emulator.record().__enter__()
progress = emulator.progress()
progress.__enter__()
""")


def test_child_of_a_fork_while_threads_launch_is_refused_and_ends_in_silence():
    check_python(START + """
device = se_cy.Device(0)
put = device.create_kernel(se_cy.KernelLoaderSpec("put").add_ptx(PTX))
out = device.allocate(1, "i4")
ended = threading.Event()

def work():
    bound = put.bind(1, 1, stream=device.create_stream(non_blocking=True))
    while not ended.is_set():
        bound(out, 1)

threads = [in_thread(work) for _ in range(3)]
statuses = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        try:
            put[1, 1](out, 2)
        except se_cy.ForkError as error:
            os._exit(0 if "forked" in str(error) else 3)
        os._exit(4)
    statuses.append(os.waitpid(child, 0)[1])
ended.set()
for thread in threads:
    thread.join()
assert statuses == [0] * 10, statuses
""")


def test_child_whose_parent_used_the_driver_api_alone_is_told_of_the_fork():
    check_python(START + """
log = emulator.record().__enter__()
child = os.fork()
if child == 0:
    try:
        se_cy.Device(0).synchronize()
    except se_cy.CudaError as error:
        os._exit(0 if "forked" in str(error) and error.status == 3 and log.functions == [] else 3)
    os._exit(4)
assert os.waitpid(child, 0)[1] == 0
""")


def test_calls_of_a_forked_child_are_not_counted_or_recorded():
    check_python(START + """
before = emulator.calls()
child = os.fork()
if child == 0:
    emulator.fail("cuMemAlloc", status=2)
    with emulator.record() as log:
        answers = [answer(driver.cuInit(0)), answer(driver.cuMemAlloc(4)), answer(driver.cuCtxSynchronize())]
    os._exit(0 if answers == ["NOT_INITIALIZED"] * 3 and log.functions == [] and emulator.calls() == before else 3)
assert os.waitpid(child, 0)[1] == 0
""")
