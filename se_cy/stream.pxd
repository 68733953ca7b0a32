# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uintptr_t

from se_cy.driver.context cimport PrimaryContext, incarnation_t

# Handles that mean "the default stream of the current context": null, legacy, per thread.
cdef enum:
    LAST_DEFAULT_STREAM = 2


cdef class Stream:
    cdef PrimaryContext context
    cdef void *cu_stream
    cdef incarnation_t incarnation
    cdef bint is_owned                # False for the default stream, which nobody destroys
    cdef readonly bint is_closed

    cdef int require_open(self) except -1


cdef Stream create_stream(PrimaryContext context, bint non_blocking, int priority)
cdef Stream legacy_default_stream(PrimaryContext context)
cdef object handle_of(object stream, PrimaryContext context, uintptr_t *handle)
