# SPDX-License-Identifier: Apache-2.0
"""The error edge: every status of a driver call becomes a Python exception here.

Floor 1. `check` runs without the GIL and takes it only to raise. Exceptions are picklable: all state is in `__dict__`.
"""
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUresult

cdef extern from *:
    """
    #include <dlfcn.h>

    /* What the emulated driver says of a failed call of this thread; "" where another driver is in use. */
    static const char *se_cy_explanation(const char *call, int status) {
        typedef const char *(*explain_t)(const char *, int);
        explain_t explain = (explain_t)dlsym(RTLD_DEFAULT, "se_cy_emulator_explanation_of");
        return explain != NULL ? explain(call, status) : "";
    }
    """
    const char *se_cy_explanation(const char *call, int status) nogil


class CudaError(RuntimeError):
    """A driver call failed, or could not be made.

    Attributes
    ----------
    status : int or None
        The driver's `CUresult`; None where no driver call was made.
    name : str or None
        The driver's name for the status, such as "CUDA_ERROR_INVALID_VALUE".
    call : str or None
        The driver function that answered.
    hint : str or None
        What usually causes it and what to do.
    """

    def __init__(self, message="", *, status=None, name=None, call=None, hint=None):
        super().__init__(message)
        self.status = status
        self.name = name
        self.call = call
        self.hint = hint

    def __str__(self):
        text = super().__str__()
        return f"{text}\n  {self.hint}" if self.hint else text


class DriverNotFoundError(CudaError):
    """No CUDA driver library that se_cy can use: none on this machine, or one that is too old."""


class OutOfMemoryError(CudaError, MemoryError):
    """The device (or pinned host memory) has no room for what was asked."""


class InvalidValueError(CudaError, ValueError):
    """The driver refused a value, or a launch that does not fit the device."""


class NoVariantError(CudaError, LookupError):
    """A `KernelLoaderSpec` has no code that runs on the device."""


class KernelNotFoundError(CudaError, LookupError):
    """The module has no kernel of that name.

    Attributes
    ----------
    available : tuple of str
        The kernels that the module has.
    """

    available = ()


class GlobalNotFoundError(CudaError, LookupError):
    """The module has no global variable of that name."""


class JitError(CudaError, ValueError):
    """The driver could not load or compile a piece of code.

    Attributes
    ----------
    log : str
        The driver's error log, empty where it wrote none.
    """

    log = ""


class ModuleUnloadedError(CudaError):
    """The kernel's module has been unloaded."""


class ContextResetError(CudaError):
    """The device's primary context was reset by somebody else after the object was made."""


class ContextLostError(CudaError):
    """A device-side fault has made the context useless; only a new process helps."""


class ForkError(CudaError):
    """The process was forked after the driver was initialised."""


cdef dict _status_to_class = {
    <int>CUresult.CUDA_ERROR_OUT_OF_MEMORY: OutOfMemoryError,
    <int>CUresult.CUDA_ERROR_INVALID_VALUE: InvalidValueError,
    <int>CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: InvalidValueError,
    <int>CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: InvalidValueError,
    <int>CUresult.CUDA_ERROR_INVALID_IMAGE: JitError,
    <int>CUresult.CUDA_ERROR_INVALID_PTX: JitError,
    <int>CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION: JitError,
    <int>CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU: JitError,
    <int>CUresult.CUDA_ERROR_JIT_COMPILER_NOT_FOUND: JitError,
    <int>CUresult.CUDA_ERROR_JIT_COMPILATION_DISABLED: JitError,
    <int>CUresult.CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND: JitError,
}

cdef dict _status_to_hint = {
    <int>CUresult.CUDA_ERROR_NO_DEVICE:
        "the driver sees no GPU: check CUDA_VISIBLE_DEVICES, container flags and nvidia-smi",
    <int>CUresult.CUDA_ERROR_NOT_INITIALIZED:
        "the driver answers so in a process that was forked after its parent had used CUDA: start child processes with "
        "multiprocessing's 'spawn' or 'forkserver' method instead",
    <int>CUresult.CUDA_ERROR_NOT_SUPPORTED:
        "the device or driver can't do this; on the emulated driver, se_cy.emulator.last_fault() says which "
        "instruction of a kernel it does not know",
    <int>CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        "the driver library and the kernel module are of different versions: in a container, the image's "
        "compatibility library may hide the host's",
    <int>CUresult.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        "a CUDA compatibility library was loaded on a GPU that does not support it",
    <int>CUresult.CUDA_ERROR_SYSTEM_NOT_READY:
        "the system is not ready, which can pass: a fabric service may still be starting",
    <int>CUresult.CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
        "the driver's PTX compiler library is missing (a part of the driver, not of the toolkit): mount or install it, "
        "or offer a cubin",
}

# Faults of device code. The context answers them to every later call until the process ends.
cdef frozenset _faults = frozenset((
    <int>CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
    <int>CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
    <int>CUresult.CUDA_ERROR_ASSERT,
    <int>CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
    <int>CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
    <int>CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
    <int>CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
    <int>CUresult.CUDA_ERROR_INVALID_PC,
    <int>CUresult.CUDA_ERROR_LAUNCH_FAILED,
))

# The first fault of this process, as text: what later errors refer to.
cdef str _first_fault = None


cdef str status_name(CUresult status):
    cdef const char *name = NULL
    cydriver.cuGetErrorName(status, &name)
    return name.decode("ascii", "replace") if name != NULL else f"CUresult {<int>status}"


cdef str status_text(CUresult status):
    cdef const char *text = NULL
    cydriver.cuGetErrorString(status, &text)
    return text.decode("utf-8", "replace") if text != NULL else "not a status this driver knows"


cdef object error_of(CUresult status, str call, str what=None):
    """The exception for `status`, not raised. `what` replaces the driver's own words, where more is known."""
    global _first_fault
    # Asked before anything else calls the driver.
    cdef str explanation = se_cy_explanation(call.encode(), <int>status).decode("utf-8", "replace")
    cdef str name = status_name(status)
    cdef str message = f"{call} answered {name} ({<int>status}): {what or status_text(status)}"
    if explanation:
        message = f"{message}; {explanation}"
    if <int>status in _faults:
        if _first_fault is not None:
            return ContextLostError(
                f"{message}; the context is lost since an earlier fault: {_first_fault}",
                status=<int>status, name=name, call=call,
                hint="nothing but a new process helps: a reset of the device does not",
            )
        _first_fault = message
        return CudaError(
            message, status=<int>status, name=name, call=call,
            hint="device code faulted; launches are asynchronous, so the fault is of this call or of earlier work. "
                 "The process must be restarted before the device can be used again",
        )
    return _status_to_class.get(<int>status, CudaError)(
        message, status=<int>status, name=name, call=call, hint=_status_to_hint.get(<int>status),
    )


cdef int forget_fault(object error) except -1:
    """Take back what `error_of` kept of this error: nobody will see it, so a later one is the first that anybody sees."""
    global _first_fault
    if error.args[0] is _first_fault:
        _first_fault = None
    return 0


def forget_faults():
    """Forget the first fault: for `se_cy.emulator.reset`, after which a device that faulted works again."""
    global _first_fault
    _first_fault = None


cdef int fail(CUresult status, const char *call) except -1 nogil:
    with gil:
        raise error_of(status, call.decode("ascii"))
