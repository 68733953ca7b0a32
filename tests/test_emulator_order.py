# SPDX-License-Identifier: Apache-2.0
"""In which order the emulated driver runs pending work, and who runs it."""

import ctypes
import time

import pytest
from cuda.bindings import driver
from helpers.child import check_python
from helpers.driver_api import answer, ok
from helpers.emulated import START, in_thread, launch

pytestmark = pytest.mark.emulator

NON_BLOCKING = 1


def int_at(address):
    return ctypes.c_int.from_address(address)


@pytest.fixture
def streams(context):
    return [ok(driver.cuStreamCreate(NON_BLOCKING)) for _ in range(4)]


@pytest.fixture
def pinned(context):
    """Addresses of zeroed integers in page-locked memory."""
    start = ok(driver.cuMemHostAlloc(4096, 0))
    return [start + 4 * i for i in range(1024)]


def put(kernel, address, value, stream):
    ok(launch(kernel("put"), (address, ctypes.c_void_p), (value, ctypes.c_int), stream=stream))


def race(kernel, streams, address):
    """Streams that overwrite each other's value without waiting for each other; who was last."""
    for _ in range(8):
        for number, stream in enumerate(streams):
            put(kernel, address, number, stream)
    ok(driver.cuCtxSynchronize())
    return int_at(address).value


def test_without_a_seed_only_what_leads_to_a_wait_runs(control, kernel, streams, pinned):
    put(kernel, pinned[0], 1, streams[0])
    put(kernel, pinned[1], 1, streams[1])
    ok(driver.cuStreamSynchronize(streams[1]))
    assert [int_at(pinned[i]).value for i in range(2)] == [0, 1]


def test_without_a_seed_the_legacy_stream_waits_in_the_order_of_the_calls(control, kernel, pinned):
    blocking = [ok(driver.cuStreamCreate(0)) for _ in range(8)]
    for _ in range(20):
        for number, stream in enumerate([*blocking, *reversed(blocking)]):
            put(kernel, pinned[0], number, stream)
        put(kernel, pinned[1], 1, 0)
        ok(driver.cuStreamSynchronize(0))
        assert int_at(pinned[0]).value == 15


def test_without_a_seed_what_leads_to_a_wait_runs_in_the_order_of_the_calls(control, kernel, streams, pinned):
    put(kernel, pinned[0], 1, streams[0])
    put(kernel, pinned[0], 2, streams[1])
    put(kernel, pinned[0], 3, streams[0])
    for stream in (streams[1], streams[0]):  # the stream that waits lists the one with the last call first
        event = ok(driver.cuEventCreate(0))
        ok(driver.cuEventRecord(event, streams[0] if stream is streams[1] else streams[1]))
        ok(driver.cuStreamWaitEvent(streams[2], event, 0))
    ok(driver.cuStreamSynchronize(streams[2]))
    assert int_at(pinned[0]).value == 3


def test_same_seed_same_order_and_other_seeds_other_orders(control, kernel, streams, pinned):
    def results(seed):
        control.seed(seed)
        return [race(kernel, streams, pinned[0]) for _ in range(12)]

    first = results(1)
    assert results(1) == first
    assert len({tuple(results(seed)) for seed in range(4)}) > 1
    assert set(results(2)) - {3}
    control.seed(None)
    assert [race(kernel, streams, pinned[0]) for _ in range(4)] == [3] * 4


def test_seed_shows_a_missing_event_wait_and_keeps_to_one_that_is_there(control, kernel, streams, pinned):
    def consume(waits):
        seen = set()
        for seed in range(16):
            control.seed(seed)
            int_at(pinned[0]).value = int_at(pinned[1]).value = 0
            put(kernel, pinned[0], 1, streams[0])
            if waits:
                event = ok(driver.cuEventCreate(0))
                ok(driver.cuEventRecord(event, streams[0]))
                ok(driver.cuStreamWaitEvent(streams[1], event, 0))
            ok(launch(kernel("copy"), (pinned[1], ctypes.c_void_p), (pinned[0], ctypes.c_void_p), stream=streams[1]))
            ok(driver.cuCtxSynchronize())
            seen.add(int_at(pinned[1]).value)
        return seen

    assert consume(waits=False) == {0, 1}
    assert consume(waits=True) == {1}


def test_seed_also_runs_other_contexts_of_the_process(control, kernel, context, streams, pinned):
    put(kernel, pinned[0], 1, streams[0])
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    control.seed(7)
    for _ in range(64):
        ok(driver.cuMemsetD8Async(pinned[1], 1, 1, 0))
        ok(driver.cuStreamSynchronize(0))
    assert int_at(pinned[0]).value == 1


@pytest.mark.parametrize("seed", [None, 3])
def test_kernel_that_spins_for_another_stream_ends(control, kernel, streams, pinned, seed):
    control.seed(seed)
    ok(launch(kernel("spin_until"), (pinned[0], ctypes.c_void_p), stream=streams[0]))
    put(kernel, pinned[0], 1, streams[1])
    ok(driver.cuStreamSynchronize(streams[0]))
    assert int_at(pinned[0]).value == 1


def test_kernel_that_spins_for_a_chain_of_work_ends(control, kernel, streams, pinned):
    ok(launch(kernel("spin_until"), (pinned[0], ctypes.c_void_p), stream=streams[0]))
    for i in range(1, 10):
        put(kernel, pinned[i], 1, streams[1])
    ok(launch(kernel("spin_until"), (pinned[9], ctypes.c_void_p), stream=streams[2]))
    put(kernel, pinned[0], 1, streams[2])
    ok(driver.cuStreamSynchronize(streams[0]))


def test_polling_a_kernel_that_spins_for_another_stream_gets_there(control, kernel, streams, pinned):
    ok(launch(kernel("spin_until"), (pinned[0], ctypes.c_void_p), stream=streams[0]))
    put(kernel, pinned[0], 1, streams[1])
    for _ in range(10000):
        if answer(driver.cuStreamQuery(streams[0])) == "SUCCESS":
            return
    raise AssertionError("still not ready")


def test_kernel_that_spins_for_the_host_ends(control, kernel, streams, pinned):
    ok(launch(kernel("spin_until"), (pinned[0], ctypes.c_void_p), stream=streams[0]))
    thread = in_thread(lambda: ok(driver.cuStreamSynchronize(streams[0])))
    thread.join(0.1)
    assert thread.is_alive()
    int_at(pinned[0]).value = 1
    thread.join(30)
    assert not thread.is_alive()


# Progress without a wait


def until(address, value, seconds):
    end = time.monotonic() + seconds
    while int_at(address).value != value:
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    return True


def test_progress_runs_work_that_nobody_waits_for(control, kernel, streams, pinned):
    put(kernel, pinned[0], 1, streams[0])
    assert not until(pinned[0], 1, 0.1)
    with control.progress():
        assert until(pinned[0], 1, 30)
        with control.progress():
            put(kernel, pinned[0], 2, streams[0])
            assert until(pinned[0], 2, 30)
        put(kernel, pinned[0], 3, streams[1])
        assert until(pinned[0], 3, 30)
    put(kernel, pinned[0], 4, streams[0])
    assert not until(pinned[0], 4, 0.1)


def test_progress_shares_between_a_spinning_kernel_and_others(control, kernel, streams, pinned):
    with control.progress():
        ok(launch(kernel("spin_until"), (pinned[0], ctypes.c_void_p), stream=streams[0]))
        put(kernel, pinned[1], 1, streams[1])
        assert until(pinned[1], 1, 30)
        int_at(pinned[0]).value = 1
        ok(driver.cuStreamSynchronize(streams[0]))


def test_progress_has_a_thread_only_while_it_lasts(control, context):
    def threads():
        with open("/proc/self/status") as status:
            return int(next(line for line in status if line.startswith("Threads:")).split()[1])

    before = threads()
    with control.progress(), control.progress():
        assert threads() == before + 1
    assert threads() == before
    with control.progress():
        control.reset()
        assert threads() == before


def test_end_of_progress_that_a_reset_has_ended_leaves_later_progress(control, kernel):
    first = control.progress()
    first.__enter__()
    control.reset()
    with control.progress():
        first.__exit__(None, None, None)
        ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
        address = ok(driver.cuMemHostAlloc(4, 0))
        ok(driver.cuMemsetD32Async(address, 1, 1, 0))
        assert until(address, 1, 30)


def test_progress_without_a_thread_is_refused_and_leaves_the_signals():
    check_python(START + """
import resource, signal
before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
progress = emulator.progress()
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20), resource.RLIM_INFINITY))  # less than a stack
try:
    progress.__enter__()
except RuntimeError as error:
    assert "no thread" in str(error)
else:
    raise AssertionError
assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
""")


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)", "pass"])
def test_exit_during_progress_is_clean(end):
    check_python(START + f"""
module = ok(driver.cuModuleLoadData(PTX))
flag = ok(driver.cuMemHostAlloc(4, 0))
function = ok(driver.cuModuleGetFunction(module, b"spin_until"))
ok(launch(function, (flag, ctypes.c_void_p)))
progress = emulator.progress()
progress.__enter__()
time.sleep(0.05)
{end}
""", timeout=60)


def test_fork_during_progress_is_clean():
    check_python(START + """
module = ok(driver.cuModuleLoadData(PTX))
flag = ok(driver.cuMemHostAlloc(4, 0))
ok(launch(ok(driver.cuModuleGetFunction(module, b"spin_until")), (flag, ctypes.c_void_p)))
with emulator.progress():
    for _ in range(20):
        pid = os.fork()
        if pid == 0:
            break
        assert os.waitpid(pid, 0)[1] == 0
if pid == 0:
    sys.exit(0)
ctypes.c_int.from_address(flag).value = 1
ok(driver.cuCtxSynchronize())
""", timeout=60)
