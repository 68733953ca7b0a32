# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject

from se_cy.code.loaded cimport FunctionSlot

# What `args` says of streams: the handle that their framework has current on the device, or an error.
cdef int current_stream(PyObject *const *args, Py_ssize_t count, const FunctionSlot *slot, int ordinal,
                        void **cu_stream) except -1
# For debug mode: an error if a framework of the arguments has another stream current than the launch's.
cdef int require_current(PyObject *const *args, Py_ssize_t count, const FunctionSlot *slot, int ordinal,
                         void *cu_stream) except -1
