# SPDX-License-Identifier: Apache-2.0
from se_cy.code.loaded cimport FunctionSlot, LoadedModule


cdef enum ParameterKind:
    PARAMETER_UNKNOWN    # only the size is known
    PARAMETER_INTEGER    # either signedness; of 8 bytes it may be a pointer
    PARAMETER_POINTER
    PARAMETER_FLOAT
    PARAMETER_BYTES      # a struct, an array, a half


# What is packed without a second look.
cdef enum:
    TAKES_ADDRESS = 1
    TAKES_INT32 = 2
    TAKES_INT64 = 4
    TAKES_FLOAT32 = 8
    TAKES_FLOAT64 = 16


cdef struct Parameter:   # 12 bytes
    unsigned int offset
    unsigned int nbytes
    unsigned char kind
    unsigned char is_from_ptx
    unsigned char takes


cdef int read_layout(LoadedModule module, FunctionSlot *slot, str name) except -1
cdef str describe_parameter(const Parameter *parameter)
cdef tuple parameter_infos(const Parameter *layout, unsigned int count)
