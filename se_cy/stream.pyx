# SPDX-License-Identifier: Apache-2.0
"""Stream: an ordered queue of work on one device.

Floor 3. May be shared by threads.
"""
import operator

cimport cython
from cpython.object cimport PyTypeObject
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUcontext, CUdevice, CUresult, CUstream, CUstream_flags
from libc.stdint cimport uintptr_t

from se_cy.driver.context cimport PrimaryContext, enter, leave
from se_cy.driver.guards cimport guard, may_release
from se_cy.driver.status cimport check, error_of, forget_fault
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

from se_cy.driver.status import CudaError


@cython.final
@cython.no_gc_clear
cdef class Stream:
    """An ordered queue of work. Made by `Device.create_stream`; a context manager that closes it."""

    def __dealloc__(self):
        if self.is_owned and not self.is_closed and may_release():
            try:
                _destroy(self)
            except CudaError as error:
                forget_fault(error)

    @property
    def device(self):
        """The Device it is on."""
        return self.context.device

    @property
    def handle(self):
        """The `CUstream` as an int, borrowed: whoever keeps it keeps this object."""
        self.require_open()
        return <uintptr_t>self.cu_stream

    def __cuda_stream__(self):
        """The protocol by which other packages take this stream: (version, handle)."""
        return 0, self.handle

    def synchronize(self):
        """Wait until all work queued so far is done (`cuStreamSynchronize`).

        Raises
        ------
        CudaError
            The work failed; or the stream is of a context that was reset.
        """
        cdef CUresult status
        cdef CUstream cu_stream
        cdef int entered
        self.require_open()
        cu_stream = <CUstream>self.cu_stream
        entered = enter(self.context)
        try:
            with nogil:
                status = cydriver.cuStreamSynchronize(cu_stream)
        finally:
            leave(entered)
        check(status, "cuStreamSynchronize")

    @property
    def is_done(self):
        """True if no work is pending (`cuStreamQuery`)."""
        cdef CUresult status
        cdef CUstream cu_stream
        cdef int entered
        self.require_open()
        entered = enter(self.context)
        try:
            cu_stream = <CUstream>self.cu_stream
            with nogil:
                status = cydriver.cuStreamQuery(cu_stream)
        finally:
            leave(entered)
        if status == CUresult.CUDA_ERROR_NOT_READY:
            return False
        check(status, "cuStreamQuery")
        return True

    def close(self):
        """Destroy the stream; work queued on it still runs. Closing again, or the default stream, does nothing."""
        guard()
        if self.is_owned and not self.is_closed:
            _destroy(self)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __reduce__(self):
        raise TypeError("a Stream belongs to one process and can't be pickled")

    def __repr__(self):
        state = "closed" if self.is_closed else f"{<uintptr_t>self.cu_stream:#x}" if self.is_owned else "legacy default"
        return f"<se_cy.Stream of device {self.context.ordinal}: {state}>"

    cdef int require_open(self) except -1:
        guard()
        if self.is_closed:
            raise ValueError(f"{self!r} can't be used any more")
        if self.is_owned:
            self.context.require_incarnation(self.incarnation, "the stream")
        else:
            self.context.ensure()
        return 0


cdef int _destroy(Stream stream) except -1:
    cdef CUresult status = CUresult.CUDA_SUCCESS
    cdef CUstream cu_stream = <CUstream>stream.cu_stream
    cdef bint is_alive = stream.context.is_incarnation(stream.incarnation)
    # Before the call, which lets other threads run: none may use or destroy the stream any more.
    stream.is_closed = True
    if is_alive:
        with nogil:
            status = cydriver.cuStreamDestroy(cu_stream)
    if status != CUresult.CUDA_SUCCESS:
        stream.is_closed = False
    return check(status, "cuStreamDestroy")


cdef Stream create_stream(PrimaryContext context, bint non_blocking, int priority):
    cdef Stream stream = Stream.__new__(Stream)
    cdef CUstream cu_stream = NULL
    cdef unsigned int flags = CUstream_flags.CU_STREAM_DEFAULT
    cdef CUresult status
    cdef int entered
    if non_blocking:
        flags = CUstream_flags.CU_STREAM_NON_BLOCKING
    context.ensure()
    stream.context = context
    stream.incarnation = context.incarnation
    entered = enter(context)
    try:
        with nogil:
            status = cydriver.cuStreamCreateWithPriority(&cu_stream, flags, priority)
        check(status, "cuStreamCreateWithPriority")
        # From here on the object destroys it, also if what follows fails.
        stream.cu_stream = cu_stream
        stream.is_owned = True
    finally:
        leave(entered)
    return stream


cdef Stream legacy_default_stream(PrimaryContext context):
    cdef Stream stream = Stream.__new__(Stream)
    context.ensure()
    stream.context = context
    stream.incarnation = context.incarnation
    return stream


cdef object handle_of(object stream, PrimaryContext context, uintptr_t *handle):
    """The handle of whatever a caller may give as stream; returns the object that must outlive its use, or None."""
    if type(stream) is Stream:
        # A reset that nobody has noticed yet shows in the driver's answer to what is done with the handle.
        if (<Stream>stream).is_closed or (<Stream>stream).incarnation != context.incarnation:
            (<Stream>stream).require_open()
        if (<Stream>stream).context is not context:
            raise ValueError(f"{stream!r} is of another device than device {context.ordinal}")
        handle[0] = <uintptr_t>(<Stream>stream).cu_stream
        return stream
    if isinstance(stream, int) and not isinstance(stream, bool):
        if not 0 <= stream < 2**64:
            raise ValueError(f"a stream handle is 0 to 2**64 - 1; got {stream}")
        handle[0] = stream
        _require_same_device(handle[0], stream, context)
        return None
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        raise TypeError(f"a stream is a se_cy.Stream, an int handle, or an object with __cuda_stream__; got "
                        f"{stream!r} of type {type(stream).__name__}")
    try:
        version, number = protocol()
        handle[0] = operator.index(number)
        if version != 0:
            raise ValueError(f"only version 0 is known, not {version!r}")
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"__cuda_stream__() of {stream!r} must return (version, handle): {error}") from error
    _require_same_device(handle[0], stream, context)
    return stream


cdef int _require_same_device(uintptr_t handle, object stream, PrimaryContext context) except -1:
    """An error for somebody else's stream that is not of the context's device, or not alive (`cuStreamGetCtx`)."""
    cdef CUcontext cu_context = NULL
    cdef CUcontext popped
    cdef CUdevice device = 0
    cdef CUresult status
    if handle <= LAST_DEFAULT_STREAM:
        return 0
    guard()
    status = cydriver.cuStreamGetCtx(<CUstream>handle, &cu_context)
    if status != CUresult.CUDA_SUCCESS:
        error = error_of(status, "cuStreamGetCtx")
        error.add_note(f"asked for the stream {stream!r}, handle {handle:#x}")
        raise error
    if cu_context == <CUcontext>context.cu_context:
        return 0
    # Of the same device all the same where it is of a green context, or of a context that is not primary.
    check(cydriver.cuCtxPushCurrent(cu_context), "cuCtxPushCurrent")
    status = cydriver.cuCtxGetDevice(&device)
    check(cydriver.cuCtxPopCurrent(&popped), "cuCtxPopCurrent")
    check(status, "cuCtxGetDevice")
    if <int>device != context.ordinal:
        raise ValueError(f"the stream {stream!r}, handle {handle:#x}, is of another device ({<int>device}) than device "
                         f"{context.ordinal}")
    return 0


se_cy_set_new(<PyTypeObject *>Stream, se_cy_refuse_new)
