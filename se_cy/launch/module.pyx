# SPDX-License-Identifier: Apache-2.0
"""Module: what a user sees of a loaded module, a mapping from names to kernels.

Floor 4. A view: the state is in the LoadedModule below it.
"""
import sys

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport uintptr_t

from se_cy.code.loaded cimport LoadedModule
from se_cy.launch.kernel cimport kernel_of
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new


@cython.final
@cython.no_gc
cdef class Module:
    """A loaded module: a mapping from names to its kernels. Made by `Device.load`.

    Iteration gives the names, like `kernels`.
    """

    @property
    def kernels(self):
        """The names of the kernels in the module, from the driver."""
        return self.loaded.kernel_names()

    @property
    def code(self):
        """The `Code` it was loaded from."""
        return self.loaded.code

    @property
    def device(self):
        """The Device it is loaded on."""
        return self.loaded.context.device

    def __getitem__(self, name):
        """The kernel of that name.

        Raises
        ------
        KernelNotFoundError
            The module has none of that name; the message lists those it has.
        """
        if not isinstance(name, str):
            raise TypeError(f"a kernel's name is a str; got {type(name).__name__}")
        self.loaded.require_loaded(f"kernel {name!r}")
        return kernel_of(self.loaded, sys.intern(str(name)))

    def __iter__(self):
        return iter(self.kernels)

    def __len__(self):
        return len(self.kernels)

    def __contains__(self, name):
        return name in self.kernels

    def __eq__(self, other):
        return isinstance(other, Module) and (<Module>other).loaded is self.loaded

    def __hash__(self):
        return hash(<uintptr_t><PyObject *>self.loaded)

    def __reduce__(self):
        raise TypeError("a Module belongs to one process and can't be pickled: pickle its .code")

    def __repr__(self):
        state = "unloaded" if self.loaded.is_unloaded else "loaded"
        return f"<se_cy.Module on device {self.loaded.context.ordinal}, {state}: {self.loaded.code!r}>"


cdef Module module_over(LoadedModule loaded):
    cdef Module module = Module.__new__(Module)
    module.loaded = loaded
    return module


se_cy_set_new(<PyTypeObject *>Module, se_cy_refuse_new)
