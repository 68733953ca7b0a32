# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject

from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.driver cimport library
from se_cy.launch.parameters cimport Parameter
from se_cy.slots cimport vectorcallfunc
from se_cy.stream cimport Stream


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
    cdef Stream stream              # ours, whose handle cu_stream is: it must be open at each launch
    cdef void *cu_function
    cdef void *cu_stream
    cdef unsigned int grid_[3]
    cdef unsigned int block_[3]
    cdef unsigned int shared_bytes_
    cdef bint is_empty              # a zero in the grid: nothing to launch
    cdef bint needs_context         # the launch depends on the thread's current context
    cdef bint hold_gil
    cdef readonly Kernel kernel
    cdef object stream_owner        # somebody else's object with that handle: it must outlive the launches


# The one driver call of a launch; of the two forms of arguments, the other is NULL.
cdef inline int call_driver(BoundKernel bound, void **parameters, void **extra) noexcept nogil:
    return library.launch_kernel(
        bound.cu_function, bound.grid_[0], bound.grid_[1], bound.grid_[2],
        bound.block_[0], bound.block_[1], bound.block_[2], bound.shared_bytes_, bound.cu_stream, parameters, extra)


cdef int launch_failed(BoundKernel bound, int status, const char *call, str more) except -1
cdef Kernel kernel_of(LoadedModule module, str name)
