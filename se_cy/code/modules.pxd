# SPDX-License-Identifier: Apache-2.0
from se_cy.code.contents cimport Contents
from se_cy.code.interned cimport Code
from se_cy.code.loaded cimport LoadedModule
from se_cy.code.spec cimport KernelLoaderSpec
from se_cy.driver.context cimport PrimaryContext, incarnation_t


cdef class ModuleCache:
    cdef PrimaryContext context
    cdef object make_module        # the public class over a LoadedModule
    cdef Contents contents
    cdef incarnation_t incarnation # of all that is in the contents
    cdef dict key_to_load          # (Code, JIT options) -> load in progress
    cdef list to_unload            # retired modules that are still in the driver
    cdef object limit_
    cdef unsigned long long hits, misses, loads, failures, unloads

    cdef LoadedModule module_of(self, KernelLoaderSpec spec)
    cdef LoadedModule module_of_code(self, Code code, tuple jit_options)
    cdef LoadedModule load_own(self, Code code, tuple jit_options)
    cdef int follow_context(self) except -1
    cdef int clear(self, bint wait) except -1
    cdef int unload(self, LoadedModule module) except -1
    cdef int drain(self) except -1


cdef ModuleCache module_cache(PrimaryContext context, make_module)
