# SPDX-License-Identifier: Apache-2.0
import threading

import numpy as np
import pytest

import se_cy


@pytest.mark.parametrize("dtype", ["i1", "f2", "i4", "f8", "c16", "M8[s]", [("a", "i4"), ("b", "f8")]])
@pytest.mark.parametrize("shape", [(), 1, 7, (2, 3), (4, 0, 5), 0])
def test_array_comes_back_as_it_was(device, shape, dtype):
    array = np.random.default_rng().integers(0, 255, 48 * 48, np.uint8).view(dtype)[:int(np.prod(shape))].reshape(shape)
    memory = device.to_device(array)
    assert memory.shape == array.shape and memory.dtype == array.dtype and memory.nbytes == array.nbytes
    host = memory.to_host()
    assert host.tobytes() == array.tobytes() and host.shape == array.shape and host.dtype == array.dtype
    assert (memory.handle == 0) == (array.nbytes == 0)


def test_array_that_is_not_contiguous_arrives_in_its_own_order(device):
    array = np.arange(12).reshape(3, 4).T
    assert np.array_equal(device.to_device(array).to_host(), array)


def test_out_takes_the_copy(device):
    memory = device.to_device(np.arange(4.0))
    out = np.zeros(4)
    assert memory.to_host(out) is out and out.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "out, error",
    [
        (np.zeros(5), ValueError),
        (np.zeros(4, np.float32), ValueError),
        (np.zeros((2, 2)), ValueError),
        (np.zeros(8)[::2], ValueError),
        ([0.0] * 4, TypeError),
    ],
)
def test_out_that_does_not_fit_is_refused_and_unchanged(device, out, error):
    memory = device.to_device(np.arange(1.0, 5.0))
    with pytest.raises(error):
        memory.to_host(out)
    assert not np.any(out)


def test_out_whose_class_answers_what_it_likes_is_not_written_past(device):
    class Small(np.ndarray):
        def reshape(self, *shape):
            return np.empty(1, np.uint8)

    class Lying(np.ndarray):
        shape = (1 << 20,)

    memory = device.to_device(np.ones(1 << 20, "f4"))
    out = np.zeros(1 << 20, "f4").view(Small)
    memory.to_host(out)
    assert np.all(np.asarray(out) == 1)
    with pytest.raises(ValueError, match="4194304"):
        memory.to_host(np.zeros(1, "f4").view(Lying))


def test_read_only_arrays_go_up_but_are_not_written(device):
    # B32
    data = bytes(range(8))
    array = np.frombuffer(data, np.uint8)
    memory = device.to_device(array)
    with pytest.raises(ValueError, match="writable"):
        memory.to_host(array)
    assert memory.to_host().tobytes() == data == bytes(range(8))


def test_copy_from_host_replaces_the_content(device):
    memory = device.allocate((2, 2), np.int32)
    memory.copy_from_host(np.array([[1, 3], [2, 4]], np.int32).T)
    assert memory.to_host().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="shape"):
        memory.copy_from_host(np.zeros(4, np.int32))
    with pytest.raises(ValueError, match="float64"):
        memory.copy_from_host(np.zeros((2, 2)))


def test_memory_on_a_stream_is_ordered_there(device, kernel_of):
    stream = device.create_stream(non_blocking=True)
    out = device.to_device(np.ones(4, np.int32), stream=stream)
    kernel_of("double_it")[1, 4, stream](out)
    kernel_of("double_it")[1, 4, stream](out)
    stream.close()
    assert out.to_host().tolist() == [4] * 4
    out.close()


def test_numpy_is_told_to_use_to_host(device):
    with pytest.raises(TypeError, match="to_host"):
        np.asarray(device.allocate(1, "f4"))


def test_closed_memory_can_not_be_used(device):
    with device.allocate(4, "f4") as memory:
        assert not memory.is_closed
    memory.close()
    assert memory.is_closed and "closed" in repr(memory)
    for use in (memory.to_host, lambda: memory.copy_from_host(np.zeros(4, "f4")), lambda: memory.handle):
        with pytest.raises(ValueError, match="closed"):
            use()


@pytest.mark.parametrize(
    "shape, dtype, error",
    [(-1, "f4", ValueError), ((2, -3), "f4", ValueError), (1.5, "f4", TypeError), ("4", "f4", TypeError),
     (4, "O", TypeError), (4, "no such", TypeError), (2**62, "f8", MemoryError)],
)
def test_bad_shape_or_dtype_is_refused(device, shape, dtype, error):
    with pytest.raises(error):
        device.allocate(shape, dtype)


def test_more_than_the_device_has_is_an_out_of_memory_error(device):
    with pytest.raises(se_cy.OutOfMemoryError) as caught:
        device.allocate(2**50, "u1")
    assert isinstance(caught.value, MemoryError) and caught.value.status == 2
    assert device.to_device(np.arange(3)).to_host().tolist() == [0, 1, 2]


@pytest.mark.emulator
def test_dropped_memory_is_freed_in_its_own_context_from_any_thread(device, emulator):
    # B66
    device.synchronize()
    live = emulator.live("allocations")
    things = [device.allocate(10, "f4") for _ in range(10)]
    things += [device.allocate(10, "f4", stream=device.create_stream()) for _ in range(10)]
    assert emulator.live("allocations") == live + 20
    thread = threading.Thread(target=things.clear)
    thread.start()
    thread.join()
    device.synchronize()
    assert emulator.live("allocations") == live


def test_memory_dropped_right_after_the_launch_is_there_until_the_kernel_ran(device, kernel_of):
    # B61 for memory: the driver's own free would not wait.
    kernel = kernel_of("double_it")
    for stream in (None, device.create_stream(), device.create_stream(non_blocking=True)):
        out = device.to_device(np.ones(1000, np.int32))
        bound = kernel[1, 1000, stream]
        for _ in range(20):
            bound(out)
            bound(device.to_device(np.ones(1000, np.int32)))
        with device.to_device(np.ones(1000, np.int32)) as closed:
            bound(closed)
        device.synchronize()
        assert out.to_host().tolist() == [2**20] * 1000


@pytest.mark.emulator
def test_dropped_memory_is_freed_before_an_allocation_fails_for_want_of_it(device, emulator):
    device.synchronize()
    live = emulator.live("allocations")
    for _ in range(8):
        device.allocate(3 * 2**30, "u1")  # 24 GiB on a device of 16
    assert emulator.live("allocations") <= live + 5
    device.synchronize()
    assert emulator.live("allocations") == live


@pytest.mark.emulator
@pytest.mark.parametrize("function", ["cuMemcpyHtoDAsync", "cuStreamSynchronize"])
def test_failed_upload_leaves_no_memory_behind(device, emulator, function):
    device.synchronize()
    live = emulator.live("allocations")
    emulator.fail(function, nth=1, status=999)
    with pytest.raises(se_cy.CudaError) as caught:
        device.to_device(np.zeros(4))
    assert caught.value.call == function
    del caught
    device.synchronize()
    assert emulator.live("allocations") == live


def test_memory_refuses_pickling(device):
    import pickle

    with pytest.raises(TypeError, match="to_host"):
        pickle.dumps(device.allocate(1, "f4"))


def test_memory_info_is_within_reason(device):
    free, total = device.memory_info()
    assert 0 < free <= total
