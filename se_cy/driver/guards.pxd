# SPDX-License-Identifier: Apache-2.0
cdef struct ProcessState:
    bint initialised  # the driver was initialised by this process, or by the one it was forked from
    bint forked       # forked after that: the driver's state did not survive, no call may be made
    bint ending       # the interpreter is shutting down: destructors leave everything to the driver

cdef ProcessState process

cdef int begin_guarding() except -1
cdef int refuse() except -1

cdef inline int guard() except -1:
    if process.forked:
        return refuse()
    return 0


cdef inline bint may_release() noexcept:
    """True while a destructor may still hand something back to the driver."""
    return not (process.forked or process.ending)
