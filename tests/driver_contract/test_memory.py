# SPDX-License-Identifier: Apache-2.0
import ctypes

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import read_int

Attribute = driver.CUpointer_attribute


def free(address):
    ok(driver.cuMemFree(address))


def test_no_memory_at_all_is_refused(context):
    assert answer(driver.cuMemAlloc(0)) == "INVALID_VALUE"


def test_more_than_there_is_is_refused(context):
    available, total = ok(driver.cuMemGetInfo())
    assert available <= total
    assert answer(driver.cuMemAlloc(total + 1)) == "OUT_OF_MEMORY"
    assert answer(driver.cuMemAlloc(1 << 50)) == "OUT_OF_MEMORY"


def test_allocations_are_aligned_and_apart(context):
    first, second = ok(driver.cuMemAlloc(100)), ok(driver.cuMemAlloc(100))
    assert int(first) % 256 == int(second) % 256 == 0
    assert abs(int(first) - int(second)) >= 100
    free(first)
    free(second)


def test_null_is_freed_like_memory(context):
    free(0)


def test_wild_and_freed_addresses_are_not_freed(context):
    assert answer(driver.cuMemFree(12345)) == "INVALID_VALUE"
    address = ok(driver.cuMemAlloc(100))
    free(address)
    assert answer(driver.cuMemFree(address)) == "INVALID_VALUE"


def test_middle_of_an_allocation_is_not_freed(memory):
    assert answer(driver.cuMemFree(int(memory) + 256)) == "INVALID_VALUE"


def test_address_tells_its_allocation(memory):
    base, size = ok(driver.cuMemGetAddressRange(int(memory) + 10))
    assert (int(base), size) == (int(memory), 4096)


def test_address_tells_its_owner(context, memory):
    address = int(memory) + 10
    assert int(ok(driver.cuPointerGetAttribute(Attribute.CU_POINTER_ATTRIBUTE_CONTEXT, address))) == int(context)
    assert ok(driver.cuPointerGetAttribute(Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)) == 0
    kind = ok(driver.cuPointerGetAttribute(Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address))
    assert kind == driver.CUmemorytype.CU_MEMORYTYPE_DEVICE


def test_pageable_host_memory_has_no_owner(context):
    word = ctypes.c_int()
    attribute = Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    assert answer(driver.cuPointerGetAttribute(attribute, ctypes.addressof(word))) == "INVALID_VALUE"


def test_page_locked_host_memory_is_known(context):
    address = ok(driver.cuMemHostAlloc(64, 0))
    kind = ok(driver.cuPointerGetAttribute(Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, int(address)))
    assert kind == driver.CUmemorytype.CU_MEMORYTYPE_HOST
    ok(driver.cuMemFreeHost(address))


def test_no_page_locked_memory_at_all_is_allocated(context):
    ok(driver.cuMemHostAlloc(0, 0))


def test_stream_ordered_allocations(context, stream):
    address = ok(driver.cuMemAllocAsync(256, stream))
    ok(driver.cuMemsetD32Async(address, 9, 64, stream))
    value = ctypes.c_int()
    ok(driver.cuMemcpyDtoHAsync(ctypes.addressof(value), int(address) + 252, 4, stream))
    ok(driver.cuMemFreeAsync(address, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert value.value == 9


def test_bytes_go_there_and_back(context):
    there, back = (ctypes.c_uint8 * 64)(*range(64)), (ctypes.c_uint8 * 64)()
    first, second = ok(driver.cuMemAlloc(64)), ok(driver.cuMemAlloc(64))
    ok(driver.cuMemcpyHtoD(first, ctypes.addressof(there), 64))
    ok(driver.cuMemcpyDtoD(second, first, 64))
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), second, 64))
    assert list(back) == list(range(64))
    back = (ctypes.c_uint8 * 64)()
    ok(driver.cuMemcpy(ctypes.addressof(back), second, 64))
    assert list(back) == list(range(64))
    free(first)
    free(second)


def test_memory_is_filled_by_bytes_words_and_double_words(memory):
    address = int(memory)
    ok(driver.cuMemsetD32(address, 0x01020304, 2))
    ok(driver.cuMemsetD16(address + 8, 0x0506, 2))
    ok(driver.cuMemsetD8(address + 12, 7, 3))
    back = (ctypes.c_uint8 * 16)()
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), address, 16))
    assert list(back) == [4, 3, 2, 1, 4, 3, 2, 1, 6, 5, 6, 5, 7, 7, 7, 0]


def test_fills_are_aligned(memory):
    assert answer(driver.cuMemsetD32(int(memory) + 1, 0, 1)) == "INVALID_VALUE"
    assert answer(driver.cuMemsetD16(int(memory) + 1, 0, 1)) == "INVALID_VALUE"


def test_copy_of_nothing_is_fine(context):
    word = ctypes.c_int()
    address = ok(driver.cuMemAlloc(16))
    ok(driver.cuMemcpyHtoD(address, ctypes.addressof(word), 0))
    free(address)
    ok(driver.cuMemcpyHtoD(address, ctypes.addressof(word), 0))


def test_copy_to_no_memory_is_refused(context):
    words = (ctypes.c_int * 4)()
    assert answer(driver.cuMemcpyHtoD(0x1000, ctypes.addressof(words), 16)) == "INVALID_VALUE"


@pytest.mark.emulator
def test_copies_past_an_allocation_or_from_null_are_refused(context):
    words = (ctypes.c_int * 4)()
    address = ok(driver.cuMemAlloc(8))
    assert answer(driver.cuMemcpyHtoD(address, ctypes.addressof(words), 16)) == "INVALID_VALUE"
    assert answer(driver.cuMemcpyHtoD(address, 0, 8)) == "INVALID_VALUE"
    free(address)


def test_pageable_source_is_read_by_the_call(memory, stream):
    word = ctypes.c_int(3)
    ok(driver.cuMemcpyHtoDAsync(memory, ctypes.addressof(word), 4, stream))
    word.value = 4
    ok(driver.cuStreamSynchronize(stream))
    assert read_int(memory) == 3
