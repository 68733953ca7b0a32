# SPDX-License-Identifier: Apache-2.0
"""What another package does with se_cy's .pxd files: compiled as C, without cuda.h."""
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport calloc, free

from se_cy cimport (
    BoundKernel, LaunchHandle, check_launch, launch, launch_handle, launch_many, launch_many_raw, launch_raw,
)


cdef struct StoreAddress:  # the parameters of the kernel store_address
    uint64_t pointer
    uint64_t out


def launch_in_loop(BoundKernel bound, size_t count):
    """Launch a kernel without parameters `count` times without the GIL."""
    cdef size_t i
    with nogil:
        for i in range(count):
            launch(bound, NULL)


def launch_raw_in_loop(bound, size_t count):
    """The same through a handle: the first status that is no success, and how many were launched before it."""
    cdef LaunchHandle handle = launch_handle(bound)
    cdef size_t i = 0
    cdef int status = 0
    with nogil:
        while i < count:
            status = launch_raw(handle, NULL)
            if status != 0:
                break
            i += 1
    return status, i


def store(BoundKernel bound, uint64_t value, uintptr_t out):
    """Launch store_address by pointers to its arguments."""
    cdef uint64_t address = out
    cdef void **parameters = [&value, &address]
    with nogil:
        launch(bound, parameters)


def store_many(BoundKernel bound, values, uintptr_t out, bint raises=True):
    """Launch store_address once for each value, each to the next 8 bytes: the status, and how many were launched."""
    cdef LaunchHandle handle = launch_handle(bound)
    cdef size_t count = len(values)
    cdef size_t launched = 0
    cdef size_t i
    cdef int status = 0
    cdef StoreAddress *blocks = <StoreAddress *>calloc(count + 1, sizeof(StoreAddress))
    try:
        for i in range(count):
            blocks[i].pointer = values[i]
            blocks[i].out = out + 8 * i
        if raises:
            with nogil:
                launch_many(bound, count, blocks, sizeof(StoreAddress))
        else:
            with nogil:
                status = launch_many_raw(handle, count, blocks, sizeof(StoreAddress), &launched)
    finally:
        free(blocks)
    return status, launched


def store_without_blocks(BoundKernel bound):
    """Launch store_address with no arguments at all."""
    with nogil:
        launch_many(bound, 1, NULL, 0)


def check(bound, int status):
    """Raise the exception of a status."""
    cdef LaunchHandle handle = launch_handle(bound)
    with nogil:
        check_launch(handle, status)
