# SPDX-License-Identifier: Apache-2.0

# (CUjit_option, value) pairs in the order of their numbers, without those that ask for what happens anyway.
cdef tuple read_jit_options(object options)
cdef str describe_jit_options(tuple pairs)
