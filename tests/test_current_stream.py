# SPDX-License-Identifier: Apache-2.0
"""stream="current", and streams of other packages."""

import sys

import numpy as np
import pytest
from helpers.child import check_python
from helpers.exchange_table import Package, package_without_table

import se_cy


@pytest.fixture
def out(device):
    with device.to_device(np.ones(1, np.int32)) as memory:
        yield memory


@pytest.fixture
def double_it(kernel_of):
    return kernel_of("double_it")


@pytest.mark.emulator
def test_current_is_asked_for_at_each_launch(device, double_it, out, emulator):
    package = Package("some_package")
    streams = [device.create_stream() for _ in range(3)]
    bound = double_it.bind(1, 1, stream="current")
    assert package.asked == []
    tensor = package.tensor(out.handle)
    for stream in streams * 2:
        package.current = stream.handle
        with emulator.record() as log:
            bound(tensor)
        assert log.functions == ["cuLaunchKernel"] and log[0].arguments[8] == package.current
    assert package.asked == [(2, 0)] * 6
    device.synchronize()
    assert out.to_host()[0] == 2**6


@pytest.mark.emulator
@pytest.mark.parametrize("handle", [0, 1, 2])
def test_current_default_stream_is_that_of_the_kernels_context(device, double_it, out, emulator, handle):
    package = Package("some_package")
    package.current = handle
    tensor = package.tensor(out.handle)
    with emulator.record() as log:
        double_it.bind(1, 1, stream="current")(tensor)
    assert log.functions[0] == "cuCtxGetCurrent" and log.of("cuLaunchKernel")[0].arguments[8] == handle


@pytest.mark.emulator
def test_every_way_to_say_current(device, double_it, out, emulator):
    package = Package("some_package")
    stream = device.create_stream()
    package.current = stream.handle
    tensor = package.tensor(out.handle)
    with emulator.record() as log:
        double_it[1, 1, "current"](tensor)
        double_it.launch(1, 1, tensor, stream="current")
        double_it.bind(1, 1, stream="current", priority=0)(tensor)
        double_it.bind(1, 1, stream="current", hold_gil=True)(tensor)
    launches = log.of("cuLaunchKernel")
    assert [call.arguments[8] for call in launches] == [package.current] * 3 and launches[2].has_gil
    assert len(log.of("cuLaunchKernelEx")) == 1
    stream.synchronize()
    assert out.to_host()[0] == 16
    assert "the current stream" in repr(double_it[1, 1, "current"])


@pytest.mark.emulator
def test_current_of_another_device_asks_for_that_device(arguments_ptx):
    package = Package("some_package")
    device = se_cy.Device(1)
    out = device.to_device(np.ones(1, np.int32))
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("double_it").add_ptx(arguments_ptx))
    package.current = device.create_stream().handle
    with pytest.raises(se_cy.CudaError, match="INVALID_HANDLE"):
        kernel[1, 1, "current"](package.tensor(out.handle))  # the stream was dropped
    stream = device.create_stream()
    package.current = stream.handle
    kernel[1, 1, "current"](package.tensor(out.handle))
    assert package.asked == [(2, 1)] * 2


def test_current_needs_just_one_package(device, kernel_of, zeros):
    kernel = kernel_of("store_address")
    bound = kernel.bind(1, 1, stream="current")
    out = zeros(1, np.uint64)
    with pytest.raises(ValueError, match="'store_address'.*no argument is of a package"):
        bound(5, out)
    one, other = Package("one"), Package("other")
    with pytest.raises(ValueError, match="'store_address'.*of one and of other"):
        bound(one.tensor(5), other.tensor(out.handle))
    # Two types of one package, as of a tensor and a parameter.
    derived = type("Derived", (one.tensor,), {"__module__": "mine"})
    bound(one.tensor(5), derived(out.handle))
    device.synchronize()
    assert out.to_host()[0] == 5


def test_table_of_another_major_version_is_not_read(device, double_it, out):
    newer = Package("newer", major=2)
    with pytest.raises(ValueError, match="no argument"):
        double_it[1, 1, "current"](newer.tensor(out.handle))
    newer = Package("newer", major=2, previous=Package("older"))
    double_it[1, 1, "current"](newer.tensor(out.handle))
    device.synchronize()
    assert out.to_host()[0] == 2


@pytest.mark.emulator
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_package_without_table_is_asked_in_python(device, double_it, out, emulator, monkeypatch, name):
    stream = device.create_stream()
    handle, pointer = stream.handle, out.handle
    asked = []
    module, tensor = package_without_table(name, lambda ordinal: asked.append(ordinal) or handle)
    monkeypatch.setitem(sys.modules, name, module)
    for _ in range(2):
        with emulator.record() as log:
            double_it[1, 1, "current"](tensor(pointer))
        assert log.functions == ["cuLaunchKernel"] and log[0].arguments[8] == handle
    assert asked == [0, 0]


def test_failure_to_say_the_stream_is_the_callers(device, double_it, out, monkeypatch):
    def current(ordinal):
        raise KeyError("no stream today")

    module, tensor = package_without_table("cupy", current)
    monkeypatch.setitem(sys.modules, "cupy", module)
    with pytest.raises(KeyError, match="no stream today"):
        double_it[1, 1, "current"](tensor(out.handle))
    device.clear()  # would wait for ever for a launch that was not counted out


def test_package_that_clears_the_device_while_asked_is_noticed(device, double_it, out, monkeypatch):
    module, tensor = package_without_table("cupy", lambda ordinal: device.clear() or 0)
    monkeypatch.setitem(sys.modules, "cupy", module)
    with pytest.raises(se_cy.ModuleUnloadedError):
        double_it[1, 1, "current"](tensor(out.handle))


@pytest.mark.emulator
def test_stream_of_others_that_is_of_another_device_is_refused(kernel_of):
    class Foreign:
        def __cuda_stream__(self):
            return 0, stream.handle

    stream = se_cy.Device(1).create_stream()
    kernel = kernel_of("nothing")
    for given in (stream.handle, Foreign()):
        with pytest.raises(ValueError, match=f"{stream.handle:#x}.*device \\(1\\) than device 0"):
            kernel.bind(1, 1, stream=given)


@pytest.mark.emulator
def test_stream_of_others_that_is_closed_is_refused(device, kernel_of):
    with device.create_stream() as stream:
        handle = stream.handle
        bound = kernel_of("nothing").bind(1, 1, stream=handle)
    with pytest.raises(se_cy.CudaError, match="cuStreamGetCtx") as caught:
        kernel_of("nothing").bind(1, 1, stream=handle)
    assert f"{handle:#x}" in caught.value.__notes__[0]
    with pytest.raises(se_cy.CudaError, match=f"INVALID_HANDLE(.|\n)*{handle:#x}"):
        bound()


@pytest.mark.emulator
def test_debug_mode_refuses_a_launch_beside_the_current_stream():
    check_python(
        """
        import numpy as np
        import se_cy
        from exchange_table import Package
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k(.param .u64 a) { ret; }\\n"
        device = se_cy.Device(0)
        kernel = device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(ptx))
        package = Package("some_package")
        stream, other = device.create_stream(), device.create_stream()
        tensor = package.tensor(4096)
        package.current = stream.handle
        kernel[1, 1, stream](tensor)
        kernel[1, 1, "current"](tensor)
        try:
            kernel[1, 1, other](tensor)
        except ValueError as error:
            for part in "argument 0", "some_package", hex(stream.handle), hex(other.handle):
                assert part in str(error), error
        else:
            raise AssertionError("launched")
        # The legacy default stream has two handles.
        package.current = 1
        kernel[1, 1](tensor)
        """,
        environment={"SE_CY_DEBUG": "1"},
    )
