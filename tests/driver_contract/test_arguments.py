# SPDX-License-Identifier: Apache-2.0
"""How a launch takes its arguments: by their addresses, or packed in a buffer."""

import ctypes

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import launch, read_int

END, BUFFER, SIZE = 0, 1, 2  # CU_LAUNCH_PARAM_...


class Mixed(ctypes.Structure):
    _fields_ = [("letter", ctypes.c_char), ("number", ctypes.c_double), ("count", ctypes.c_short)]


class Packed(ctypes.Structure):
    """The parameters of put, as long as they are, and room behind them."""

    _fields_ = [("address", ctypes.c_void_p), ("value", ctypes.c_int), ("room", ctypes.c_int)]


@pytest.fixture
def put(kernel):
    return kernel("put")


def launch_with_buffer(function, buffer, size, parameters=0):
    length = ctypes.c_size_t(size)
    extra = (ctypes.c_void_p * 5)(BUFFER, ctypes.addressof(buffer), SIZE, ctypes.addressof(length), END)
    return driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, ctypes.addressof(extra))


def test_arguments_come_by_address(put, memory):
    ok(launch(put, (int(memory), ctypes.c_void_p), (41, ctypes.c_int)))
    assert read_int(memory) == 41


def test_arguments_come_in_a_buffer(put, memory):
    ok(launch_with_buffer(put, Packed(int(memory), 42), 12))
    assert read_int(memory) == 42


def test_longer_buffer_than_the_parameters_is_refused(put, memory):
    assert answer(launch_with_buffer(put, Packed(int(memory), 42), 16)) == "LAUNCH_OUT_OF_RESOURCES"


def test_both_ways_at_once_are_refused(put, memory):
    packed = Packed(int(memory), 42)
    addresses = (ctypes.c_void_p * 2)(ctypes.addressof(packed), ctypes.addressof(packed) + 8)
    assert answer(launch_with_buffer(put, packed, 12, ctypes.addressof(addresses))) == "INVALID_VALUE"


def test_parameters_cannot_be_left_out(put, kernel):
    assert answer(launch(put)) == "INVALID_VALUE"
    ok(launch(kernel("nothing")))


def test_structure_is_passed_by_value(kernel, memory):
    mixed = Mixed(b"\x01", 20.5, 300)
    address = ctypes.c_void_p(int(memory))
    addresses = (ctypes.c_void_p * 2)(ctypes.addressof(mixed), ctypes.addressof(address))
    function = kernel("take_mixed")
    ok(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(addresses), 0))
    assert read_int(memory) == 321


def test_thousands_of_bytes_are_passed(kernel, memory):
    large = (ctypes.c_char * 8000)()
    large[7999] = b"\x07"
    address = ctypes.c_void_p(int(memory))
    addresses = (ctypes.c_void_p * 2)(ctypes.addressof(large), ctypes.addressof(address))
    function = kernel("take_large")
    ok(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(addresses), 0))
    assert read_int(memory) == 7


def test_arguments_are_copied_by_the_launch(put, memory):
    address = ctypes.c_void_p(int(memory))
    value = ctypes.c_int(1)
    addresses = (ctypes.c_void_p * 2)(ctypes.addressof(address), ctypes.addressof(value))
    ok(driver.cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(addresses), 0))
    address.value, value.value = 16, 2
    assert read_int(memory) == 1


def test_buffer_is_copied_by_the_launch(put, memory):
    packed = Packed(int(memory), 1)
    ok(launch_with_buffer(put, packed, 12))
    packed.address, packed.value = 16, 2
    assert read_int(memory) == 1
