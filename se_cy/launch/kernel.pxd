# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject

from se_cy.code.loaded cimport FunctionSlot, LoadedModule
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


cdef Kernel kernel_of(LoadedModule module, str name)
