# SPDX-License-Identifier: Apache-2.0
"""Loops of launches without the GIL, as another package's Cython has them: a saxpy of five arguments."""
from libc.stdint cimport uint64_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from se_cy cimport BoundKernel, LaunchHandle, check_launch, launch, launch_handle, launch_many, launch_raw


cdef struct Arguments:
    float a
    uint64_t x
    uint64_t y
    uint64_t out
    int n


cdef double elapsed(timespec start) noexcept nogil:
    cdef timespec end
    clock_gettime(CLOCK_MONOTONIC, &end)
    return (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)


cdef class Loops:
    """Each method launches `count` times and returns nanoseconds of one launch; the module is pinned meanwhile."""
    cdef BoundKernel bound
    cdef Arguments arguments
    cdef object pin

    def __init__(self, bound, float a, uint64_t x, uint64_t y, uint64_t out, int n):
        self.bound = bound
        self.arguments = Arguments(a, x, y, out, n)
        self.pin = bound.kernel.module.pin()

    def close(self):
        self.pin.close()

    def launch(self, size_t count):
        cdef timespec start
        cdef double nanoseconds
        cdef size_t i
        cdef Arguments *values = &self.arguments
        cdef void **pointers = [&values.a, &values.x, &values.y, &values.out, &values.n]
        with nogil:
            clock_gettime(CLOCK_MONOTONIC, &start)
            for i in range(count):
                launch(self.bound, pointers)
            nanoseconds = elapsed(start)
        return nanoseconds / count

    def launch_raw(self, size_t count):
        cdef LaunchHandle handle = launch_handle(self.bound)
        cdef timespec start
        cdef double nanoseconds
        cdef size_t i
        cdef int status = 0
        cdef Arguments *values = &self.arguments
        cdef void **pointers = [&values.a, &values.x, &values.y, &values.out, &values.n]
        with nogil:
            clock_gettime(CLOCK_MONOTONIC, &start)
            for i in range(count):
                status |= launch_raw(handle, pointers)
            nanoseconds = elapsed(start)
        check_launch(handle, status)
        return nanoseconds / count

    def launch_many(self, size_t count):
        cdef timespec start
        cdef double nanoseconds
        with nogil:
            clock_gettime(CLOCK_MONOTONIC, &start)
            launch_many(self.bound, count, &self.arguments, 0)
            nanoseconds = elapsed(start)
        return nanoseconds / count
