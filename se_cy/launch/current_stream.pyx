# SPDX-License-Identifier: Apache-2.0
"""The current stream of the package that tensor arguments are of: what ``stream="current"`` means.

Floor 4. A type is looked at once; the stream is asked for at each launch. No package is imported here.
"""
import sys

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, uint32_t, uintptr_t

cdef extern from *:
    PyTypeObject *Py_TYPE(PyObject *)

# The C exchange table of DLPack 1.3, `__dlpack_c_exchange_api__` of a tensor's type, as far as it is used here.
ctypedef int (*current_work_stream_t)(int32_t device_type, int32_t device, void **cu_stream) except -1

cdef struct ExchangeHeader:
    uint32_t major
    uint32_t minor
    ExchangeHeader *previous  # the table of an older major version

cdef struct ExchangeTable:
    ExchangeHeader header
    void *conversions[4]      # of tensors, from Python objects and to them
    current_work_stream_t current_work_stream  # NULL where the package has no streams

cdef enum:
    EXCHANGE_MAJOR = 1
    CUDA_DEVICE_TYPE = 2  # kDLCUDA
    LEGACY_STREAM = 1     # CU_STREAM_LEGACY: the same stream as 0


@cython.final
cdef class Framework:
    """A package with a current stream, and how it is asked: through its table, or by a call in Python."""

    cdef str name
    cdef current_work_stream_t current_work_stream
    cdef object handle_on  # ordinal to handle; used where there is no table

    cdef void *current(self, int ordinal) except? NULL:
        cdef void *cu_stream = NULL
        if self.current_work_stream == NULL:
            return <void *><uintptr_t>self.handle_on(ordinal)
        self.current_work_stream(CUDA_DEVICE_TYPE, ordinal, &cu_stream)
        return cu_stream

    cdef bint is_same(self, Framework other):
        return self.current_work_stream == other.current_work_stream and self.handle_on is other.handle_on


def _torch_stream(ordinal):
    return sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream


def _cupy_stream(ordinal):
    return sys.modules["cupy"].cuda.get_current_stream(ordinal).ptr


cdef dict _package_to_call = {"torch": _torch_stream, "cupy": _cupy_stream}
# Of types that have a framework; a program has few.
cdef dict _type_to_framework = {}


cdef Framework _framework_of(PyObject *argument):
    cdef object kind = <object><PyObject *>Py_TYPE(argument)
    cdef Framework framework
    if kind is int or kind is float:
        return None
    known = _type_to_framework.get(kind)
    if known is not None:
        return known
    framework = _look_up(kind)
    if framework is not None:
        _type_to_framework[kind] = framework
    return framework


cdef Framework _look_up(object kind):
    cdef Framework framework = Framework.__new__(Framework)
    cdef ExchangeHeader *header
    packages = [str(base.__module__).partition(".")[0] for base in kind.__mro__]
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    if capsule is not None:
        header = <ExchangeHeader *>PyCapsule_GetPointer(capsule, b"dlpack_exchange_api")
        while header != NULL and header.major != EXCHANGE_MAJOR:
            header = header.previous
        if header != NULL and (<ExchangeTable *>header).current_work_stream != NULL:
            framework.name = packages[0]
            framework.current_work_stream = (<ExchangeTable *>header).current_work_stream
            return framework
    for package in packages:
        if package in _package_to_call and package in sys.modules:
            framework.name = package
            framework.handle_on = _package_to_call[package]
            return framework
    return None


cdef int current_stream(PyObject *const *args, Py_ssize_t count, const FunctionSlot *slot, int ordinal,
                        void **cu_stream) except -1:
    cdef Framework only = None
    cdef Framework framework
    cdef Py_ssize_t i
    for i in range(count):
        framework = _framework_of(args[i])
        if framework is None or framework is only:
            continue
        if only is not None and not only.is_same(framework):
            raise ValueError(f"kernel {<object>slot.name!r}: stream=\"current\" is not clear: there are arguments of "
                             f"{only.name} and of {framework.name}; pass the stream itself")
        only = framework
    if only is None:
        raise ValueError(f"kernel {<object>slot.name!r}: stream=\"current\" is the current stream of the package that a "
                         f"tensor argument is of, and no argument is of a package that has one")
    cu_stream[0] = only.current(ordinal)
    return 0


cdef int require_current(PyObject *const *args, Py_ssize_t count, const FunctionSlot *slot, int ordinal,
                         void *cu_stream) except -1:
    cdef Framework framework
    cdef uintptr_t current
    cdef uintptr_t given = <uintptr_t>cu_stream or LEGACY_STREAM
    cdef Py_ssize_t i
    for i in range(count):
        framework = _framework_of(args[i])
        if framework is None:
            continue
        current = <uintptr_t>framework.current(ordinal) or LEGACY_STREAM
        if current != given:
            raise ValueError(
                f"kernel {<object>slot.name!r}, argument {i}: {framework.name} has stream {current:#x} current on device "
                f"{ordinal}, and the launch is on stream {given:#x}: nothing orders the two (SE_CY_DEBUG=1 asks for this "
                f"check; stream=\"current\" launches on the former)")
    return 0
