# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t

from se_cy.code.loaded cimport LoadedModule
from se_cy.driver.context cimport PrimaryContext, incarnation_t, life_t
from se_cy.stream cimport Stream


cdef class DeviceMemory:
    cdef uint64_t pointer             # device address; 0 for zero bytes and once closed
    cdef life_t life                  # 0 once closed, and for a module's: then a launch asks further
    cdef readonly size_t nbytes
    cdef readonly tuple shape
    cdef readonly object dtype        # numpy.dtype
    cdef PrimaryContext context
    cdef Stream stream                # its allocation and release are ordered on it; None: on the device
    cdef LoadedModule module          # whose global variable it is; None for memory of its own
    cdef incarnation_t incarnation
    cdef readonly bint is_closed

    cdef int require_open(self) except -1


cdef DeviceMemory allocate(PrimaryContext context, object shape, object dtype, Stream stream)
cdef DeviceMemory copy_to_device(PrimaryContext context, object array, Stream stream)
cdef DeviceMemory view_of_global(LoadedModule module, str name, uint64_t pointer, size_t nbytes, object shape,
                                 object dtype)
