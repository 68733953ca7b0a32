# SPDX-License-Identifier: Apache-2.0
"""Whether this process looks for faults of its launches, at the price of speed: SE_CY_DEBUG.

Floor 0. One number, read from the environment at import and constant from then on.
"""
import os

cdef str _asked = os.environ.get("SE_CY_DEBUG", "")
if _asked not in ("", "0", "1"):
    raise ValueError(f"SE_CY_DEBUG can be '1', or '0' or unset for no debug mode; it is {_asked!r}")
enabled = _asked == "1"
