# SPDX-License-Identifier: Apache-2.0
cdef bint enabled  # SE_CY_DEBUG=1: read once, when this module is imported
