# SPDX-License-Identifier: Apache-2.0
"""DeviceMemory: an allocation on a device, or a module's global variable, with the shape and dtype it was given.

Floor 3. May be shared by threads; the order of work on its bytes is the caller's, by streams.
"""
import operator

cimport cython
from cpython.object cimport PyTypeObject
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUdeviceptr, CUresult, CUstream, CUstreamCaptureStatus
from libc.stdint cimport uint64_t

from se_cy.driver.context cimport CaptureGuard, PrimaryContext, begin_capture_guard, end_capture_guard, enter, leave
from se_cy.driver.guards cimport guard, may_release
from se_cy.driver.status cimport check, forget_fault
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new
from se_cy.stream cimport Stream

from se_cy.driver.status import CudaError

# An allocation waits for the device and frees what was dropped once that is more than this.
cdef size_t BYTES_DROPPED = 256 << 20


@cython.final
@cython.no_gc_clear
cdef class DeviceMemory:
    """Memory on a device. Made by `Device.allocate` or `Device.to_device`; a context manager that frees it.

    `Module.get_global` makes it too: then it is the module's, and closing it frees nothing.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    nbytes : int
    """

    def __dealloc__(self):
        if self.pointer and not self.is_closed and self.module is None and may_release():
            try:
                _release(self)
            except CudaError as error:
                forget_fault(error)

    @property
    def device(self):
        """The Device it is on."""
        return self.context.device

    @property
    def handle(self):
        """The device address as an int, borrowed; 0 for zero bytes."""
        self.require_open()
        return self.pointer

    def to_host(self, out=None):
        """Copy the content to the host and wait for it.

        The copy is ordered after work on the stream that the memory was allocated on; without one, after work on the
        legacy default stream and on all blocking streams. Work on other streams must be waited for by the caller.

        Parameters
        ----------
        out : numpy.ndarray, optional
            Where to copy to: C-contiguous, writable, of this shape and dtype.

        Returns
        -------
        numpy.ndarray
            `out`, or a new array.

        Raises
        ------
        ValueError
            `out` does not fit; nothing was copied. Or the memory is closed.
        CudaError
            The copy, or earlier work, failed.
        """
        import numpy

        self.require_open()
        if out is None:
            out = numpy.empty(self.shape, self.dtype)
        elif not isinstance(out, numpy.ndarray):
            raise TypeError(f"out is a numpy.ndarray; got {type(out).__name__}")
        elif out.shape != self.shape or out.dtype != self.dtype:
            raise ValueError(
                f"out has shape {out.shape} and dtype {out.dtype}, the memory {self.shape} and {self.dtype}")
        elif not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out must be C-contiguous and writable")
        if self.nbytes:
            # As a plain array: a subclass may answer what it likes.
            _copy_to_host(self, numpy.asarray(out).reshape(-1).view(numpy.uint8))
        return out

    def copy_from_host(self, array):
        """Copy a host array of this shape and dtype into the memory, and wait for it. Ordered like `to_host`.

        Parameters
        ----------
        array : array_like

        Raises
        ------
        ValueError
            The array does not fit; nothing was copied. Or the memory is closed.
        TypeError
            The memory is a global variable of a module that is shared.
        """
        import numpy

        self.require_open()
        if self.module is not None and self.module.is_shared:
            raise TypeError(
                "this is a global variable of a module that all who ask for its code share, so writing it would change "
                "their results too: load a module of your own with Device.load(code, shared=False)")
        array = numpy.asarray(array)
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ValueError(
                f"the array has shape {array.shape} and dtype {array.dtype}, the memory {self.shape} and {self.dtype}")
        if self.nbytes:
            _copy_from_host(self, numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8))

    def close(self):
        """Free the memory. Closing again does nothing.

        Memory that was allocated on a stream is freed in that stream's order, without waiting. Other memory is freed
        after a wait for all work of the device, which must not happen while a stream is captured; dropping the last
        reference instead leaves it to a later `Device.synchronize`, `close` or `Device.allocate`.
        """
        guard()
        if not self.is_closed:
            self.is_closed = True
            self.life = 0
            if self.pointer and self.module is None:
                _release(self)
                if self.context.to_free:
                    self.context.synchronize()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __array__(self, dtype=None, copy=None):
        raise TypeError("this memory is on a device: copy it to the host with .to_host()")

    def __reduce__(self):
        raise TypeError("DeviceMemory belongs to one process and can't be pickled: pickle what .to_host() gives")

    def __repr__(self):
        state = "closed" if self.is_closed else f"{self.pointer:#x}"
        owner = f", of {self.module.code!r}" if self.module is not None else ""
        return f"<se_cy.DeviceMemory on device {self.context.ordinal}: {self.shape} {self.dtype}, {state}{owner}>"

    cdef int require_open(self) except -1:
        guard()
        if self.is_closed:
            raise ValueError(f"{self!r} can't be used any more")
        if self.module is not None:
            return self.module.require_loaded("the global variable")
        if self.pointer:
            self.context.require_incarnation(self.incarnation, "the memory")
        return 0


cdef int _copy_to_host(DeviceMemory memory, out) except -1:
    cdef Py_buffer view
    cdef int result
    PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
    try:
        if <size_t>view.len != memory.nbytes:
            raise ValueError(f"out has {view.len} bytes, the memory {memory.nbytes}")
        with nogil:
            result = _copy(memory, view.buf, True)
        return result
    finally:
        PyBuffer_Release(&view)


cdef int _copy_from_host(DeviceMemory memory, array) except -1:
    cdef Py_buffer view
    cdef int result
    PyObject_GetBuffer(array, &view, PyBUF_SIMPLE)
    try:
        if <size_t>view.len != memory.nbytes:
            raise ValueError(f"the array has {view.len} bytes, the memory {memory.nbytes}")
        with nogil:
            result = _copy(memory, view.buf, False)
        return result
    finally:
        PyBuffer_Release(&view)


cdef int _copy(DeviceMemory memory, void *host, bint is_to_host) except -1 nogil:
    cdef CUstream cu_stream = NULL
    cdef int entered = enter(memory.context)
    try:
        if memory.stream is not None:
            if memory.stream.is_closed:
                # Work that was queued on it may still run, and no other stream is ordered after it.
                check(cydriver.cuCtxSynchronize(), "cuCtxSynchronize")
            else:
                cu_stream = <CUstream>memory.stream.cu_stream
        if is_to_host:
            check(cydriver.cuMemcpyDtoHAsync(host, <CUdeviceptr>memory.pointer, memory.nbytes, cu_stream),
                  "cuMemcpyDtoHAsync")
        else:
            check(cydriver.cuMemcpyHtoDAsync(<CUdeviceptr>memory.pointer, host, memory.nbytes, cu_stream),
                  "cuMemcpyHtoDAsync")
        check(cydriver.cuStreamSynchronize(cu_stream), "cuStreamSynchronize")
    finally:
        leave(entered)
    return 0


cdef int _release(DeviceMemory memory) except -1:
    """Hand the memory back without waiting: in its stream's order, or once the device has been waited for."""
    cdef PrimaryContext context = memory.context
    cdef uint64_t pointer = memory.pointer
    memory.pointer = 0
    try:
        if memory.stream is not None and not memory.stream.is_closed and _free_in_order(memory, &pointer):
            return 0
    except CudaError:
        if pointer:
            context.to_free.append((pointer, memory.incarnation, memory.nbytes))
        raise
    # Which streams have work that uses it is not known, and the driver's cuMemFree does not wait for any.
    context.to_free.append((pointer, memory.incarnation, memory.nbytes))
    context.bytes_to_free += memory.nbytes
    return 0


cdef bint _free_in_order(DeviceMemory memory, uint64_t *pointer) except -1:
    """Free the memory in its stream's order; False if the stream can't take that now. Freed, the pointer is 0."""
    cdef CaptureGuard guarded
    cdef CUstreamCaptureStatus capture = CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef CUstream cu_stream = <CUstream>memory.stream.cu_stream
    cdef CUresult status
    if not memory.context.is_incarnation(memory.incarnation):
        return True
    # Into a stream that is being captured, the free would become a node of the graph.
    check(cydriver.cuStreamIsCapturing(cu_stream, &capture), "cuStreamIsCapturing")
    if capture != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
        return False
    # An explicit stream needs no current context (measured).
    with nogil:
        begin_capture_guard(&guarded)
        status = cydriver.cuMemFreeAsync(<CUdeviceptr>pointer[0], cu_stream)
        end_capture_guard(&guarded)
    check(status, "cuMemFreeAsync")
    pointer[0] = 0
    check(<CUresult>guarded.status, "cuThreadExchangeStreamCaptureMode")
    return True


cdef tuple _shape_of(object shape):
    try:
        extents = (operator.index(shape),)
    except TypeError:
        extents = tuple([operator.index(extent) for extent in shape])
    if any(extent < 0 for extent in extents):
        raise ValueError(f"a shape has no negative extent: {extents}")
    return extents


cdef DeviceMemory allocate(PrimaryContext context, object shape, object dtype, Stream stream):
    import numpy

    cdef DeviceMemory memory = DeviceMemory.__new__(DeviceMemory)
    cdef CUdeviceptr pointer = 0
    cdef CUresult status
    cdef size_t nbytes
    cdef int entered
    extents = _shape_of(shape)
    dtype = numpy.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype} holds Python objects, which a device can't")
    nbytes_exact = dtype.itemsize
    for extent in extents:
        nbytes_exact *= extent
    if nbytes_exact >= 2**63:
        raise MemoryError(f"{extents} of {dtype} is {nbytes_exact} bytes, more than an address space holds")
    context.ensure()
    if stream is not None:
        stream.require_open()
        if stream.context is not context:
            raise ValueError(f"{stream!r} is of another device than {context.ordinal}")
    nbytes = nbytes_exact
    memory.shape, memory.dtype, memory.nbytes = extents, dtype, nbytes
    memory.context, memory.stream = context, stream
    memory.incarnation = context.incarnation
    memory.life = context.life
    if nbytes == 0:
        return memory
    if stream is None and context.bytes_to_free > BYTES_DROPPED:
        context.synchronize()
    entered = enter(context)
    try:
        status = _allocate(&pointer, nbytes, stream)
        if status == CUresult.CUDA_ERROR_OUT_OF_MEMORY and context.to_free:
            context.synchronize()
            status = _allocate(&pointer, nbytes, stream)
        check(status, "cuMemAllocAsync" if stream is not None else "cuMemAlloc")
        # From here on the object frees it, also if what follows fails.
        memory.pointer = pointer
    finally:
        leave(entered)
    return memory


cdef CUresult _allocate(CUdeviceptr *pointer, size_t nbytes, Stream stream) except? CUresult.CUDA_ERROR_NOT_FOUND:
    cdef CUstream cu_stream
    if stream is None:
        with nogil:
            return cydriver.cuMemAlloc(pointer, nbytes)
    cu_stream = <CUstream>stream.cu_stream
    with nogil:
        return cydriver.cuMemAllocAsync(pointer, nbytes, cu_stream)


cdef DeviceMemory view_of_global(LoadedModule module, str name, uint64_t pointer, size_t nbytes, object shape,
                                 object dtype):
    import numpy

    cdef DeviceMemory memory = DeviceMemory.__new__(DeviceMemory)
    memory.dtype = numpy.dtype(numpy.uint8 if dtype is None else dtype)
    if memory.dtype.hasobject:
        raise TypeError(f"dtype {memory.dtype} holds Python objects, which a device can't")
    itemsize = memory.dtype.itemsize
    if shape is None:
        shape = nbytes // itemsize if itemsize else 0
    memory.shape = _shape_of(shape)
    asked = itemsize
    for extent in memory.shape:
        asked *= extent
    if asked != nbytes:
        raise ValueError(f"variable {name!r} has {nbytes} bytes; {memory.shape} of {memory.dtype} is {asked}")
    memory.nbytes = nbytes
    memory.context = module.context
    memory.incarnation = module.incarnation
    memory.module = module
    memory.pointer = pointer
    return memory


cdef DeviceMemory copy_to_device(PrimaryContext context, object array, Stream stream):
    import numpy

    array = numpy.asarray(array)
    memory = allocate(context, array.shape, array.dtype, stream)
    memory.copy_from_host(array)
    return memory


se_cy_set_new(<PyTypeObject *>DeviceMemory, se_cy_refuse_new)
