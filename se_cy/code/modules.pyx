# SPDX-License-Identifier: Apache-2.0
"""The module cache of one device: from a code's address to its loaded module, and from a name to its function.

Floor 2. Tables are read and changed under the GIL, which no table operation lets go; it is never held in a driver call
that can block. One load per code, however many threads ask.
"""
import copy
import operator
from _thread import allocate_lock, get_ident
from typing import NamedTuple

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUresult
from libc.stdint cimport uintptr_t

from se_cy.code.contents cimport Contents, empty_contents
from se_cy.code.interned cimport Code
from se_cy.code.loaded cimport LoadedModule, loaded_module
from se_cy.code.loading cimport load_into_driver, say_loaded
from se_cy.code.spec cimport KernelLoaderSpec
from se_cy.code.table cimport table_get
from se_cy.driver.context cimport PrimaryContext, incarnation_t
from se_cy.driver.guards cimport guard
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

from se_cy.driver.status import ContextResetError, CudaError
from se_cy.log import logger

cdef int DEFAULT_LIMIT = 1024

# What the driver may answer of one variant and not of another. A syntax error is none of them: that is the code's, and
# another variant taken in silence would hide it.
cdef frozenset _variant_faults = frozenset((
    <int>CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    <int>CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,
    <int>CUresult.CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
    <int>CUresult.CUDA_ERROR_JIT_COMPILATION_DISABLED,
    <int>CUresult.CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,
))


class ModuleCacheStats(NamedTuple):
    """Counts of one `ModuleCache` since its device was first used.

    A module that is in the cache, or somebody's own, is loaded; one that was taken out is unloaded later.

    Attributes
    ----------
    hits, misses : int
        Requests answered from the cache, and those that were not.
    loads, failures, unloads : int
        Modules loaded, loads that failed, modules unloaded; those of their caller's own too.
    modules : int
        Modules in the cache.
    nbytes : int
        Bytes of device code, as given, of the modules in the cache.
    """

    hits: int
    misses: int
    loads: int
    failures: int
    unloads: int
    modules: int
    nbytes: int


@cython.final
cdef class ModuleCache:
    """The modules that one device has loaded: `Device.modules`.

    Iteration gives them as `Module` objects. Those that were loaded with ``shared=False`` are not among them.
    """

    def __cinit__(self):
        self.contents = empty_contents()
        self.key_to_load = {}
        self.to_unload = []
        self.limit_ = DEFAULT_LIMIT

    def __len__(self):
        return self.contents.count()

    def __iter__(self):
        return iter([self.make_module(module) for module in self.contents.shared_modules()])

    def __reduce__(self):
        raise TypeError("a ModuleCache belongs to one process and can't be pickled")

    def __repr__(self):
        return (f"<se_cy.ModuleCache of device {self.context.ordinal}: {len(self)} modules, "
                f"{self.contents.nbytes} bytes of code>")

    def stats(self):
        """Count what the cache has done.

        Returns
        -------
        ModuleCacheStats
        """
        return ModuleCacheStats(
            self.hits, self.misses, self.loads, self.failures, self.unloads, len(self), self.contents.nbytes)

    @property
    def limit(self):
        """How many modules the cache holds at most; None for as many as are asked for. 1,024 unless set.

        A load beyond it takes out the module that was asked for longest ago among those without a kernel, bound kernel
        or `Module` that somebody holds. It is unloaded by a later `trim`, `Device.clear`, `Module.unload` or
        `Device.synchronize`.
        """
        return self.limit_

    @limit.setter
    def limit(self, limit):
        self.limit_ = None if limit is None else _count("limit", limit)
        _keep_limit(self)

    def trim(self, *, max_modules=None, max_bytes=None):
        """Unload modules that nobody holds a kernel, bound kernel or `Module` of, those asked for longest ago first.

        Waits for all work of the device if there is something to unload (`cuModuleUnload`).

        Parameters
        ----------
        max_modules : int, optional
            How many modules may stay.
        max_bytes : int, optional
            How many bytes of code may stay. Without both, nothing that is not held stays.

        Returns
        -------
        int
            How many modules were taken out of the cache.
        """
        cdef LoadedModule module
        cdef Py_ssize_t count = 0
        guard()
        if max_modules is None and max_bytes is None:
            max_modules = 0
        most_modules = None if max_modules is None else _count("max_modules", max_modules)
        most_bytes = None if max_bytes is None else _count("max_bytes", max_bytes)
        for module in self.contents.unused_modules():
            if ((most_modules is None or len(self) <= most_modules)
                    and (most_bytes is None or self.contents.nbytes <= most_bytes)):
                break
            count += _retire(self, module)
        self.drain()
        return count

    cdef LoadedModule module_of(self, KernelLoaderSpec spec):
        """The module that holds the spec's kernel on this device, loaded if need be."""
        cdef void *module
        cdef Code code
        self.follow_context()
        code = spec.code_for(self.context.major, self.context.minor, self.context.ordinal)
        if table_get(&self.contents.code_to_module, <uintptr_t><PyObject *>code, &module):
            return _hit(self, <LoadedModule>module)
        return _load_best(self, spec, code)

    cdef LoadedModule module_of_code(self, Code code, tuple jit_options):
        """The module of that code; call `follow_context` first."""
        cdef tuple key = (code, jit_options)
        cdef LoadedModule module = self.contents.find(key)
        if module is not None:
            return _hit(self, module)
        self.misses += 1
        return _load_once(self, key)

    cdef LoadedModule load_own(self, Code code, tuple jit_options):
        """A module that nobody else is given; call `follow_context` first."""
        cdef LoadedModule module = loaded_module(code, jit_options, self.context, self)
        try:
            milliseconds = _load(self, module)
            self.contents.own.add(module)
        except:
            self.failures += 1
            _abandon(self, module)
            raise
        self.loads += 1
        say_loaded(module, milliseconds)
        return module

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
        cdef Contents contents = self.contents
        cdef Contents fresh
        for module in contents.shared_modules() + list(contents.own):
            module.refuse_pinned()
        fresh = empty_contents()
        contents, self.contents = self.contents, fresh
        modules = contents.shared_modules() + list(contents.own)
        for module in modules:
            module.retire()
        self.to_unload += modules
        if not wait:
            return 0
        while self.to_unload:
            _unload(self, self.to_unload.pop())
        return 0

    cdef int unload(self, LoadedModule module) except -1:
        """Take one module out and unload it, and what else waits for it."""
        if module.is_unloaded:
            return self.drain()
        module.refuse_pinned()
        _retire(self, module)
        self.to_unload.remove(module)
        _unload(self, module)
        return self.drain()

    cdef int drain(self) except -1:
        """Unload what nobody can use any more. Each unload waits for all work of the context.

        What is pinned, or on its way to the driver in another thread, is left for the next time.
        """
        cdef LoadedModule module
        cdef Py_ssize_t i
        for module in self.contents.dropped_modules():
            _retire(self, module)
        for i in range(len(self.to_unload) - 1, -1, -1):
            if i >= len(self.to_unload):
                continue  # another thread drains too
            module = self.to_unload[i]
            if not module.uses:
                del self.to_unload[i]
                _unload(self, module)
        return 0


cdef object _count(str name, object value):
    if isinstance(value, bool):
        raise TypeError(f"{name} is an int; got {value!r}")
    count = operator.index(value)
    if count < 0:
        raise ValueError(f"{name} can't be negative; got {count}")
    return count


cdef inline LoadedModule _hit(ModuleCache cache, LoadedModule module):
    cache.hits += 1
    module.last_use = cache.hits + cache.misses
    return module


cdef int _restart(ModuleCache cache) except -1:
    # Made first: what allocates may run anybody's code, which may load into the new context.
    cdef Contents fresh = empty_contents()
    cache.context.refresh()
    if cache.incarnation != cache.context.incarnation:
        # What the dead incarnation had is dropped without the driver.
        fresh, cache.contents = cache.contents, fresh
        cache.incarnation = cache.context.incarnation
    return 0


cdef int _retire(ModuleCache cache, LoadedModule module) except -1:
    """Take one module out and leave it to `drain`; 0 if somebody has done that already."""
    if module.is_unloaded:
        return 0
    module.retire()
    cache.contents.remove(module)
    cache.to_unload.append(module)
    return 1


cdef int _keep_limit(ModuleCache cache) except -1:
    """Take out what is beyond the limit. Nothing is unloaded here: that waits for the device."""
    cdef LoadedModule module
    if cache.limit_ is None or len(cache) <= cache.limit_:
        return 0
    if len(cache) == cache.limit_ + 1:
        # After each load of a full cache: without sorting it.
        module = cache.contents.oldest_unused()
        if module is not None:
            _retire(cache, module)
        return 0
    for module in cache.contents.unused_modules():
        if len(cache) <= cache.limit_:
            break
        _retire(cache, module)
    return 0


cdef int _abandon(ModuleCache cache, LoadedModule module) except -1:
    """Unload what nobody has been given, in the wake of an error that is the one to be seen."""
    module.retire()
    try:
        module.unload()
    except CudaError:
        cache.to_unload.append(module)
    return 0


cdef int _unload(ModuleCache cache, LoadedModule module) except -1:
    try:
        module.unload()
    except:
        cache.to_unload.append(module)
        raise
    cache.unloads += 1
    return 0


cdef LoadedModule _load_best(ModuleCache cache, KernelLoaderSpec spec, Code code):
    """Load the spec's code, or the next best one that the driver takes."""
    cdef PrimaryContext context = cache.context
    cdef LoadedModule module
    cdef Code other
    errors = []
    while True:
        key = (code, ())
        module = cache.contents.find(key)
        if module is not None:
            return _hit(cache, module)
        cache.misses += 1
        try:
            module = _load_once(cache, key)
        except CudaError as error:
            errors.append(error)
            if error.status not in _variant_faults:
                break
            other = spec.code_instead_of(code, context.major, context.minor, context.ordinal, error.name)
            if other is None:
                break
            logger().warning("device %d could not load %r for kernel %r (%s), and takes %r instead",
                             context.ordinal, code, spec.name, error.name, other)
            code = other
            continue
        if errors and module.instead_of is None:
            module.instead_of = str(errors[0].args[0]).split("\n")[0]
        return module
    error = errors.pop(0)
    for later in errors:
        error.add_note(f"the next variant of the spec failed too: {later.args[0]}")
    raise error


cdef class _Load:
    # One load in progress. The loading thread holds `lock`; who else wants the code waits for it.
    cdef object lock
    cdef object thread
    cdef object error


cdef LoadedModule _load_once(ModuleCache cache, tuple key):
    cdef _Load load
    cdef _Load mine = _Load.__new__(_Load)
    cdef LoadedModule module
    mine.lock = allocate_lock()
    mine.lock.acquire()
    mine.thread = get_ident()
    # Made before looking again: what allocates may run a garbage collection, and that anybody's code. From here to the
    # entry of the load nothing does.
    module = cache.contents.find(key)
    if module is not None:
        return module
    load = cache.key_to_load.setdefault(key, mine)
    if load is mine:
        try:
            return _load_shared(cache, key)
        except BaseException as error:
            cache.failures += 1
            load.error = error
            raise
        finally:
            del cache.key_to_load[key]
            load.lock.release()
    if load.thread == get_ident():
        raise RuntimeError(
            f"{key[0]!r} was asked for again by the thread that is loading it, from a signal handler or destructor")
    with load.lock:
        pass
    if isinstance(load.error, Exception):
        # An instance of its own: a raised exception carries the traceback of one thread.
        raise copy.copy(load.error)
    module = cache.contents.find(key)
    if module is not None:
        return module
    # Cleared meanwhile, or the loading thread was interrupted: this one's turn.
    return _load_once(cache, key)


cdef LoadedModule _load_shared(ModuleCache cache, tuple key):
    cdef LoadedModule module = loaded_module(key[0], key[1], cache.context, cache)
    try:
        milliseconds = _load(cache, module)
        module.last_use = cache.hits + cache.misses
        module.is_shared = True
        cache.contents.put(key, module)
    except:
        _abandon(cache, module)
        raise
    cache.loads += 1
    say_loaded(module, milliseconds)
    _keep_limit(cache)
    return module


cdef double _load(ModuleCache cache, LoadedModule module) except -1:
    cdef double milliseconds = load_into_driver(module)
    if cache.incarnation != module.incarnation:
        raise ContextResetError(f"the primary context of device {cache.context.ordinal} was reset while "
                                f"{module.code!r} was loaded into it")
    return milliseconds


cdef ModuleCache module_cache(PrimaryContext context, make_module):
    cdef ModuleCache cache = ModuleCache.__new__(ModuleCache)
    cache.context = context
    cache.make_module = make_module
    return cache


se_cy_set_new(<PyTypeObject *>ModuleCache, se_cy_refuse_new)
