# SPDX-License-Identifier: Apache-2.0
"""The emulated driver's library, and the names of the functions that it has."""
import os
from functools import cache


def library_path():
    """Return the path of the emulated driver's library.

    Returns
    -------
    str
        A shared library whose soname is ``libcuda.so.1``.
    """
    # An editable install keeps what was compiled elsewhere; only the import system knows where.
    from importlib.resources import files

    return os.fspath(files("se_cy.emulator").joinpath("libse_cy_emulator.so"))


@cache
def library():
    """Return the loaded library with the prototypes of control.h.

    Raises
    ------
    RuntimeError
        The emulated driver is not in use.
    """
    # The standard library's loader, and only when it is needed: importing se_cy must not pay for it.
    from ctypes import CDLL, POINTER, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint64, c_void_p

    try:
        loaded = CDLL(library_path(), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        raise RuntimeError("the emulated driver is not in use: call se_cy.use_emulator() first") from None
    for name, result, *arguments in (
        ("configure", c_int, c_char_p),
        ("set_driver_version", c_int, c_int),
        ("reset", None),
        ("implements", c_int, c_char_p),
        ("function", c_char_p, c_size_t),
        ("fail", c_int, c_char_p, c_uint64, c_int, c_int),
        ("clear_failures", None),
        ("calls", c_uint64, c_char_p),
        ("hide", c_int, c_char_p),
        ("close_gate", c_uint64, c_char_p),
        ("wait_at_gate", c_int, c_uint64, c_uint64, c_double),
        ("open_gate", None, c_uint64),
        ("open_all_gates", None),
        ("begin_recording", c_uint64),
        ("end_recording", None, c_uint64),
        ("take_recorded", c_int, c_uint64, c_void_p),
        ("kind", c_char_p, c_size_t),
        ("live", c_uint64, c_char_p),
        ("last_fault", c_char_p),
        ("explanation", c_char_p),
        ("seed", None, POINTER(c_uint64)),
        ("begin_progress", c_uint64),
        ("end_progress", None, c_uint64),
        ("claim_registers", c_int, c_char_p, c_uint),
    ):
        function = getattr(loaded, f"se_cy_emulator_{name}")
        function.restype = result
        function.argtypes = arguments
    return loaded


def names_of(function):
    """Return what ``function(0)``, ``function(1)`` and so on name, up to the first that is None."""
    names = []
    while (name := function(len(names))) is not None:
        names.append(name.decode())
    return tuple(names)


def encode_function(function, *, is_controlled=True):
    """Return the name of a driver function as bytes.

    Parameters
    ----------
    function : str
    is_controlled : bool
        Whether its calls must be ones that are counted, and can fail and wait.

    Raises
    ------
    ValueError
        The emulated driver has no such function; names that are like it are in the message.
    TypeError
        It is no str.
    """
    if not isinstance(function, str):
        raise TypeError(f"a driver function goes by its name, such as 'cuMemAlloc': "
                        f"got {function!r} of type {type(function).__name__}")
    # C would take what comes before a NUL character for the whole name.
    name = function.encode() if function.isascii() and function.isidentifier() else b""
    answer = library().se_cy_emulator_implements(name)
    if not answer:
        from difflib import get_close_matches

        matches = get_close_matches(function, names_of(library().se_cy_emulator_function), cutoff=0.75)
        hint = f": did you mean {' or '.join(matches)}?" if matches else ""
        raise ValueError(f"the emulated driver has no function {function!r}{hint}")
    if is_controlled and answer == 2:
        raise ValueError(f"{function} only reads a table: its calls are not counted and can't fail or wait")
    return name
