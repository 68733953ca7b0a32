# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t

from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.driver cimport library
from se_cy.launch.parameters cimport Parameter
from se_cy.slots cimport vectorcallfunc
from se_cy.stream cimport LAST_DEFAULT_STREAM, Stream


cdef class Kernel:
    cdef LoadedModule module_       # its module stays loaded, and its slot valid, while the kernel lives
    cdef FunctionSlot *slot         # where the next request for the kernel finds this object
    cdef object __weakref__


cdef class BoundKernel:
    cdef vectorcallfunc vectorcall  # how CPython calls an instance: see se_cy/slots.pxd
    cdef LoadedModule loaded        # the kernel's, which owns slot and layout: what each call checks and counts
    cdef const Parameter *layout
    cdef const FunctionSlot *slot
    cdef unsigned int count
    cdef unsigned int nbytes
    cdef bint is_plain              # on an explicit stream, without the GIL, nothing else: the one driver call is all
    cdef Stream stream              # ours, whose handle cu_stream is: it must be open at each launch
    cdef void *cu_function
    cdef void *cu_stream
    cdef unsigned int grid_[3]
    cdef unsigned int block_[3]
    cdef unsigned int shared_bytes_
    cdef bint is_empty              # a zero in the grid: nothing to launch
    cdef bint is_current            # on the arguments' framework's current stream, asked for at each launch
    cdef bint needs_context         # the launch depends on the thread's current context
    cdef bint hold_gil
    cdef bint is_cooperative
    cdef void *configuration        # owned: launch/configuration's; NULL without launch attributes
    cdef readonly Kernel kernel
    cdef object stream_owner        # somebody else's object with that handle: it must outlive the launches


# cuLaunchKernel; of the two forms of arguments, the other is NULL.
cdef inline int call_driver(BoundKernel bound, void *cu_stream, void **parameters, void **extra) noexcept nogil:
    return library.launch_kernel(
        bound.cu_function, bound.grid_[0], bound.grid_[1], bound.grid_[2],
        bound.block_[0], bound.block_[1], bound.block_[2], bound.shared_bytes_, cu_stream, parameters, extra)


cdef inline bint depends_on_context(BoundKernel bound, void *cu_stream) noexcept nogil:
    return bound.needs_context or <uintptr_t>cu_stream <= LAST_DEFAULT_STREAM


# A launch that is not plain: with launch attributes and debug mode, in the context that is current, or in the kernel's
# where it depends on that. They answer the status, and in `call` whose it is.
cdef int launch_here(BoundKernel bound, void *cu_stream, void **parameters, void **extra,
                     const char **call) noexcept nogil
cdef int launch_in_context(BoundKernel bound, void *cu_stream, void **parameters, const char **call) noexcept nogil
cdef int launch_failed(BoundKernel bound, void *cu_stream, int status, const char *call, str more) except -1
cdef Kernel kernel_of(LoadedModule module, str name)
