# SPDX-License-Identifier: Apache-2.0
"""What a call through vectorcall costs at least: the yardstick that launches are measured by."""

from pathlib import Path

from compiled import c_extension


def vectorcall():
    """The compiled vectorcall.c: its classes `Empty` and `DriverCall`."""
    return c_extension(Path(__file__).with_name("vectorcall.c"))


def cydriver_launch():
    """The capsule of cydriver's cuLaunchKernel, through which Cython modules call the driver: for `DriverCall`."""
    from cuda.bindings import cydriver

    return cydriver.__pyx_capi__["cuLaunchKernel"]
