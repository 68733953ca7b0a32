# SPDX-License-Identifier: Apache-2.0
"""Kernel, one function of a loaded module; BoundKernel, a launch with all but its arguments fixed.

Floor 4. All may be shared by threads: arguments are packed on the caller's stack, counters change under the GIL.
"""
cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUfunction, CUresult, CUstream
from libc.stdint cimport uintptr_t

from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.code.modules cimport ModuleCache
from se_cy.driver cimport library
from se_cy.driver.context cimport PrimaryContext, enter_raw, leave_raw
from se_cy.driver.guards cimport guard
from se_cy.driver.status cimport error_of
from se_cy.launch.arguments cimport Destination, pack_argument
from se_cy.launch.attributes cimport allow_shared_bytes, read_attributes
from se_cy.launch.dimensions cimport read_dimensions
from se_cy.launch.parameters cimport Parameter, parameter_infos, read_layout
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new, se_cy_set_vectorcall, vectorcallfunc
from se_cy.stream cimport LAST_DEFAULT_STREAM, Stream, handle_of

from se_cy.driver.status import CudaError

cdef extern from *:
    """
    #include <alloca.h>
    """
    void *alloca(size_t) nogil
    Py_ssize_t Py_REFCNT(PyObject *)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    PyObject **PySequence_Fast_ITEMS(object)

# From CUDA 13 on, a launch on an explicit stream works whatever context is current.
cdef int FREE_OF_CURRENT_CONTEXT = 13000

@cython.final
@cython.no_gc
cdef class Kernel:
    """One function of a loaded module on one device. Made by `Device.create_kernel`.

    ``kernel[grid, block](*args)`` launches it; so does `launch`. `bind` prepares what is constant over many launches.
    """

    def __dealloc__(self):
        if self.slot != NULL and self.slot.kernel == <PyObject *>self:
            self.slot.kernel = NULL

    @property
    def name(self):
        return <object>self.slot.name

    @property
    def device(self):
        """The Device it runs on."""
        return self.module_.context.device

    @property
    def module(self):
        """The Module it is a function of."""
        return (<ModuleCache>self.module_.cache).make_module(self.module_)

    @property
    def parameters(self):
        """What it takes: a tuple of `ParameterInfo`, in order."""
        return parameter_infos(<const Parameter *>self.slot.layout, self.slot.count)

    @property
    def handle(self):
        """The `CUfunction` as an int, borrowed: whoever keeps it keeps this object."""
        self.module_.require_loaded(f"kernel {self.name!r}")
        return <uintptr_t>self.slot.cu_function

    @property
    def attributes(self):
        """Registers, memory and limits: a `KernelAttributes`."""
        return read_attributes(self.module_, self.slot)

    def bind(self, grid, block, *, stream=None, shared_bytes=0, hold_gil=False):
        """Fix everything of a launch but its arguments.

        Parameters
        ----------
        grid, block : int or sequence of one to three ints
            Blocks in the grid, threads in a block. A zero in the grid makes launches that do nothing.
        stream : Stream, int, or object with ``__cuda_stream__``, optional
            The legacy default stream if not given. An int is a `CUstream` handle.
        shared_bytes : int
            Dynamic shared memory per block, in bytes. The kernel's limit is raised if need be.
        hold_gil : bool
            Keep the GIL during the driver call. Only where the launch queue can't be full and no host callback needs
            the GIL: the call blocks then.

        Returns
        -------
        BoundKernel

        Raises
        ------
        TypeError, ValueError
            A value is of the wrong type, or not possible on the device; the message names the limit.
        """
        return _bind(self, grid, block, stream, shared_bytes, hold_gil)

    def __getitem__(self, configuration):
        """``kernel[grid, block]``, ``kernel[grid, block, stream]``, ``kernel[grid, block, stream, shared_bytes]``.

        The same as `bind`, but for an int as stream other than 0, 1 and 2 (the default streams), which is a TypeError:
        it is more likely a number of bytes than a handle.
        """
        cdef Py_ssize_t given = len(configuration) if isinstance(configuration, tuple) else 0
        if not 2 <= given <= 4:
            raise TypeError(
                f"kernel {self.name!r} takes [grid, block], [grid, block, stream] or [grid, block, stream, "
                f"shared_bytes]; got [{configuration!r}]")
        stream = configuration[2] if given > 2 else None
        if isinstance(stream, int) and (isinstance(stream, bool) or not 0 <= stream <= LAST_DEFAULT_STREAM):
            raise TypeError(
                f"kernel {self.name!r} takes a stream in third place, not the int {stream!r}: pass a Stream, or a "
                f"handle by bind(..., stream={stream!r}); shared_bytes is in fourth place")
        return _bind(self, configuration[0], configuration[1], stream, configuration[3] if given > 3 else 0, False)

    def launch(self, grid, block, *args, stream=None, shared_bytes=0):
        """Launch once. See `bind` for the parameters; `args` are the kernel's arguments."""
        _bind(self, grid, block, stream, shared_bytes, False)(*args)

    def __reduce__(self):
        raise TypeError("a Kernel belongs to one process and can't be pickled: pickle its KernelLoaderSpec")

    def __repr__(self):
        state = ", unloaded" if self.module_.is_unloaded else ""
        instead = f", instead of what failed: {self.module_.instead_of}" if self.module_.instead_of else ""
        return (f"<se_cy.Kernel {self.name!r} on device {self.module_.context.ordinal}, "
                f"{self.slot.count} parameters{state}{instead}>")


@cython.final
@cython.no_gc_clear
@cython.freelist(16)
cdef class BoundKernel:
    """A kernel with grid, block and stream fixed: ``bound(*args)`` launches it. Made by `Kernel.bind`."""

    def __call__(self, *args, **kwargs):
        """Launch: check and pack the arguments, then one driver call (`cuLaunchKernel`).

        Raises
        ------
        TypeError, ValueError, OverflowError
            Wrong number of arguments, or one that does not fit its parameter. Nothing was launched.
        ModuleUnloadedError, ContextResetError
            The kernel is gone.
        CudaError
            The driver refused the launch, or reports the failure of earlier work.
        """
        if kwargs:
            _refuse_keywords(self, kwargs)
        return _launch(self, <PyObject *const *>PySequence_Fast_ITEMS(args), len(args), NULL)

    @property
    def grid(self):
        """Blocks in x, y and z."""
        return self.grid_[0], self.grid_[1], self.grid_[2]

    @property
    def block(self):
        """Threads per block in x, y and z."""
        return self.block_[0], self.block_[1], self.block_[2]

    @property
    def shared_bytes(self):
        """Dynamic shared memory per block, in bytes."""
        return self.shared_bytes_

    def __reduce__(self):
        raise TypeError("a BoundKernel belongs to one process and can't be pickled")

    def __repr__(self):
        return f"<se_cy.BoundKernel {self.kernel.name!r}: grid {self.grid}, block {self.block}, " \
               f"stream {<uintptr_t>self.cu_stream:#x}, {self.shared_bytes_} bytes of dynamic shared memory>"


cdef object _launch(BoundKernel self, PyObject *const *args, size_t nargsf, PyObject *keywords):
    cdef Py_ssize_t i
    cdef Py_ssize_t given = PyVectorcall_NARGS(nargsf)
    cdef char *values
    cdef void **pointers
    cdef const Parameter *parameter
    cdef Destination to
    cdef const char *call = "cuLaunchKernel"
    cdef int status
    if keywords != NULL:
        _refuse_keywords(self, <object>keywords)
    if given != self.count:
        raise TypeError(f"kernel {self.kernel.name!r} takes {self.count} arguments; got {given}")
    guard()
    # At most 32,764 bytes of values and as many pointers: read_layout refuses more.
    values = <char *>alloca(self.nbytes + self.count * sizeof(void *))
    pointers = <void **>(values + self.nbytes)
    to.slot = self.slot
    to.module = <PyObject *>self.loaded
    to.life = self.loaded.life
    to.layout = parameter = self.layout
    for i in range(given):
        to.parameter = parameter
        pointers[i] = values + parameter.offset
        pack_argument(&to, args[i], <char *>pointers[i])
        parameter += 1
    # After packing, which may run anybody's Python. A handle of a dead incarnation may be that of another function by
    # now: the driver would launch it.
    if self.loaded.life != self.loaded.context.life:
        self.loaded.require_loaded(f"kernel {self.kernel.name!r}")
    if self.stream is not None and self.stream.is_closed:
        self.stream.require_open()
    if self.is_empty:
        return None
    # Counted under the GIL: unloading waits for launches that are on their way. No exception is made before the count
    # is down again: making one may run anybody's Python, which may unload.
    self.loaded.uses += 1
    if self.needs_context:
        try:
            with nogil:
                status = _launch_in_context(self, pointers, &call)
        finally:
            self.loaded.uses -= 1
    elif self.hold_gil:
        status = call_driver(self, pointers, NULL)
        self.loaded.uses -= 1
    else:
        with nogil:
            status = call_driver(self, pointers, NULL)
        self.loaded.uses -= 1
    if status != CUresult.CUDA_SUCCESS:
        launch_failed(self, status, call, "")
    return None


cdef int _launch_in_context(BoundKernel self, void **pointers, const char **call) except -1 nogil:
    cdef int entered
    cdef int status = enter_raw(self.loaded.context, &entered, call)
    if status != CUresult.CUDA_SUCCESS:
        return status
    status = call_driver(self, pointers, NULL)
    if status != CUresult.CUDA_SUCCESS:
        leave_raw(entered, call)
        call[0] = "cuLaunchKernel"
        return status
    return leave_raw(entered, call)


cdef int _refuse_keywords(BoundKernel self, object names) except -1:
    names = tuple(names)
    if names:
        raise TypeError(f"kernel {self.kernel.name!r} takes no keyword arguments; got {', '.join(names)}")
    return 0


cdef int launch_failed(BoundKernel self, int status, const char *call, str more) except -1:
    """Raise the error of a launch that the driver answered with `status`; `more` ends its message."""
    cdef Kernel kernel = self.kernel
    cdef PrimaryContext context = self.loaded.context
    if status == CUresult.CUDA_ERROR_INVALID_HANDLE or status == CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED:
        context.require_incarnation(self.loaded.incarnation, f"kernel {kernel.name!r}")
    error = error_of(<CUresult>status, call.decode("ascii"))
    message = (f"{error.args[0]}\n  the launch: kernel {kernel.name!r} on device {context.ordinal}, grid {self.grid}, "
               f"block {self.block}, {self.shared_bytes_} bytes of dynamic shared memory")
    if status == CUresult.CUDA_ERROR_INVALID_VALUE or status == CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        try:
            attributes = kernel.attributes
        except CudaError as unknown:
            error.add_note(f"what the kernel needs can't be said: {unknown}")
        else:
            message += (f"\n  the kernel: {attributes.registers} registers per thread, blocks of at most "
                        f"{attributes.max_threads_per_block} threads, {attributes.shared_bytes} bytes of static "
                        f"shared memory")
    error.args = (message + more,)
    raise error


cdef BoundKernel _bind(Kernel kernel, object grid, object block, object stream, object shared_bytes, bint hold_gil):
    cdef BoundKernel bound = BoundKernel.__new__(BoundKernel)
    cdef PrimaryContext context = kernel.module_.context
    cdef unsigned long long threads
    cdef uintptr_t handle = 0
    if kernel.module_.life != context.life:
        kernel.module_.require_loaded(f"kernel {kernel.name!r}")
    bound.kernel = kernel
    bound.loaded = kernel.module_
    bound.slot = kernel.slot
    bound.cu_function = kernel.slot.cu_function
    bound.layout, bound.count, bound.nbytes = <const Parameter *>kernel.slot.layout, kernel.slot.count, kernel.slot.nbytes
    bound.hold_gil = hold_gil
    read_dimensions(grid, bound.grid_, context.limits.grid, "grid")
    read_dimensions(block, bound.block_, context.limits.block, "block")
    bound.is_empty = not (bound.grid_[0] and bound.grid_[1] and bound.grid_[2])
    threads = <unsigned long long>bound.block_[0] * bound.block_[1] * bound.block_[2]
    if threads == 0:
        raise ValueError(f"a block has at least one thread in each dimension; got {bound.block}")
    if threads > context.limits.threads_per_block:
        raise ValueError(f"a block has at most {context.limits.threads_per_block} threads on this device; "
                         f"got {bound.block}, which is {threads}")
    if stream is not None:
        owner = handle_of(stream, context, &handle)
        bound.cu_stream = <void *>handle
        if type(owner) is Stream:
            bound.stream = owner
        else:
            bound.stream_owner = owner
    bound.needs_context = handle <= LAST_DEFAULT_STREAM or library.driver_version < FREE_OF_CURRENT_CONTEXT
    if type(shared_bytes) is not int or shared_bytes != 0:
        bound.shared_bytes_ = allow_shared_bytes(bound.loaded, kernel.slot, shared_bytes)
    bound.vectorcall = <vectorcallfunc>_launch
    return bound


cdef Kernel kernel_of(LoadedModule module, str name):
    """The kernel of that name, the same object while one lives; `name` is interned."""
    cdef FunctionSlot *slot = module.slot_of(name)
    # A count of 0: the kernel is dying, and its weak references' callbacks run before it is out of the slot.
    if slot.kernel != NULL and Py_REFCNT(slot.kernel) > 0:
        return <Kernel>slot.kernel
    return _make_kernel(module, slot, name)


cdef Kernel _make_kernel(LoadedModule module, FunctionSlot *slot, str name):
    cdef Kernel kernel = Kernel.__new__(Kernel)
    kernel.module_ = module
    if module.life != module.context.life:
        module.require_loaded(f"kernel {name!r}")
    read_layout(module, slot, name)
    if slot.kernel != NULL and Py_REFCNT(slot.kernel) > 0:
        return <Kernel>slot.kernel  # made meanwhile by another thread, or by what a garbage collection ran
    kernel.slot = slot
    slot.kernel = <PyObject *>kernel
    return kernel


cdef int _enable_vectorcall() except -1:
    cdef BoundKernel sample = BoundKernel.__new__(BoundKernel)
    se_cy_set_vectorcall(<PyTypeObject *>BoundKernel, <char *>&sample.vectorcall - <char *><PyObject *>sample)
    return 0


_enable_vectorcall()
se_cy_set_new(<PyTypeObject *>BoundKernel, se_cy_refuse_new)
se_cy_set_new(<PyTypeObject *>Kernel, se_cy_refuse_new)
