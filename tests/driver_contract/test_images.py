# SPDX-License-Identifier: Apache-2.0
"""Which images load, and what is said of those that do not."""

from pathlib import Path

import pytest
from cuda.bindings import driver
from helpers.driver_api import in_own_process, ok
from helpers.jit import load_with_log
from helpers.kernels import PTX, start

IMAGES = Path(__file__).parent.parent / "images"
CUBIN = (Path(__file__).parent / "kernels_sm90.cubin").read_bytes()
CUBIN_HEADER_BYTES = 64

CALLS_NOBODY = b"""
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) nobody(.param .b32 value);
.visible .entry calls()
{
  { .param .b32 value; .param .b32 result;
    st.param.b32 [value], 7;
    call.uni (result), nobody, (value); }
  ret;
}
"""


def image(name):
    return (IMAGES / name).read_bytes()


def ptx_with(old, new):
    assert old in PTX
    return PTX.replace(old, new, 1)


def line_of(ptx, text):
    return f"line {ptx[:ptx.index(text)].count(10) + 1}"


MISSPELT = ptx_with(b"mov.u32", b"mvv.u32")
ACCENTED = ptx_with(b"\n.version", b"\n// caf\xc3\xa9\n.version")
OK, NO_BINARY, INVALID_PTX, INVALID_IMAGE = "SUCCESS", "NO_BINARY_FOR_GPU", "INVALID_PTX", "INVALID_IMAGE"
SEVEN_FIVE, ONLY_NINE, BELOW_TEN = range(75, 1000), [90], range(75, 100)
ON_A_GPU = pytest.mark.gpu  # the emulated driver executes no machine code
EMULATED = pytest.mark.emulator

# What loads, how it is answered, for devices of which compute capabilities, and words of the log.
CASES = {
    "PTX": (PTX, OK, SEVEN_FIVE, []),
    "PTX with CRLF": (PTX.replace(b"\n", b"\r\n"), OK, SEVEN_FIVE, []),
    "PTX for sm_90a": (image("cuda13.0_sm_90a.ptx"), OK, ONLY_NINE, []),
    "PTX for sm_100": (ptx_with(b".target sm_75", b".target sm_100"), INVALID_PTX, BELOW_TEN, [".target"]),
    "PTX with a byte above 127 in a comment": (ACCENTED, INVALID_PTX, SEVEN_FIVE, [line_of(ACCENTED, b"caf")]),
    "PTX with a syntax error": (MISSPELT, INVALID_PTX, SEVEN_FIVE, [line_of(MISSPELT, b"mvv"), "mvv"]),
    "PTX that calls nobody": (CALLS_NOBODY, INVALID_PTX, SEVEN_FIVE, ["nobody"]),
    "PTX of a later version": (
        ptx_with(b".version 9.0", b".version 9.9"), "UNSUPPORTED_PTX_VERSION", SEVEN_FIVE, ["9.9", "version"]),
    "nothing": (b"", INVALID_IMAGE, SEVEN_FIVE, []),
    "plain text": (b"hello world", INVALID_IMAGE, SEVEN_FIVE, []),
    "PTX behind a byte-order mark": (b"\xef\xbb\xbf" + PTX, INVALID_IMAGE, SEVEN_FIVE, []),
    "fatbin with PTX": (image("many_plain.fatbin"), OK, range(90, 1000), []),
    "cubin for sm_80": (image("cuda13.0_sm_80.cubin"), NO_BINARY, ONLY_NINE, []),
    "cubin for sm_100": (image("cuda13.0_sm_100.cubin"), NO_BINARY, ONLY_NINE, []),
}
MACHINE_CODE = {
    "cubin for sm_90": (image("cuda13.0_sm_90.cubin"), ONLY_NINE, ["sm_90"]),
    "cubin for sm_90, CUDA 12.4": (image("cuda12.4_sm_90.cubin"), ONLY_NINE, ["sm_90"]),
    "cubin for sm_90 of many kernels": (CUBIN, ONLY_NINE, ["sm_90"]),
    "cubin for sm_90a": (image("cuda13.0_sm_90a.cubin"), ONLY_NINE, ["sm_90"]),
    "fatbin with sm_80 and sm_90": (image("sm80_sm90.fatbin"), ONLY_NINE, ["sm_80", "sm_90"]),
}


def capability():
    prefix = "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_"
    major, minor = (ok(driver.cuDeviceGetAttribute(getattr(driver.CUdevice_attribute, prefix + part), 0))
                    for part in ("MAJOR", "MINOR"))
    return 10 * major + minor


def check(image, status, capabilities, words):
    if capability() not in capabilities:
        pytest.skip("for devices of another compute capability")
    loaded = load_with_log(image)
    assert loaded.status == status, loaded.text
    for word in words:
        assert word in loaded.text


@pytest.mark.parametrize("case", CASES)
def test_image(context, case):
    check(*CASES[case])


@ON_A_GPU
@pytest.mark.parametrize("case", MACHINE_CODE)
def test_machine_code_loads(context, case):
    image, capabilities, _ = MACHINE_CODE[case]
    check(image, OK, capabilities, [])


@EMULATED
@pytest.mark.parametrize("case", [*MACHINE_CODE, "fatbin with PTX for later devices", "fatbin of what is linked later"])
def test_machine_code_is_refused_by_name(context, case):
    more = {
        "fatbin with PTX for later devices": (image("ptx.fatbin"), ONLY_NINE, ["sm_100", "sm_120"]),
        "fatbin of what is linked later": (image("lto.fatbin"), ONLY_NINE, ["sm_90"]),
    }
    content, capabilities, words = {**MACHINE_CODE, **more}[case]
    check(content, NO_BINARY, capabilities, ["emulated driver", *words])


def half(image):
    """An image cut in half; as many zeros as were cut follow it."""
    return image[: len(image) // 2] + bytes(len(image) - len(image) // 2)


def zeros_behind(image):
    return image[: len(image) // 2] + bytes(100000)


@in_own_process
def test_halves_of_cubins_are_refused():
    start()
    for content in (CUBIN, image("cuda13.0_sm_90.cubin")):
        assert load_with_log(half(content)).status == INVALID_IMAGE
        assert load_with_log(zeros_behind(content)).status == INVALID_IMAGE


# An H200's driver never came back from half of a fatbin of twenty entries: the zeros are entries without an end to it.
@pytest.mark.emulator
@pytest.mark.parametrize("name", ["many_plain.fatbin", "many.fatbin", "sm80_sm90.fatbin"])
def test_halves_of_fatbins_are_refused(context, name):
    assert load_with_log(half(image(name))).status == INVALID_IMAGE


@in_own_process
def test_header_alone_is_refused():
    start()
    assert load_with_log(CUBIN[:CUBIN_HEADER_BYTES]).status == INVALID_IMAGE


@EMULATED
def test_head_of_a_fatbin_is_refused(context):
    assert load_with_log(image("many.fatbin")[:10]).status == INVALID_IMAGE
