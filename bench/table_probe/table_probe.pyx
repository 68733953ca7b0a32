# SPDX-License-Identifier: Apache-2.0
"""Look-ups in C: se_cy's table, and the C++ library's on the same keys in the same order."""
from cython.operator cimport dereference
from libc.stdint cimport uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from se_cy.code.table cimport Table, table_free, table_get, table_init, table_put


cdef class Tables:
    """Both hold each of the keys, with itself as its value, entered in the order of `entered`.

    The order of the look-ups is another: in the order of entry, unordered_map's nodes lie one after another in memory.
    """

    cdef Table table
    cdef unordered_map[uintptr_t, void *] standard
    cdef vector[uintptr_t] keys

    def __cinit__(self, entered, looked_up):
        cdef uintptr_t key
        table_init(&self.table)
        for key in entered:
            self.standard[key] = <void *>key
            if table_put(&self.table, key, <void *>key) != 0:
                raise MemoryError()
        for key in looked_up:
            self.keys.push_back(key)

    def __dealloc__(self):
        table_free(&self.table)

    @property
    def bucket_count(self):
        """Of the `std::unordered_map`."""
        return self.standard.bucket_count()

    def se_cy(self, size_t look_ups):
        """Look up the keys in order, again and again; the sum of what was found."""
        cdef size_t i, at = 0, total = 0
        cdef void *value = NULL
        with nogil:
            for i in range(look_ups):
                if table_get(&self.table, self.keys[at], &value):
                    total += <uintptr_t>value
                at += 1
                if at == self.keys.size():
                    at = 0
        return total

    def unordered_map(self, size_t look_ups):
        """The same in the `std::unordered_map`."""
        cdef size_t i, at = 0, total = 0
        cdef unordered_map[uintptr_t, void *].iterator found
        with nogil:
            for i in range(look_ups):
                found = self.standard.find(self.keys[at])
                if found != self.standard.end():
                    total += <uintptr_t>dereference(found).second
                at += 1
                if at == self.keys.size():
                    at = 0
        return total
