# SPDX-License-Identifier: Apache-2.0
cdef int ensure_driver() except -1
cdef int driver_version

# cuLaunchKernel itself, with void * for its handles: set by ensure_driver, never raises. Measured against the same call
# through cydriver's three jumps in docs/explanation/launch-path.md.
ctypedef int (*launch_kernel_t)(
    void *cu_function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
    unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
    void *cu_stream, void **parameters, void **extra) noexcept nogil
cdef launch_kernel_t launch_kernel

# cuLaunchKernelEx, for launches with attributes; `configuration` is a CUlaunchConfig.
ctypedef int (*launch_kernel_ex_t)(
    const void *configuration, void *cu_function, void **parameters, void **extra) noexcept nogil
cdef launch_kernel_ex_t launch_kernel_ex
# The same for what a launch needs on a default stream, and with drivers below CUDA 13: launches without the GIL are
# made where nothing may raise.
ctypedef int (*context_getter_t)(void **cu_context) noexcept nogil
ctypedef int (*context_setter_t)(void *cu_context) noexcept nogil
cdef context_getter_t get_current_context
cdef context_setter_t push_context
cdef context_getter_t pop_context
