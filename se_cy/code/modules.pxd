# SPDX-License-Identifier: Apache-2.0
from se_cy.code.interned cimport Code
from se_cy.code.loaded cimport LoadedModule
from se_cy.code.spec cimport KernelLoaderSpec
from se_cy.code.table cimport Table
from se_cy.driver.context cimport PrimaryContext, incarnation_t


cdef class ModuleCache:
    cdef PrimaryContext context
    cdef object make_module        # the public class over a LoadedModule: what iteration gives
    cdef Table code_to_module      # address of a Code -> LoadedModule, which the table owns one reference of
    cdef incarnation_t incarnation # of all that is in the table
    cdef dict code_to_load         # loads in progress
    cdef list to_unload            # out of the table, still in the driver
    cdef unsigned long long hits, misses, loads, failures, unloads
    cdef Py_ssize_t nbytes

    cdef LoadedModule module_of(self, KernelLoaderSpec spec)
    cdef LoadedModule module_of_code(self, Code code)
    cdef int follow_context(self) except -1
    cdef int clear(self, bint wait) except -1
    cdef int drain(self) except -1


cdef ModuleCache module_cache(PrimaryContext context, make_module)
