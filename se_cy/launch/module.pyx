# SPDX-License-Identifier: Apache-2.0
"""Module: what a user sees of a loaded module, its kernels and its global variables.

Floor 4. A view: the state is in the LoadedModule below it.
"""
import sys
from _thread import get_ident

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUdeviceptr, CUmodule, CUresult
from libc.stdint cimport uintptr_t

from se_cy.code.loaded cimport LoadedModule
from se_cy.code.modules cimport ModuleCache
from se_cy.driver.context cimport PrimaryContext, enter_raw, leave_raw
from se_cy.driver.status cimport check
from se_cy.launch.kernel cimport kernel_of
from se_cy.memory cimport DeviceMemory, view_of_global
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

from se_cy.driver.status import GlobalNotFoundError


@cython.final
@cython.no_gc
cdef class Module:
    """A loaded module: a mapping from names to its kernels. Made by `Device.load`.

    Iteration gives the names, like `kernels`. As long as somebody holds it, or a kernel of it, nothing but `unload` and
    `Device.clear` unloads it.
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

    @property
    def is_shared(self):
        """True if others get this module when they ask for the same code."""
        return self.loaded.is_shared

    def get_global(self, name, shape=None, dtype=None):
        """A global variable of the module, `__device__` or `__constant__`, as memory (`cuModuleGetGlobal`).

        Parameters
        ----------
        name : str
            As it stands in the code; in C++ without ``extern "C"`` and within a namespace that is the mangled name.
        shape : int or tuple of int, optional
        dtype : numpy.dtype or what it takes, optional
            Bytes in one dimension if neither is given. With a dtype alone, one dimension of it.

        Returns
        -------
        DeviceMemory
            A view: it keeps the module, and closing it frees nothing. The host can write to it only if the module is
            its caller's own, loaded with ``shared=False``.

        Raises
        ------
        GlobalNotFoundError
            The module has no variable of that name.
        ValueError
            Shape and dtype do not make the variable's size; the message says what that is.
        """
        if not isinstance(name, str):
            raise TypeError(f"a variable's name is a str; got {type(name).__name__}")
        return _global(self.loaded, name, shape, dtype)

    def pin(self):
        """Keep the module loaded while driver calls are made with its handles outside of se_cy's own launches.

        Returns
        -------
        Pin
            A context manager. Until it is left, `unload` and `Device.clear` by other threads wait, without the GIL; by
            the thread that pinned it they raise RuntimeError.

        Raises
        ------
        ModuleUnloadedError, ContextResetError
            There is nothing to keep any more.
        """
        return _pin(self.loaded)

    def unload(self):
        """Unload the module: its kernels raise `ModuleUnloadedError` from now on. Again does nothing.

        Waits for calls with its handles that are on their way, for pins, and, as the driver does, for all work of the
        device (`cuModuleUnload`). Whoever else was given the same module loses it too, unless it is its caller's own.

        Raises
        ------
        RuntimeError
            The calling thread has pinned it.
        """
        (<ModuleCache>self.loaded.cache).unload(self.loaded)

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
        sharing = "" if self.loaded.is_shared else ", not shared"
        instead = f", instead of what failed: {self.loaded.instead_of}" if self.loaded.instead_of else ""
        return f"<se_cy.Module on device {self.loaded.context.ordinal}, {state}{sharing}: {self.loaded.code!r}{instead}>"


@cython.final
@cython.no_gc
cdef class Pin:
    """What keeps a module loaded: a context manager. Made by `Module.pin`."""

    def __dealloc__(self):
        if self.loaded is not None:
            self.loaded.unpin(self.thread)

    def close(self):
        """Let the module go. Again does nothing."""
        cdef LoadedModule loaded = self.loaded
        self.loaded = None
        if loaded is not None:
            loaded.unpin(self.thread)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __reduce__(self):
        raise TypeError("a Pin belongs to one process and can't be pickled")

    def __repr__(self):
        return f"<se_cy.Pin of {self.loaded.code!r}>" if self.loaded is not None else "<se_cy.Pin, closed>"


cdef Pin _pin(LoadedModule loaded):
    cdef Pin pin = Pin.__new__(Pin)
    pin.thread = get_ident()
    loaded.pin("the module")
    pin.loaded = loaded
    return pin


cdef DeviceMemory _global(LoadedModule loaded, str name, object shape, object dtype):
    cdef bytes c_name = name.encode()
    cdef const char *name_pointer = c_name
    cdef CUdeviceptr pointer = 0
    cdef size_t nbytes = 0
    cdef const char *call
    cdef int status
    loaded.begin_use(f"variable {name!r}")
    try:
        with nogil:
            status = _get_global(loaded.context, <CUmodule>loaded.cu_module, name_pointer, &pointer, &nbytes, &call)
    finally:
        loaded.uses -= 1
    if status == CUresult.CUDA_ERROR_NOT_FOUND:
        raise GlobalNotFoundError(
            f"no variable {name!r} in {loaded.code!r}", status=status, name="CUDA_ERROR_NOT_FOUND",
            call="cuModuleGetGlobal",
            hint="a variable that is not used may have been left out by the compiler; in C++ a name within a "
                 "namespace is mangled")
    check(<CUresult>status, call)
    return view_of_global(loaded, name, pointer, nbytes, shape, dtype)


cdef int _get_global(PrimaryContext context, CUmodule cu_module, const char *name, CUdeviceptr *pointer,
                     size_t *nbytes, const char **call) except -1 nogil:
    cdef const char *ignored
    cdef int entered
    cdef int status = enter_raw(context, &entered, call)
    if status != CUresult.CUDA_SUCCESS:
        return status
    call[0] = "cuModuleGetGlobal"
    status = cydriver.cuModuleGetGlobal(pointer, nbytes, cu_module, name)
    if status == CUresult.CUDA_SUCCESS:
        return leave_raw(entered, call)
    leave_raw(entered, &ignored)
    return status


cdef Module module_over(LoadedModule loaded):
    cdef Module module = Module.__new__(Module)
    module.loaded = loaded
    return module


se_cy_set_new(<PyTypeObject *>Module, se_cy_refuse_new)
se_cy_set_new(<PyTypeObject *>Pin, se_cy_refuse_new)
