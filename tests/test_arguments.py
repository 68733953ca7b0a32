# SPDX-License-Identifier: Apache-2.0
import ctypes
import enum
import pathlib
import struct

import numpy as np
import pytest

import se_cy

KERNELS = pathlib.Path(__file__).parent / "kernels"


class Colour(enum.IntEnum):
    RED = 3


class Sub(int):
    pass


GOOD = dict(f=1.5, i8=-3, i16=-300, i32=-70000, i64=-(2**40), d=2.5)


@pytest.fixture
def store(kernel_of, zeros):
    """Launch every_width with some arguments replaced, and return what arrived."""
    kernel = kernel_of("every_width")
    out = zeros(6, np.float64)

    def launch(**changed):
        kernel[1, 1](*{**GOOD, **changed}.values(), out)
        return dict(zip(GOOD, out.to_host()))

    return launch


def test_python_numbers_arrive_at_every_width(store):
    # B11
    assert store() == GOOD


@pytest.mark.parametrize(
    "value, arrives",
    [
        (dict(f=2), 2.0), (dict(f=True), 1.0), (dict(f=np.float32(0.1)), float(np.float32(0.1))),
        (dict(f=np.float64(0.1)), float(np.float32(0.1))), (dict(f=np.int64(7)), 7.0), (dict(f=np.float16(0.5)), 0.5),
        (dict(f=float("inf")), float("inf")), (dict(f=ctypes.c_float(1.25)), 1.25),
        (dict(d=np.float32(0.1)), float(np.float32(0.1))), (dict(d=3), 3.0), (dict(d=ctypes.c_double(0.1)), 0.1),
        (dict(i8=-128), -128), (dict(i8=127), 127), (dict(i8=np.int8(-113)), -113), (dict(i8=True), 1),
        (dict(i16=-(2**15)), -(2**15)), (dict(i16=np.int64(5)), 5), (dict(i16=np.uint8(200)), 200),
        (dict(i32=-(2**31)), -(2**31)), (dict(i32=2**31 - 1), 2**31 - 1), (dict(i32=np.int64(-1)), -1),
        (dict(i32=True), 1), (dict(i32=np.bool_(True)), 1), (dict(i32=Colour.RED), 3), (dict(i32=Sub(9)), 9),
        (dict(i32=ctypes.c_int(-8)), -8), (dict(i64=np.int32(-2)), -2), (dict(i64=-(2**63)), -(2.0**63)),
    ],
)
def test_value_arrives(store, value, arrives):
    (name,) = value
    assert store(**value)[name] == arrives


@pytest.mark.parametrize(
    "value, arrives",
    [(dict(i8=255), -1), (dict(i16=2**16 - 1), -1), (dict(i32=2**32 - 1), -1), (dict(i64=2**64 - 1), -1)],
)
def test_unsigned_value_is_taken_where_the_ptx_does_not_say_which(store, value, arrives):
    (name,) = value
    assert store(**value)[name] == arrives


@pytest.mark.parametrize(
    "value, error",
    [
        # B24
        (dict(i32=2**32), OverflowError), (dict(i32=-(2**31) - 1), OverflowError), (dict(i32=2**32 + 5), OverflowError),
        (dict(i8=256), OverflowError), (dict(i8=-129), OverflowError), (dict(i16=2**16), OverflowError),
        (dict(i64=2**64), OverflowError), (dict(i64=-(2**63) - 1), OverflowError), (dict(i32=10**30), OverflowError),
        (dict(i32=np.int64(2**40)), OverflowError), (dict(i8=np.int32(300)), OverflowError),
        (dict(f=1e39), OverflowError), (dict(f=10**39), OverflowError), (dict(d=10**400), OverflowError),
        (dict(f=np.float64(1e39)), OverflowError),
        (dict(i32=1.0), TypeError), (dict(i64=2.5), TypeError), (dict(i32=np.float32(1)), TypeError),
        (dict(i32=None), TypeError), (dict(f=None), TypeError), (dict(d=None), TypeError),
        (dict(f="2"), TypeError), (dict(i32=b"1234"), TypeError), (dict(f=1j), TypeError),
        (dict(f=(1.0,)), TypeError), (dict(i32=object()), TypeError), (dict(i32=ctypes.c_float(1)), TypeError),
        (dict(i64=np.zeros(1)), TypeError), (dict(i32=np.zeros((), np.int32).reshape(1)), TypeError),
        (dict(i64=np.datetime64(0, "s")), TypeError),
    ],
)
def test_value_that_does_not_fit_is_refused_and_nothing_is_launched(kernel_of, device, value, error):
    kernel = kernel_of("every_width")
    out = device.to_device(np.full(6, 42.0))
    (name,) = value
    position = list(GOOD).index(name)
    with pytest.raises(error) as caught:
        kernel[1, 1](*{**GOOD, **value}.values(), out)
    message = str(caught.value)
    assert "'every_width'" in message and f"argument {position}:" in message
    assert type(value[name]).__name__ in message and f"{kernel.parameters[position].nbytes}-byte" in message
    assert out.to_host().tolist() == [42.0] * 6


def test_host_array_is_refused_with_the_reason(kernel_of):
    with pytest.raises(TypeError, match="host memory.*to_device"):
        kernel_of("double_it")[1, 1](np.zeros(4, np.int32))


@pytest.mark.parametrize(
    "array", [np.zeros(8, np.int32)[::2], np.zeros(4, "M8[s]"), np.zeros((2, 2), np.float16), np.zeros(1, object)])
def test_host_array_of_any_form_is_refused_with_the_same_reason(kernel_of, array):
    with pytest.raises(TypeError, match="(?s)'double_it', argument 0.*host memory"):
        kernel_of("double_it")[1, 1](array)


def test_argument_that_can_not_be_shown_or_read_is_refused_all_the_same(kernel_of):
    class Shy:
        def __repr__(self):
            raise RuntimeError("no")

    for argument in (Shy(), memoryview(bytes(8))[::2], ctypes.c_char(b"a")):
        with pytest.raises(TypeError, match="'double_it', argument 0"):
            kernel_of("double_it")[1, 1](argument)


@pytest.mark.parametrize("given", [0, 1, 6, 8, 100])
def test_wrong_number_of_arguments_says_how_many(kernel_of, given):
    # B25
    with pytest.raises(TypeError, match=f"'every_width' takes 7 arguments; got {given}"):
        kernel_of("every_width")[1, 1](*range(given))
    with pytest.raises(TypeError, match="takes 7 arguments; got 1"):
        kernel_of("every_width")[1, 1]((1, 2, 3, 4, 5, 6, 7))


def test_keyword_arguments_are_refused_by_both_ways_to_call(kernel_of):
    bound = kernel_of("double_it")[1, 1]
    with pytest.raises(TypeError, match="keyword.*out"):
        bound(out=1)
    with pytest.raises(TypeError, match="keyword.*out"):
        bound.__call__(out=1)
    bound = kernel_of("nothing")[1, 1]
    bound(**{})


def test_bools_are_one_byte(kernel_of, zeros):
    out = zeros(3, np.int32)
    kernel_of("store_bool")[1, 1](True, np.bool_(False), True, out)
    assert out.to_host().tolist() == [1, 0, 1]


def test_struct_by_value_takes_bytes_of_its_size(kernel_of, zeros):
    kernel = kernel_of("store_struct")
    dtype = np.dtype([("letter", "i1"), ("number", "f8"), ("count", "i2")], align=True)
    assert dtype.itemsize == 24

    class Mixed(ctypes.Structure):
        _fields_ = [("letter", ctypes.c_byte), ("number", ctypes.c_double), ("count", ctypes.c_short)]

    packed = struct.pack("=b7xdh6x", -5, 2.5, -300)
    for mixed in (packed, bytearray(packed), memoryview(packed), np.array((-5, 2.5, -300), dtype)[()],
                  Mixed(-5, 2.5, -300)):
        out = zeros(3, np.float64)
        kernel[1, 1](mixed, out)
        assert out.to_host().tolist() == [-5, 2.5, -300]
    for wrong in (packed[:-1], packed + b"x", 5, 2.5, None, np.zeros(24, np.uint8), out):
        with pytest.raises(TypeError, match="24 bytes by value"):
            kernel[1, 1](wrong, out)


def test_pointers_arrive_bit_for_bit(kernel_of, zeros, device):
    kernel = kernel_of("store_address")
    out = zeros(1, np.uint64)
    memory = device.allocate(10, "u1")
    for pointer, arrives in ((memory, memory.handle), (memory.handle, memory.handle), (None, 0), (0, 0),
                             (2**64 - 1, 2**64 - 1), (np.uint64(2**63 + 1), 2**63 + 1), (np.int64(-1), 2**64 - 1),
                             (device.allocate(0, "u1"), 0)):
        kernel[1, 1](pointer, out)
        assert out.to_host()[0] == arrives


def test_negative_int_for_a_known_pointer_is_refused(device):
    text = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 .ptr a) { ret; }\n"
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(text))
    with pytest.raises(OverflowError, match="a pointer, which takes 0 to"):
        kernel[1, 1](-1)
    with pytest.raises(TypeError, match="a pointer"):
        kernel[1, 1](1.0)


def test_closed_memory_is_refused(kernel_of, device):
    memory = device.allocate(4, "i4")
    memory.close()
    with pytest.raises(ValueError, match="closed"):
        kernel_of("double_it")[1, 1](memory)


def test_memory_for_a_number_is_refused(kernel_of, device, store):
    memory = device.allocate(4, "i4")
    for value in (dict(f=memory), dict(i32=memory), dict(d=memory)):
        with pytest.raises(TypeError, match="DeviceMemory"):
            store(**value)


@pytest.mark.emulator
def test_memory_of_another_device_is_refused(kernel_of):
    memory = se_cy.Device(1).allocate(4, "i4")
    with pytest.raises(ValueError, match="on device 1, and the kernel on device 0"):
        kernel_of("double_it")[1, 1](memory)


@pytest.mark.gpu
def test_cubin_parameters_are_checked_by_width(device):
    if device.compute_capability[0] != 9:
        pytest.skip("the cubin is for sm_90")
    spec = se_cy.KernelLoaderSpec("every_width").add_cubin((KERNELS / "arguments_sm90.cubin").read_bytes())
    kernel = device.create_kernel(spec)
    out = device.to_device(np.zeros(6))
    kernel[1, 1](1.5, -3, -300, -70000, -(2**40), 2.5, out)
    assert out.to_host().tolist() == list(GOOD.values())
    kernel[1, 1](np.float32(1.5), np.int8(1), np.int16(2), np.int32(3), np.int64(4), np.float64(5), out)
    assert out.to_host().tolist() == [1.5, 1, 2, 3, 4, 5]
    for position, value in ((0, np.float64(1)), (1, np.int16(1)), (3, np.int64(3)), (5, np.float32(1)), (1, 2.5)):
        arguments = [*GOOD.values(), out]
        arguments[position] = value
        with pytest.raises(TypeError, match=f"argument {position}"):
            kernel[1, 1](*arguments)
