# SPDX-License-Identifier: Apache-2.0
"""The parameters of a kernel: offsets and sizes from the driver, kinds from the declaration in PTX.

Floor 4. Read once per kernel, under the GIL; the result is never changed.
"""
from typing import NamedTuple

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUfunction, CUresult
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp

from se_cy.code.interned cimport KIND_PTX
from se_cy.code.loaded cimport FunctionSlot, LoadedModule
from se_cy.driver.context cimport PrimaryContext, enter_raw, leave_raw
from se_cy.driver.status cimport check

from se_cy.driver.status import CudaError

# Parameters of a kernel take at most this many bytes in all.
cdef enum:
    MAXIMUM_BYTES = 32764

cdef extern from "<string.h>" nogil:
    void *memmem(const void *haystack, size_t haystack_size, const void *needle, size_t needle_size)

cdef tuple _kind_names = ("unknown", "integer", "pointer", "float", "bytes")


class ParameterInfo(NamedTuple):
    """One parameter of a kernel: an item of `Kernel.parameters`.

    Attributes
    ----------
    offset, nbytes : int
        Where the driver takes it from in the parameter buffer, in bytes.
    kind : str
        "integer", "pointer", "float", "bytes" (by value: a struct, array or half), or "unknown".
    source : str
        Where the kind is known from: "ptx", or "driver" where only the size is known.
    """

    offset: int
    nbytes: int
    kind: str
    source: str


cdef tuple parameter_infos(const Parameter *layout, unsigned int count):
    return tuple([
        ParameterInfo(layout[i].offset, layout[i].nbytes, _kind_names[<int>layout[i].kind],
                      "ptx" if layout[i].is_from_ptx else "driver")
        for i in range(count)
    ])


cdef str describe_parameter(const Parameter *parameter):
    """For messages: "a 4-byte float"."""
    if parameter.kind == PARAMETER_UNKNOWN:
        return f"a {parameter.nbytes}-byte value"
    if parameter.kind == PARAMETER_BYTES:
        return f"{parameter.nbytes} bytes by value"
    if parameter.kind == PARAMETER_POINTER:
        return "a pointer"
    if parameter.kind == PARAMETER_INTEGER and parameter.nbytes == 8:
        return "a pointer or 8-byte integer"
    return f"{'an' if parameter.nbytes == 8 else 'a'} {parameter.nbytes}-byte {_kind_names[<int>parameter.kind]}"


cdef int read_layout(LoadedModule module, FunctionSlot *slot, str name) except -1:
    """Read the layout of a function's parameters into its slot, unless that is done."""
    cdef Parameter *layout = NULL
    cdef Parameter *last
    cdef const char *call
    cdef unsigned int n = 0
    cdef unsigned int i
    cdef int status
    if slot.layout != NULL:
        return 0
    module.begin_use(f"kernel {name!r}")
    try:
        with nogil:
            status = _read_sizes(module.context, <CUfunction>slot.cu_function, &layout, &n, &call)
    finally:
        module.uses -= 1
    try:
        check(<CUresult>status, call)
        for i in range(n):
            if layout[i].offset + layout[i].nbytes > MAXIMUM_BYTES:
                raise CudaError(f"the driver says that parameter {i} of kernel {name!r} is {layout[i].nbytes} bytes at "
                                f"{layout[i].offset}, and that parameters take at most {MAXIMUM_BYTES} bytes in all")
        if module.code.c_kind == KIND_PTX and n > 0:
            _add_kinds(layout, n, module.code.data, name.encode())
        for i in range(n):
            if layout[i].kind == PARAMETER_UNKNOWN and layout[i].nbytes not in (1, 2, 4, 8):
                layout[i].kind = PARAMETER_BYTES
            layout[i].takes = _takes(&layout[i])
        if slot.layout == NULL:
            slot.layout = layout
            slot.count = n
            layout = NULL
            if n:
                last = &(<Parameter *>slot.layout)[n - 1]
                slot.nbytes = (last.offset + last.nbytes + 15) & ~<unsigned int>15
        return 0
    finally:
        free(layout)


cdef int _read_sizes(PrimaryContext context, CUfunction cu_function, Parameter **layout, unsigned int *count,
                     const char **call) except -1 nogil:
    cdef const char *ignored
    cdef int entered
    cdef int status = enter_raw(context, &entered, call)
    if status == CUresult.CUDA_SUCCESS:
        status = _copy_sizes(cu_function, layout, count, call)
        if status == CUresult.CUDA_SUCCESS:
            return leave_raw(entered, call)
        leave_raw(entered, &ignored)
    return status


cdef int _copy_sizes(CUfunction cu_function, Parameter **layout, unsigned int *count,
                     const char **call) except -1 nogil:
    cdef Parameter *longer
    cdef size_t offset, nbytes
    cdef unsigned int room = 0
    cdef int status
    while True:
        if count[0] == room:
            room = 2 * room + 8
            longer = <Parameter *>realloc(layout[0], room * sizeof(Parameter))
            call[0] = "realloc"
            if longer == NULL:
                return CUresult.CUDA_ERROR_OUT_OF_MEMORY
            layout[0] = longer
        # Under lazy loading this may load the function.
        call[0] = "cuFuncGetParamInfo"
        status = cydriver.cuFuncGetParamInfo(cu_function, count[0], &offset, &nbytes)
        if status == CUresult.CUDA_ERROR_INVALID_VALUE:  # past the last
            longer = <Parameter *>realloc(layout[0], max(count[0], 1) * sizeof(Parameter))
            if longer != NULL:
                layout[0] = longer
            return CUresult.CUDA_SUCCESS
        if status != CUresult.CUDA_SUCCESS:
            return status
        longer = &layout[0][count[0]]
        longer.offset = <unsigned int>min(offset, <size_t>MAXIMUM_BYTES + 1)
        longer.nbytes = <unsigned int>min(nbytes, <size_t>MAXIMUM_BYTES + 1)
        longer.kind = PARAMETER_UNKNOWN
        longer.is_from_ptx = 0
        count[0] += 1


cdef unsigned char _takes(const Parameter *parameter) noexcept:
    cdef bint is_number = parameter.kind != PARAMETER_BYTES
    cdef bint is_integer = is_number and parameter.kind != PARAMETER_FLOAT
    cdef bint is_float = parameter.kind == PARAMETER_FLOAT or parameter.kind == PARAMETER_UNKNOWN
    if parameter.nbytes == 4:
        return (TAKES_INT32 if is_integer else 0) | (TAKES_FLOAT32 if is_float else 0)
    if parameter.nbytes == 8:
        return (TAKES_ADDRESS | TAKES_INT64 if is_integer else 0) | (TAKES_FLOAT64 if is_float else 0)
    return 0


cdef int _add_kinds(Parameter *layout, unsigned int n, bytes ptx, bytes name) except -1:
    """Fill in the kinds that the entry's declaration in the PTX gives.

    The declaration is believed only if it agrees with the driver on the number and size of the parameters.
    """
    cdef Declaration declaration
    cdef const char *text = PyBytes_AS_STRING(ptx)
    cdef const char *end = text + PyBytes_GET_SIZE(ptx)
    cdef const char *at = text
    cdef unsigned int i
    while True:
        at = _next_entry(at, end)
        if at == NULL:
            return 0
        declaration = Declaration.__new__(Declaration)
        declaration.at, declaration.end = at, end
        if not declaration.is_of(name):
            continue
        found = declaration.parameters(n)
        if (found is not None and len(found) == n
                and all([nbytes == layout[j].nbytes for j, (kind, nbytes) in enumerate(found)])):
            for i in range(n):
                layout[i].kind = found[i][0]
                layout[i].is_from_ptx = 1
            return 0


cdef const char *_next_entry(const char *at, const char *end) noexcept nogil:
    """What follows the next `.entry` outside comments and strings; NULL if there is none."""
    cdef const char *closing
    while at < end:
        if at[0] == b"." and end - at > 6 and memcmp(at, <const char *>b".entry", 6) == 0:
            return at + 6
        if at[0] == b"/" and end - at > 1 and at[1] == b"/":
            closing = <const char *>memchr(at, b"\n", end - at)
        elif at[0] == b"/" and end - at > 1 and at[1] == b"*":
            closing = <const char *>memmem(at + 2, end - at - 2, <const char *>b"*/", 2)
        elif at[0] == b'"':
            closing = <const char *>memchr(at + 1, b'"', end - at - 1)
        else:
            at += 1
            continue
        if closing == NULL:
            return NULL
        at = closing + 1
    return NULL


cdef dict _type_to_kind = {
    b"u8": (PARAMETER_INTEGER, 1), b"s8": (PARAMETER_INTEGER, 1), b"b8": (PARAMETER_INTEGER, 1),
    b"u16": (PARAMETER_INTEGER, 2), b"s16": (PARAMETER_INTEGER, 2), b"b16": (PARAMETER_BYTES, 2),
    b"u32": (PARAMETER_INTEGER, 4), b"s32": (PARAMETER_INTEGER, 4), b"b32": (PARAMETER_UNKNOWN, 4),
    b"u64": (PARAMETER_INTEGER, 8), b"s64": (PARAMETER_INTEGER, 8), b"b64": (PARAMETER_UNKNOWN, 8),
    b"f16": (PARAMETER_BYTES, 2), b"f16x2": (PARAMETER_BYTES, 4), b"bf16": (PARAMETER_BYTES, 2),
    b"f32": (PARAMETER_FLOAT, 4), b"f64": (PARAMETER_FLOAT, 8), b"b128": (PARAMETER_BYTES, 16),
}


cdef class Declaration:
    """Reads one `.entry name ( .param ..., ... )`, token by token, from just behind `.entry`."""

    cdef const char *at
    cdef const char *end

    cdef bytes token(self):
        """The next word or single sign; empty at the end."""
        cdef const char *start
        while self.at < self.end:
            if self.at[0] in b" \t\r\n":
                self.at += 1
            elif self.at[0] == b"/" and self.at + 1 < self.end and self.at[1] == b"/":
                while self.at < self.end and self.at[0] != b"\n":
                    self.at += 1
            elif self.at[0] == b"/" and self.at + 1 < self.end and self.at[1] == b"*":
                self.at = <const char *>memmem(self.at, self.end - self.at, <const char *>b"*/", 2)
                if self.at == NULL:
                    self.at = self.end
                else:
                    self.at += 2
            else:
                break
        start = self.at
        while self.at < self.end and self.at[0] not in b" \t\r\n/,()[]{};":
            self.at += 1
        if self.at == start and self.at < self.end:
            self.at += 1
        return start[:self.at - start]

    cdef bint is_of(self, bytes name):
        return self.at < self.end and self.at[0] in b" \t\r\n/" and self.token() == name

    cdef list parameters(self, unsigned int limit):
        """(kind, size) of each parameter; None if this is no declaration, or has more than `limit`."""
        cdef bytes token = self.token()
        found = []
        if token != b"(":
            return None
        token = self.token()
        while token == b".param" and len(found) < limit:
            one = self.parameter()
            if one is None:
                return None
            found.append(one)
            token = self.token()
            if token == b",":
                token = self.token()
        return found if token == b")" else None

    cdef tuple parameter(self):
        # What stands behind `.param`: [.align N] .type [.ptr [.space] [.align N]] name [ "[" N "]" ]
        cdef bytes token = self.token()
        kind = None
        nbytes = 0
        is_pointer = False
        while token.startswith(b"."):
            if token == b".align":
                self.token()
            elif token == b".ptr":
                is_pointer = True
            elif token[1:] in _type_to_kind:
                kind, nbytes = _type_to_kind[token[1:]]
            token = self.token()
        if kind is None:
            return None
        if is_pointer:
            kind = PARAMETER_POINTER
        # Only an array is followed by a bracket; a look ahead that finds none is taken back.
        at = <size_t>self.at
        if self.token() == b"[":
            extent = self.token()
            if not extent.isdigit() or self.token() != b"]":
                return None
            return PARAMETER_BYTES, nbytes * int(extent)
        self.at = <const char *><size_t>at
        return kind, nbytes
