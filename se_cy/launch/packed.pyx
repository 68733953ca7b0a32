# SPDX-License-Identifier: Apache-2.0
"""Launches without the GIL, of arguments that the caller packed: what se_cy offers to other packages' Cython.

Floor 4. Stateless; reads a BoundKernel, which is not changed once made. Nothing here looks at the arguments.

`uses` of the module is counted under the GIL, so a launch without it can't be: a pin held around the launches keeps the
module in the driver instead. Its life, whether anything pins it and whether the stream is open are read before each
call, as plain loads: they find what is wrong already, and not what another thread does at that moment without a pin.
"""
from cpython.object cimport PyObject
from cuda.bindings.cydriver cimport CUresult

from se_cy.driver.context cimport enter_raw, leave_raw
from se_cy.driver.guards cimport guard, process
from se_cy.launch.kernel cimport (
    BoundKernel, call_driver, depends_on_context, launch_failed, launch_here, launch_in_context,
)
from se_cy.launch.parameters cimport Parameter

# CU_LAUNCH_PARAM_..., which are macros: the keys of the form that takes all arguments as one block.
cdef void *PARAMETERS_END = <void *>0
cdef void *PARAMETERS_POINTER = <void *>1
cdef void *PARAMETERS_NBYTES = <void *>2


cdef int launch(BoundKernel bound, void **parameters) except -1 nogil:
    """Launch once.

    Parameters
    ----------
    bound : BoundKernel
        Its module is pinned.
    parameters : void **
        One pointer to the value of each parameter, in order; NULL where there is none. The driver copies as many bytes
        as the parameter has (`Kernel.parameters`), and nothing is checked.

    Raises
    ------
    RuntimeError
        Nothing pins the module.
    ModuleUnloadedError, ContextResetError, ValueError
        The kernel is gone, or its stream closed.
    CudaError
        The driver refused the launch, or reports the failure of earlier work.
    """
    cdef const char *call = "cuLaunchKernel"
    cdef int status = _refusal(bound)
    if status == CUresult.CUDA_SUCCESS:
        status = _launch(bound, parameters, &call)
    if status != CUresult.CUDA_SUCCESS:
        with gil:
            return _fail(bound, status, call, "")
    return 0


cdef int launch_many(BoundKernel bound, size_t count, const void *blocks, size_t stride) except -1 nogil:
    """Launch `count` times, each with the next block of arguments; stop at the first failure.

    Parameters
    ----------
    bound : BoundKernel
        Its module is pinned.
    count : size_t
    blocks : const void *
        The arguments of the first launch, each at its parameter's offset: a C struct of the parameters' types. NULL for
        a kernel without parameters. Copied by the driver before this returns.
    stride : size_t
        Bytes from one block to the next; 0 for the same arguments each time.

    Raises
    ------
    As `launch`; the message says how many were launched before.
    """
    cdef const char *call = "cuLaunchKernel"
    cdef size_t launched
    cdef int status = _launch_many(bound, count, blocks, stride, &launched, &call)
    if status != CUresult.CUDA_SUCCESS:
        with gil:
            return _fail(bound, status, call, f"\n  {launched} of {count} launches were made before")
    return 0


cdef LaunchHandle launch_handle(object bound) except *:
    """What `launch_raw` and `launch_many_raw` take for a BoundKernel, which the caller keeps alive.

    Raises
    ------
    TypeError
        It is no BoundKernel.
    ModuleUnloadedError, ContextResetError
        The kernel is gone.
    """
    cdef LaunchHandle handle
    if type(bound) is not BoundKernel:
        raise TypeError(f"a launch handle is taken of a BoundKernel; got {bound!r} of type {type(bound).__name__}")
    (<BoundKernel>bound).loaded.require_loaded(f"kernel {(<BoundKernel>bound).kernel.name!r}")
    handle.bound = <PyObject *>bound
    return handle


cdef int launch_raw(LaunchHandle handle, void **parameters) noexcept nogil:
    """`launch`, with the status as answer: that of the driver, or CUDA_ERROR_INVALID_HANDLE (400) where nothing pins
    the module, the kernel is gone or its stream closed; CUDA_ERROR_NOT_INITIALIZED (3) in a forked child."""
    cdef const char *call
    cdef int status = _refusal(<BoundKernel>handle.bound)
    if status != CUresult.CUDA_SUCCESS:
        return status
    return _launch(<BoundKernel>handle.bound, parameters, &call)


cdef int launch_many_raw(LaunchHandle handle, size_t count, const void *blocks, size_t stride,
                         size_t *launched) noexcept nogil:
    """`launch_many`, with the status as answer, as by `launch_raw`. How many were launched is left in `launched`."""
    cdef const char *call
    return _launch_many(<BoundKernel>handle.bound, count, blocks, stride, launched, &call)


cdef int check_launch(LaunchHandle handle, int status) except -1 nogil:
    """Raise what `launch` raises where it meets that status."""
    if status == CUresult.CUDA_SUCCESS:
        return 0
    with gil:
        return _fail(<BoundKernel>handle.bound, status, "cuLaunchKernel", "")


cdef inline int _refusal(BoundKernel bound) noexcept nogil:
    if process.forked:
        return CUresult.CUDA_ERROR_NOT_INITIALIZED
    # A handle of a dead incarnation may be that of another function by now: the driver would launch it.
    if bound.loaded.uses == 0 or bound.loaded.life != bound.loaded.context.life:
        return CUresult.CUDA_ERROR_INVALID_HANDLE
    if bound.stream is not None and bound.stream.is_closed:
        return CUresult.CUDA_ERROR_INVALID_HANDLE
    if bound.is_current:
        return CUresult.CUDA_ERROR_INVALID_VALUE
    return CUresult.CUDA_SUCCESS


cdef inline int _launch(BoundKernel bound, void **parameters, const char **call) noexcept nogil:
    if bound.is_plain:
        return call_driver(bound, bound.cu_stream, parameters, NULL)
    if bound.is_empty:
        return CUresult.CUDA_SUCCESS
    return launch_in_context(bound, bound.cu_stream, parameters, call)


cdef int _launch_many(BoundKernel bound, size_t count, const void *blocks, size_t stride, size_t *launched,
                      const char **call) noexcept nogil:
    cdef const char *ignored
    cdef const Parameter *last
    cdef void *extra[5]
    cdef void **packed = NULL
    cdef size_t nbytes = 0
    cdef int entered = 0
    cdef int status = _refusal(bound)
    launched[0] = 0
    if status != CUresult.CUDA_SUCCESS:
        return status
    if bound.is_empty:
        launched[0] = count
        return CUresult.CUDA_SUCCESS
    if bound.count:
        if blocks == NULL:
            return CUresult.CUDA_ERROR_INVALID_VALUE
        # Without what pads the last: a block that is longer than the parameters is refused.
        last = &bound.layout[bound.count - 1]
        nbytes = last.offset + last.nbytes
        packed = extra
    extra[0], extra[1], extra[2], extra[3], extra[4] = (
        PARAMETERS_POINTER, <void *>blocks, PARAMETERS_NBYTES, &nbytes, PARAMETERS_END)
    if depends_on_context(bound, bound.cu_stream):
        status = enter_raw(bound.loaded.context, &entered, call)
        if status != CUresult.CUDA_SUCCESS:
            return status
    while launched[0] < count:
        status = _refusal(bound)
        if status == CUresult.CUDA_SUCCESS:
            if bound.is_plain:
                status = call_driver(bound, bound.cu_stream, NULL, packed)
            else:
                status = launch_here(bound, bound.cu_stream, NULL, packed, call)
        if status != CUresult.CUDA_SUCCESS:
            leave_raw(entered, &ignored)
            return status
        launched[0] += 1
        extra[1] = <char *>extra[1] + stride
    return leave_raw(entered, call)


cdef int _fail(BoundKernel bound, int status, const char *call, str more) except -1:
    guard()
    bound.loaded.require_loaded(f"kernel {bound.kernel.name!r}")
    if bound.stream is not None:
        bound.stream.require_open()
    if status == CUresult.CUDA_ERROR_INVALID_HANDLE and bound.loaded.uses == 0:
        raise RuntimeError(f"kernel {bound.kernel.name!r} was launched without the GIL while nothing pinned its module: "
                           f"hold kernel.module.pin() around the launches{more}")
    if bound.is_current:
        raise ValueError(f"kernel {bound.kernel.name!r} was launched without the GIL on stream=\"current\", which is that "
                         f"of tensors among the arguments: bind the stream itself")
    return launch_failed(bound, bound.cu_stream, status, call, more)
