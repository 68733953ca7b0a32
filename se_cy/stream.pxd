# SPDX-License-Identifier: Apache-2.0
from se_cy.driver.context cimport PrimaryContext, incarnation_t


cdef class Stream:
    cdef PrimaryContext context
    cdef void *cu_stream
    cdef incarnation_t incarnation
    cdef bint is_owned                # False for the default stream, which nobody destroys
    cdef readonly bint is_closed

    cdef int require_open(self) except -1


cdef Stream create_stream(PrimaryContext context, bint non_blocking, int priority)
cdef Stream legacy_default_stream(PrimaryContext context)
