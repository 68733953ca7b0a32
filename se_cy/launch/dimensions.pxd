# SPDX-License-Identifier: Apache-2.0
cdef int read_dimensions(object value, unsigned int *dimensions, const unsigned int *limits, str what) except -1
