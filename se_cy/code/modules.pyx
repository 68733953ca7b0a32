# SPDX-License-Identifier: Apache-2.0
"""The module cache of one device: from a code's address to its loaded module, and from a name to its function.

Floor 2. Tables are read and changed under the GIL, which no table operation lets go; it is never held in a driver call
that can block. One load per code, however many threads ask.
"""
import copy
from _thread import allocate_lock, get_ident
from typing import NamedTuple

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUjit_option, CUmodule, CUresult
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc

from se_cy.code.interned cimport KIND_PTX, Code
from se_cy.code.loaded cimport LoadedModule, loaded_module
from se_cy.code.spec cimport KernelLoaderSpec
from se_cy.code.table cimport table_free, table_get, table_init, table_len, table_next, table_put, table_remove
from se_cy.code.target cimport ptx_version
from se_cy.driver cimport library
from se_cy.driver.context cimport PrimaryContext, enter, incarnation_t, leave
from se_cy.driver.guards cimport guard
from se_cy.driver.status cimport check, error_of
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

from se_cy.driver.status import ContextResetError, JitError

# Bytes of the driver's error log that an exception can show.
cdef enum:
    LOG_BYTES = 16384


class ModuleCacheStats(NamedTuple):
    """Counts of one `ModuleCache` since its device was first used.

    Attributes
    ----------
    hits, misses : int
        Requests answered from the cache, and those that were not.
    loads, failures, unloads : int
        Modules loaded, loads that failed, modules unloaded.
    modules : int
        Modules loaded now.
    nbytes : int
        Bytes of device code, as given, of the modules loaded now.
    """

    hits: int
    misses: int
    loads: int
    failures: int
    unloads: int
    modules: int
    nbytes: int


cdef class _Load:
    # One load in progress. The loading thread holds `lock`; who else wants the code waits for it.
    cdef object lock
    cdef object thread
    cdef object error


@cython.final
cdef class ModuleCache:
    """The modules that one device has loaded: `Device.modules`."""

    def __cinit__(self):
        table_init(&self.code_to_module)
        self.code_to_load = {}
        self.to_unload = []

    def __dealloc__(self):
        cdef size_t position = 0
        cdef uintptr_t key
        cdef void *module
        while table_next(&self.code_to_module, &position, &key, &module):
            Py_DECREF(<LoadedModule>module)
        table_free(&self.code_to_module)

    def __len__(self):
        return table_len(&self.code_to_module)

    def __iter__(self):
        cdef size_t position = 0
        cdef uintptr_t key
        cdef void *module
        modules = []
        while table_next(&self.code_to_module, &position, &key, &module):
            modules.append(<LoadedModule>module)
        return iter([self.make_module(loaded) for loaded in modules])

    def __reduce__(self):
        raise TypeError("a ModuleCache belongs to one process and can't be pickled")

    def __repr__(self):
        return (f"<se_cy.ModuleCache of device {self.context.ordinal}: {len(self)} modules, "
                f"{self.nbytes} bytes of code>")

    def stats(self):
        """Count what the cache has done.

        Returns
        -------
        ModuleCacheStats
        """
        return ModuleCacheStats(
            self.hits, self.misses, self.loads, self.failures, self.unloads, len(self), self.nbytes)

    cdef LoadedModule module_of(self, KernelLoaderSpec spec):
        """The module that holds the spec's kernel on this device, loaded if need be."""
        self.follow_context()
        return self.module_of_code(spec.code_for(self.context.major, self.context.minor))

    cdef LoadedModule module_of_code(self, Code code):
        """The module of that code; call `follow_context` first."""
        cdef void *module
        if table_get(&self.code_to_module, <uintptr_t><PyObject *>code, &module):
            self.hits += 1
            return <LoadedModule>module
        self.misses += 1
        return _load_once(self, code)

    cdef int follow_context(self) except -1:
        # The one driver query of a warm request: is the context still the one that all this was loaded in?
        cdef incarnation_t now = 0
        guard()
        if self.context.cu_context != NULL and self.incarnation == self.context.incarnation:
            if (cydriver.cuCtxGetId(<cydriver.CUcontext>self.context.cu_context, &now) == CUresult.CUDA_SUCCESS
                    and now == self.incarnation):
                return 0
        return _restart(self)

    cdef int clear(self, bint wait) except -1:
        """Take every module out and make its kernels unusable; unload now, or at the next `drain`."""
        cdef LoadedModule module
        modules = []
        _move_modules(self, modules)
        for module in modules:
            module.retire()
        self.to_unload += modules
        return self.drain() if wait else 0

    cdef int drain(self) except -1:
        """Unload what waits for it. Each unload waits for all work of the context."""
        cdef LoadedModule module
        while self.to_unload:
            module = self.to_unload.pop()
            try:
                module.unload()
            except:
                self.to_unload.append(module)
                raise
            self.unloads += 1
        return 0


cdef int _restart(ModuleCache cache) except -1:
    modules = []
    cache.context.refresh()
    if cache.incarnation != cache.context.incarnation:
        _move_modules(cache, modules)
        cache.incarnation = cache.context.incarnation
    return 0


cdef int _move_modules(ModuleCache cache, list modules) except -1:
    """Take every module out of the table into a list, without the driver.

    Allocates nothing that a garbage collection follows on, which could load a module in the middle.
    """
    cdef size_t position = 0
    cdef uintptr_t key
    cdef void *module
    cdef void *removed
    while table_next(&cache.code_to_module, &position, &key, &module):
        modules.append(<LoadedModule>module)
        table_remove(&cache.code_to_module, key, &removed)
        Py_DECREF(<LoadedModule>module)
    cache.nbytes = 0
    return 0


cdef LoadedModule _load_once(ModuleCache cache, Code code):
    cdef _Load load
    cdef _Load mine = _Load.__new__(_Load)
    cdef void *module
    mine.lock = allocate_lock()
    mine.lock.acquire()
    mine.thread = get_ident()
    # Made before looking again: what allocates may run a garbage collection, and that anybody's code. From here to the
    # entry of the load nothing does.
    if table_get(&cache.code_to_module, <uintptr_t><PyObject *>code, &module):
        return <LoadedModule>module
    load = cache.code_to_load.setdefault(code, mine)
    if load is mine:
        try:
            return _load(cache, code)
        except BaseException as error:
            cache.failures += 1
            load.error = error
            raise
        finally:
            del cache.code_to_load[code]
            load.lock.release()
    if load.thread == get_ident():
        raise RuntimeError(
            f"{code!r} was asked for again by the thread that is loading it, from a signal handler or destructor")
    with load.lock:
        pass
    if isinstance(load.error, Exception):
        # An instance of its own: a raised exception carries the traceback of one thread.
        raise copy.copy(load.error)
    if table_get(&cache.code_to_module, <uintptr_t><PyObject *>code, &module):
        return <LoadedModule>module
    # Cleared meanwhile, or the loading thread was interrupted: this one's turn.
    return _load_once(cache, code)


cdef LoadedModule _load(ModuleCache cache, Code code):
    cdef LoadedModule module = loaded_module(code, cache.context, cache)
    try:
        _load_data(cache, module)
        if cache.incarnation != module.incarnation:
            raise ContextResetError(
                f"the primary context of device {cache.context.ordinal} was reset while {code!r} was loaded into it")
        if table_put(&cache.code_to_module, <uintptr_t><PyObject *>code, <PyObject *>module) != 0:
            raise MemoryError("no memory for an entry of the module cache")
    except:
        module.unload()
        raise
    Py_INCREF(module)
    cache.loads += 1
    cache.nbytes += len(code.data)
    return module


cdef int _load_data(ModuleCache cache, LoadedModule module) except -1:
    cdef CUmodule cu_module = NULL
    cdef CUresult status
    cdef const char *image = PyBytes_AS_STRING(module.code.data)
    cdef CUjit_option *options = [
        CUjit_option.CU_JIT_ERROR_LOG_BUFFER, CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    cdef void *values[2]
    cdef char *log = <char *>malloc(LOG_BYTES)
    cdef int entered
    if log == NULL:
        raise MemoryError()
    log[0] = 0
    values[0] = log
    values[1] = <void *><uintptr_t>LOG_BYTES
    try:
        entered = enter(cache.context)
        try:
            with nogil:
                status = cydriver.cuModuleLoadDataEx(&cu_module, image, 2, options, values)
            if status == CUresult.CUDA_SUCCESS:
                module.cu_module = cu_module
        finally:
            leave(entered)
        if status != CUresult.CUDA_SUCCESS:
            log[LOG_BYTES - 1] = 0
            raise _load_error(cache, module.code, status, (<bytes>log).decode("utf-8", "replace").strip())
        return 0
    finally:
        free(log)


cdef object _load_error(ModuleCache cache, Code code, CUresult status, str log):
    error = error_of(status, "cuModuleLoadDataEx")
    message = f"{error.args[0]}\n  the code: {code!r}, device {cache.context.ordinal} of compute capability " \
              f"{cache.context.major}.{cache.context.minor}"
    if status == CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION and code.c_kind == KIND_PTX:
        major, minor = ptx_version(code.data)
        version = library.driver_version
        message += (f"\n  its PTX version is {major}.{minor}, newer than this driver knows (CUDA {version // 1000}."
                    f"{version % 1000 // 10}): update the driver, or compile with an older toolkit")
    if log:
        message += f"\n  the driver's log:\n{log}"
    error.args = (message,)
    if isinstance(error, JitError):
        error.log = log
    return error


cdef ModuleCache module_cache(PrimaryContext context, make_module):
    cdef ModuleCache cache = ModuleCache.__new__(ModuleCache)
    cache.context = context
    cache.make_module = make_module
    return cache


se_cy_set_new(<PyTypeObject *>ModuleCache, se_cy_refuse_new)
