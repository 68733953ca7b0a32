# SPDX-License-Identifier: Apache-2.0
"""Makes the driver whose calls return at once the one that this process uses."""

import ctypes
from pathlib import Path

from compiled import shared_library

_SOURCE = Path(__file__).with_name("null_driver.c")


def use():
    """Load it, before anything has loaded a driver: who asks for libcuda.so.1 later finds what has that soname.

    Raises
    ------
    RuntimeError
        Another driver was loaded before.
    """
    path = shared_library(_SOURCE, "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1")
    ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    import se_cy

    found = se_cy.driver_info().library
    if found != str(path):
        raise RuntimeError(f"a driver was loaded before: {found}")
