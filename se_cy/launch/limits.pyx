# SPDX-License-Identifier: Apache-2.0
"""Limits that depend on the kernel: how many blocks run at once, and why a launch does not fit.

Floor 4. Stateless. Asked when a launch is bound with the attribute in question, and after a refused launch.
"""
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUdevice_attribute, CUfunction, CUresult

from se_cy.driver.context cimport device_attribute, enter, leave
from se_cy.driver.status cimport check
from se_cy.launch.attributes cimport read_attributes

cdef enum:
    # What every device with clusters can do; above it a kernel has to be allowed a size that is not portable.
    PORTABLE_CLUSTER = 8
    # Registers are given to a warp, in units of so many.
    WARP = 32
    REGISTER_UNIT = 256


cdef unsigned long long _volume(const unsigned int *dimensions) noexcept:
    # A grid can have 2**63 blocks at most: no overflow.
    return <unsigned long long>dimensions[0] * dimensions[1] * dimensions[2]


cdef int _blocks_at_once(LoadedModule module, FunctionSlot *slot, int threads, size_t shared_bytes) except -1:
    """Blocks of the kernel that one multiprocessor runs at the same time (`cuOccupancyMaxActiveBlocks...`)."""
    cdef int blocks = 0
    cdef int entered = 0
    cdef CUresult status
    module.begin_use(f"kernel {<object>slot.name!r}")
    try:
        entered = enter(module.context)
        with nogil:
            status = cydriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, <CUfunction>slot.cu_function, threads, shared_bytes)
        check(status, "cuOccupancyMaxActiveBlocksPerMultiprocessor")
    finally:
        module.uses -= 1
        leave(entered)
    return blocks


cdef str _cooperative_limit(LoadedModule module, FunctionSlot *slot, const unsigned int *grid,
                            const unsigned int *block, unsigned int shared_bytes):
    """Why a cooperative grid is too large, or an empty text."""
    cdef int ordinal = module.context.ordinal
    cdef int threads = <int>_volume(block)
    cdef unsigned long long at_once = _blocks_at_once(module, slot, threads, shared_bytes)
    cdef unsigned long long processors = device_attribute(
        ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    if _volume(grid) <= at_once * processors:
        return ""
    return (f"a cooperative grid has at most {at_once * processors} blocks, those that run at once: {at_once} on each "
            f"of {processors} multiprocessors, with {threads} threads and {shared_bytes} bytes of dynamic shared memory "
            f"a block; got {_volume(grid)}")


cdef int check_cooperative(LoadedModule module, FunctionSlot *slot, const unsigned int *grid, const unsigned int *block,
                           unsigned int shared_bytes) except -1:
    cdef int ordinal = module.context.ordinal
    if not device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH):
        raise ValueError(f"device {ordinal} has no cooperative launches")
    why = _cooperative_limit(module, slot, grid, block, shared_bytes)
    if why:
        raise ValueError(f"kernel {<object>slot.name!r}: {why}")
    return 0


cdef int check_cluster(LoadedModule module, FunctionSlot *slot, const unsigned int *grid,
                       const unsigned int *cluster) except -1:
    cdef int ordinal = module.context.ordinal
    cdef unsigned long long size = _volume(cluster)
    cdef int i
    given = (cluster[0], cluster[1], cluster[2])
    if size == 0:
        raise ValueError(f"a cluster has at least one block in each dimension; got {given}")
    if size > PORTABLE_CLUSTER:
        raise ValueError(f"a cluster has at most {PORTABLE_CLUSTER} blocks; got {given}, which is {size}")
    for i in range(3):
        if grid[i] % cluster[i]:
            raise ValueError(f"grid.{'xyz'[i]} is a multiple of the cluster's {cluster[i]}; got {grid[i]}")
    if size > 1 and not device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH):
        raise ValueError(f"device {ordinal} has no clusters, which came with compute capability 9.0; got {given}")
    return 0


cdef str why_refused(LoadedModule module, FunctionSlot *slot, const unsigned int *grid, const unsigned int *block,
                     unsigned int shared_bytes, bint cooperative):
    """What the kernel needs, and which limit the launch is beyond, as far as the driver tells; lines of a message."""
    cdef int ordinal = module.context.ordinal
    cdef unsigned long long threads = _volume(block)
    cdef unsigned long long registers
    attributes = read_attributes(module, slot)
    text = (f"\n  the kernel: {attributes.registers} registers per thread, blocks of at most "
            f"{attributes.max_threads_per_block} threads, {attributes.shared_bytes} bytes of static shared memory")
    if threads > attributes.max_threads_per_block:
        text += f"\n  too many threads: {threads} a block, and this kernel's have at most {attributes.max_threads_per_block}"
    available = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)
    registers = attributes.registers * WARP
    registers = (registers + REGISTER_UNIT - 1) // REGISTER_UNIT * REGISTER_UNIT * ((threads + WARP - 1) // WARP)
    if registers > available:
        text += f"\n  too many registers: {registers} for a block of {threads} threads, and a block has at most {available}"
    if shared_bytes > attributes.max_dynamic_shared_bytes:
        text += (f"\n  too much shared memory: {shared_bytes} bytes of dynamic shared memory, and the kernel is allowed "
                 f"{attributes.max_dynamic_shared_bytes}")
    if cooperative:
        why = _cooperative_limit(module, slot, grid, block, shared_bytes)
        text += f"\n  {why}" if why else ""
    return text
