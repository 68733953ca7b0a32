# SPDX-License-Identifier: Apache-2.0
from se_cy.code.loaded cimport FunctionSlot, LoadedModule


# One launch but for its arguments, as the driver reads it: what a bound kernel with launch attributes keeps.
cdef struct Shape:
    unsigned int grid[3]
    unsigned int block[3]
    unsigned int shared_bytes
    void *cu_stream


cdef void *make_configuration(LoadedModule module, FunctionSlot *slot, const Shape *shape, object cluster,
                              bint cooperative, bint programmatic_stream_serialization, object priority,
                              object preferred_shared_memory_carveout) except NULL
cdef void free_configuration(void *configuration) noexcept
cdef int launch_configured(void *configuration, void *cu_stream, void *cu_function, void **parameters,
                           void **extra) noexcept nogil
cdef tuple cluster_of(const void *configuration)
