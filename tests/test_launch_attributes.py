# SPDX-License-Identifier: Apache-2.0
"""Launch attributes, and the limits that depend on the kernel."""

import threading

import numpy as np
import pytest

import se_cy

# What the bound launch is of, and what the driver is told of it.
ATTRIBUTES = [
    ({"cooperative": True}, {"cooperative": 1}),
    ({"cluster": 1}, {"cluster_dimension": (1, 1, 1)}),
    ({"programmatic_stream_serialization": True}, {"programmatic_stream_serialization": 1}),
    ({"priority": -2}, {"priority": -2}),
    ({"preferred_shared_memory_carveout": 50}, {"preferred_shared_memory_carveout": 50}),
    ({"cooperative": True, "priority": 0, "preferred_shared_memory_carveout": 0},
     {"cooperative": 1, "priority": 0, "preferred_shared_memory_carveout": 0}),
]


@pytest.mark.parametrize("asked, told", ATTRIBUTES, ids=lambda value: "-".join(value))
def test_attribute_reaches_the_kernel_launch(device, kernel_of, asked, told):
    kernel = kernel_of("double_it")
    out = device.to_device(np.ones(4, np.int32))
    for stream in (device.create_stream(), None):
        bound = kernel.bind(1, 4, stream=stream, **asked)
        bound(out)  # cold
        bound(out)
    device.synchronize()
    assert out.to_host().tolist() == [16] * 4


@pytest.mark.emulator
@pytest.mark.parametrize("asked, told", ATTRIBUTES, ids=lambda value: "-".join(value))
def test_launch_with_attributes_is_one_driver_call(device, kernel_of, emulator, asked, told):
    stream = device.create_stream()
    out = device.to_device(np.ones(4, np.int32))
    bound = kernel_of("double_it").bind(1, 4, stream=stream, **asked)
    for _ in range(2):
        with emulator.record() as log:
            bound(out)
        assert log.functions == ["cuLaunchKernelEx"]
        assert log[0].attributes == told and log[0].kernel == "double_it" and not log[0].has_gil


@pytest.mark.emulator
def test_launch_without_attributes_is_the_plain_call(device, kernel_of, emulator):
    stream = device.create_stream()
    bound = kernel_of("nothing").bind(1, 1, stream=stream, cooperative=False, priority=None)
    with emulator.record() as log:
        bound()
    assert log.functions == ["cuLaunchKernel"] and log[0].attributes == {}


@pytest.mark.emulator
def test_attributes_and_the_gil(device, kernel_of, emulator):
    stream = device.create_stream()
    for where in (stream, None):
        bound = kernel_of("nothing").bind(1, 1, stream=where, priority=0, hold_gil=True)
        with emulator.record() as log:
            bound()
        assert all(call.has_gil for call in log) and len(log.of("cuLaunchKernelEx")) == 1


def test_zero_in_the_grid_with_attributes_launches_nothing(device, kernel_of):
    out = device.to_device(np.ones(1, np.int32))
    bound = kernel_of("double_it").bind(0, 1, cooperative=True, priority=0, cluster=1)
    bound(out)
    with pytest.raises(TypeError):
        bound()
    assert out.to_host()[0] == 1


def largest_cooperative_grid(kernel, block, shared_bytes=0):
    """By trial, as the driver counts what else takes room."""
    fits, too_large = 1, 1 << 20
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        try:
            kernel.bind(middle, block, shared_bytes=shared_bytes, cooperative=True)
            fits = middle
        except ValueError:
            too_large = middle
    return fits


@pytest.mark.parametrize("ordinal", [0, pytest.param(1, marks=pytest.mark.emulator)])
def test_largest_cooperative_grid_runs_and_one_block_more_names_the_limit(arguments_ptx, ordinal):
    # B51
    device = se_cy.Device(ordinal)
    spec = se_cy.KernelLoaderSpec("nothing").add_ptx(arguments_ptx)
    kernel = device.create_kernel(spec)
    processors = device.attributes.multiprocessor_count
    largest = largest_cooperative_grid(kernel, 1024)
    assert largest % processors == 0 and largest // processors in (1, 2)
    kernel.bind(largest, 1024, cooperative=True)()
    device.synchronize()
    with pytest.raises(ValueError, match=f"at most {largest} blocks.*of {processors} multi.*got {largest + 1}"):
        kernel.bind((largest + 1, 1, 1), 1024, cooperative=True)
    kernel.bind(largest + 1, 1024)()
    device.synchronize()
    # Shared memory leaves room for one block on each multiprocessor.
    shared_bytes = device.attributes.max_shared_bytes_per_block_opt_in
    assert largest_cooperative_grid(kernel, 32, shared_bytes) == processors


@pytest.mark.emulator
def test_cooperative_grid_that_the_driver_refuses_is_a_value_error_with_the_limit(device, kernel_of, emulator):
    bound = kernel_of("nothing").bind(5, 32, cooperative=True)
    emulator.fail("cuLaunchKernelEx", nth=1, status=720)
    with pytest.raises(ValueError, match="COOPERATIVE_LAUNCH_TOO_LARGE.*\n.*grid \\(5, 1, 1\\).*cooperative") as caught:
        bound()
    assert isinstance(caught.value, se_cy.CudaError) and caught.value.status == 720
    bound()


def test_cluster_that_is_not_possible_names_the_limit(kernel_of):
    kernel = kernel_of("nothing")
    for cluster, grid, message in [
        (0, 1, "at least one block"),
        (9, 9, "at most 8 blocks.*9"),
        ((2, 2, 4), 8, "at most 8 blocks.*16"),
        (2, 3, "grid.x is a multiple of the cluster's 2; got 3"),
        ((1, 2), (4, 3), "grid.y is a multiple"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernel.bind(grid, 1, cluster=cluster)
    with pytest.raises(TypeError, match="cluster is"):
        kernel.bind(2, 1, cluster="2")


@pytest.mark.emulator
def test_device_without_clusters_refuses_them(kernel_of):
    with pytest.raises(ValueError, match="device 0 has no clusters.*\\(2, 1, 1\\)"):
        kernel_of("nothing").bind(4, 1, cluster=2)


@pytest.mark.gpu
def test_cluster_dimension_is_what_the_kernel_sees(device):
    text = """.version 7.8
        .target sm_90
        .address_size 64
        .visible .entry size(.param .u64 out) {
            .reg .b64 %rd<3>; .reg .b32 %r<3>;
            ld.param.u64 %rd1, [out];
            cvta.to.global.u64 %rd2, %rd1;
            mov.u32 %r1, %cluster_nctaid.x;
            st.global.u32 [%rd2], %r1;
            ret;
        }
        """
    out = device.to_device(np.zeros(1, np.uint32))
    size = device.load(text)["size"]
    for cluster in (1, 2, 8):
        size.bind(16, 32, cluster=cluster)(out)
        assert out.to_host()[0] == cluster
    assert size.bind(16, 32, cluster=(2, 1)).cluster == (2, 1, 1)


@pytest.mark.parametrize(
    "attribute, error, message",
    [
        ({"priority": 1}, ValueError, "priority.*to 0 on this device; got 1"),
        ({"priority": -1000}, ValueError, "got -1000"),
        ({"priority": "high"}, TypeError, "priority.*'high'"),
        ({"preferred_shared_memory_carveout": 101}, ValueError, "0 to 100.*101"),
        ({"preferred_shared_memory_carveout": -1}, ValueError, "0 to 100.*-1"),
        ({"preferred_shared_memory_carveout": 0.5}, TypeError, "0.5"),
    ],
)
def test_attribute_out_of_range_is_refused(kernel_of, attribute, error, message):
    with pytest.raises(error, match=message):
        kernel_of("nothing").bind(1, 1, **attribute)


def test_bound_kernel_shows_its_cluster(kernel_of):
    kernel = kernel_of("nothing")
    assert kernel[1, 1].cluster is None and kernel.bind(1, 1, priority=0).cluster is None
    bound = kernel.bind(1, 1, cluster=(1, 1, 1), cooperative=True)
    assert bound.cluster == (1, 1, 1) and "cluster (1, 1, 1), cooperative" in repr(bound)


def test_many_threads_launch_with_attributes(device, zeros, arguments_ptx):
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("store_address").add_ptx(arguments_ptx))
    bound = kernel.bind(1, 1, priority=-1)
    outs = [zeros(1, np.uint64) for _ in range(8)]

    def work(i):
        for round_ in range(50):
            bound(1000 * i + round_, outs[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    device.synchronize()
    assert [int(out.to_host()[0]) for out in outs] == [1000 * i + 49 for i in range(8)]


@pytest.mark.emulator
def test_block_of_too_many_registers_says_so(device, kernel_of, emulator):
    # B19
    emulator.claim_registers("double_it", 80)
    try:
        kernel = kernel_of("double_it")
        out = device.to_device(np.ones(1024, np.int32))
        with pytest.raises(ValueError) as caught:
            kernel[1, 1024](out)
        message = str(caught.value)
        assert caught.value.status == 701 and "80 registers per thread" in message
        assert "too many registers: 81920 for a block of 1024 threads" in message and "at most 65536" in message
        assert "too many threads: 1024 a block, and this kernel's have at most 800" in message
        kernel[1, 800](out)
        device.synchronize()
    finally:
        emulator.claim_registers("double_it", 0)
    assert out.to_host().tolist() == [2] * 800 + [1] * 224


@pytest.mark.emulator
def test_dynamic_shared_memory_lowered_by_others_is_named(device, kernel_of):
    from cuda.bindings import driver

    kernel = kernel_of("dynamic_shared")
    out = device.to_device(np.zeros(64, np.int32))
    bound = kernel.bind(1, 64, shared_bytes=100_000)
    driver.cuFuncSetAttribute(
        kernel.handle, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000)
    with pytest.raises(ValueError, match="too much shared memory: 100000 bytes.*allowed 1000"):
        bound(out)
