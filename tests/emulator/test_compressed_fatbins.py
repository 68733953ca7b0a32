# SPDX-License-Identifier: Apache-2.0
"""Fatbins whose entries are compressed, as nvcc makes them: the emulated driver reads the PTX in them."""

import ctypes
import struct
from pathlib import Path

import pytest
from cuda.bindings import driver
from helpers.child import check_python
from helpers.driver_api import launch, load, ok

pytestmark = pytest.mark.emulator

IMAGES = Path(__file__).parent.parent / "images"
CONTAINER_BYTES = 16
LIBRARIES = {"many_lz4.fatbin": "liblz4.so.1", "many_zstd.fatbin": "libzstd.so.1"}


def library_is_there(name):
    try:
        ctypes.CDLL(LIBRARIES[name])
    except OSError:
        return False
    return True


compressed = pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.skipif(not library_is_there(name), reason=f"needs {library}"))
    for name, library in LIBRARIES.items()
])


def image(name):
    return bytearray((IMAGES / name).read_bytes())


def entries(data):
    """Where each entry begins, its header's and its payload's size."""
    position = CONTAINER_BYTES
    while position < len(data):
        header, payload = struct.unpack_from("<IQ", data, position + 4)
        yield position, header, payload
        position += header + payload


def ptx_entry(data):
    return list(entries(data))[-1]


@compressed
def test_kernel_of_compressed_ptx_runs(context, memory, name):
    module = ok(driver.cuModuleLoadData(bytes(image(name))))
    scale = ok(driver.cuModuleGetFunction(module, b"scale"))
    ok(driver.cuMemsetD32(memory, struct.unpack("I", struct.pack("f", 3.0))[0], 2))
    assert launch(scale, ctypes.c_void_p(int(memory)), ctypes.c_float(2.0), ctypes.c_int(1)) == "SUCCESS"
    values = (ctypes.c_float * 2)()
    ok(driver.cuMemcpyDtoH(values, memory, 8))
    assert list(values) == [6.0, 3.0]
    ok(driver.cuModuleUnload(module))


@compressed
def test_truncated_stream_is_no_image(context, name):
    data = image(name)
    position, header, payload = ptx_entry(data)
    for kept in (0, 1, payload // 2, payload - 16):
        cut = data[:position + header + kept] + bytes(payload - kept)
        assert load(bytes(cut)) == ("INVALID_IMAGE", ""), kept


@compressed
def test_corrupted_stream_does_no_harm(context, name):
    data = image(name)
    position, header, payload = ptx_entry(data)
    answers = set()
    for offset in range(payload):
        broken = data.copy()
        broken[position + header + offset] ^= 0xFF
        answers.add(load(bytes(broken))[0])
    # What still has its size is other text: in a name or a comment that is no error.
    assert "INVALID_IMAGE" in answers
    assert answers <= {"INVALID_IMAGE", "INVALID_PTX", "SUCCESS", "UNSUPPORTED_PTX_VERSION"}


@compressed
@pytest.mark.parametrize("change", [-1, 1, 2**20, 2**31, 2**63])
def test_stream_of_another_size_than_stated_is_no_image(context, name, change):
    data = image(name)
    position, _, _ = ptx_entry(data)
    (size,) = struct.unpack_from("<Q", data, position + 56)
    struct.pack_into("<Q", data, position + 56, size + change)
    assert load(bytes(data)) == ("INVALID_IMAGE", "")


@compressed
def test_truncated_machine_code_is_no_image(context, name):
    data = image(name)
    position, header, payload = next(entries(data))
    data[position + header + payload // 2:position + header + payload] = bytes(payload - payload // 2)
    assert load(bytes(data)) == ("INVALID_IMAGE", "")


def test_compressed_size_beyond_the_entry_is_no_image(context):
    data = image("many_zstd.fatbin")
    position, _, payload = ptx_entry(data)
    struct.pack_into("<I", data, position + 16, payload + 1)
    assert load(bytes(data)) == ("INVALID_IMAGE", "")


def test_header_without_room_for_the_size_is_no_image(context):
    data = image("many_zstd.fatbin")
    position, header, payload = ptx_entry(data)
    struct.pack_into("<IQ", data, position + 4, 32, payload + header - 32)
    assert load(bytes(data)) == ("INVALID_IMAGE", "")


def test_compression_of_unknown_kind_is_refused_with_the_reason(context):
    data = image("many_zstd.fatbin")
    position, _, _ = ptx_entry(data)
    struct.pack_into("<Q", data, position + 40, 0x11)
    status, log = load(bytes(data))
    assert status == "NO_BINARY_FOR_GPU"
    assert "no known kind" in log and "--compress-mode=none" in log


@pytest.mark.parametrize("name", LIBRARIES)
def test_missing_library_is_named(name, tmp_path):
    # The loader gives up on a library whose first match is no library.
    (tmp_path / LIBRARIES[name]).touch()
    log = check_python(
        f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(IMAGES.parent)!r})
        import se_cy
        se_cy.use_emulator()
        from helpers.driver_api import load, start
        start()
        status, log = load(Path({str(IMAGES / name)!r}).read_bytes())
        assert status == "NO_BINARY_FOR_GPU", status
        assert load(Path({str(IMAGES / "many_plain.fatbin")!r}).read_bytes())[0] == "SUCCESS"
        print(log)
        """,
        library_path=tmp_path,
    )
    assert LIBRARIES[name] in log and "nvcc --compress-mode=none" in log


def test_fatbin_without_ptx_for_the_device_says_what_it_holds(context):
    status, log = load(bytes(image("ptx.fatbin")))
    assert status == "NO_BINARY_FOR_GPU"
    assert "compressed PTX for sm_100" in log and "sm_90 or older" in log
