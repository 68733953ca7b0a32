# SPDX-License-Identifier: Apache-2.0
"""Launches without the GIL from an outside Cython extension, compiled as C against the installed .pxd files."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from cuda.bindings import driver
from helpers.build_extension import build_extension
from helpers.child import check_python
from helpers.driver_api import ok

import se_cy


@pytest.fixture(scope="session")
def outside(tmp_path_factory):
    return build_extension(Path(__file__).parent / "cython" / "outside_launches.pyx",
                           tmp_path_factory.mktemp("outside"), language="c")


@pytest.fixture
def bound_of(device, kernel_of):
    """A kernel bound to one thread and a stream of its own."""
    with device.create_stream(non_blocking=True) as stream:
        yield lambda name, **options: kernel_of(name).bind(1, 1, stream=stream, **options)


def test_a_million_launches_without_the_gil(outside, bound_of):
    bound = bound_of("nothing")
    with bound.kernel.module.pin():
        outside.launch_in_loop(bound, 1_000_000)
        assert outside.launch_raw_in_loop(bound, 1_000) == (0, 1_000)


@pytest.mark.parametrize("stream", [None, 1, 2, "own"])
def test_arguments_arrive_on_every_kind_of_stream(device, kernel_of, zeros, outside, stream):
    out = zeros(100, np.uint64)
    stream = device.create_stream() if stream == "own" else stream
    bound = kernel_of("store_address").bind(1, 1, stream=stream)
    with bound.kernel.module.pin():
        outside.store(bound, 7, out.handle)
        device.synchronize()
        assert out.to_host()[0] == 7
        # In a thread that no context is current in.
        other = threading.Thread(target=outside.store_many, args=(bound, range(1000, 1100), out.handle))
        other.start()
        other.join()
    device.synchronize()
    assert out.to_host().tolist() == list(range(1000, 1100))


@pytest.mark.emulator
def test_each_launch_is_one_driver_call(bound_of, outside, emulator):
    bound = bound_of("nothing")
    with bound.kernel.module.pin():
        outside.launch_in_loop(bound, 1)
        before = emulator.calls()
        outside.launch_in_loop(bound, 100)
        assert emulator.calls() == before + 100


def test_threads_launch_at_once(device, bound_of, zeros, outside):
    bound = bound_of("store_address")
    outs = [zeros(200, np.uint64) for _ in range(8)]
    with bound.kernel.module.pin():
        threads = [threading.Thread(target=outside.store_many, args=(bound, range(i, i + 200), out.handle))
                   for i, out in enumerate(outs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    device.synchronize()
    assert [out.to_host().tolist() for out in outs] == [list(range(i, i + 200)) for i in range(8)]


@pytest.mark.emulator
def test_failure_stops_the_launches_and_says_how_many_were_made(device, bound_of, zeros, outside, emulator):
    bound = bound_of("store_address")
    out = zeros(10, np.uint64)
    with bound.kernel.module.pin():
        emulator.fail("cuLaunchKernel", nth=4, status=701)
        with pytest.raises(se_cy.CudaError, match="'store_address'.*\n.*\n.*3 of 10 launches were made") as caught:
            outside.store_many(bound, range(1, 11), out.handle)
        assert caught.value.status == 701 and caught.value.call == "cuLaunchKernel"
        device.synchronize()
        assert out.to_host().tolist() == [1, 2, 3] + 7 * [0]
        emulator.fail("cuLaunchKernel", nth=3, status=701)
        assert outside.store_many(bound, range(10), out.handle, False) == (701, 2)
        with pytest.raises(se_cy.CudaError, match="'store_address'"):
            outside.check(bound, 701)
        outside.check(bound, 0)
        emulator.fail("cuLaunchKernel", nth=5, status=2)
        nothing = bound_of("nothing")
        assert outside.launch_raw_in_loop(nothing, 10) == (2, 4)


@pytest.mark.emulator
@pytest.mark.parametrize("function", ["cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent"])
def test_failing_context_call_is_named(kernel_of, outside, emulator, function):
    bound = kernel_of("nothing").bind(1, 1)
    with bound.kernel.module.pin():
        emulator.fail(function, nth=1, status=2)
        with pytest.raises(se_cy.CudaError) as caught:
            outside.launch_in_loop(bound, 1)
    assert caught.value.call == function and caught.value.status == 2


def test_missing_arguments_are_an_error(bound_of, outside):
    bound = bound_of("store_address")
    with bound.kernel.module.pin(), pytest.raises(se_cy.InvalidValueError, match="0 of 1 launches"):
        outside.store_without_blocks(bound)


def test_launch_without_a_pin_is_refused(bound_of, outside):
    bound = bound_of("nothing")
    with pytest.raises(RuntimeError, match="pin"):
        outside.launch_in_loop(bound, 1)
    assert outside.launch_raw_in_loop(bound, 1) == (400, 0)
    with pytest.raises(RuntimeError, match="pin"):
        outside.check(bound, 400)


def test_kernel_of_an_unloaded_module_is_refused(device, bound_of, outside):
    bound = bound_of("nothing")
    device.clear()
    for use in (lambda: outside.launch_in_loop(bound, 1), lambda: outside.launch_raw_in_loop(bound, 1)):
        with pytest.raises(se_cy.ModuleUnloadedError):
            use()


def test_closed_stream_and_what_is_no_bound_kernel_are_refused(device, kernel_of, outside):
    stream = device.create_stream()
    bound = kernel_of("nothing").bind(1, 1, stream=stream)
    stream.close()
    with bound.kernel.module.pin():
        with pytest.raises(ValueError, match="closed"):
            outside.launch_in_loop(bound, 1)
        assert outside.launch_raw_in_loop(bound, 1) == (400, 0)
    with pytest.raises(TypeError, match="BoundKernel; got 3"):
        outside.launch_raw_in_loop(3, 1)


def test_unloading_waits_for_the_pin(device, bound_of, outside):
    bound = bound_of("nothing")
    pin = bound.kernel.module.pin()
    clearing = threading.Thread(target=device.clear)
    clearing.start()
    time.sleep(0.05)
    assert clearing.is_alive()
    pin.close()
    clearing.join(60)
    assert not clearing.is_alive()
    with pytest.raises(se_cy.ModuleUnloadedError):
        outside.launch_in_loop(bound, 1)


def test_forked_child_is_refused(bound_of, outside):
    bound = bound_of("nothing")
    with bound.kernel.module.pin():
        child = os.fork()
        if child == 0:
            try:
                outside.launch_in_loop(bound, 1)
            except se_cy.ForkError:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.emulator
@pytest.mark.parametrize("options", [{"priority": 0}, {"hold_gil": True}, {"cooperative": True, "shared_bytes": 8}])
def test_options_of_bind_are_honoured(device, bound_of, zeros, outside, emulator, options):
    out = zeros(2, np.uint64)
    bound = bound_of("store_address", **options)
    with bound.kernel.module.pin(), emulator.record() as calls:
        outside.store(bound, 5, out.handle)
        assert outside.store_many(bound, [6], out.handle + 8, raises=False) == (0, 1)
    with_attributes = options.keys() & {"priority", "cooperative"}
    launches = [function for function in calls.functions if "Launch" in function]
    assert launches == ["cuLaunchKernelEx" if with_attributes else "cuLaunchKernel"] * 2
    device.synchronize()
    assert out.to_host().tolist() == [5, 6]


@pytest.mark.emulator
def test_debug_mode_names_the_kernel_that_faulted(outside):
    check_python(f"""
        import sys
        import se_cy
        sys.path.insert(0, {str(Path(outside.__file__).parent)!r})
        import outside_launches

        device = se_cy.Device(0)
        code = se_cy.Code.from_file({str(Path(__file__).parent / "kernels" / "arguments.ptx")!r})
        kernel = device.create_kernel(se_cy.KernelLoaderSpec("store_address").add_ptx(code))
        bound = kernel.bind(1, 1, stream=device.create_stream())
        with kernel.module.pin():
            try:
                outside_launches.store(bound, 1, 16)
            except se_cy.CudaError as error:
                assert error.status == 700 and "'store_address'" in str(error) and "SE_CY_DEBUG" in str(error), error
            else:
                raise AssertionError("no error")
        """, environment={"SE_CY_DEBUG": "1"})


def test_current_stream_is_refused(kernel_of, outside):
    bound = kernel_of("nothing").bind(1, 1, stream="current")
    with bound.kernel.module.pin():
        for use in (lambda: outside.launch_in_loop(bound, 1),
                    lambda: outside.check(bound, outside.launch_raw_in_loop(bound, 1)[0])):
            with pytest.raises(ValueError, match="among the arguments: bind the stream itself"):
                use()


@pytest.mark.emulator
def test_how_to_runs_as_printed(tmp_path):
    text = (Path(__file__).parent.parent / "docs/how-to/launch-from-cython.md").read_text()
    (source,) = re.findall(r"^```cython\n(# saxpy_loop.pyx\n.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ((program, output),) = re.findall(r"^```py\n(.*?)^```\n\n```output\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "saxpy_loop.pyx").write_text(source)
    build_extension(tmp_path / "saxpy_loop.pyx", tmp_path, language="c")
    (tmp_path / "program.py").write_text(program)
    child = subprocess.run([sys.executable, "-W", "error", "program.py"], cwd=tmp_path, capture_output=True, text=True,
                           timeout=120, env=os.environ | {"SE_CY_DRIVER": "emulator"})
    assert (child.returncode, child.stderr, child.stdout) == (0, "", output)


def test_both_forms_of_arguments_are_captured(device, kernel_of, zeros, outside):
    out = zeros(4, np.uint64)
    stream = device.create_stream(non_blocking=True)
    bound = kernel_of("store_address").bind(1, 1, stream=stream)
    with bound.kernel.module.pin():
        ok(driver.cuStreamBeginCapture(stream.handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
        outside.store(bound, 9, out.handle)
        outside.store_many(bound, [1, 2, 3], out.handle + 8)
        graph = ok(driver.cuStreamEndCapture(stream.handle))
        assert out.to_host().tolist() == [0, 0, 0, 0]
        executable = ok(driver.cuGraphInstantiate(graph, 0))
        ok(driver.cuGraphLaunch(executable, stream.handle))
        stream.synchronize()
        ok(driver.cuGraphExecDestroy(executable))
        ok(driver.cuGraphDestroy(graph))
    assert out.to_host().tolist() == [9, 1, 2, 3]
