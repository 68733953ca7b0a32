# SPDX-License-Identifier: Apache-2.0
from cuda.bindings.cydriver cimport CUresult

cdef object error_of(CUresult status, str call, str what=*)
cdef int forget_fault(object error) except -1
cdef int fail(CUresult status, const char *call) except -1 nogil

cdef inline int check(CUresult status, const char *call) except -1 nogil:
    """Raise the `CudaError` of a driver call's status; `call` is the driver function's name."""
    if status == CUresult.CUDA_SUCCESS:
        return 0
    return fail(status, call)
