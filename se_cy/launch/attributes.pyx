# SPDX-License-Identifier: Apache-2.0
"""Function attributes: what a kernel needs, and its limit of dynamic shared memory.

Floor 4. Stateless; the limit is the driver's, one for each function, and is only ever raised.
"""
import operator
from _thread import allocate_lock
from typing import NamedTuple

from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUfunction, CUfunction_attribute, CUresult

from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.driver.context cimport PrimaryContext, enter_raw, leave_raw
from se_cy.driver.status cimport check

cdef object _raising = allocate_lock()


class KernelAttributes(NamedTuple):
    """What the driver says of a kernel (`cuFuncGetAttribute`); all sizes in bytes.

    Attributes
    ----------
    max_threads_per_block : int
        The largest block that the kernel's registers allow.
    registers : int
        Per thread.
    shared_bytes, local_bytes, const_bytes : int
        Static shared memory per block, local memory per thread, constant memory.
    max_dynamic_shared_bytes : int
        What a launch may ask for without raising the limit, which `bind` does where the device allows it.
    ptx_version, binary_version : int
        90 for 9.0.
    """

    max_threads_per_block: int
    registers: int
    shared_bytes: int
    local_bytes: int
    const_bytes: int
    max_dynamic_shared_bytes: int
    ptx_version: int
    binary_version: int


cdef int *_numbers = [
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS,
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION,
    CUfunction_attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION,
]

cdef enum:
    ATTRIBUTES = 8


cdef object read_attributes(LoadedModule module, FunctionSlot *slot):
    cdef int values[ATTRIBUTES]
    cdef const char *call
    cdef int status
    module.begin_use(f"kernel {<object>slot.name!r}")
    try:
        with nogil:
            status = _read(module.context, <CUfunction>slot.cu_function, values, &call)
    finally:
        module.uses -= 1
    check(<CUresult>status, call)
    return KernelAttributes(*[values[i] for i in range(ATTRIBUTES)])


cdef unsigned int allow_shared_bytes(LoadedModule module, FunctionSlot *slot, object asked) except? 0xFFFFFFFF:
    """See that launches may ask for so many bytes of dynamic shared memory; returns them as a C number."""
    cdef int most = <int>module.context.limits.shared_bytes_opt_in
    cdef int static = 0  # stays so where the attributes can't be read, which raises
    cdef int limit
    cdef const char *call
    cdef int status
    try:
        nbytes = operator.index(asked)
    except TypeError:
        raise TypeError(f"shared_bytes is an int; got {asked!r} of type {type(asked).__name__}") from None
    if nbytes < 0:
        raise ValueError(f"shared_bytes is not negative; got {nbytes}")
    limit = min(nbytes, 0x7FFFFFFF)
    # Between reading and raising the limit, nobody else may raise it.
    with _raising:
        module.begin_use(f"kernel {<object>slot.name!r}")
        try:
            with nogil:
                status = _raise_limit(module.context, <CUfunction>slot.cu_function, limit, most, &static, &call)
        finally:
            module.uses -= 1
    check(<CUresult>status, call)
    if nbytes + static > most:
        raise ValueError(
            f"kernel {<object>slot.name!r}: {nbytes} bytes of dynamic and {static} bytes of static shared memory are "
            f"more than the {most} bytes a block can have on this device")
    return limit


cdef int _read(PrimaryContext context, CUfunction cu_function, int *values, const char **call) except -1 nogil:
    cdef const char *ignored
    cdef int entered
    cdef int i
    cdef int status = enter_raw(context, &entered, call)
    if status != CUresult.CUDA_SUCCESS:
        return status
    call[0] = "cuFuncGetAttribute"
    for i in range(ATTRIBUTES):
        # Under lazy loading this may load the function.
        status = cydriver.cuFuncGetAttribute(&values[i], <CUfunction_attribute>_numbers[i], cu_function)
        if status != CUresult.CUDA_SUCCESS:
            leave_raw(entered, &ignored)
            return status
    return leave_raw(entered, call)


cdef int _raise_limit(PrimaryContext context, CUfunction cu_function, int limit, int most, int *static,
                      const char **call) except -1 nogil:
    # Only ever raised: another user of the same function may need what is there.
    cdef const char *ignored
    cdef int values[ATTRIBUTES]
    cdef int entered
    cdef int status = _read(context, cu_function, values, call)
    if status != CUresult.CUDA_SUCCESS:
        return status
    static[0] = values[2]
    if limit <= values[5] or limit > most - values[2]:
        return status
    status = enter_raw(context, &entered, call)
    if status != CUresult.CUDA_SUCCESS:
        return status
    call[0] = "cuFuncSetAttribute"
    status = cydriver.cuFuncSetAttribute(
        cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit)
    if status != CUresult.CUDA_SUCCESS:
        leave_raw(entered, &ignored)
        return status
    return leave_raw(entered, call)
