# SPDX-License-Identifier: Apache-2.0
from se_cy.code.loaded cimport LoadedModule


cdef class Module:
    cdef LoadedModule loaded


cdef class Pin:
    cdef LoadedModule loaded   # None once closed
    cdef object thread         # that made it


cdef Module module_over(LoadedModule loaded)
