# SPDX-License-Identifier: Apache-2.0
"""Reads for which GPU architectures a piece of code is, and says which devices they run on; floor 2 (code).

Reads bytes and nothing else: no driver, no state, any thread. No read leaves the data, whatever its headers claim.
"""
from libc.stdint cimport UINT64_MAX, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, strlen

import operator
import re

cdef enum:
    EM_CUDA = 190
    ELF_HEADER_BYTES = 64
    SECTION_HEADER_BYTES = 64
    SEGMENT_HEADER_BYTES = 56
    SHT_NOBITS = 8
    SHN_XINDEX = 0xFFFF
    PN_XNUM = 0xFFFF
    # Up to ABI version 7 (CUDA 12 for sm_90 and below) and from 8: LLVM's BinaryFormat/ELF.h.
    ABI_WITH_ARCHITECTURE_IN_BYTE_1 = 8
    ACCELERATED_BEFORE_ABI_8 = 0x800
    ACCELERATED_SINCE_ABI_8 = 0x8
    # .nv.compat is a list of (format, attribute, ...) records of 4 bytes, format 4 with as many more as bytes 2-3 say.
    COMPAT_FORMAT_BYTE = 2
    COMPAT_FORMAT_SIZED = 4
    COMPAT_ACCELERATED = 9

    FATBIN_MAGIC = 0xBA55ED50
    FATBIN_HEADER_BYTES = 16
    FATBIN_ENTRY_BYTES = 64
    FATBIN_PTX = 1
    FATBIN_CUBIN = 2
    FATBIN_LTO_IR = 8
    FATBIN_CUBIN_MERCURY = 16
    FATBIN_LZ4 = 0x2000
    FATBIN_ZSTD = 0x8000
    FATBIN_ACCELERATED = 0x100000
    FATBIN_FAMILY = 0x200000

_SPACE = re.compile(rb"(?:\s+|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_BLANK = re.compile(rb"\s*")
_UTF_16 = re.compile(rb"(?:[^\x00]\x00){2}|(?:\x00[^\x00]){2}")
_WORD = re.compile(rb"\S{0,24}")
_VERSION = re.compile(rb"\.version\s+(\d{1,3})\.(\d{1,3})(?![\w.])")
_PTX_TARGET = re.compile(rb"(sm_\d{2,3}[af]?)(?!\w)")
_TARGET = re.compile(r"(?:sm|compute)_([1-9]\d?)(\d)([af]?)", re.ASCII)
_FILE_NAME = re.compile(rb"[^\x00-\x1f\x7f]{1,4095}")
_FILE_SUFFIXES = (b".ptx", b".cubin", b".fatbin", b".cu", b".bin")
_FOREIGN = {
    b"\xef\xbb\xbf": "PTX can't begin with a byte-order mark (EF BB BF): decode such a file as utf-8-sig",
    b"\xff\xfe": "data is UTF-16 text: PTX is ASCII",
    b"\xfe\xff": "data is UTF-16 text: PTX is ASCII",
    b"BC\xc0\xde": "data is LLVM bitcode: compile it to PTX or a cubin first",
    b"!<arch>\n": "data is a static library: take a cubin or fatbin out of it (cuobjdump -xelf all) first",
    b"\xb1CbF": "data is a fatbin's wrapper, which holds a pointer: give the fatbin itself (50 ED 55 BA ...)",
}


cpdef str code_kind(bytes data):
    """Tell "ptx", "cubin" and "fatbin" by how the data begins; ValueError says what else was found."""
    cdef Py_ssize_t start
    if not data:
        raise ValueError("data is empty: neither PTX, cubin nor fatbin")
    if data.startswith(b"\x7fELF"):
        return "cubin"
    if data.startswith(b"\x50\xed\x55\xba"):
        return "fatbin"
    for prefix, message in _FOREIGN.items():
        if data.startswith(prefix):
            raise ValueError(message)
    if _UTF_16.match(data):
        raise ValueError("data is UTF-16 text: PTX is ASCII")
    start = skip_space(data, 0)
    if _VERSION.match(data, start):
        return "ptx"
    if start == len(data):
        if _BLANK.fullmatch(data):
            raise ValueError("data is nothing but white space: neither PTX, cubin nor fatbin")
        raise ValueError("data is nothing but comments: neither PTX, cubin nor fatbin")
    if _FILE_NAME.fullmatch(data) and (b"/" in data or data.endswith(_FILE_SUFFIXES)):
        raise ValueError(f"data is {data!r}, which looks like a file name: Code.from_file() reads files")
    if data.startswith(b".", start):
        raise ValueError(f"PTX must begin with .version and a number like 9.0: found {excerpt(data, start)}")
    if b"__global__" in data:
        raise ValueError("data looks like CUDA C++ source: compile it to PTX or a cubin first (nvcc, cuda.core)")
    raise ValueError(f"data is neither PTX, cubin nor fatbin: first bytes {data[:16]!r}")


cpdef tuple code_targets(bytes data, str kind):
    """Name the architectures the code is for, each once: one of PTX and of a cubin, all of a fatbin."""
    cdef const unsigned char *image = data
    cdef const void *nul
    if kind == "cubin":
        return (cubin_target(image, len(data)),)
    if kind == "fatbin":
        entries = fatbin_entries(data)
        targets = dict.fromkeys([target for entry_kind, target in entries if entry_kind in ("ptx", "cubin")])
        if not targets:
            held = ", ".join([entry_kind for entry_kind, _ in entries])
            raise ValueError(f"fatbin holds neither PTX nor a cubin: {held or 'it is empty'}")
        return tuple(targets)
    if kind != "ptx":
        raise ValueError(f"kind must be 'ptx', 'cubin' or 'fatbin', not {kind!r}")
    # The driver is given no length: it would stop there and take half a program for the whole.
    nul = memchr(image, 0, len(data))
    if nul != NULL:
        raise ValueError(f"PTX has a NUL byte inside, at offset {<const unsigned char *>nul - image}")
    return (ptx_header(data)[1],)


cpdef list fatbin_entries(bytes data):
    """List (kind, target) of each entry: "ptx", "cubin", "lto" or, of a kind not known here, "kind 64"."""
    cdef const unsigned char *image = data
    cdef const unsigned char *entry
    cdef uint64_t size = len(data), total, start, header, payload
    cdef uint32_t kind
    cdef list entries = []
    if size < FATBIN_HEADER_BYTES:
        raise ValueError(f"fatbin is truncated: its header needs {FATBIN_HEADER_BYTES} bytes, {size} are there")
    if read_u32(image) != FATBIN_MAGIC:
        raise ValueError(f"fatbin must begin with 50 ED 55 BA: found {data[:4].hex(' ').upper()}")
    if read_u16(image + 4) != 1:
        raise ValueError(f"fatbin is of version {read_u16(image + 4)}: only version 1 is known")
    start = read_u16(image + 6)
    if start < FATBIN_HEADER_BYTES:
        raise ValueError(f"fatbin header claims to be {start} bytes long: it has at least {FATBIN_HEADER_BYTES}")
    total = end_of(start, read_u64(image + 8))
    if total > size:
        raise ValueError(f"fatbin is truncated: its header needs {total} bytes, {size} are there")
    while start < total:
        if total - start < FATBIN_ENTRY_BYTES:
            raise ValueError(f"fatbin is malformed: entry {len(entries)} at byte {start} needs {FATBIN_ENTRY_BYTES} "
                             f"bytes, {total - start} are left")
        entry = image + start
        kind, header, payload = read_u16(entry), read_u32(entry + 4), read_u64(entry + 8)
        if header < FATBIN_ENTRY_BYTES or end_of(header, payload) > total - start:
            raise ValueError(f"fatbin is malformed: entry {len(entries)} at byte {start} claims a header of {header} "
                             f"and code of {payload} bytes, {total - start} are left")
        entries.append((fatbin_kind(kind), fatbin_target(data, start, kind, header, payload)))
        start += header + payload
    return entries


cpdef tuple ptx_version(bytes data):
    """Read (major, minor) from the .version directive of PTX."""
    return ptx_header(data)[0]


cpdef tuple parse_target(object target):
    """Split "sm_90a", "compute_90", (9, 0) or (9, 0, "a") into major, minor and suffix ("", "a" or "f")."""
    if isinstance(target, str):
        match = _TARGET.fullmatch(target)
        if match:
            return int(match[1]), int(match[2]), match[3]
    elif isinstance(target, tuple):
        suffix = target[2] if len(target) == 3 else ""
        if len(target) in (2, 3) and suffix in ("", "a", "f"):
            major, minor = target[:2]
            if hasattr(major, "__index__") and hasattr(minor, "__index__") and 1 <= major <= 99 and 0 <= minor <= 9:
                return operator.index(major), operator.index(minor), suffix
    else:
        raise TypeError(f"a GPU architecture is a str or a tuple, not {type(target).__name__}")
    raise ValueError(f"{target!r} is no GPU architecture: write 'sm_90', 'sm_90a', 'compute_90' or (9, 0)")


cpdef str target_name(object target):
    """Write the architecture as "sm_90", "sm_90a" or "sm_100f"."""
    major, minor, suffix = parse_target(target)
    return f"sm_{major}{minor}{suffix}"


cpdef bint target_runs_on(str kind, object target, object capability) except -1:
    """Whether "ptx" or "cubin" code for the target runs on devices of the capability (its suffix says nothing)."""
    return target_obstacle(kind, target, capability) is None


# The rules are those of ptxas 12.9, 13.0 and 13.5, tried for each pair of target and GPU, and of the binary
# compatibility section of the CUDA programming guide. That guide also excludes Jetson from running cubins of other
# chips of its major version, which is not enforced here: the driver refuses, and the next variant is tried.
cpdef str target_obstacle(str kind, object target, object capability):
    """Say why "ptx" or "cubin" code for the target does not run on devices of the capability; None: it does."""
    major, minor, suffix = parse_target(target)
    device_major, device_minor, _ = parse_target(capability)
    device = f"this device has {device_major}.{device_minor}"
    if kind not in ("ptx", "cubin"):
        raise ValueError(f"kind must be 'ptx' or 'cubin', not {kind!r}: of a fatbin, ask for each entry")
    if kind == "ptx" and not suffix:
        if (major, minor) <= (device_major, device_minor):
            return None
        return f"needs compute capability {major}.{minor} or higher, {device}"
    major, minor = today(major, minor)
    device_major, device_minor = today(device_major, device_minor)
    if suffix == "a":
        if (major, minor) == (device_major, device_minor):
            return None
        return f"runs on compute capability {major}.{minor} only ('a' target), {device}"
    # A cubin for an 'f' target differs from the plain one in nothing but its notes.
    if major == device_major and minor <= device_minor:
        return None
    return f"runs on compute capability {major}.{minor} and higher of {major}.x only " \
        f"({'family target' if suffix else 'cubin'}), {device}"


cdef tuple today(object major, object minor):
    # CUDA 13 calls 11.0 what CUDA 12 called 10.1 and kept apart from 10.0 and 10.3: ptxas 13 takes sm_101f for sm_110.
    return (11, 0) if (major, minor) == (10, 1) else (major, minor)


cdef inline uint16_t read_u16(const unsigned char *at) noexcept nogil:
    cdef uint16_t value = 0
    memcpy(&value, at, sizeof(value))
    return value


cdef inline uint32_t read_u32(const unsigned char *at) noexcept nogil:
    cdef uint32_t value = 0
    memcpy(&value, at, sizeof(value))
    return value


cdef inline uint64_t read_u64(const unsigned char *at) noexcept nogil:
    cdef uint64_t value = 0
    memcpy(&value, at, sizeof(value))
    return value


cdef inline uint64_t end_of(uint64_t offset, uint64_t size) noexcept nogil:
    # Saturates: sizes come from the data, and a sum that wrapped around would pass every check.
    return offset + size if size <= UINT64_MAX - offset else UINT64_MAX


cdef Py_ssize_t skip_space(bytes data, Py_ssize_t start) except -1:
    cdef Py_ssize_t end = _SPACE.match(data, start).end()
    if data.startswith(b"/*", end):
        raise ValueError(f"PTX has a comment that never ends, from byte {end}")
    return end


cdef str excerpt(bytes data, Py_ssize_t start):
    return repr(_WORD.match(data, start)[0].decode("ascii", "replace")) if start < len(data) else "the end of the text"


cdef tuple ptx_header(bytes data):
    cdef Py_ssize_t start = skip_space(data, 0)
    version = _VERSION.match(data, start)
    if not version:
        raise ValueError(f"PTX must begin with .version and a number like 9.0: found {excerpt(data, start)}")
    start = skip_space(data, version.end())
    if not data.startswith(b".target", start):
        raise ValueError(f"PTX must name its .target after .version: found {excerpt(data, start)}")
    start = skip_space(data, start + len(b".target"))
    target = _PTX_TARGET.match(data, start)
    if not target:
        raise ValueError(f"PTX .target must name an architecture like sm_90 first: found {excerpt(data, start)}")
    return (int(version[1]), int(version[2])), target_name(target[1].decode())


cdef str architecture_name(uint32_t number, str suffix):
    if not 10 <= number <= 999:
        raise ValueError(f"architecture number {number} is no GPU's: 90 is that of sm_90")
    return f"sm_{number}{suffix}"


cdef str fatbin_kind(uint32_t kind):
    if kind == FATBIN_PTX:
        return "ptx"
    if kind == FATBIN_CUBIN or kind == FATBIN_CUBIN_MERCURY:
        return "cubin"
    return "lto" if kind == FATBIN_LTO_IR else f"kind {kind}"


cdef str fatbin_target(bytes data, uint64_t start, uint32_t kind, uint64_t header, uint64_t payload):
    # Code that is not compressed says more surely what it is for than its entry does.
    cdef const unsigned char *image = data
    cdef uint32_t number = read_u32(image + start + 28)
    cdef uint64_t flags = read_u64(image + start + 40)
    cdef uint64_t code = start + header
    if not flags & (FATBIN_LZ4 | FATBIN_ZSTD) and payload >= 4 and memcmp(image + code, b"\x7fELF", 4) == 0:
        try:
            return cubin_target(image + code, payload)
        except ValueError as error:
            raise ValueError(f"fatbin entry at byte {start}: {error}") from None
    if kind not in (FATBIN_PTX, FATBIN_CUBIN, FATBIN_CUBIN_MERCURY, FATBIN_LTO_IR):
        return f"sm_{number}"
    return architecture_name(number, "a" if flags & FATBIN_ACCELERATED else "f" if flags & FATBIN_FAMILY else "")


cdef str cubin_target(const unsigned char *image, uint64_t size):
    cdef uint32_t flags, number
    cdef bint accelerated
    if size < ELF_HEADER_BYTES:
        raise truncated_cubin(ELF_HEADER_BYTES, size)
    if memcmp(image, b"\x7fELF", 4) != 0:
        raise ValueError(f"cubin must begin with 7F 45 4C 46: found {image[:4].hex(' ').upper()}")
    if image[4] != 2 or image[5] != 1:
        raise ValueError("cubin must be 64-bit little-endian ELF (class 2, data 1): "
                         f"found class {image[4]}, data {image[5]}")
    if read_u16(image + 18) != EM_CUDA:
        raise ValueError(f"cubin must be ELF for machine {EM_CUDA} (CUDA): found machine {read_u16(image + 18)}"
                         + (", a program or library for the CPU" if read_u16(image + 18) in (62, 183) else ""))
    flags = read_u32(image + 48)
    if image[8] >= ABI_WITH_ARCHITECTURE_IN_BYTE_1:
        number = flags >> 8 & 0xFF
        accelerated = flags & ACCELERATED_SINCE_ABI_8 != 0
    else:
        number = flags & 0xFF
        accelerated = flags & ACCELERATED_BEFORE_ABI_8 != 0
    suffix = suffix_from_sections(image, size, number)
    return architecture_name(number, "a" if accelerated else suffix)


cdef object truncated_cubin(uint64_t needed, uint64_t size):
    return ValueError(f"cubin is truncated: its headers need {needed} bytes, {size} are there")


cdef bint is_named(const unsigned char *names, uint64_t size, uint64_t name, const char *wanted) noexcept nogil:
    cdef uint64_t length = strlen(wanted) + 1
    return name <= size and length <= size - name and memcmp(names + name, wanted, length) == 0


cdef str suffix_from_sections(const unsigned char *image, uint64_t size, uint32_t number):
    # Since CUDA 13 the flags of sm_90 and sm_90a, of sm_100, sm_100a and sm_100f are the same: .nv.compat marks 'a',
    # and only the command line of ptxas in .note.nv.tkinfo tells 'f' from a plain target.
    cdef uint64_t sections = read_u64(image + 40), segments = read_u64(image + 32)
    cdef uint64_t section_count = read_u16(image + 60), segment_count = read_u16(image + 56)
    cdef uint64_t section_stride = read_u16(image + 58), segment_stride = read_u16(image + 54)
    cdef uint64_t names_index = read_u16(image + 62), needed = ELF_HEADER_BYTES, index, names_size = 0, offset, extent
    cdef const unsigned char *names = NULL
    cdef const unsigned char *header
    cdef str suffix = ""
    if sections != 0 and section_stride < SECTION_HEADER_BYTES:
        raise ValueError(f"cubin has section headers of {section_stride} bytes: {SECTION_HEADER_BYTES} are the least")
    if segment_count != 0 and segment_stride < SEGMENT_HEADER_BYTES:
        raise ValueError(f"cubin has program headers of {segment_stride} bytes: {SEGMENT_HEADER_BYTES} are the least")
    if sections != 0:
        if end_of(sections, section_stride) > size:
            raise truncated_cubin(end_of(sections, section_stride), size)
        # Counts that do not fit 16 bits stand in the first section header.
        header = image + sections
        if section_count == 0:
            section_count = read_u64(header + 32)
        if names_index == SHN_XINDEX:
            names_index = read_u32(header + 40)
        if segment_count == PN_XNUM:
            segment_count = read_u32(header + 44)
    else:
        section_count = 0
    if section_count > size // SECTION_HEADER_BYTES or segment_count > size // SEGMENT_HEADER_BYTES:
        raise ValueError(f"cubin is truncated: {section_count} section and {segment_count} program headers do not fit "
                         f"the {size} bytes that are there")
    needed = max(needed, end_of(sections, section_count * section_stride),
                 end_of(segments, segment_count * segment_stride) if segment_count != 0 else 0)
    if needed > size:
        raise truncated_cubin(needed, size)
    for index in range(segment_count):
        header = image + segments + index * segment_stride
        needed = max(needed, end_of(read_u64(header + 8), read_u64(header + 32)))
    for index in range(section_count):
        header = image + sections + index * section_stride
        if index != 0 and read_u32(header + 4) != SHT_NOBITS:
            needed = max(needed, end_of(read_u64(header + 24), read_u64(header + 32)))
    if needed > size:
        raise truncated_cubin(needed, size)
    if names_index == 0 or names_index >= section_count:
        return suffix
    header = image + sections + names_index * section_stride
    if read_u32(header + 4) == SHT_NOBITS:
        return suffix
    names = image + read_u64(header + 24)
    names_size = read_u64(header + 32)
    for index in range(1, section_count):
        header = image + sections + index * section_stride
        if read_u32(header + 4) == SHT_NOBITS:
            continue
        offset, extent = read_u64(header + 24), read_u64(header + 32)
        if is_named(names, names_size, read_u32(header), b".nv.compat"):
            if is_accelerated(image + offset, extent):
                return "a"
        elif is_named(names, names_size, read_u32(header), b".note.nv.tkinfo"):
            match = re.search(rb"(?<!\w)sm_%d([af]?)(?!\w)" % number, image[offset:offset + extent])
            if match:
                suffix = match[1].decode()
    return suffix


cdef bint is_accelerated(const unsigned char *records, uint64_t size) noexcept nogil:
    cdef uint64_t at = 0
    while size >= 4 and at <= size - 4:
        if records[at + 1] == COMPAT_ACCELERATED and records[at] == COMPAT_FORMAT_BYTE:
            return records[at + 2] == 1
        at += 4 + (read_u16(records + at + 2) if records[at] == COMPAT_FORMAT_SIZED else 0)
    return False
