# SPDX-License-Identifier: Apache-2.0
from se_cy.code.loaded cimport FunctionSlot, LoadedModule

cdef object read_attributes(LoadedModule module, FunctionSlot *slot)
cdef unsigned int allow_shared_bytes(LoadedModule module, FunctionSlot *slot, object asked) except? 0xFFFFFFFF
