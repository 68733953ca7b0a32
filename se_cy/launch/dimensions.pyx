# SPDX-License-Identifier: Apache-2.0
"""Grid and block: what a caller may write, and what the device can do.

Floor 4. Stateless.
"""
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact

from se_cy.launch.arguments cimport se_cy_small_int

import operator


cdef int read_dimensions(object value, unsigned int *dimensions, const unsigned int *limits, str what) except -1:
    """Fill three dimensions from an int or a sequence of one to three; the missing ones are 1.

    `what` is "grid" or "block". Zero is passed on: what it means differs.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t count
    dimensions[1] = dimensions[2] = 1
    cdef long long n
    if PyLong_CheckExact(value):
        if se_cy_small_int(<PyObject *>value, &n) and 0 <= n <= limits[0]:
            dimensions[0] = <unsigned int>n
            return 0
        return _read(value, 0, dimensions, limits, what)
    if not PyTuple_CheckExact(value):
        value = _sequence_of(value, what)
    count = len(value)
    if count == 0 or count > 3:
        raise ValueError(f"{what} has one to three dimensions; got {count}: {value!r}")
    for i in range(count):
        _read((<tuple>value)[i], i, dimensions, limits, what)
    return 0


cdef int _read(object value, Py_ssize_t i, unsigned int *dimensions, const unsigned int *limits, str what) except -1:
    cdef long long n
    if not PyLong_CheckExact(value):
        value = _index(value, what)
    if se_cy_small_int(<PyObject *>value, &n) and 0 <= n <= limits[i]:
        dimensions[i] = <unsigned int>n
        return 0
    if not 0 <= value <= limits[i]:
        lowest = 1 if what == "block" else 0
        raise ValueError(f"{what}.{'xyz'[i]} is {lowest} to {limits[i]} on this device; got {value}")
    n = value
    dimensions[i] = <unsigned int>n
    return 0


cdef object _index(object value, str what):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is made of ints; got {value!r} of type {type(value).__name__}") from None


cdef tuple _sequence_of(object value, str what):
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what} is an int or a sequence of one to three ints; got {value!r}")
    try:
        return (operator.index(value),)
    except TypeError:
        pass
    try:
        return tuple(value)
    except TypeError:
        raise TypeError(
            f"{what} is an int or a sequence of one to three ints; got {value!r} of type {type(value).__name__}"
        ) from None
