# SPDX-License-Identifier: Apache-2.0
"""Arguments: one Python value to the bytes that one parameter takes, or an error that says why not.

Floor 4. Stateless; writes to the caller's stack and to nothing else. The common cases are inline in the .pxd.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from se_cy.launch.parameters cimport (
    PARAMETER_BYTES, PARAMETER_FLOAT, PARAMETER_UNKNOWN, describe_parameter,
)

cdef extern from *:
    unsigned long long PyLong_AsUnsignedLongLong(object) except? 0xFFFFFFFFFFFFFFFF


cdef int pack_integer(const Destination *to, PyObject *argument, char *bytes) except -1:
    """An int (or a subclass) for an integer, pointer or float parameter."""
    return _pack_integer(to, argument, <object>argument, bytes)


cdef int _pack_integer(const Destination *to, PyObject *argument, object value, char *bytes) except -1:
    # `argument` is what the caller gave, `value` the int it stands for.
    cdef const Parameter *parameter = to.parameter
    cdef int overflow
    cdef long long integer
    cdef uint64_t bits
    if parameter.takes & TAKES_INT64:
        integer = PyLong_AsLongLongAndOverflow(<PyObject *>value, &overflow)
        if not overflow and (integer >= 0 or parameter.kind != PARAMETER_POINTER):
            (<int64_t *>bytes)[0] = integer
            return 0
    if parameter.kind == PARAMETER_BYTES or parameter.nbytes not in (1, 2, 4, 8):
        return refuse_argument(to, argument)
    if parameter.kind == PARAMETER_FLOAT:
        try:
            return _pack_float(to, argument, float(value), bytes)
        except OverflowError:
            raise OverflowError(f"{_given(to, argument)} is out of range for {describe_parameter(parameter)}") from None
    width = 8 * parameter.nbytes
    lowest = 0 if parameter.kind == PARAMETER_POINTER else -(1 << (width - 1))
    if not lowest <= value < (1 << width):
        raise OverflowError(f"{_given(to, argument)} is out of range for {describe_parameter(parameter)}, which takes "
                            f"{lowest} to {(1 << width) - 1}")
    bits = value & 0xFFFFFFFFFFFFFFFF
    memcpy(bytes, &bits, parameter.nbytes)  # little-endian: the low bytes come first
    return 0


cdef int _pack_float(const Destination *to, PyObject *argument, double number, char *bytes) except -1:
    if to.parameter.nbytes == 8:
        (<double *>bytes)[0] = number
        return 0
    (<float *>bytes)[0] = <float>number
    if isinf((<float *>bytes)[0]) and not isinf(number):
        raise OverflowError(f"{_given(to, argument)} is out of range for {describe_parameter(to.parameter)}")
    return 0


cdef int pack_other(const Destination *to, PyObject *argument, char *bytes) except -1:
    """Everything but exact ints, exact floats and memory of ours."""
    cdef const Parameter *parameter = to.parameter
    cdef object value = <object>argument
    cdef Py_buffer view
    if value is None:
        if parameter.nbytes != 8 or parameter.kind == PARAMETER_FLOAT or parameter.kind == PARAMETER_BYTES:
            return refuse_argument(to, argument)
        (<uint64_t *>bytes)[0] = 0
        return 0
    if PyObject_CheckBuffer(value):
        if hasattr(type(value), "__array_interface__") and getattr(value, "ndim", 0):
            return refuse_argument(to, argument, "is an array in host memory: copy it to the device first "
                                                 "(Device.to_device)")
        try:
            PyObject_GetBuffer(value, &view, PyBUF_ND | PyBUF_FORMAT)
        except Exception as error:
            return refuse_argument(to, argument, f"gives no contiguous buffer ({error})")
        try:
            return _pack_buffer(to, argument, &view, bytes)
        finally:
            PyBuffer_Release(&view)
    if isinstance(value, int):
        return pack_integer(to, argument, bytes)
    if isinstance(value, float) and parameter.kind != PARAMETER_BYTES:
        plain = float.__float__(value)
        return pack_argument(to, <PyObject *>plain, bytes)
    return refuse_argument(to, argument)


cdef int _pack_buffer(const Destination *to, PyObject *argument, Py_buffer *view, char *bytes) except -1:
    """A NumPy or ctypes scalar by value; other buffers only where the parameter is bytes, and of just that size."""
    cdef const Parameter *parameter = to.parameter
    cdef object value = <object>argument
    cdef str form = view.format.decode("ascii").lstrip("@=<") if view.format != NULL else "B"
    is_integer = view.ndim == 0 and form in tuple("?bBhHiIlLqQnN")
    is_float = view.ndim == 0 and form in tuple("efd")
    if parameter.kind == PARAMETER_BYTES or not (is_integer or is_float):
        if parameter.kind != PARAMETER_BYTES or view.len != parameter.nbytes:
            return refuse_argument(to, argument, f"has {view.len} bytes")
        memcpy(bytes, view.buf, parameter.nbytes)
        return 0
    if parameter.kind == PARAMETER_UNKNOWN:
        # Nothing but the width is known of the parameter, so a value of another width can't be converted to it.
        if view.len != parameter.nbytes:
            return refuse_argument(to, argument, f"has {view.len} bytes")
        memcpy(bytes, view.buf, parameter.nbytes)
        return 0
    value = getattr(value, "value", value)  # ctypes
    if is_integer:
        return _pack_integer(to, argument, int(value), bytes)
    if parameter.kind != PARAMETER_FLOAT:
        return refuse_argument(to, argument)
    return _pack_float(to, argument, float(value), bytes)


cdef int pack_global(const Destination *to, PyObject *argument, char *bytes) except -1:
    """A global variable of a module that is still loaded; else the reason why the memory does not fit."""
    cdef DeviceMemory memory = <DeviceMemory>argument
    if memory.module is None or memory.is_closed or not to.parameter.takes & TAKES_ADDRESS:
        return refuse_argument(to, argument)
    if memory.module.life != to.life:
        return refuse_argument(to, argument)
    (<uint64_t *>bytes)[0] = memory.pointer
    return 0


cdef str _given(const Destination *to, PyObject *argument):
    cdef object value = <object>argument
    try:
        given = repr(value)
    except Exception:
        given = object.__repr__(value)
    if len(given) > 60:
        given = given[:57] + "..."
    return f"kernel {<object>to.slot.name!r}, argument {to.parameter - to.layout}: {given} of type {type(value).__name__}"


cdef int refuse_argument(const Destination *to, PyObject *argument, str why=None) except -1:
    """Raise what says why the argument can't be passed."""
    cdef object value = <object>argument
    cdef DeviceMemory memory
    cdef str parameter = describe_parameter(to.parameter)
    if isinstance(value, DeviceMemory) and to.parameter.nbytes == 8 and to.parameter.kind not in (
            PARAMETER_FLOAT, PARAMETER_BYTES):
        memory = value
        (<LoadedModule><object>to.module).require_loaded(f"kernel {<object>to.slot.name!r}")
        if memory.is_closed:
            raise ValueError(f"{_given(to, argument)} is closed")
        if memory.context is not (<LoadedModule><object>to.module).context:
            raise ValueError(f"{_given(to, argument)} is on device {memory.context.ordinal}, and the kernel on device "
                             f"{(<LoadedModule><object>to.module).context.ordinal}")
        memory.require_open()
    if type(value) is float and to.parameter.nbytes == 4 and to.parameter.kind in (PARAMETER_FLOAT, PARAMETER_UNKNOWN):
        raise OverflowError(f"{_given(to, argument)} is out of range for {parameter}")
    raise TypeError(f"{_given(to, argument)} does not fit {parameter}" + (f": it {why}" if why else ""))
