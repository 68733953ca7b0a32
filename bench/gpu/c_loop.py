# SPDX-License-Identifier: Apache-2.0
"""The loop of c_loop.c, over one function and its arguments."""

import ctypes
from pathlib import Path

from arguments import LENGTH, A
from compiled import shared_library


class CLoop:
    """Launches in C what the Python statements launch.

    Parameters
    ----------
    function : int
        The handle of a saxpy.
    pointers : dict
    count : int
        Launches in a burst.
    """

    def __init__(self, function, pointers, count):
        library = ctypes.CDLL(str(shared_library(Path(__file__).with_name("c_loop.c"))))
        self._burst, self._make_current = library.burst, library.make_current
        self._burst.restype = ctypes.c_longlong
        self._burst.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_float, *[ctypes.c_uint64] * 3,
                                ctypes.c_int, ctypes.c_int]
        self._function, self._pointers, self._count = function, tuple(pointers.values()), count
        self._check(library.open_driver())

    def on(self, stream):
        """A function that runs a burst on a stream, given by its handle, and returns nanoseconds of one launch."""

        def burst():
            nanoseconds = self._burst(self._function, stream, A, *self._pointers, LENGTH, self._count)
            self._check(min(nanoseconds, 0))
            return nanoseconds / self._count

        return burst

    def make_current(self):
        """Make the primary context the thread's current one, as it is in a program that uses torch or CuPy."""
        self._check(self._make_current())

    @staticmethod
    def _check(status):
        if status != 0:
            raise RuntimeError(f"the C loop failed: the driver answered {abs(status)}")
