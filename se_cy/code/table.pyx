# SPDX-License-Identifier: Apache-2.0
"""Owns the hash table from an address to a borrowed pointer; floor 2 (code), neither Python objects nor CUDA in it.

Keys 0 and 1 are reserved: refused by put, never found. Values may be NULL. A table has no lock: any number of threads
may read it while nobody writes; put, remove, reserve and free need the caller's lock against everybody else.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free

cdef enum:
    FEWEST_SLOTS = 8
    FEWEST_SLOTS_SHIFT = 61


cdef inline size_t slot_limit(size_t slots) noexcept nogil:
    # Live keys and tombstones together fill at most 5/8: a miss then reads 4 slots on average, a hit 2, and a probe
    # always meets an empty slot and ends.
    return slots // 2 + slots // 8


cdef void table_init(Table *table) noexcept nogil:
    table.slots = NULL
    table.mask = 0
    table.shift = FEWEST_SLOTS_SHIFT
    table.live = 0
    table.tombstones = 0


cdef void table_free(Table *table) noexcept nogil:
    """Free the slots; the table is empty afterwards and may be used again."""
    free(table.slots)
    table_init(table)


cdef inline void place_absent(Slot *slots, size_t mask, int shift, uintptr_t key, void *value) noexcept nogil:
    cdef size_t index = table_home(key, shift)
    while slots[index].key != TABLE_EMPTY:
        index = (index + 1) & mask
    slots[index].key = key
    slots[index].value = value


cdef int grow(Table *table, size_t slots, int shift) noexcept nogil:
    cdef size_t index
    # calloc checks the product for overflow, and its zeros are empty slots.
    cdef Slot *grown = <Slot *>calloc(slots, sizeof(Slot))
    if grown == NULL:
        return -1
    if table.slots != NULL:
        for index in range(table.mask + 1):
            if table.slots[index].key > TABLE_TOMBSTONE:
                place_absent(grown, slots - 1, shift, table.slots[index].key, table.slots[index].value)
    free(table.slots)
    table.slots = grown
    table.mask = slots - 1
    table.shift = shift
    table.tombstones = 0
    return 0


cdef void compact(Table *table) noexcept nogil:
    # In place, so it can't fail. Taken in order from just behind an empty slot, each key is put back at or before the
    # slot it left, and nothing that a key already put back relies on is emptied later.
    cdef size_t start = 0, step, index
    cdef uintptr_t key
    while table.slots[start].key != TABLE_EMPTY:
        start += 1
    for step in range(1, table.mask + 1):
        index = (start + step) & table.mask
        key = table.slots[index].key
        table.slots[index].key = TABLE_EMPTY
        if key > TABLE_TOMBSTONE:
            place_absent(table.slots, table.mask, table.shift, key, table.slots[index].value)
    table.tombstones = 0


cdef int table_reserve(Table *table, size_t more) noexcept nogil:
    """Make room, so that the next `more` puts can't fail; -1 (memory or size exhausted) leaves the table as it was."""
    cdef size_t slots = table.mask + 1 if table.slots != NULL else 0
    cdef int shift = table.shift
    cdef size_t limit = slot_limit(slots)
    # Subtractions only: live + more may overflow.
    if more <= limit - table.live - table.tombstones:
        return 0
    if table.tombstones >= table.live and more <= limit - table.live:
        compact(table)
        return 0
    if slots == 0:
        slots = FEWEST_SLOTS
    else:
        slots *= 2
        shift -= 1
    while slot_limit(slots) < table.live or more > slot_limit(slots) - table.live:
        if slots > (<size_t>-1) // 2 // sizeof(Slot):
            return -1
        slots *= 2
        shift -= 1
    return grow(table, slots, shift)


cdef int table_put(Table *table, uintptr_t key, void *value) noexcept nogil:
    """Enter or replace; 0, or -1 (memory or size exhausted, or a reserved key): the table is then as it was."""
    cdef size_t index
    cdef uintptr_t found
    cdef Slot *vacated = NULL
    if key <= TABLE_TOMBSTONE:
        return -1
    if table.slots != NULL:
        index = table_home(key, table.shift)
        while True:
            found = table.slots[index].key
            if found == key:
                table.slots[index].value = value
                return 0
            if found == TABLE_EMPTY:
                break
            if found == TABLE_TOMBSTONE and vacated == NULL:
                vacated = &table.slots[index]
            index = (index + 1) & table.mask
        if vacated != NULL:
            vacated.key = key
            vacated.value = value
            table.tombstones -= 1
            table.live += 1
            return 0
    if table_reserve(table, 1) != 0:
        return -1
    place_absent(table.slots, table.mask, table.shift, key, value)
    table.live += 1
    return 0


cdef bint table_remove(Table *table, uintptr_t key, void **value) noexcept nogil:
    """1 and the removed value, or 0 and nothing changed."""
    cdef size_t index
    cdef uintptr_t found
    if table.slots == NULL or key <= TABLE_TOMBSTONE:
        return 0
    index = table_home(key, table.shift)
    while True:
        found = table.slots[index].key
        if found == key:
            break
        if found == TABLE_EMPTY:
            return 0
        index = (index + 1) & table.mask
    value[0] = table.slots[index].value
    table.slots[index].key = TABLE_TOMBSTONE
    table.live -= 1
    table.tombstones += 1
    # No probe needs a tombstone that an empty slot follows.
    if table.slots[(index + 1) & table.mask].key == TABLE_EMPTY:
        while table.slots[index].key == TABLE_TOMBSTONE:
            table.slots[index].key = TABLE_EMPTY
            table.tombstones -= 1
            index = (index - 1) & table.mask
    return 1


cdef bint table_next(const Table *table, size_t *position, uintptr_t *key, void **value) noexcept nogil:
    """1 and an entry, or 0 at the end; start with position 0. Removing entries between calls is fine, put is not."""
    cdef size_t index = position[0]
    if table.slots == NULL:
        return 0
    while index <= table.mask:
        if table.slots[index].key > TABLE_TOMBSTONE:
            key[0] = table.slots[index].key
            value[0] = table.slots[index].value
            position[0] = index + 1
            return 1
        index += 1
    position[0] = index
    return 0


cdef size_t table_len(const Table *table) noexcept nogil:
    return table.live


cdef size_t table_nbytes(const Table *table) noexcept nogil:
    return (table.mask + 1) * sizeof(Slot) if table.slots != NULL else 0
