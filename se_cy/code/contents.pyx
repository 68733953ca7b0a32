# SPDX-License-Identifier: Apache-2.0
"""Contents: the loaded modules that one cache holds, found by code and JIT options.

Floor 2. Under the GIL, which no table operation lets go. Whatever allocates may run a garbage collection, and that
anybody's code, which may change the contents: nothing is allocated while a table is iterated over.
"""
cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport uintptr_t

from se_cy.code.loaded cimport LoadedModule
from se_cy.code.table cimport table_free, table_get, table_init, table_len, table_next, table_put, table_remove
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

cdef extern from *:
    Py_ssize_t Py_REFCNT(PyObject *)


@cython.final
cdef class Contents:
    """What a `ModuleCache` holds. A cache is emptied by giving it new contents: nobody sees half of that."""

    def __cinit__(self):
        table_init(&self.code_to_module)
        self.key_to_module = {}
        self.own = set()

    def __dealloc__(self):
        cdef size_t position = 0
        cdef uintptr_t key
        cdef void *module
        while table_next(&self.code_to_module, &position, &key, &module):
            Py_DECREF(<LoadedModule>module)
        table_free(&self.code_to_module)

    cdef Py_ssize_t count(self) noexcept:
        """How many modules are shared."""
        return table_len(&self.code_to_module) + len(self.key_to_module)

    cdef LoadedModule find(self, tuple key):
        """The shared module of a code and JIT options, or None; allocates nothing."""
        cdef void *module
        if key[1]:
            return self.key_to_module.get(key)
        if table_get(&self.code_to_module, <uintptr_t><PyObject *>key[0], &module):
            return <LoadedModule>module
        return None

    cdef int put(self, tuple key, LoadedModule module) except -1:
        if key[1]:
            self.key_to_module[key] = module
        elif table_put(&self.code_to_module, <uintptr_t><PyObject *>module.code, <PyObject *>module) != 0:
            raise MemoryError("no memory for an entry of the module cache")
        else:
            Py_INCREF(module)
        self.nbytes += len(module.code.data)
        return 0

    cdef int remove(self, LoadedModule module) except -1:
        """Take the module out, if it is here."""
        cdef tuple key = (module.code, module.jit_options)
        cdef void *removed
        if module in self.own:
            self.own.discard(module)
        elif self.find(key) is module:
            if module.jit_options:
                del self.key_to_module[key]
            else:
                table_remove(&self.code_to_module, <uintptr_t><PyObject *>module.code, &removed)
                Py_DECREF(module)
            self.nbytes -= len(module.code.data)
        return 0

    cdef list shared_modules(self):
        cdef size_t position = 0
        cdef uintptr_t key
        cdef void *module
        modules = []
        # Growing a list runs no garbage collection.
        while table_next(&self.code_to_module, &position, &key, &module):
            modules.append(<LoadedModule>module)
        return modules + list(self.key_to_module.values())

    cdef list unused_modules(self):
        """The shared modules that nothing outside refers to, those asked for longest ago first."""
        cdef LoadedModule module
        unused = []
        modules = self.shared_modules()
        while modules:
            module = modules.pop()
            # Held by the contents and by this variable.
            if Py_REFCNT(<PyObject *>module) <= 2:
                unused.append((module.last_use, len(unused), module))
        unused.sort()
        return [entry[2] for entry in unused]

    cdef LoadedModule oldest_unused(self):
        """The first of `unused_modules`, or None, without sorting them."""
        cdef size_t position = 0
        cdef uintptr_t key
        cdef void *module
        cdef PyObject *oldest = NULL
        cdef LoadedModule keyed
        modules = list(self.key_to_module.values())
        while modules:
            keyed = modules.pop()
            # Held by the contents and by this variable.
            if Py_REFCNT(<PyObject *>keyed) <= 2 and (
                    oldest == NULL or keyed.last_use < (<LoadedModule>oldest).last_use):
                oldest = <PyObject *>keyed
        while table_next(&self.code_to_module, &position, &key, &module):
            # Held by the contents alone.
            if Py_REFCNT(<PyObject *>module) <= 1 and (
                    oldest == NULL or (<LoadedModule>module).last_use < (<LoadedModule>oldest).last_use):
                oldest = <PyObject *>module
        return <LoadedModule>oldest if oldest != NULL else None

    cdef list dropped_modules(self):
        """The modules of their caller's own that the caller has let go of."""
        cdef LoadedModule module
        dropped = []
        modules = list(self.own)
        while modules:
            module = modules.pop()
            # Held by the contents and by this variable.
            if Py_REFCNT(<PyObject *>module) <= 2:
                dropped.append(module)
        return dropped


cdef Contents empty_contents():
    return Contents.__new__(Contents)


se_cy_set_new(<PyTypeObject *>Contents, se_cy_refuse_new)
