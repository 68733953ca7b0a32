# SPDX-License-Identifier: Apache-2.0
"""What architectures code is for, read from real images (tests/images/README.md), and which devices it runs on."""

import itertools
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from se_cy.code.target import (
    code_kind,
    code_targets,
    fatbin_entries,
    parse_target,
    ptx_version,
    target_name,
    target_obstacle,
    target_runs_on,
)

IMAGES = Path(__file__).parent / "images"
CUBINS = sorted(path.name for path in IMAGES.glob("*.cubin"))
PTX = sorted(path.name for path in IMAGES.glob("*.ptx"))
MANY = ["many.fatbin", "many_plain.fatbin", "many_zstd.fatbin", "many_lz4.fatbin"]
HUGEST = str(2**64 - 1)
HEADER = b".version 8.4\n.target sm_90a\n.address_size 64\n"


def image(name):
    return (IMAGES / name).read_bytes()


def targets(data):
    return code_targets(data, code_kind(data))


def patched(name, offset, layout, *values):
    data = bytearray(image(name))
    struct.pack_into("<" + layout, data, offset, *values)
    return bytes(data)


def test_images_are_there():
    assert len(CUBINS) >= 20
    assert len(PTX) >= 3


@pytest.mark.parametrize("name", CUBINS + PTX)
def test_kind_and_target_of_image_are_those_it_was_compiled_for(name):
    stem, kind = name.rsplit(".", 1)
    assert code_kind(image(name)) == kind
    assert code_targets(image(name), kind) == (stem[stem.index("sm_"):],)


@pytest.mark.parametrize("name", MANY)
def test_fatbin_lists_every_entry_compressed_or_not(name):
    assert code_kind(image(name)) == "fatbin"
    entries = [("cubin", "sm_80"), ("cubin", "sm_90a"), ("cubin", "sm_100f"), ("ptx", "sm_90")]
    assert fatbin_entries(image(name)) == entries
    assert targets(image(name)) == ("sm_80", "sm_90a", "sm_100f", "sm_90")


def test_fatbin_of_ptx_alone():
    assert fatbin_entries(image("ptx.fatbin")) == [("ptx", "sm_100a"), ("ptx", "sm_120f")]


def test_fatbin_names_target_once():
    data = image("ptx.fatbin")
    doubled = data[:8] + struct.pack("<Q", 2 * (len(data) - 16)) + data[16:] * 2
    assert len(fatbin_entries(doubled)) == 4
    assert targets(doubled) == ("sm_100a", "sm_120f")


def test_fatbin_without_code_for_driver_is_refused():
    assert fatbin_entries(image("lto.fatbin")) == [("lto", "sm_90")]
    with pytest.raises(ValueError, match="neither PTX nor a cubin: lto"):
        targets(image("lto.fatbin"))
    with pytest.raises(ValueError, match="neither PTX nor a cubin: it is empty"):
        targets(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 0))
    unknown = patched("lto.fatbin", 16, "H", 64)
    assert fatbin_entries(unknown) == [("kind 64", "sm_90")]


def test_zeros_behind_images_do_no_harm():
    for name in (*CUBINS, *MANY):
        assert targets(image(name) + bytes(512)) == targets(image(name))


@pytest.mark.parametrize("name", ["cuda13.0_sm_90a.cubin", "cuda12.4_sm_90a.cubin", "cuda12.9_sm_100f.cubin"])
def test_every_truncation_of_cubin_is_told(name):
    data = image(name)
    for length in range(4, len(data)):
        with pytest.raises(ValueError, match=rf"cubin is truncated: .* {length} (bytes that )?are there"):
            targets(data[:length])


def test_truncated_cubin_says_how_much_is_missing():
    data = image("cuda13.0_sm_90.cubin")
    with pytest.raises(ValueError, match="its headers need 3832 bytes, 3831 are there"):
        targets(data[:-1])
    with pytest.raises(ValueError, match="its headers need 64 bytes, 40 are there"):
        targets(data[:40])


@pytest.mark.parametrize("name", [*MANY, "lto.fatbin"])
def test_every_truncation_of_fatbin_is_told(name):
    data = image(name)
    for length in range(4, len(data)):
        with pytest.raises(ValueError, match=rf"fatbin is truncated: its header needs \d+ bytes, {length} are there"):
            targets(data[:length])


def test_every_truncation_of_ptx_header_parses_or_raises():
    for length in range(len(HEADER)):
        try:
            assert targets(HEADER[:length])[0].startswith("sm_9")
        except ValueError as error:
            assert length < len(b".version 8.4\n.target sm_90"), error


@pytest.mark.parametrize(
    "name", ["cuda13.0_sm_90a.cubin", "cuda12.4_sm_90a.cubin", "many_zstd.fatbin", "many_plain.fatbin"])
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_damage_parses_or_raises_value_error(name, data):
    damaged = bytearray(image(name))
    for _ in range(data.draw(st.integers(1, 4))):
        # Headers hold what leads a reader astray; most of an image is code.
        limit = data.draw(st.sampled_from([64, 256, len(damaged)]))
        offset = data.draw(st.integers(0, limit - 1))
        if data.draw(st.booleans()):
            offset = len(damaged) - 1 - offset
        chunk = data.draw(st.sampled_from([b"\xff" * 8, b"\0" * 8, b"\xff", b"\0", b"\x80", b"\xff" * 7 + b"\x7f"]))
        damaged[offset:offset + len(chunk)] = chunk
    try:
        found = targets(bytes(damaged))
    except ValueError:
        return
    assert all(isinstance(target, str) for target in found)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_parse_or_raise_value_error(data):
    for head in (b"", b"\x7fELF\x02\x01\x01A\x08", b"\x50\xed\x55\xba\x01\0\x10\0", b".version 8.0\n.target ", b"//"):
        try:
            targets(head + data)
        except ValueError:
            pass


BAD_CUBINS = {
    "class": (patched("cuda13.0_sm_90.cubin", 4, "B", 1), "64-bit little-endian.*found class 1, data 1"),
    "byte order": (patched("cuda13.0_sm_90.cubin", 5, "B", 2), "64-bit little-endian.*found class 2, data 2"),
    "machine": (patched("cuda13.0_sm_90.cubin", 18, "H", 62), "machine 190.*found machine 62, a program or library"),
    "amd": (patched("cuda13.0_sm_90.cubin", 18, "H", 224), "machine 190.*found machine 224$"),
    "no architecture": (patched("cuda13.0_sm_90.cubin", 48, "I", 0x04), "architecture number 0"),
    "short section headers": (patched("cuda13.0_sm_90.cubin", 58, "H", 40), "section headers of 40 bytes"),
    "short program headers": (patched("cuda13.0_sm_90.cubin", 54, "H", 32), "program headers of 32 bytes"),
    "far section headers": (patched("cuda13.0_sm_90.cubin", 40, "Q", 2**64 - 1), f"truncated: .*need {HUGEST}"),
    "far program headers": (patched("cuda13.0_sm_90.cubin", 32, "Q", 2**64 - 8), f"truncated: .*need {HUGEST}"),
    "many sections": (patched("cuda13.0_sm_90.cubin", 60, "H", 65535), "truncated: 65535 section"),
    "wrapping section": (patched("cuda13.0_sm_90.cubin", 2592 + 64 + 24, "QQ", 2**63, 2**63), f"truncated: .*{HUGEST}"),
}


@pytest.mark.parametrize("case", BAD_CUBINS)
def test_malformed_cubin_is_refused_with_what_was_found(case):
    data, message = BAD_CUBINS[case]
    with pytest.raises(ValueError, match=message):
        targets(data)


def test_section_count_beyond_16_bits_is_read_from_first_header():
    counted = patched("cuda13.0_sm_90a.cubin", 60, "H", 0)
    counted = bytearray(counted)
    struct.pack_into("<Q", counted, 2592 + 32, 15)
    struct.pack_into("<H", counted, 62, 0xFFFF)
    struct.pack_into("<I", counted, 2592 + 40, 1)
    assert targets(bytes(counted)) == ("sm_90a",)
    struct.pack_into("<Q", counted, 2592 + 32, 2**63)
    with pytest.raises(ValueError, match="truncated"):
        targets(bytes(counted))


def test_cubin_without_sections_has_the_target_of_its_flags():
    bare = patched("cuda12.4_sm_90a.cubin", 40, "Q", 0)
    assert targets(bare) == ("sm_90a",)


BAD_FATBINS = {
    "version": (patched("many.fatbin", 4, "H", 2), "of version 2"),
    "short header": (patched("many.fatbin", 6, "H", 8), "8 bytes long"),
    "huge": (patched("many.fatbin", 8, "Q", 2**64 - 1), f"truncated: .*needs {HUGEST}"),
    "cut entry": (patched("many.fatbin", 8, "Q", 30), "entry 0 at byte 16 needs 64 bytes, 30 are left"),
    "empty entry header": (patched("many.fatbin", 20, "I", 0), "entry 0 at byte 16 claims a header of 0"),
    "long entry": (patched("many.fatbin", 24, "Q", 2**64 - 8), "entry 0 at byte 16 claims"),
    "no architecture": (patched("ptx.fatbin", 16 + 28, "I", 0), "architecture number 0"),
    "cubin inside": (patched("many.fatbin", 16 + 64 + 40, "Q", 2**40), "entry at byte 16: cubin is truncated"),
}


@pytest.mark.parametrize("case", BAD_FATBINS)
def test_malformed_fatbin_is_refused_with_what_was_found(case):
    data, message = BAD_FATBINS[case]
    with pytest.raises(ValueError, match=message):
        targets(data)


NO_CODE = {
    "empty": (b"", "data is empty"),
    "white space": (b" \r\n\t\n", "nothing but white space"),
    "comments": (b"// a\n/* b */ \n// c", "nothing but comments"),
    "open comment": (b"  /* a\n.version 8.0\n", "comment that never ends, from byte 2"),
    "UTF-16 with mark": (HEADER.decode().encode("utf-16"), "UTF-16"),
    "UTF-16 little": (HEADER.decode().encode("utf-16-le"), "UTF-16"),
    "UTF-16 big": (HEADER.decode().encode("utf-16-be"), "UTF-16"),
    "byte-order mark": (HEADER.decode().encode("utf-8-sig"), "byte-order mark"),
    "path": (b"/data/kernels/saxpy.ptx", r"file name: Code.from_file\(\)"),
    "relative path": (b"./saxpy", r"file name: Code.from_file\(\)"),
    "name": (b"saxpy.cubin", r"file name: Code.from_file\(\)"),
    "C++": (b"extern \"C\" __global__ void f() {}\n", r"CUDA C\+\+ source"),
    "bitcode": (b"BC\xc0\xde5\x14", "LLVM bitcode"),
    "archive": (b"!<arch>\n/    ", "static library"),
    "wrapper": (struct.pack("<IIQQ", 0x466243B1, 1, 0x7F0000000000, 0), "wrapper"),
    "no version": (b".target sm_90\n", "begin with .version and a number like 9.0: found '.target'"),
    "odd version": (b".version nine\n", "begin with .version"),
    "text": (b"hello world, no code", "neither PTX, cubin nor fatbin: first bytes b'hello world, no '"),
    "zeros": (bytes(64), "neither PTX, cubin nor fatbin: first bytes"),
    "gzip": (b"\x1f\x8b\x08\x00\x00", "neither PTX, cubin nor fatbin: first bytes"),
}


@pytest.mark.parametrize("case", NO_CODE)
def test_what_is_no_code_is_refused_with_its_own_message(case):
    data, message = NO_CODE[case]
    with pytest.raises(ValueError, match=message):
        code_kind(data)


@pytest.mark.parametrize(
    ("text", "version", "target"),
    [
        (HEADER, (8, 4), "sm_90a"),
        (HEADER.replace(b"\n", b"\r\n"), (8, 4), "sm_90a"),
        (
            b"\n\n// .target sm_20\n/* .version 1.0 */ .version 7.8 // x\n/**/.target /* sm_35 */ sm_86, debug\n",
            (7, 8), "sm_86",
        ),
        (b".version 9.0 .target sm_100f .address_size 64", (9, 0), "sm_100f"),
        (b"# 1 \"a.cu\"\n.version 6.3\n.target sm_75,texmode_independent", (6, 3), "sm_75"),
        ("// résumé\n.version 8.0\n.target sm_90\n".encode(), (8, 0), "sm_90"),
    ],
)
def test_ptx_header_is_read_past_comments(text, version, target):
    assert code_kind(text) == "ptx"
    assert ptx_version(text) == version
    assert code_targets(text, "ptx") == (target,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b".version 8.0\n.address_size 64\n", "name its .target after .version: found '.address_size'"),
        (b".version 8.0\n", "name its .target after .version: found the end of the text"),
        (b".version 8.0\n.target debug, sm_90\n", "architecture like sm_90 first: found 'debug,'"),
        (b".version 8.0\n.target sm_90q\n", "architecture like sm_90 first: found 'sm_90q'"),
        (b".version 8.0\n/* .target sm_90\n", "comment that never ends, from byte 13"),
    ],
)
def test_ptx_without_usable_target_is_refused(text, message):
    assert code_kind(text) == "ptx"
    with pytest.raises(ValueError, match=message):
        code_targets(text, "ptx")


def test_nul_inside_ptx_is_refused_with_its_offset():
    with pytest.raises(ValueError, match=f"NUL byte inside, at offset {len(HEADER)}"):
        code_targets(HEADER + b"\0.visible .entry f() { ret; }\n", "ptx")


def test_kind_must_fit_the_data():
    with pytest.raises(ValueError, match="kind must be"):
        code_targets(HEADER, "sass")
    with pytest.raises(ValueError, match="cubin must begin with 7F 45 4C 46: found 2E 76 65 72"):
        code_targets(HEADER + bytes(64), "cubin")
    with pytest.raises(ValueError, match="fatbin must begin with 50 ED 55 BA: found 2E 76 65 72"):
        code_targets(HEADER, "fatbin")
    with pytest.raises(ValueError, match="begin with .version"):
        code_targets(b"x", "ptx")


@pytest.mark.parametrize(
    ("written", "parsed", "name"),
    [
        ("sm_90", (9, 0, ""), "sm_90"),
        ("sm_90a", (9, 0, "a"), "sm_90a"),
        ("compute_100f", (10, 0, "f"), "sm_100f"),
        ("sm_121", (12, 1, ""), "sm_121"),
        ((9, 0), (9, 0, ""), "sm_90"),
        ((12, 1, "a"), (12, 1, "a"), "sm_121a"),
        ((np.int64(8), np.int32(6)), (8, 6, ""), "sm_86"),
    ],
)
def test_architecture_is_accepted_in_each_way_of_writing(written, parsed, name):
    assert parse_target(written) == parsed
    assert target_name(written) == name
    assert all(type(part) in (int, str) for part in parse_target(written))


@pytest.mark.parametrize(
    "written",
    ["", "90", "sm_9", "sm_90b", "sm_090", "SM_90", "sm_90 ", "sm_1000", "sm_٩٠",
     (), (9,), (9, 10), (0, 5), (9.0, 0), (9, 0, "x"), (9, 0, None), ("9", "0"), (9, 0, "a", 1)])
def test_what_is_no_architecture_is_refused(written):
    with pytest.raises(ValueError, match="is no GPU architecture: write 'sm_90'"):
        parse_target(written)


@pytest.mark.parametrize("written", [None, 90, 9.0, b"sm_90", [9, 0]])
def test_architecture_of_other_type_is_type_error(written):
    with pytest.raises(TypeError, match="str or a tuple"):
        parse_target(written)


DEVICES = [(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 1), (10, 3), (10, 7), (11, 0), (12, 0), (12, 1)]


@pytest.mark.parametrize(
    ("kind", "target", "devices"),
    [
        ("cubin", "sm_75", {(7, 5)}),
        ("cubin", "sm_80", {(8, 0), (8, 6), (8, 9)}),
        ("cubin", "sm_86", {(8, 6), (8, 9)}),
        ("cubin", "sm_90", {(9, 0)}),
        ("cubin", "sm_90a", {(9, 0)}),
        ("cubin", "sm_100", {(10, 0), (10, 3), (10, 7)}),
        ("cubin", "sm_100a", {(10, 0)}),
        ("cubin", "sm_100f", {(10, 0), (10, 3), (10, 7)}),
        ("cubin", "sm_103f", {(10, 3), (10, 7)}),
        ("cubin", "sm_110", {(10, 1), (11, 0)}),
        ("cubin", "sm_120f", {(12, 0), (12, 1)}),
        ("cubin", "sm_121a", {(12, 1)}),
        ("ptx", "sm_50", set(DEVICES)),
        ("ptx", "sm_86", set(DEVICES[2:])),
        ("ptx", "sm_90", set(DEVICES[4:])),
        ("ptx", "sm_120", {(12, 0), (12, 1)}),
        ("ptx", "sm_90a", {(9, 0)}),
        ("ptx", "sm_100a", {(10, 0)}),
        ("ptx", "sm_101a", {(10, 1), (11, 0)}),
        ("ptx", "sm_100f", {(10, 0), (10, 3), (10, 7)}),
        ("ptx", "sm_101f", {(10, 1), (11, 0)}),
        ("ptx", "sm_103f", {(10, 3), (10, 7)}),
        ("ptx", "sm_110f", {(10, 1), (11, 0)}),
        ("ptx", "sm_120f", {(12, 0), (12, 1)}),
        ("ptx", "sm_121f", {(12, 1)}),
    ],
)
def test_code_runs_on_exactly_these_devices(kind, target, devices):
    assert {device for device in DEVICES if target_runs_on(kind, target, device)} == devices
    for device in DEVICES:
        assert (target_obstacle(kind, target, device) is None) == (device in devices)


def test_capability_may_be_a_name_and_its_suffix_says_nothing():
    for target, device in itertools.product(["sm_80", "sm_90", "sm_90a", "sm_100f"], DEVICES):
        for kind in ("ptx", "cubin"):
            expected = target_runs_on(kind, target, device)
            assert target_runs_on(kind, target, target_name(device)) == expected
            assert target_runs_on(kind, target, target_name(device) + "a") == expected


@pytest.mark.parametrize(
    ("kind", "target", "message"),
    [
        ("ptx", "sm_100", "needs compute capability 10.0 or higher, this device has 9.0"),
        ("ptx", "sm_100a", "runs on compute capability 10.0 only ('a' target), this device has 9.0"),
        ("ptx", "sm_100f",
         "runs on compute capability 10.0 and higher of 10.x only (family target), this device has 9.0"),
        ("cubin", "sm_86", "runs on compute capability 8.6 and higher of 8.x only (cubin), this device has 9.0"),
    ],
)
def test_obstacle_names_rule_and_device(kind, target, message):
    assert target_obstacle(kind, target, (9, 0)) == message


def test_fatbin_as_a_whole_has_no_rule():
    with pytest.raises(ValueError, match="ask for each entry"):
        target_runs_on("fatbin", "sm_90", (9, 0))
