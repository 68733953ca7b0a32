# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint64_t

from se_cy.code.modules cimport LoadedModule
from se_cy.launch.parameters cimport (
    PARAMETER_BYTES, PARAMETER_FLOAT, PARAMETER_POINTER, PARAMETER_UNKNOWN, Parameter,
)
from se_cy.memory cimport DeviceMemory

cdef extern from *:
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
    PyObject *kernel_name
    PyObject *module       # the kernel's LoadedModule
    Py_ssize_t position


cdef int pack_integer(const Destination *to, PyObject *argument, char *bytes) except -1
cdef int pack_other(const Destination *to, PyObject *argument, char *bytes) except -1
cdef int refuse_argument(const Destination *to, PyObject *argument, str why=*) except -1


cdef inline int pack_argument(const Destination *to, PyObject *argument, char *bytes) except -1:
    """Write one argument's bytes, after checking that they fit the parameter."""
    cdef const Parameter *parameter = to.parameter
    cdef DeviceMemory memory
    cdef int overflow
    cdef long long integer
    cdef double number
    if Py_TYPE(argument) == <PyTypeObject *>DeviceMemory:
        memory = <DeviceMemory><object>argument
        if (parameter.nbytes != 8 or parameter.kind == PARAMETER_FLOAT or parameter.kind == PARAMETER_BYTES
                or memory.is_closed or memory.context is not (<LoadedModule><object>to.module).context
                or (memory.incarnation != (<LoadedModule><object>to.module).incarnation and memory.pointer != 0)):
            return refuse_argument(to, argument)
        (<uint64_t *>bytes)[0] = memory.pointer
        return 0
    if PyFloat_CheckExact(argument):
        number = PyFloat_AS_DOUBLE(argument)
        if parameter.kind == PARAMETER_FLOAT or parameter.kind == PARAMETER_UNKNOWN:
            if parameter.nbytes == 4:
                (<float *>bytes)[0] = <float>number
                if not isinf((<float *>bytes)[0]) or isinf(number):
                    return 0
            elif parameter.nbytes == 8:
                (<double *>bytes)[0] = number
                return 0
        return refuse_argument(to, argument)
    if PyLong_CheckExact(argument):
        if parameter.nbytes == 4 and parameter.kind != PARAMETER_FLOAT and parameter.kind != PARAMETER_BYTES:
            integer = PyLong_AsLongLongAndOverflow(argument, &overflow)
            if not overflow and -2147483648 <= integer <= 4294967295:
                (<int *>bytes)[0] = <int>integer
                return 0
        return pack_integer(to, argument, bytes)
    return pack_other(to, argument, bytes)
