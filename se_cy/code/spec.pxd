# SPDX-License-Identifier: Apache-2.0
from se_cy.code.interned cimport Code


# For an ordinal: that of no device, of which nothing is known but its capability.
cdef enum:
    ANY_DEVICE = -1


cdef class Variants:
    cdef list codes        # Code objects, each once: they live as long as a spec offers them
    cdef bint is_frozen    # set when the first choice is made: a later addition would not be seen everywhere
    cdef dict rejected     # (ordinal, Code) -> why that device's driver would not load it; None while there is none

    cdef Code choose(self, int major, int minor, int ordinal)


cdef class KernelLoaderSpec:
    cdef readonly str name      # interned, so that one comparison of addresses finds a kernel
    cdef Variants variants      # shared by all specs that .named() made of one

    cdef Code code_for(self, int major, int minor, int ordinal)
    cdef Code code_instead_of(self, Code code, int major, int minor, int ordinal, str why)
