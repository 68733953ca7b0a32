# SPDX-License-Identifier: Apache-2.0
"""Where the driver must not be called any more: a forked child, a process that ends.

Floor 1. The state is one C struct for the process; it is written by the fork handler, at exit, and under the GIL.
"""
import atexit

from se_cy.driver.status import ForkError

cdef extern from "<pthread.h>" nogil:
    int pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)())

cdef bint _registered = False


cdef void _in_child() noexcept nogil:
    if process.initialised:
        process.forked = True


def _at_exit():
    process.ending = True


cdef int begin_guarding() except -1:
    """Call before the driver is initialised; a fork after `process.initialised` is set leaves a marked child."""
    global _registered
    if _registered:
        return 0
    if pthread_atfork(NULL, NULL, _in_child) != 0:
        raise MemoryError("no memory for a fork handler")
    atexit.register(_at_exit)
    _registered = True
    return 0


cdef int refuse() except -1:
    raise ForkError(
        "this process was forked after its parent had initialised the CUDA driver, and the driver does not survive a "
        "fork: start child processes with multiprocessing's 'spawn' or 'forkserver' method instead"
    )
