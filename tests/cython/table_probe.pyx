# SPDX-License-Identifier: Apache-2.0
"""Shows se_cy.code.table to Python tests, compiled against the installed .pxd as an outside package would."""
from libc.stdint cimport uintptr_t

from se_cy.code.table cimport (
    TABLE_EMPTY, TABLE_TOMBSTONE, Table, table_free, table_get, table_home, table_init, table_len, table_nbytes,
    table_next, table_put, table_remove, table_reserve,
)

RESERVED = (TABLE_EMPTY, TABLE_TOMBSTONE)


cdef class AddressTable:
    cdef Table table

    def __cinit__(self):
        table_init(&self.table)

    def __dealloc__(self):
        table_free(&self.table)

    def free(self):
        table_free(&self.table)

    def get(self, uintptr_t key, default=None):
        cdef void *value
        return <uintptr_t>value if table_get(&self.table, key, &value) else default

    def put(self, uintptr_t key, uintptr_t value):
        return table_put(&self.table, key, <void *>value)

    def remove(self, uintptr_t key, default=None):
        cdef void *value
        return <uintptr_t>value if table_remove(&self.table, key, &value) else default

    def reserve(self, size_t more):
        return table_reserve(&self.table, more)

    def __len__(self):
        return table_len(&self.table)

    def items(self):
        cdef size_t position = 0
        cdef uintptr_t key
        cdef void *value
        while table_next(&self.table, &position, &key, &value):
            yield key, <uintptr_t>value

    @property
    def nbytes(self):
        return table_nbytes(&self.table)

    @property
    def slots(self):
        return self.table.mask + 1 if self.table.slots != NULL else 0

    @property
    def tombstones(self):
        return self.table.tombstones

    def keys_of_slots(self):
        return [self.table.slots[index].key for index in range(self.slots)]

    def home(self, uintptr_t key):
        return table_home(key, self.table.shift)

    def put_range(self, uintptr_t start, size_t count, size_t stride):
        """Enter start, start + stride, ..., each with itself as its value; the number of puts that failed."""
        cdef size_t i, failed = 0
        cdef uintptr_t key
        with nogil:
            for i in range(count):
                key = start + i * stride
                failed += table_put(&self.table, key, <void *>key) != 0
        return failed

    def count_range(self, uintptr_t start, size_t count, size_t stride):
        """How many of start, start + stride, ... are found with themselves as their value."""
        cdef size_t i, found = 0
        cdef uintptr_t key
        cdef void *value
        with nogil:
            for i in range(count):
                key = start + i * stride
                found += table_get(&self.table, key, &value) and <uintptr_t>value == key
        return found

    def remove_range(self, uintptr_t start, size_t count, size_t stride):
        cdef size_t i, removed = 0
        cdef void *value
        with nogil:
            for i in range(count):
                removed += table_remove(&self.table, start + i * stride, &value)
        return removed
