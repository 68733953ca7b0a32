# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
import threading

import numpy as np
import pytest

import se_cy

KERNELS = pathlib.Path(__file__).parent / "kernels"


@pytest.fixture
def saxpy(device, saxpy_ptx):
    return device.create_kernel(se_cy.KernelLoaderSpec("saxpy").add_ptx(saxpy_ptx))


@pytest.mark.parametrize("n", [1, 31, 32, 33, 255, 256, 257, 100_003])
def test_saxpy_equals_numpy(device, saxpy, n):
    random = np.random.default_rng()
    x, y = random.standard_normal((2, n), dtype=np.float32)
    out = device.to_device(np.full(n + 1, np.nan, np.float32))
    saxpy[(n + 255) // 256, 256](2.0, device.to_device(x), device.to_device(y), out, n)
    host = out.to_host()
    assert np.array_equal(host[:n], (2.0 * x.astype(np.float64) + y).astype(np.float32))
    assert np.isnan(host[n])


@pytest.mark.parametrize("memory", ["static", "dynamic"])
@pytest.mark.parametrize("name, dtype", [("i32", "i4"), ("u64", "u8"), ("f32", "f4"), ("f64", "f8"), ("i16", "i2")])
def test_shared_memory_reduction_equals_numpy(device, memory, name, dtype):
    ptx = (KERNELS / "reduction.ptx").read_bytes()
    reduce = device.create_kernel(se_cy.KernelLoaderSpec(f"reduce_{memory}_{name}").add_ptx(ptx))
    n, block = 5000, 256
    grid = (n + block - 1) // block
    # Whole numbers, so that a sum of floats does not depend on its order.
    values = np.random.default_rng().integers(0, 100, n).astype(dtype)
    sums = device.allocate(grid, dtype)
    shared_bytes = block * values.itemsize if memory == "dynamic" else 0
    reduce[grid, block, None, shared_bytes](device.to_device(values), sums, n)
    padded = np.zeros(grid * block, dtype)
    padded[:n] = values
    assert np.array_equal(sums.to_host(), padded.reshape(grid, block).sum(axis=1, dtype=dtype))


def test_every_way_to_launch_is_the_same(device, kernel_of):
    kernel = kernel_of("double_it")
    out = device.to_device(np.ones(4, np.int32))
    stream = device.create_stream()
    kernel[1, 4](out)
    kernel[(1,), [4]](out)
    kernel[(1, 1, 1), (4, 1, 1), None](out)
    kernel[1, 4, stream](out)
    kernel[1, 4, stream, 0](out)
    kernel.launch(1, 4, out, stream=stream)
    kernel.bind(1, 4, stream=stream.handle)(out)
    kernel.bind(np.int64(1), np.array([4]), stream=stream)(out)
    kernel.bind(1, 4, hold_gil=True)(out)
    kernel[1, 4].__call__(out)
    kernel[1, 4](*[out])
    device.synchronize()
    assert out.to_host().tolist() == [2**11] * 4


def test_object_with_the_stream_protocol_is_a_stream(device, kernel_of):
    class Foreign:
        def __init__(self, stream):
            self.stream = stream

        def __cuda_stream__(self):
            return 0, self.stream.handle

    out = device.to_device(np.ones(1, np.int32))
    kernel_of("double_it")[1, 1, Foreign(device.create_stream())](out)
    device.synchronize()
    assert out.to_host()[0] == 2


@pytest.mark.parametrize("handle", [0, 1, 2])
def test_default_stream_handles_pass_through(device, kernel_of, handle):
    out = device.to_device(np.ones(1, np.int32))
    kernel_of("double_it")[1, 1, handle](out)
    device.synchronize()
    assert out.to_host()[0] == 2


def test_thread_that_never_used_cuda_launches_on_any_stream(device, kernel_of):
    # B21
    kernel = kernel_of("double_it")
    out = device.to_device(np.ones(1, np.int32))
    stream = device.create_stream()
    errors = []

    def work():
        try:
            kernel[1, 1](out)
            kernel[1, 1, stream](out)
            stream.synchronize()
            device.to_device(np.ones(3)).to_host()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    device.synchronize()
    assert errors == [] and out.to_host()[0] == 4


def test_grid_with_a_zero_launches_nothing_but_checks_arguments(device, kernel_of):
    # B17
    kernel = kernel_of("double_it")
    out = device.to_device(np.ones(1, np.int32))
    for grid in (0, (0, 1, 1), (1, 0, 1), (1, 1, 0)):
        kernel[grid, 1](out)
        with pytest.raises(TypeError):
            kernel[grid, 1]()
    assert out.to_host()[0] == 1


@pytest.mark.parametrize("block", [0, (0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_block_with_a_zero_is_refused(kernel_of, block):
    with pytest.raises(ValueError, match="at least one thread"):
        kernel_of("nothing")[1, block]


@pytest.mark.parametrize(
    "grid, block, message",
    [
        # B18
        ((1, 65536, 1), 1, "grid.y is 0 to 65535.*65536"),
        ((1, 1, 65536), 1, "grid.z is 0 to 65535"),
        (2**31, 1, "grid.x is 0 to 2147483647"),
        (2**32 + 1, 1, "grid.x.*4294967297"),
        (-1, 1, "grid.x.*-1"),
        (1, (32, 33, 1), "at most 1024 threads.*1056"),
        (1, (1, 1, 65), "block.z is 1 to 64"),
        (1, 1025, "block.x is 1 to 1024"),
    ],
)
def test_launch_beyond_a_limit_names_dimension_value_and_limit(kernel_of, grid, block, message):
    with pytest.raises(ValueError, match=message):
        kernel_of("nothing")[grid, block]


@pytest.mark.parametrize("bad", [2.0, 2.5, "2", b"2", None, object(), (1, 2.0), (1, "2")])
def test_dimensions_of_another_type_are_refused(kernel_of, bad):
    # B58
    with pytest.raises(TypeError, match="grid"):
        kernel_of("nothing")[bad, 1]
    with pytest.raises(TypeError, match="block"):
        kernel_of("nothing")[1, bad]


@pytest.mark.parametrize("bad", [(), (1, 1, 1, 1), []])
def test_dimensions_of_another_number_are_refused(kernel_of, bad):
    with pytest.raises(ValueError, match="grid has one to three"):
        kernel_of("nothing")[bad, 1]


def test_configuration_of_another_shape_is_refused(kernel_of):
    kernel = kernel_of("nothing")
    for configuration in (1, (1,), (1, 1, None, 0, 0)):
        with pytest.raises(TypeError, match="takes \\[grid, block\\]"):
            kernel[configuration]


def test_stream_that_is_none_is_refused(device, kernel_of):
    kernel = kernel_of("nothing")
    with pytest.raises(TypeError, match="in third place.*fourth"):
        kernel[1, 1, 1024]
    with pytest.raises(TypeError, match="__cuda_stream__"):
        kernel[1, 1, "stream"]
    with pytest.raises(ValueError, match="-1"):
        kernel.bind(1, 1, stream=-1)
    class Newer:
        def __cuda_stream__(self):
            return 1, 0

    with pytest.raises(TypeError, match="version 0"):
        kernel[1, 1, Newer()]
    for bad in (True, False):
        with pytest.raises(TypeError):
            kernel[1, 1, bad]
        with pytest.raises(TypeError):
            kernel.bind(1, 1, stream=bad)
    stream = device.create_stream()
    bound = kernel[1, 1, stream]
    stream.close()
    for use in (bound, lambda: kernel[1, 1, stream]):
        with pytest.raises(ValueError, match="closed"):
            use()


@pytest.mark.emulator
def test_stream_of_another_device_is_refused(kernel_of):
    with pytest.raises(ValueError, match="another device"):
        kernel_of("nothing")[1, 1, se_cy.Device(1).create_stream()]


def test_dynamic_shared_memory_up_to_what_the_device_can_do(device, kernel_of):
    kernel = kernel_of("dynamic_shared")
    largest = device.attributes.max_shared_bytes_per_block_opt_in
    out = device.to_device(np.zeros(64, np.int32))
    for shared_bytes in (256, 48 * 1024, 48 * 1024 + 1, largest, 256):
        kernel[1, 64, None, shared_bytes](out)
        assert out.to_host().tolist() == list(range(63, -1, -1))
    assert kernel.attributes.max_dynamic_shared_bytes == largest
    with pytest.raises(ValueError, match=f"{largest + 1} bytes.*{largest} bytes"):
        kernel[1, 64, None, largest + 1]
    with pytest.raises(ValueError, match="-1"):
        kernel[1, 64, None, -1]
    with pytest.raises(TypeError, match="shared_bytes is an int; got 1.5"):
        kernel[1, 64, None, 1.5]


def test_number_whose_conversion_unloads_the_module_is_noticed(device, kernel_of):
    class Clearing:
        def __index__(self):
            device.clear()
            return 64

    with pytest.raises(se_cy.ModuleUnloadedError):
        kernel_of("dynamic_shared").bind(1, 1, shared_bytes=Clearing())


@pytest.mark.emulator
def test_launch_the_driver_refuses_is_described_and_counted_out(device, kernel_of, emulator):
    kernel = kernel_of("sixteen")
    bound = kernel[3, 7]
    emulator.fail("cuLaunchKernel", nth=1, status=701)
    with pytest.raises(se_cy.CudaError) as caught:
        bound(*range(16))
    message = str(caught.value)
    assert caught.value.status == 701 and caught.value.call == "cuLaunchKernel"
    assert "'sixteen'" in message and "(3, 1, 1)" in message and "(7, 1, 1)" in message and "registers" in message
    bound(*range(16))
    device.clear()  # would wait for ever for a launch that was not counted out


@pytest.mark.emulator
def test_kernel_the_emulator_can_not_run_says_which_instruction(device, emulator):
    text = """.version 7.0
        .target sm_70
        .address_size 64
        .visible .entry fine() { ret; }
        .visible .entry voting() {
            .reg .b32 %r<2>; .reg .pred %p<2>;
            setp.eq.u32 %p1, 0, 0;
            vote.sync.ballot.b32 %r1, %p1, 0xffffffff;
            ret;
        }
        """
    module = device.load(text)
    module["fine"][1, 1]()
    with pytest.raises(se_cy.CudaError, match="last_fault") as caught:
        module["voting"][1, 1]()
    assert caught.value.status == 801
    assert "voting" in emulator.last_fault() and "vote" in emulator.last_fault() and "line 8" in emulator.last_fault()


@pytest.mark.emulator
def test_one_driver_call_for_a_launch_on_a_stream_of_its_own(device, kernel_of, emulator):
    bound = kernel_of("sixteen").bind(1, 1, stream=device.create_stream())
    bound(*range(16))
    before = emulator.calls()
    bound(*range(16))
    assert emulator.calls() == before + 1


def test_vectorcall_is_what_the_interpreter_uses(kernel_of):
    # One test per Python version: CI runs this file on each.
    bound = kernel_of("nothing")[1, 1]
    flags = type(bound).__flags__
    assert flags & (1 << 11), f"Py_TPFLAGS_HAVE_VECTORCALL is off on Python {sys.version}"
    bound()
    bound(*())
    assert callable(bound) and bound.__call__() is None


@pytest.mark.parametrize("name", ["Kernel", "BoundKernel", "Module", "Stream", "DeviceMemory", "ModuleCache"])
def test_types_that_only_se_cy_fills_in_can_not_be_made(name):
    type_ = getattr(se_cy, name)
    for make in (type_, lambda: type_.__new__(type_), lambda: object.__new__(type_)):
        with pytest.raises(TypeError):
            make()


def test_repr_names_device_and_state(device, kernel_of):
    kernel = kernel_of("double_it")
    assert repr(kernel) == "<se_cy.Kernel 'double_it' on device 0, 1 parameters>"
    assert "grid (2, 1, 1), block (4, 1, 1)" in repr(kernel[2, 4])
    assert repr(device).startswith("<se_cy.Device 0: ")
    assert "loaded" in repr(kernel.module)


def test_bound_kernel_shows_what_it_is_bound_to(kernel_of):
    kernel = kernel_of("dynamic_shared")
    bound = kernel.bind((2, 3), (4, 5, 6), shared_bytes=512)
    assert bound.kernel is kernel and bound.grid == (2, 3, 1) and bound.block == (4, 5, 6) and bound.shared_bytes == 512


def test_attributes_are_plausible(kernel_of):
    attributes = kernel_of("double_it").attributes
    assert 1 <= attributes.registers <= 255 and attributes.max_threads_per_block == 1024


def test_many_threads_launch_one_bound_kernel(device, zeros, arguments_ptx):
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("store_address").add_ptx(arguments_ptx))
    bound = kernel.bind(1, 1, stream=device.create_stream())
    outs = [zeros(1, np.uint64) for _ in range(16)]
    barrier = threading.Barrier(16)

    def work(i):
        barrier.wait()
        for round_ in range(50):
            bound(1000 * i + round_, outs[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    device.synchronize()
    assert [int(out.to_host()[0]) for out in outs] == [1000 * i + 49 for i in range(16)]
