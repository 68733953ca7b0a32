# SPDX-License-Identifier: Apache-2.0
"""Cubins and fatbins whose headers say what can't be: refused without a read outside of them."""

import ctypes
import mmap
import struct
from pathlib import Path

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import se_cy

pytestmark = pytest.mark.emulator

IMAGES = Path(__file__).parent / "images"
CUBIN = (IMAGES / "cuda13.0_sm_90.cubin").read_bytes()
BUILT = [CUBIN, (IMAGES / "sm80_sm90.fatbin").read_bytes(), (IMAGES / "many_zstd.fatbin").read_bytes()]
# Of an ELF header: where the tables of segments and of sections begin, how many there are.
PHOFF, SHOFF, PHNUM, SHNUM = (32, "<Q"), (40, "<Q"), (56, "<H"), (60, "<H")


@pytest.mark.parametrize("field", [PHOFF, SHOFF])
@pytest.mark.parametrize("offset", [len(CUBIN), len(CUBIN) - 1, 1 << 46, (1 << 63) - 64, (1 << 64) - 1, (1 << 64) - 64])
def test_table_of_a_cubin_outside_of_it_is_refused(context, field, offset):
    image = bytearray(CUBIN)
    struct.pack_into(field[1], image, field[0], offset)
    assert answer(driver.cuModuleLoadData(bytes(image) + bytes(4096))) == "INVALID_IMAGE"
    with pytest.raises(ValueError, match="cubin"):
        se_cy.Code(bytes(image))


@pytest.mark.parametrize("field", [PHNUM, SHNUM])
def test_table_of_a_cubin_that_is_too_long_is_refused(context, field):
    image = bytearray(CUBIN)
    struct.pack_into(field[1], image, field[0], 0xFFFE)
    assert answer(driver.cuModuleLoadData(bytes(image) + bytes(4096))) == "INVALID_IMAGE"
    with pytest.raises(ValueError, match="cubin"):
        se_cy.Code(bytes(image))


@pytest.fixture(scope="module")
def room():
    """Memory for an image, and behind it as much as most changed extents reach: the driver is told no length."""
    with mmap.mmap(-1, 32 << 20) as memory:
        yield memory


def set_image(room, image):
    address = ctypes.c_char.from_buffer(room)
    room[:1 << 20] = image + bytes((1 << 20) - len(image))
    return ctypes.addressof(address)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(BUILT), st.data())
def test_changed_image_is_answered(context, room, image, data):
    changed = bytearray(image)
    for _ in range(data.draw(st.integers(1, 4))):
        # Headers are at the start: most of what can be wrong is there.
        at = data.draw(st.one_of(st.integers(0, 127), st.integers(0, len(image) - 9)))
        struct.pack_into("<Q", changed, at, data.draw(st.sampled_from([0, 1, 0xFFFF, 1 << 31, 1 << 63, (1 << 64) - 1])))
    status, module = driver.cuModuleLoadData(set_image(room, changed))
    if status == driver.CUresult.CUDA_SUCCESS:
        driver.cuModuleUnload(module)
    try:
        se_cy.Code(bytes(changed))
    except ValueError:
        pass
