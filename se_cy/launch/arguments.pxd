# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint64_t

from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.driver.context cimport life_t
from se_cy.launch.parameters cimport (
    PARAMETER_POINTER, TAKES_ADDRESS, TAKES_FLOAT32, TAKES_FLOAT64, TAKES_INT32, TAKES_INT64, Parameter,
)
from se_cy.memory cimport DeviceMemory

cdef extern from *:
    """
    /* The value of an int of one digit, which most are; false for the others. */
    static inline int se_cy_small_int(PyObject *number, long long *value) {
    #if PY_VERSION_HEX >= 0x030C0000
        if (!PyUnstable_Long_IsCompact((PyLongObject *)number))
            return 0;
        *value = PyUnstable_Long_CompactValue((PyLongObject *)number);
        return 1;
    #else
        Py_ssize_t digits = Py_SIZE(number);
        if (digits < -1 || digits > 1)
            return 0;
        *value = digits * (long long)((PyLongObject *)number)->ob_digit[0];
        return 1;
    #endif
    }
    """
    bint se_cy_small_int(PyObject *number, long long *value) noexcept
    bint PyLong_CheckExact(PyObject *)
    bint PyFloat_CheckExact(PyObject *)
    double PyFloat_AS_DOUBLE(PyObject *)
    long long PyLong_AsLongLongAndOverflow(PyObject *, int *overflow) except? -1
    PyTypeObject *Py_TYPE(PyObject *)

cdef extern from "<math.h>" nogil:
    bint isinf(double)


# What an argument is packed for; borrowed, for the length of one call.
cdef struct Destination:
    const Parameter *parameter
    const Parameter *layout   # of the kernel's first parameter
    const FunctionSlot *slot  # of the kernel; read for messages only
    PyObject *module          # the kernel's LoadedModule
    life_t life               # of that module


cdef int pack_integer(const Destination *to, PyObject *argument, char *bytes) except -1
cdef int pack_other(const Destination *to, PyObject *argument, char *bytes) except -1
cdef int pack_global(const Destination *to, PyObject *argument, char *bytes) except -1
cdef int refuse_argument(const Destination *to, PyObject *argument, str why=*) except -1


cdef inline int pack_argument(const Destination *to, PyObject *argument, char *bytes) except -1:
    """Write one argument's bytes, after checking that they fit the parameter."""
    cdef unsigned char takes = to.parameter.takes
    cdef long long integer
    cdef double number
    if Py_TYPE(argument) == <PyTypeObject *>DeviceMemory:
        if takes & TAKES_ADDRESS and (<DeviceMemory>argument).life == to.life:
            (<uint64_t *>bytes)[0] = (<DeviceMemory>argument).pointer
            return 0
        return pack_global(to, argument, bytes)
    if PyFloat_CheckExact(argument):
        number = PyFloat_AS_DOUBLE(argument)
        if takes & TAKES_FLOAT32:
            (<float *>bytes)[0] = <float>number
            if not isinf((<float *>bytes)[0]) or isinf(number):
                return 0
        elif takes & TAKES_FLOAT64:
            (<double *>bytes)[0] = number
            return 0
        return refuse_argument(to, argument)
    if PyLong_CheckExact(argument):
        if takes & TAKES_INT32 and se_cy_small_int(argument, &integer):
            # A digit has 30 bits, so it fits whatever the signedness.
            (<int *>bytes)[0] = <int>integer
            return 0
        return pack_integer(to, argument, bytes)
    return pack_other(to, argument, bytes)
