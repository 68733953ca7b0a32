# SPDX-License-Identifier: Apache-2.0
from se_cy.code.loaded cimport LoadedModule
from se_cy.code.table cimport Table


cdef class Contents:
    cdef Table code_to_module      # address of a Code -> LoadedModule without JIT options; owns one reference of it
    cdef dict key_to_module        # (Code, JIT options) -> LoadedModule, of those with options
    cdef set own                   # modules of their caller's own: nobody else is given them
    cdef Py_ssize_t nbytes         # of code, of the modules that are shared

    cdef Py_ssize_t count(self) noexcept
    cdef LoadedModule find(self, tuple key)
    cdef int put(self, tuple key, LoadedModule module) except -1
    cdef int remove(self, LoadedModule module) except -1
    cdef list shared_modules(self)
    cdef list unused_modules(self)
    cdef LoadedModule oldest_unused(self)
    cdef list dropped_modules(self)


cdef Contents empty_contents()
