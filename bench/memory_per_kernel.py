# SPDX-License-Identifier: Apache-2.0
"""Host memory of one cached kernel beside its module, on the driver that does nothing.

    python bench/memory_per_kernel.py

Counts what malloc has given out, its own 16 bytes for each block included; Python's allocator is told to take each
object from there. Exits with 1 if a kernel takes more than 256 bytes without its name and 16 for each parameter.
"""

import ctypes
import os
import subprocess
import sys

MOST_BYTES, MOST_PER_PARAMETER = 256, 16
COUNTS = 1_000, 10_000, 100_000
PARAMETERS = 0, 1, 5, 16, 64


class MallocInfo(ctypes.Structure):
    """glibc's struct mallinfo2: bytes in use are those in arenas and those mapped for one block alone."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def measure(count, parameters):
    """Print bytes a kernel of `count` kernels of one module that are held, and of the same once nobody holds them."""
    import null_driver

    null_driver.use()
    import kernels

    import se_cy

    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = MallocInfo

    def in_use():
        info = mallinfo()
        return info.uordblks + info.hblkhd

    create_kernel = se_cy.Device(0).create_kernel
    first = se_cy.KernelLoaderSpec(f"p{parameters}").add_ptx(kernels.ptx(parameters))
    # Names are made here, and the list has its length: neither is counted.
    specs = [first.named(f"p{parameters}_{i}") for i in range(count)]
    held = [None] * count
    create_kernel(first)
    before = in_use()
    for i, spec in enumerate(specs):
        held[i] = create_kernel(spec)
    with_objects = in_use()
    for i in range(count):
        held[i] = None
    print((with_objects - before) / count, (in_use() - before) / count)


def each(count, parameters):
    """The same two numbers, from a process whose every block comes from malloc."""
    done = subprocess.run([sys.executable, __file__, str(count), str(parameters)], capture_output=True, text=True,
                          env=os.environ | {"PYTHONMALLOC": "malloc"})
    if done.returncode:
        raise RuntimeError(done.stderr)
    return map(float, done.stdout.split())


def main():
    print(f"{'kernels':>8} {'parameters':>11} {'held':>8} {'of it, the cache':>17} {'held, less 16 each':>19}")
    is_small = True
    for parameters in PARAMETERS:
        for count in COUNTS:
            held, kept = each(count, parameters)
            beside = held - MOST_PER_PARAMETER * parameters
            is_small &= beside <= MOST_BYTES
            print(f"{count:8,} {parameters:11} {held:8.1f} {kept:17.1f} {beside:19.1f}", flush=True)
    return 0 if is_small else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(int(sys.argv[1]), int(sys.argv[2]))
    else:
        sys.exit(main())
