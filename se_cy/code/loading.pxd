# SPDX-License-Identifier: Apache-2.0
from se_cy.code.loaded cimport LoadedModule


cdef double load_into_driver(LoadedModule module) except -1
cdef int say_loaded(LoadedModule module, double milliseconds) except -1
