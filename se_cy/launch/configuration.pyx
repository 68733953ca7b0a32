# SPDX-License-Identifier: Apache-2.0
"""Launch attributes: what a launch may say beyond grid, block, stream and shared memory, in the driver's own form.

Floor 4. Made once, by `bind`; constant afterwards, so that threads may share it.
"""
import operator

from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport (
    CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUresult, CUstream,
)
from libc.stdlib cimport calloc, free

from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.driver cimport library
from se_cy.driver.context cimport enter, leave
from se_cy.driver.status cimport check
from se_cy.launch.dimensions cimport read_dimensions
from se_cy.launch.limits cimport check_cluster, check_cooperative

cdef enum:
    ATTRIBUTES = 5


cdef struct Configuration:
    CUlaunchConfig config
    CUlaunchAttribute attributes[ATTRIBUTES]


cdef void *make_configuration(LoadedModule module, FunctionSlot *slot, const Shape *shape, object cluster,
                              bint cooperative, bint programmatic_stream_serialization, object priority,
                              object preferred_shared_memory_carveout) except NULL:
    """What `launch_configured` takes, after checking each attribute against the device. `free_configuration` frees it."""
    cdef unsigned int *most = [0x7FFFFFFF, 65535, 65535]
    cdef unsigned int dimensions[3]
    cdef Configuration *made = <Configuration *>calloc(1, sizeof(Configuration))
    if made == NULL:
        raise MemoryError("no memory for launch attributes")
    try:
        config = &made.config
        config.gridDimX, config.gridDimY, config.gridDimZ = shape.grid[0], shape.grid[1], shape.grid[2]
        config.blockDimX, config.blockDimY, config.blockDimZ = shape.block[0], shape.block[1], shape.block[2]
        config.sharedMemBytes = shape.shared_bytes
        config.hStream = <CUstream>shape.cu_stream
        config.attrs = made.attributes
        if cluster is not None:
            read_dimensions(cluster, dimensions, most, "cluster")
            check_cluster(module, slot, shape.grid, dimensions)
            attribute = _add(config, CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            attribute.value.clusterDim.x = dimensions[0]
            attribute.value.clusterDim.y = dimensions[1]
            attribute.value.clusterDim.z = dimensions[2]
        if cooperative:
            check_cooperative(module, slot, shape.grid, shape.block, shape.shared_bytes)
            attribute = _add(config, CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            attribute.value.cooperative = 1
        if programmatic_stream_serialization:
            attribute = _add(config, CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            attribute.value.programmaticStreamSerializationAllowed = 1
        if priority is not None:
            attribute = _add(config, CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY)
            attribute.value.priority = _priority(module, priority)
        if preferred_shared_memory_carveout is not None:
            attribute = _add(config, CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
            attribute.value.sharedMemCarveout = _in_range(
                preferred_shared_memory_carveout, 0, 100, "preferred_shared_memory_carveout, in percent,")
    except:
        free(made)
        raise
    return made


cdef CUlaunchAttribute *_add(CUlaunchConfig *config, CUlaunchAttributeID id) noexcept:
    config.attrs[config.numAttrs].id = id
    config.numAttrs += 1
    return &config.attrs[config.numAttrs - 1]


cdef int _priority(LoadedModule module, object asked) except? -1:
    cdef int least = 0
    cdef int greatest = 0
    cdef int entered = enter(module.context)
    try:
        check(cydriver.cuCtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange")
    finally:
        leave(entered)
    return _in_range(asked, greatest, least, "priority, where lower numbers run first,")


cdef int _in_range(object asked, int lowest, int highest, str what) except? -1:
    try:
        number = operator.index(asked)
    except TypeError:
        raise TypeError(f"{what} is an int; got {asked!r} of type {type(asked).__name__}") from None
    if not lowest <= number <= highest:
        raise ValueError(f"{what} is {lowest} to {highest} on this device; got {number}")
    return number


cdef void free_configuration(void *configuration) noexcept:
    free(configuration)


cdef int launch_configured(void *configuration, void *cu_stream, void *cu_function, void **parameters,
                           void **extra) noexcept nogil:
    """The driver's answer. The stream is the configuration's but for one that is known at the launch only."""
    cdef CUlaunchConfig *config = &(<Configuration *>configuration).config
    cdef CUlaunchConfig elsewhere
    if config.hStream != <CUstream>cu_stream:
        # Threads share the configuration: it can't be changed.
        elsewhere = config[0]
        elsewhere.hStream = <CUstream>cu_stream
        config = &elsewhere
    return library.launch_kernel_ex(config, cu_function, parameters, extra)


cdef tuple cluster_of(const void *configuration):
    """The cluster's three dimensions, or None."""
    cdef const CUlaunchConfig *config
    cdef unsigned int i
    if configuration == NULL:
        return None
    config = &(<const Configuration *>configuration).config
    for i in range(config.numAttrs):
        if config.attrs[i].id == CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            size = &config.attrs[i].value.clusterDim
            return size.x, size.y, size.z
    return None
