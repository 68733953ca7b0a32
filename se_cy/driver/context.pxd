# SPDX-License-Identifier: Apache-2.0
ctypedef unsigned long long incarnation_t

# One number for a device and an incarnation of its context; 0 for what is closed or unloaded. What is of the same life
# may be used together: one comparison on the launch path.
ctypedef unsigned long long life_t

cdef struct Limits:
    unsigned int threads_per_block
    unsigned int block[3]
    unsigned int grid[3]
    unsigned int shared_bytes          # per block, without opt-in
    unsigned int shared_bytes_opt_in   # per block at most, static and dynamic together


cdef class PrimaryContext:
    cdef life_t life                 # of the incarnation; first, as every launch reads it
    cdef public object device        # the Device on top, which never dies: what .device of all below it answers
    cdef readonly int ordinal
    cdef readonly int major
    cdef readonly int minor
    cdef void *cu_context            # NULL until the first use retains it
    cdef incarnation_t incarnation   # cuCtxGetId when it was retained
    cdef Limits limits
    cdef list to_free                # (address, incarnation, bytes) of dropped memory that work may still use
    cdef size_t bytes_to_free

    cdef int ensure(self) except -1
    cdef int refresh(self) except -1
    cdef bint is_incarnation(self, incarnation_t incarnation) except -1
    cdef int synchronize(self) except -1
    cdef int require_incarnation(self, incarnation_t incarnation, str what) except -1


cdef PrimaryContext primary_context(int ordinal)
cdef int device_attribute(int ordinal, int attribute) except? -1

# Between enter and leave the thread's current context is the given one; leave takes what enter returned.
cdef int enter(PrimaryContext context) except -1 nogil
cdef int leave(int entered) except -1 nogil

# The same without exceptions, for where Python must not run: the status, and the name of the call that answered it.
cdef int enter_raw(PrimaryContext context, int *entered, const char **call) noexcept nogil
cdef int leave_raw(int entered, const char **call) noexcept nogil


# cuMemFree, cuMemFreeAsync and cuModuleUnload invalidate a stream capture of this thread, and of others in GLOBAL mode, unless they run
# between these two, in capture mode RELAXED. A failed exchange is left in `status`, and the call is made all the same.
cdef struct CaptureGuard:
    int mode
    int status

cdef int begin_capture_guard(CaptureGuard *guarded) except -1 nogil
cdef int end_capture_guard(CaptureGuard *guarded) except -1 nogil
