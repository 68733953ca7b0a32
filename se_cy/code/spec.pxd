# SPDX-License-Identifier: Apache-2.0
from se_cy.code.interned cimport Code


cdef class Variants:
    cdef list codes        # Code objects, each once: they live as long as a spec offers them
    cdef bint is_frozen    # set when the first choice is made: a later addition would not be seen everywhere

    cdef Code choose(self, int major, int minor)


cdef class KernelLoaderSpec:
    cdef readonly str name      # interned, so that one comparison of addresses finds a kernel
    cdef Variants variants      # shared by all specs that .named() made of one

    cdef Code code_for(self, int major, int minor)
