# SPDX-License-Identifier: Apache-2.0
"""Control of the emulated CUDA driver, once `se_cy.use_emulator()` has made it this process's driver.

Functions of the driver go by their names in ``cuda.h``; a version suffix does not matter: "cuMemAlloc" is also
"cuMemAlloc_v2".
"""
import operator
import os
import re
from functools import cache

__all__ = ["calls", "clear_failures", "configure", "fail", "last_fault", "library_path", "live", "parse_devices"]

_KINDS = ("contexts", "modules", "functions", "streams", "events", "allocations", "host_allocations")
_CAPABILITY = re.compile(r"(?:sm_)?(\d{1,2})\.?(\d)")


def library_path():
    """Return the path of the emulated driver's library.

    Returns
    -------
    str
        A shared library whose soname is ``libcuda.so.1``.
    """
    # An editable install keeps what was compiled elsewhere; only the import system knows where.
    from importlib.resources import files

    return os.fspath(files(__name__).joinpath("libse_cy_emulator.so"))


def parse_devices(devices):
    """Turn what `use_emulator` is given into the emulated driver's own description.

    Parameters
    ----------
    devices : int, sequence or None
        How many devices of compute capability 9.0; or the capability of each, as "9.0", "sm_90" or (9, 0). None is 1.

    Returns
    -------
    str
        Such as "9.0,8.0".

    Raises
    ------
    ValueError
        `devices` names no device, or something that is no compute capability.
    TypeError
        `devices` is neither a number nor a sequence.
    """
    if devices is None:
        devices = 1
    if isinstance(devices, str):
        raise TypeError(f"devices is a number or a sequence such as [{devices!r}], not a string")
    try:
        count = operator.index(devices)
    except TypeError:
        capabilities = [_parse_capability(device) for device in devices]
    else:
        capabilities = ["9.0"] * count
    if not 1 <= len(capabilities) <= 64:
        raise ValueError(f"1 to 64 emulated devices are possible, not {devices!r}")
    return ",".join(capabilities)


def _parse_capability(device):
    if isinstance(device, str):
        match = _CAPABILITY.fullmatch(device)
        if match is None:
            raise ValueError(f"{device!r} is no compute capability: write it as '9.0', 'sm_90' or (9, 0)")
        return f"{int(match[1])}.{match[2]}"
    major, minor = (operator.index(part) for part in device)
    if not (0 < major < 100 and 0 <= minor < 10):
        raise ValueError(f"{device!r} is no compute capability")
    return f"{major}.{minor}"


@cache
def _library():
    # The standard library's loader, and only when it is needed: importing se_cy must not pay for it.
    import ctypes

    try:
        library = ctypes.CDLL(library_path(), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        raise RuntimeError("the emulated driver is not in use: call se_cy.use_emulator() first") from None
    library.se_cy_emulator_configure.argtypes = [ctypes.c_char_p]
    library.se_cy_emulator_fail.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_int]
    library.se_cy_emulator_clear_failures.restype = None
    library.se_cy_emulator_calls.argtypes = [ctypes.c_char_p]
    library.se_cy_emulator_calls.restype = ctypes.c_uint64
    library.se_cy_emulator_live.argtypes = [ctypes.c_char_p]
    library.se_cy_emulator_live.restype = ctypes.c_uint64
    library.se_cy_emulator_last_fault.restype = ctypes.c_char_p
    return library


def configure(description):
    """Choose the devices, before anything initialises the driver.

    Parameters
    ----------
    description : str
        What `parse_devices` returned; a name may follow each capability: "9.0:first,8.0".

    Raises
    ------
    RuntimeError
        The driver is initialised with other devices, or the description can't be read.
    """
    if _library().se_cy_emulator_configure(description.encode()) != 0:
        raise RuntimeError(f"the emulated driver can't have the devices {description!r}: it is in use with others, "
                           "or the description is wrong")


def fail(function, nth=1, status=2, always=False):
    """Make a driver function fail.

    Parameters
    ----------
    function : str
        Its name, such as "cuModuleLoadData".
    nth : int, default 1
        Which call from now fails; 1 is the next.
    status : int, default 2
        The CUresult it answers; CUDA_ERROR_OUT_OF_MEMORY by default.
    always : bool, default False
        Whether every later call fails too.
    """
    nth = operator.index(nth)
    if nth < 1:
        raise ValueError(f"nth is 1 for the next call, not {nth}")
    if not operator.index(status):
        raise ValueError("status 0 is no failure")
    _library().se_cy_emulator_fail(function.encode(), nth, operator.index(status), bool(always))


def clear_failures():
    """Forget every failure asked for by `fail`."""
    _library().se_cy_emulator_clear_failures()


def calls(function=None):
    """Return how often a driver function was called in this process, failed calls included.

    Parameters
    ----------
    function : str, optional
        Its name; all functions together if not given.

    Returns
    -------
    int
    """
    return _library().se_cy_emulator_calls(None if function is None else function.encode())


def live(kind):
    """Return how many things of a kind the driver holds.

    Parameters
    ----------
    kind : {"contexts", "modules", "functions", "streams", "events", "allocations", "host_allocations"}

    Returns
    -------
    int
    """
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is none of {', '.join(_KINDS)}")
    return _library().se_cy_emulator_live(kind.encode())


def last_fault():
    """Return what went wrong in the last kernel or copy that faulted, or why a kernel can't run here.

    Returns
    -------
    str
        Kernel, thread, address and the nearest allocation; empty if nothing faulted.
    """
    return _library().se_cy_emulator_last_fault().decode(errors="replace")
