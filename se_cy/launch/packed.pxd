# SPDX-License-Identifier: Apache-2.0
from se_cy.launch.kernel cimport BoundKernel

# What launches without the GIL take: C memory that can stand in arrays and be given to other threads. Filled by
# `launch_handle` alone. It borrows the BoundKernel it was taken of, and is valid as long as that lives.
cdef struct LaunchHandle:
    void *bound


# All of these need a pin of the kernel's module (`Module.pin`) held around them. With an exception for a failure:
cdef int launch(BoundKernel bound, void **parameters) except -1 nogil
cdef int launch_many(BoundKernel bound, size_t count, const void *blocks, size_t stride) except -1 nogil

# The same for where Python must not run: they answer a CUresult as int, 0 for success, which `check_launch` makes the
# exception of.
cdef LaunchHandle launch_handle(object bound) except *
cdef int launch_raw(LaunchHandle handle, void **parameters) noexcept nogil
cdef int launch_many_raw(LaunchHandle handle, size_t count, const void *blocks, size_t stride,
                         size_t *launched) noexcept nogil
cdef int check_launch(LaunchHandle handle, int status) except -1 nogil
