# SPDX-License-Identifier: Apache-2.0
cdef struct Target:
    short major
    short minor
    char suffix   # 'a', 'f' or 0
    char kind     # of the piece: KIND_PTX or KIND_CUBIN

cdef enum:
    KIND_PTX
    KIND_CUBIN
    KIND_FATBIN


cdef class Code:
    cdef bytes data               # what the driver reads: NUL-terminated, as every bytes object is
    cdef char c_kind
    cdef signed char entry        # whether there is a kernel in the PTX: 1, -1 if not, 0 if not looked for yet
    cdef readonly unsigned long long id
    cdef Target *c_targets        # owned
    cdef Py_ssize_t target_count


cdef Code intern_code(object data, str kind)
cdef bint has_entry(Code code) noexcept
