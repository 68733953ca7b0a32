# SPDX-License-Identifier: Apache-2.0
"""Function attributes: what a kernel needs, and its limit of dynamic shared memory.

Floor 4. Stateless; the limit is the driver's, one for each function, and is only ever raised.
"""
import operator
from _thread import allocate_lock
from typing import NamedTuple

from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUfunction, CUfunction_attribute, CUresult

from se_cy.driver.context cimport PrimaryContext, enter, leave
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


cdef int _attribute(void *cu_function, int attribute) except? -1:
    cdef int value = 0
    cdef CUresult status
    # Under lazy loading this may load the function.
    with nogil:
        status = cydriver.cuFuncGetAttribute(&value, <CUfunction_attribute>attribute, <CUfunction>cu_function)
    check(status, "cuFuncGetAttribute")
    return value


cdef object read_attributes(void *cu_function, PrimaryContext context):
    cdef int entered = enter(context)
    try:
        return KernelAttributes(
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS),
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION),
            _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        )
    finally:
        leave(entered)


cdef unsigned int allow_shared_bytes(void *cu_function, PrimaryContext context, str name,
                                     object asked) except? 0xFFFFFFFF:
    """See that launches may ask for so many bytes of dynamic shared memory; returns them as a C number."""
    cdef int entered
    nbytes = operator.index(asked)
    if nbytes < 0:
        raise ValueError(f"shared_bytes is not negative; got {nbytes}")
    # Between reading and raising the limit, nobody else may raise it.
    with _raising:
        entered = enter(context)
        try:
            _raise_limit(cu_function, context, name, nbytes)
        finally:
            leave(entered)
    return nbytes


cdef int _raise_limit(void *cu_function, PrimaryContext context, str name, object nbytes) except -1:
    cdef CUresult status
    cdef int limit
    if nbytes <= _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES):
        return 0
    static = _attribute(cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    if nbytes + static > context.limits.shared_bytes_opt_in:
        raise ValueError(
            f"kernel {name!r}: {nbytes} bytes of dynamic and {static} bytes of static shared memory are more than the "
            f"{context.limits.shared_bytes_opt_in} bytes a block can have on this device")
    limit = nbytes
    # Only ever raised: another user of the same function may need what is there.
    with nogil:
        status = cydriver.cuFuncSetAttribute(
            <CUfunction>cu_function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit)
    return check(status, "cuFuncSetAttribute")
