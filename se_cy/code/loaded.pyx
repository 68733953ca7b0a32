# SPDX-License-Identifier: Apache-2.0
"""LoadedModule: one piece of code loaded on one device, and the functions asked of it so far.

Floor 2. Changed under the GIL; `uses` keeps it in the driver while a call with its handles is on its way.
"""
import time
from _thread import get_ident

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUfunction, CUmodule, CUresult
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport strdup
from posix.unistd cimport usleep

from se_cy.code.interned cimport Code
from se_cy.code.table cimport table_free, table_get, table_init, table_next, table_put
from se_cy.driver.context cimport (
    CaptureGuard, PrimaryContext, begin_capture_guard, end_capture_guard, enter_raw, leave_raw,
)
from se_cy.driver.guards cimport guard, may_release
from se_cy.driver.status cimport check
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

from se_cy.driver.status import CudaError, KernelNotFoundError, ModuleUnloadedError
from se_cy.log import logger

# Names listed by a KernelNotFoundError's message; all are in its `available`.
cdef int NAMES_SHOWN = 20


@cython.final
@cython.no_gc
cdef class LoadedModule:
    """A module in the driver and the functions asked of it so far. Its kernels keep it alive."""

    def __cinit__(self):
        table_init(&self.name_to_slot)

    def __dealloc__(self):
        # A module that is still loaded stays so: unloading waits for the device, which a destructor must not.
        cdef size_t position = 0
        cdef uintptr_t key
        cdef void *slot
        while table_next(&self.name_to_slot, &position, &key, &slot):
            Py_DECREF(<object>(<FunctionSlot *>slot).name)
            free((<FunctionSlot *>slot).layout)
            PyMem_Free(slot)
        table_free(&self.name_to_slot)

    cdef int require_loaded(self, str what) except -1:
        guard()
        if self.is_unloaded:
            raise ModuleUnloadedError(
                f"{what} belongs to a module that was unloaded", hint="create the kernel again: that loads it anew")
        return self.context.require_incarnation(self.incarnation, what)

    cdef int begin_use(self, str what) except -1:
        """Keep the module from being unloaded until `uses` is counted down.

        Only calls without the GIL may stand between: where Python can run, it may unload, and would wait for itself.
        `pin` is for longer.
        """
        self.require_loaded(what)
        self.uses += 1
        return 0

    cdef int pin(self, str what) except -1:
        """Keep the module from being unloaded, by anybody, until `unpin`."""
        thread = get_ident()
        if self.thread_to_pins is None:
            self.thread_to_pins = {}
        self.begin_use(what)
        self.thread_to_pins[thread] = self.thread_to_pins.get(thread, 0) + 1
        return 0

    cdef int unpin(self, object thread) except -1:
        self.thread_to_pins[thread] -= 1
        self.uses -= 1
        return 0

    cdef int refuse_pinned(self) except -1:
        if self.thread_to_pins is not None and self.thread_to_pins.get(get_ident()):
            raise RuntimeError(
                f"{self.code!r} is pinned by this thread, which would wait for itself: leave the pin first")
        return 0

    cdef int retire(self) noexcept:
        """Let nothing new use it."""
        self.is_unloaded = True
        self.life = 0
        return 0

    cdef FunctionSlot *slot_of(self, str name) except NULL:
        """The function of that name; `name` is interned."""
        cdef void *slot
        if table_get(&self.name_to_slot, <uintptr_t><PyObject *>name, &slot):
            return <FunctionSlot *>slot
        return _find_function(self, name)

    def kernel_names(self):
        """The names of all kernels in the module, in the driver's order."""
        cdef char **names = NULL
        cdef unsigned int count = 0
        cdef unsigned int i
        cdef const char *call
        cdef int status
        self.begin_use("the list of kernels")
        try:
            with nogil:
                status = _list_names(self.context, <CUmodule>self.cu_module, &names, &count, &call)
        finally:
            self.uses -= 1
        try:
            check(<CUresult>status, call)
            return tuple([names[i].decode("utf-8", "replace") for i in range(count)])
        finally:
            for i in range(count):
                free(names[i])
            free(names)

    cdef int load_functions(self) except -1:
        """Make the driver load every function now that it would load at its first launch."""
        cdef const char *call
        cdef int status
        self.begin_use("the module")
        try:
            with nogil:
                status = _load_functions(self.context, <CUmodule>self.cu_module, &call)
        finally:
            self.uses -= 1
        return check(<CUresult>status, call)

    cdef int unload(self) except -1:
        """Make the module unusable, wait until no call that uses it is on its way to the driver, and unload it."""
        cdef CUmodule cu_module = <CUmodule>self.cu_module
        cdef CaptureGuard guarded
        cdef CUresult status
        self.refuse_pinned()
        self.retire()
        if cu_module == NULL:
            return 0
        while self.uses:
            with nogil:
                usleep(20)
            PyErr_CheckSignals()
        # Nothing of a dead incarnation is handed back: its handles are gone, and may be somebody else's by now.
        if not (may_release() and self.context.is_incarnation(self.incarnation)):
            self.cu_module = NULL
            return 0
        started = time.perf_counter()
        with nogil:
            begin_capture_guard(&guarded)
            status = cydriver.cuModuleUnload(cu_module)
            end_capture_guard(&guarded)
        check(status, "cuModuleUnload")
        self.cu_module = NULL
        logger().debug("device %d: unloaded %r in %.3f ms", self.context.ordinal, self.code,
                       (time.perf_counter() - started) * 1e3)
        return check(<CUresult>guarded.status, "cuThreadExchangeStreamCaptureMode")


cdef int _list_names(PrimaryContext context, CUmodule cu_module, char ***names, unsigned int *count,
                     const char **call) except -1 nogil:
    cdef const char *ignored
    cdef int entered
    cdef int status = enter_raw(context, &entered, call)
    if status == CUresult.CUDA_SUCCESS:
        status = _copy_names(cu_module, names, count, call)
        if status == CUresult.CUDA_SUCCESS:
            return leave_raw(entered, call)
        leave_raw(entered, &ignored)
    return status


cdef int _load_functions(PrimaryContext context, CUmodule cu_module, const char **call) except -1 nogil:
    cdef const char *ignored
    cdef int entered
    cdef int status = enter_raw(context, &entered, call)
    if status == CUresult.CUDA_SUCCESS:
        status = _load_each(cu_module, call)
        if status == CUresult.CUDA_SUCCESS:
            return leave_raw(entered, call)
        leave_raw(entered, &ignored)
    return status


cdef int _load_each(CUmodule cu_module, const char **call) except -1 nogil:
    cdef CUfunction *functions
    cdef unsigned int n = 0
    cdef unsigned int i = 0
    cdef int status
    call[0] = "cuModuleGetFunctionCount"
    status = cydriver.cuModuleGetFunctionCount(&n, cu_module)
    if status != CUresult.CUDA_SUCCESS:
        return status
    functions = <CUfunction *>calloc(n + 1, sizeof(CUfunction))
    try:
        call[0] = "calloc"
        if functions == NULL:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY
        call[0] = "cuModuleEnumerateFunctions"
        status = cydriver.cuModuleEnumerateFunctions(functions, n, cu_module)
        while status == CUresult.CUDA_SUCCESS and i < n:
            call[0] = "cuFuncLoad"
            status = cydriver.cuFuncLoad(functions[i])
            i += 1
        return status
    finally:
        free(functions)


cdef int _copy_names(CUmodule cu_module, char ***names, unsigned int *count, const char **call) except -1 nogil:
    cdef CUfunction *functions
    cdef const char *name
    cdef unsigned int n = 0
    cdef int status
    call[0] = "cuModuleGetFunctionCount"
    status = cydriver.cuModuleGetFunctionCount(&n, cu_module)
    if status != CUresult.CUDA_SUCCESS:
        return status
    names[0] = <char **>calloc(n + 1, sizeof(char *))
    functions = <CUfunction *>calloc(n + 1, sizeof(CUfunction))
    try:
        call[0] = "calloc"
        if names[0] == NULL or functions == NULL:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY
        call[0] = "cuModuleEnumerateFunctions"
        status = cydriver.cuModuleEnumerateFunctions(functions, n, cu_module)
        while status == CUresult.CUDA_SUCCESS and count[0] < n:
            call[0] = "cuFuncGetName"
            status = cydriver.cuFuncGetName(&name, functions[count[0]])
            if status == CUresult.CUDA_SUCCESS:
                names[0][count[0]] = strdup(name)
                if names[0][count[0]] == NULL:
                    return CUresult.CUDA_ERROR_OUT_OF_MEMORY
                count[0] += 1
        return status
    finally:
        free(functions)


cdef int _get_function(PrimaryContext context, CUmodule cu_module, const char *name, CUfunction *cu_function,
                       const char **call) except -1 nogil:
    cdef const char *ignored
    cdef int entered
    cdef int status = enter_raw(context, &entered, call)
    if status != CUresult.CUDA_SUCCESS:
        return status
    call[0] = "cuModuleGetFunction"
    status = cydriver.cuModuleGetFunction(cu_function, cu_module, name)
    if status == CUresult.CUDA_SUCCESS:
        return leave_raw(entered, call)
    leave_raw(entered, &ignored)
    return status


cdef FunctionSlot *_find_function(LoadedModule module, str name) except NULL:
    cdef bytes c_name = name.encode()
    cdef const char *name_pointer = c_name
    cdef CUfunction cu_function = NULL
    cdef const char *call
    cdef FunctionSlot *slot
    cdef void *other
    cdef int status
    module.begin_use(f"kernel {name!r}")
    try:
        with nogil:
            status = _get_function(module.context, <CUmodule>module.cu_module, name_pointer, &cu_function, &call)
    finally:
        module.uses -= 1
    if status == CUresult.CUDA_ERROR_NOT_FOUND:
        raise _not_found(module, name)
    check(<CUresult>status, call)
    slot = <FunctionSlot *>PyMem_Calloc(1, sizeof(FunctionSlot))
    if slot == NULL:
        raise MemoryError()
    if table_get(&module.name_to_slot, <uintptr_t><PyObject *>name, &other):
        PyMem_Free(slot)
        return <FunctionSlot *>other  # another thread asked meanwhile
    slot.cu_function = cu_function
    if table_put(&module.name_to_slot, <uintptr_t><PyObject *>name, slot) != 0:
        PyMem_Free(slot)
        raise MemoryError()
    slot.name = <PyObject *>name
    Py_INCREF(name)
    return slot


cdef object _not_found(LoadedModule module, str name):
    try:
        names = module.kernel_names()
    except CudaError:
        names = ()  # the name asked for is what matters
    shown = ", ".join(names[:NAMES_SHOWN])
    if len(names) > NAMES_SHOWN:
        shown += f" and {len(names) - NAMES_SHOWN} more"
    mangled = [other for other in names if other.startswith("_Z") and f"{len(name)}{name}" in other]
    hint = None
    if mangled:
        hint = f"{mangled[0]} looks like the C++ name of it: ask for that, or declare the kernel extern \"C\""
    elif name.strip() in names:
        hint = f"the name asked for has blanks around it: {name!r}"
    asked = repr(name) if len(name) < 200 else f"{name[:200]!r}..."
    error = KernelNotFoundError(
        f"no kernel {asked} in the module; it has: {shown or 'none'}",
        status=<int>CUresult.CUDA_ERROR_NOT_FOUND, name="CUDA_ERROR_NOT_FOUND", call="cuModuleGetFunction",
        hint=hint,
    )
    error.available = names
    return error


cdef LoadedModule loaded_module(Code code, tuple jit_options, PrimaryContext context, cache):
    """An object for a module of that code that is about to be loaded into the context."""
    cdef LoadedModule module = LoadedModule.__new__(LoadedModule)
    module.code = code
    module.jit_options = jit_options
    module.context = context
    module.cache = cache
    module.incarnation = context.incarnation
    module.life = context.life
    return module


se_cy_set_new(<PyTypeObject *>LoadedModule, se_cy_refuse_new)
