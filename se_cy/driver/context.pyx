# SPDX-License-Identifier: Apache-2.0
"""The primary context of each device: retained on first use, its incarnation, and how a thread enters it.

Floor 1. One object per ordinal, made under the GIL. The caller's current context is always restored.
"""
cimport cython
from cpython.object cimport PyTypeObject
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport (
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUresult, CUstreamCaptureMode,
)

from se_cy.driver cimport library
from se_cy.driver.guards cimport guard, process, refuse
from se_cy.driver.library cimport ensure_driver
from se_cy.driver.status cimport check
from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

from se_cy.driver.status import ContextResetError, CudaError

# Contexts are not released: other packages use the same primary context, and the driver ends it with the process.
cdef dict _ordinal_to_context = {}


@cython.final
@cython.no_gc
cdef class PrimaryContext:
    """The primary context of one device. Made by `primary_context`."""

    def __cinit__(self):
        self.to_free = []

    cdef int ensure(self) except -1:
        """Retain the context, unless the one that was retained is alive."""
        guard()
        if not self.is_incarnation(self.incarnation):
            return self.refresh()
        return 0

    cdef int refresh(self) except -1:
        """Retain the context that is alive now: the first time, and after a reset by somebody else."""
        cdef CUcontext cu_context
        cdef CUresult status
        cdef incarnation_t incarnation = 0
        with nogil:
            status = cydriver.cuDevicePrimaryCtxRetain(&cu_context, <CUdevice>self.ordinal)
        check(status, "cuDevicePrimaryCtxRetain")
        status = cydriver.cuCtxGetId(cu_context, &incarnation)
        if status != CUresult.CUDA_SUCCESS:
            cydriver.cuDevicePrimaryCtxRelease(<CUdevice>self.ordinal)
            check(status, "cuCtxGetId")
        if self.cu_context != NULL and incarnation == self.incarnation:
            # Retained one time too many: the context was the same after all.
            check(cydriver.cuDevicePrimaryCtxRelease(<CUdevice>self.ordinal), "cuDevicePrimaryCtxRelease")
        self.cu_context = cu_context
        self.incarnation = incarnation
        self.life = (<life_t>self.ordinal << 48) | (incarnation + 1)
        return 0

    cdef bint is_incarnation(self, incarnation_t incarnation) except -1:
        """True while the context that had this id is alive: what was made in it may be used and released."""
        cdef incarnation_t now = 0
        cdef CUresult status
        if self.cu_context == NULL:
            return False
        status = cydriver.cuCtxGetId(<CUcontext>self.cu_context, &now)
        if status == CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED or status == CUresult.CUDA_ERROR_INVALID_CONTEXT:
            return False
        check(status, "cuCtxGetId")
        return now == incarnation

    cdef int synchronize(self) except -1:
        """Wait for all work of the context, then free what was dropped before."""
        cdef CUresult status
        cdef int entered
        self.ensure()
        # Taken first: what is dropped during the wait may be in use by work that comes after it.
        dropped, self.to_free, self.bytes_to_free = self.to_free, [], 0
        failure = None
        entered = 0
        try:
            entered = enter(self)
            with nogil:
                status = cydriver.cuCtxSynchronize()
            check(status, "cuCtxSynchronize")
            while dropped:
                address, incarnation, _ = dropped[-1]
                is_alive = self.is_incarnation(incarnation)
                # Whatever the driver answers to a free, a second one might be of somebody else's memory.
                dropped.pop()
                if is_alive:
                    try:
                        free_memory(address)
                    except CudaError as error:
                        failure = failure or error
        finally:
            self.to_free += dropped
            self.bytes_to_free += sum([nbytes for _, _, nbytes in dropped])
            leave(entered)
        if failure is not None:
            raise failure
        return 0

    cdef int require_incarnation(self, incarnation_t incarnation, str what) except -1:
        if not self.is_incarnation(incarnation):
            raise ContextResetError(
                f"{what} was made before the primary context of device {self.ordinal} was reset",
                hint="somebody else in this process reset the device; what was made before is gone: make it anew",
            )
        return 0


cdef int device_attribute(int ordinal, int attribute) except? -1:
    cdef int value = 0
    guard()
    check(cydriver.cuDeviceGetAttribute(&value, <CUdevice_attribute>attribute, <CUdevice>ordinal),
          "cuDeviceGetAttribute")
    return value


cdef PrimaryContext primary_context(int ordinal):
    """The one `PrimaryContext` of a device; the ordinal is known to be in range. Retains nothing yet."""
    cdef PrimaryContext context
    ensure_driver()
    if ordinal in _ordinal_to_context:
        return _ordinal_to_context[ordinal]
    context = PrimaryContext.__new__(PrimaryContext)
    context.ordinal = ordinal
    context.major = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    context.minor = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    limits = &context.limits
    limits.threads_per_block = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    limits.block[0] = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)
    limits.block[1] = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)
    limits.block[2] = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)
    limits.grid[0] = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)
    limits.grid[1] = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)
    limits.grid[2] = device_attribute(ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)
    limits.shared_bytes = device_attribute(
        ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)
    limits.shared_bytes_opt_in = device_attribute(
        ordinal, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    return _ordinal_to_context.setdefault(ordinal, context)


cdef int free_memory(unsigned long long address) except -1:
    cdef CaptureGuard guarded
    cdef CUresult status
    with nogil:
        begin_capture_guard(&guarded)
        status = cydriver.cuMemFree(<CUdeviceptr>address)
        end_capture_guard(&guarded)
    check(status, "cuMemFree")
    return check(<CUresult>guarded.status, "cuThreadExchangeStreamCaptureMode")


cdef int begin_capture_guard(CaptureGuard *guarded) except -1 nogil:
    cdef CUstreamCaptureMode mode = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    guarded.status = cydriver.cuThreadExchangeStreamCaptureMode(&mode)
    guarded.mode = mode
    return 0


cdef int end_capture_guard(CaptureGuard *guarded) except -1 nogil:
    cdef CUstreamCaptureMode mode = <CUstreamCaptureMode>guarded.mode
    if guarded.status == CUresult.CUDA_SUCCESS:
        guarded.status = cydriver.cuThreadExchangeStreamCaptureMode(&mode)
    return 0


cdef int enter_raw(PrimaryContext context, int *entered, const char **call) noexcept nogil:
    cdef void *current = NULL
    cdef int status
    entered[0] = 0
    call[0] = "cuCtxGetCurrent"
    status = library.get_current_context(&current)
    if status != CUresult.CUDA_SUCCESS or current == context.cu_context:
        return status
    call[0] = "cuCtxPushCurrent"
    status = library.push_context(context.cu_context)
    entered[0] = status == CUresult.CUDA_SUCCESS
    return status


cdef int leave_raw(int entered, const char **call) noexcept nogil:
    cdef void *popped
    if not entered:
        return CUresult.CUDA_SUCCESS
    call[0] = "cuCtxPopCurrent"
    return library.pop_context(&popped)


cdef int enter(PrimaryContext context) except -1 nogil:
    cdef const char *call
    cdef int entered, status
    if process.forked:
        with gil:
            refuse()
    # In two statements: C may read `call` before it calls.
    status = enter_raw(context, &entered, &call)
    check(<CUresult>status, call)
    return entered


cdef int leave(int entered) except -1 nogil:
    cdef const char *call = NULL
    cdef int status = leave_raw(entered, &call)
    return check(<CUresult>status, call)


se_cy_set_new(<PyTypeObject *>PrimaryContext, se_cy_refuse_new)
