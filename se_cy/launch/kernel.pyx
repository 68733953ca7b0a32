# SPDX-License-Identifier: Apache-2.0
"""Kernel, one function of a loaded module; BoundKernel, a launch with all but its arguments fixed.

Floor 4. All may be shared by threads: arguments are packed on the caller's stack, counters change under the GIL.
"""
cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUresult, CUstream, CUstreamCaptureStatus
from libc.stdint cimport uintptr_t

from se_cy cimport debug
from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.code.modules cimport ModuleCache
from se_cy.driver cimport library
from se_cy.driver.context cimport (
    CaptureGuard, PrimaryContext, begin_capture_guard, end_capture_guard, enter_raw, leave_raw,
)
from se_cy.driver.guards cimport guard
from se_cy.driver.status cimport error_of
from se_cy.launch.arguments cimport Destination, pack_argument
from se_cy.launch.attributes cimport allow_shared_bytes, read_attributes
from se_cy.launch.configuration cimport (
    Shape, cluster_of, free_configuration, launch_configured, make_configuration,
)
from se_cy.launch.current_stream cimport current_stream, require_current
from se_cy.launch.dimensions cimport read_dimensions
from se_cy.launch.limits cimport why_refused
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

    def bind(self, grid, block, *, stream=None, shared_bytes=0, cluster=None, cooperative=False, hold_gil=False,
             programmatic_stream_serialization=False, priority=None, preferred_shared_memory_carveout=None):
        """Fix everything of a launch but its arguments.

        Parameters
        ----------
        grid, block : int or sequence of one to three ints
            Blocks in the grid, threads in a block. A zero in the grid makes launches that do nothing.
        stream : Stream, int, object with ``__cuda_stream__``, or "current", optional
            The legacy default stream if not given. An int is a `CUstream` handle. "current" is, at each launch, the
            current stream of the package (torch, CuPy, ...) that the tensor arguments are of.
        shared_bytes : int
            Dynamic shared memory per block, in bytes. The kernel's limit is raised if need be.
        cluster : int or sequence of one to three ints, optional
            Blocks in a cluster, of which the grid is a multiple in each dimension; 8 at most.
        cooperative : bool
            All blocks run at once, so that the grid may synchronise.
        hold_gil : bool
            Keep the GIL during the driver call. Only where the launch queue can't be full and no host callback needs
            the GIL: the call blocks then.
        programmatic_stream_serialization : bool
            Programmatic dependent launch: the kernel may start before the one ahead of it on the stream has ended, and
            waits for its data by itself (``griddepcontrol.wait``).
        priority : int, optional
            As of a stream: lower numbers run first. The stream's if not given.
        preferred_shared_memory_carveout : int, optional
            Percent of a multiprocessor's L1 cache that had better be shared memory; a hint.

        Returns
        -------
        BoundKernel

        Raises
        ------
        TypeError, ValueError
            A value is of the wrong type, or not possible on the device; the message names the limit.
        """
        cdef BoundKernel bound = _bind(self, grid, block, stream, shared_bytes)
        if hold_gil:
            bound.hold_gil = True
            bound.is_plain = False
        if (cluster is not None or cooperative or programmatic_stream_serialization or priority is not None
                or preferred_shared_memory_carveout is not None):
            _set_attributes(bound, cluster, cooperative, programmatic_stream_serialization, priority,
                            preferred_shared_memory_carveout)
        return bound

    def __getitem__(self, configuration):
        """``kernel[grid, block]``, ``kernel[grid, block, stream]``, ``kernel[grid, block, stream, shared_bytes]``.

        The same as `bind`, but for an int as stream other than 0, 1 and 2 (the default streams), which is a TypeError:
        it is more likely a number of bytes than a handle.
        """
        cdef Py_ssize_t given = len(<tuple>configuration) if type(configuration) is tuple else 0
        cdef object stream = None
        if not 2 <= given <= 4:
            raise TypeError(
                f"kernel {self.name!r} takes [grid, block], [grid, block, stream] or [grid, block, stream, "
                f"shared_bytes]; got [{configuration!r}]")
        if given > 2:
            stream = (<tuple>configuration)[2]
            if isinstance(stream, int) and (isinstance(stream, bool) or not 0 <= stream <= LAST_DEFAULT_STREAM):
                raise TypeError(
                    f"kernel {self.name!r} takes a stream in third place, not the int {stream!r}: pass a Stream, or a "
                    f"handle by bind(..., stream={stream!r}); shared_bytes is in fourth place")
        return _bind(self, (<tuple>configuration)[0], (<tuple>configuration)[1], stream,
                     (<tuple>configuration)[3] if given > 3 else 0)

    def launch(self, grid, block, *args, stream=None, shared_bytes=0):
        """Launch once. See `bind` for the parameters; `args` are the kernel's arguments."""
        _bind(self, grid, block, stream, shared_bytes)(*args)

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

    def __dealloc__(self):
        if self.configuration != NULL:
            free_configuration(self.configuration)

    def __call__(self, *args, **kwargs):
        """Launch: check and pack the arguments, then one driver call (`cuLaunchKernel`, or with launch
        attributes `cuLaunchKernelEx`).

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

    @property
    def cluster(self):
        """Blocks per cluster in x, y and z; None where `bind` was not told."""
        return cluster_of(self.configuration)

    def __reduce__(self):
        raise TypeError("a BoundKernel belongs to one process and can't be pickled")

    def __repr__(self):
        return f"<se_cy.BoundKernel {self.kernel.name!r}: {_configuration_of(self, self.cu_stream)}>"


cdef object _launch(BoundKernel self, PyObject *const *args, size_t nargsf, PyObject *keywords):
    cdef Py_ssize_t i
    cdef Py_ssize_t given = PyVectorcall_NARGS(nargsf)
    cdef char *values
    cdef void **pointers
    cdef const Parameter *parameter
    cdef Destination to
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
    if not self.is_plain:
        return _launch_otherwise(self, args, pointers)
    # After packing, which may run anybody's Python. A handle of a dead incarnation may be that of another function by
    # now: the driver would launch it.
    if self.loaded.life != self.loaded.context.life:
        self.loaded.require_loaded(f"kernel {self.kernel.name!r}")
    if self.stream is not None and self.stream.is_closed:
        self.stream.require_open()
    # Counted under the GIL: unloading waits for launches that are on their way. No exception is made before the count
    # is down again: making one may run anybody's Python, which may unload.
    self.loaded.uses += 1
    with nogil:
        status = call_driver(self, self.cu_stream, pointers, NULL)
    self.loaded.uses -= 1
    if status != CUresult.CUDA_SUCCESS:
        launch_failed(self, self.cu_stream, status, "cuLaunchKernel", "")
    return None


cdef object _launch_otherwise(BoundKernel self, PyObject *const *args, void **pointers):
    """All launches but those on an explicit stream without the GIL and without attributes; `_launch` has packed."""
    cdef void *cu_stream = self.cu_stream
    cdef const char *call
    cdef int status
    # Both may run anybody's Python.
    if self.is_current:
        current_stream(args, self.count, self.slot, self.loaded.context.ordinal, &cu_stream)
    elif debug.enabled:
        require_current(args, self.count, self.slot, self.loaded.context.ordinal, cu_stream)
    if self.loaded.life != self.loaded.context.life:
        self.loaded.require_loaded(f"kernel {self.kernel.name!r}")
    if self.stream is not None and self.stream.is_closed:
        self.stream.require_open()
    if self.is_empty:
        return None
    self.loaded.uses += 1
    if self.hold_gil:
        status = launch_in_context(self, cu_stream, pointers, &call)
    else:
        with nogil:
            status = launch_in_context(self, cu_stream, pointers, &call)
    self.loaded.uses -= 1
    if status != CUresult.CUDA_SUCCESS:
        launch_failed(self, cu_stream, status, call, "")
    return None


cdef int launch_in_context(BoundKernel bound, void *cu_stream, void **parameters, const char **call) noexcept nogil:
    cdef const char *ignored
    cdef int entered = 0
    cdef int status
    if depends_on_context(bound, cu_stream):
        status = enter_raw(bound.loaded.context, &entered, call)
        if status != CUresult.CUDA_SUCCESS:
            return status
    status = launch_here(bound, cu_stream, parameters, NULL, call)
    if status != CUresult.CUDA_SUCCESS:
        leave_raw(entered, &ignored)
        return status
    return leave_raw(entered, call)


cdef int launch_here(BoundKernel bound, void *cu_stream, void **parameters, void **extra,
                     const char **call) noexcept nogil:
    cdef int status
    if bound.configuration != NULL:
        call[0] = "cuLaunchKernelEx"
        status = launch_configured(bound.configuration, cu_stream, bound.cu_function, parameters, extra)
    else:
        call[0] = "cuLaunchKernel"
        status = call_driver(bound, cu_stream, parameters, extra)
    if debug.enabled and status == CUresult.CUDA_SUCCESS:
        status = _wait(cu_stream, call)
    return status


cdef int _wait(void *cu_stream, const char **call) noexcept nogil:
    """For debug mode: wait for the stream, unless it is being captured and runs nothing."""
    cdef CaptureGuard guarded
    cdef CUstreamCaptureStatus capture
    # By name: cydriver may take 0 for the thread's default stream.
    cdef CUstream waited = <CUstream>cu_stream if cu_stream != NULL else <CUstream><uintptr_t>1
    cdef int status
    call[0] = "cuStreamIsCapturing"
    status = cydriver.cuStreamIsCapturing(waited, &capture)
    if status != CUresult.CUDA_SUCCESS or capture != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
        return status
    call[0] = "cuStreamSynchronize"
    # Else the wait would invalidate captures of other streams.
    begin_capture_guard(&guarded)
    status = cydriver.cuStreamSynchronize(waited)
    end_capture_guard(&guarded)
    return status


cdef int _refuse_keywords(BoundKernel self, object names) except -1:
    names = tuple(names)
    if names:
        raise TypeError(f"kernel {self.kernel.name!r} takes no keyword arguments; got {', '.join(names)}")
    return 0


cdef str _configuration_of(BoundKernel self, void *cu_stream):
    stream = "the current stream" if self.is_current and cu_stream == NULL else f"stream {<uintptr_t>cu_stream:#x}"
    cluster = f"cluster {self.cluster}, " if self.cluster is not None else ""
    cooperative = "cooperative, " if self.is_cooperative else ""
    return (f"grid {self.grid}, block {self.block}, {cluster}{cooperative}{stream}, {self.shared_bytes_} bytes of dynamic "
            f"shared memory")


cdef int launch_failed(BoundKernel self, void *cu_stream, int status, const char *call, str more) except -1:
    """Raise the error of a launch that the driver answered with `status`; `more` ends its message."""
    cdef Kernel kernel = self.kernel
    cdef PrimaryContext context = self.loaded.context
    if status == CUresult.CUDA_ERROR_INVALID_HANDLE or status == CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED:
        context.require_incarnation(self.loaded.incarnation, f"kernel {kernel.name!r}")
    error = error_of(<CUresult>status, call.decode("ascii"))
    message = (f"{error.args[0]}\n  the launch: kernel {kernel.name!r} on device {context.ordinal}, "
               f"{_configuration_of(self, cu_stream)}")
    if call == b"cuStreamSynchronize":
        message += "\n  found by the wait that SE_CY_DEBUG=1 adds to each launch: the fault is of this launch, or of work " \
                   "that ran beside it"
    if status in (CUresult.CUDA_ERROR_INVALID_VALUE, CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                  CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE):
        try:
            message += why_refused(self.loaded, kernel.slot, self.grid_, self.block_, self.shared_bytes_,
                                   self.is_cooperative)
        except CudaError as unknown:
            error.add_note(f"what the kernel needs can't be said: {unknown}")
    error.args = (message + more,)
    raise error


cdef BoundKernel _bind(Kernel kernel, object grid, object block, object stream, object shared_bytes):
    cdef BoundKernel bound = BoundKernel.__new__(BoundKernel)
    cdef LoadedModule loaded = kernel.module_
    cdef PrimaryContext context = loaded.context
    cdef FunctionSlot *slot = kernel.slot
    cdef unsigned long long threads
    cdef uintptr_t handle = 0
    if loaded.life != context.life:
        loaded.require_loaded(f"kernel {kernel.name!r}")
    bound.kernel = kernel
    bound.loaded = loaded
    bound.slot = slot
    bound.cu_function = slot.cu_function
    bound.layout, bound.count, bound.nbytes = <const Parameter *>slot.layout, slot.count, slot.nbytes
    read_dimensions(grid, bound.grid_, context.limits.grid, "grid")
    read_dimensions(block, bound.block_, context.limits.block, "block")
    bound.is_empty = not (bound.grid_[0] and bound.grid_[1] and bound.grid_[2])
    threads = <unsigned long long>bound.block_[0] * bound.block_[1] * bound.block_[2]
    if threads == 0:
        raise ValueError(f"a block has at least one thread in each dimension; got {bound.block}")
    if threads > context.limits.threads_per_block:
        raise ValueError(f"a block has at most {context.limits.threads_per_block} threads on this device; "
                         f"got {bound.block}, which is {threads}")
    if type(stream) is Stream:
        handle_of(stream, context, &handle)
        bound.stream = stream
    elif stream is not None:
        if type(stream) is str and stream == "current":
            bound.is_current = True
        else:
            bound.stream_owner = handle_of(stream, context, &handle)
    bound.cu_stream = <void *>handle
    bound.needs_context = library.driver_version < FREE_OF_CURRENT_CONTEXT
    bound.is_plain = not (handle <= LAST_DEFAULT_STREAM or bound.needs_context or bound.is_empty or debug.enabled)
    if type(shared_bytes) is not int or shared_bytes != 0:
        bound.shared_bytes_ = allow_shared_bytes(loaded, slot, shared_bytes)
    bound.vectorcall = <vectorcallfunc>_launch
    return bound


cdef int _set_attributes(BoundKernel bound, object cluster, bint cooperative, bint programmatic_stream_serialization,
                         object priority, object preferred_shared_memory_carveout) except -1:
    cdef Shape shape
    cdef int i
    for i in range(3):
        shape.grid[i] = bound.grid_[i]
        shape.block[i] = bound.block_[i]
    shape.shared_bytes = bound.shared_bytes_
    shape.cu_stream = bound.cu_stream
    bound.configuration = make_configuration(
        bound.loaded, bound.kernel.slot, &shape, cluster, cooperative, programmatic_stream_serialization, priority,
        preferred_shared_memory_carveout)
    bound.is_cooperative = cooperative
    bound.is_plain = False
    return 0


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
