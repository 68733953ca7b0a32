# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject

from se_cy.code.interned cimport Code
from se_cy.code.table cimport Table
from se_cy.driver.context cimport PrimaryContext, incarnation_t, life_t


cdef struct FunctionSlot:
    PyObject *name      # owned; interned, so its address is the key
    void *cu_function
    PyObject *kernel    # borrowed: the live Kernel, which takes itself out when it dies
    void *layout        # owned: the parameters as launch/parameters reads them; NULL until a kernel asks
    unsigned int count  # of parameters
    unsigned int nbytes # of all parameters, each at its offset; rounded up to 16


cdef class LoadedModule:
    # What every launch reads stands first, in one cache line: the driver call before it has emptied the cache.
    cdef PrimaryContext context
    cdef life_t life                 # that of the incarnation; 0 once unloaded
    cdef Py_ssize_t uses             # driver calls on their way with its handles, launches above all; under the GIL
    cdef void *cu_module
    cdef bint is_shared              # the cache gives it to all who ask for its code
    cdef bint is_unloaded            # nothing new may use it; the driver may hold it a little longer
    cdef Code code                   # its address is the cache's key: it can't be reused while this lives
    cdef tuple jit_options           # as code/jit_options reads them: () for none
    cdef str instead_of              # what a spec would rather have had, and why the driver did not load it
    cdef unsigned long long last_use # the cache's count of requests when it was last asked for
    cdef dict thread_to_pins         # how often each thread has pinned it; each is counted in uses
    cdef object cache                # the ModuleCache that loaded it
    cdef incarnation_t incarnation   # of the context it was loaded in
    cdef Table name_to_slot          # address of the interned name -> FunctionSlot *

    cdef FunctionSlot *slot_of(self, str name) except NULL
    cdef int require_loaded(self, str what) except -1
    cdef int begin_use(self, str what) except -1
    cdef int retire(self) noexcept
    cdef int pin(self, str what) except -1
    cdef int unpin(self, object thread) except -1
    cdef int refuse_pinned(self) except -1
    cdef int load_functions(self) except -1
    cdef int unload(self) except -1


cdef LoadedModule loaded_module(Code code, tuple jit_options, PrimaryContext context, cache)
