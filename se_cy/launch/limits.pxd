# SPDX-License-Identifier: Apache-2.0
from se_cy.code.loaded cimport FunctionSlot, LoadedModule

cdef int check_cooperative(LoadedModule module, FunctionSlot *slot, const unsigned int *grid, const unsigned int *block,
                           unsigned int shared_bytes) except -1
cdef int check_cluster(LoadedModule module, FunctionSlot *slot, const unsigned int *grid,
                       const unsigned int *cluster) except -1
cdef str why_refused(LoadedModule module, FunctionSlot *slot, const unsigned int *grid, const unsigned int *block,
                     unsigned int shared_bytes, bint cooperative)
