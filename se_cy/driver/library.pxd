# SPDX-License-Identifier: Apache-2.0
cdef int ensure_driver() except -1
cdef int driver_version
