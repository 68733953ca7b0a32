# SPDX-License-Identifier: Apache-2.0
"""The module cache of map_of_text.cpp, keyed by the text of the code."""

import ctypes
from pathlib import Path

from compiled import shared_library


class MapOfText:
    """Finds functions by text, in C++.

    Raises
    ------
    NotImplementedError
        There is no C++ compiler.
    """

    def __init__(self):
        self._library = ctypes.CDLL(str(shared_library(Path(__file__).with_name("map_of_text.cpp"), "-std=c++17")))
        self._library.enter.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
        self._library.enter.restype = None
        self._library.look_up.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_longlong]
        self._library.look_up.restype = ctypes.c_longlong

    def enter(self, text, function):
        """Enter a function by the text of its code."""
        self._library.enter(text, None, function)

    def look_up(self, text, function, count):
        """Find it so many times; nanoseconds of one."""
        nanoseconds = self._library.look_up(text, function, count)
        if nanoseconds < 0:
            raise RuntimeError("the map did not hold the function")
        return nanoseconds / count
