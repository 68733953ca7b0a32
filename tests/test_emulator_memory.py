# SPDX-License-Identifier: Apache-2.0
"""What the emulated driver says of addresses, and what it answers where the process lacks memory."""

import ctypes

import pytest
from cuda.bindings import driver
from helpers.child import check_python
from helpers.driver_api import answer, ok
from helpers.emulated import START, launch

pytestmark = pytest.mark.emulator


def same_page_again(first, size):
    """Page-locked memory at the address of a page that was freed: the system gives it out again at once."""
    for _ in range(100):
        address = ok(driver.cuMemHostAlloc(size, 0))
        if address == first:
            return
        ok(driver.cuMemFreeHost(address))
    raise AssertionError("the system gives other addresses")


def fault_at(control, kernel, address):
    ok(launch(kernel("put"), (address, ctypes.c_void_p), (1, ctypes.c_int)))
    assert answer(driver.cuCtxSynchronize()) == "ILLEGAL_ADDRESS"
    return control.last_fault()


def test_page_locked_memory_that_is_given_out_again_is_no_longer_released(control, kernel):
    first = ok(driver.cuMemHostAlloc(4096, 0))
    ok(driver.cuMemFreeHost(first))
    same_page_again(first, 16)
    assert "84 bytes past the end of an allocation of 16 bytes" in fault_at(control, kernel, first + 100)


def test_later_release_of_an_address_is_known_as_long_as_any_other(control, kernel):
    first = ok(driver.cuMemHostAlloc(4096, 0))
    ok(driver.cuMemFreeHost(first))
    same_page_again(first, 4096)
    ok(driver.cuMemFreeHost(first))
    for _ in range(4095):  # the driver knows the last 4096 releases
        ok(driver.cuMemFree(ok(driver.cuMemAlloc(16))))
    assert "100 bytes into a released allocation of 4096 bytes" in fault_at(control, kernel, first + 100)


def test_memory_that_the_process_lacks_is_answered_and_the_driver_goes_on():
    check_python(START + """
import resource
bytes = 256 << 20
source = ctypes.create_string_buffer(bytes)
destination = ok(driver.cuMemAlloc(bytes))
stream = ok(driver.cuStreamCreate(0))
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + (64 << 20), limit[1]))
address = ctypes.addressof(source)
assert answer(driver.cuMemcpyHtoDAsync(destination, address, bytes, stream)) == "OUT_OF_MEMORY"
assert answer(driver.cuStreamQuery(stream)) == "SUCCESS"  # nothing was begun, nothing is locked
ok(driver.cuMemcpyHtoDAsync(destination, address, 1 << 20, stream))
resource.setrlimit(resource.RLIMIT_AS, limit)
ok(driver.cuMemcpyHtoDAsync(destination, address, bytes, stream))
ok(driver.cuStreamSynchronize(stream))
""")
