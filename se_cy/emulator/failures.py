# SPDX-License-Identifier: Apache-2.0
"""Driver calls that are counted, fail on demand, or can't be found."""
import operator

from se_cy.emulator.library import encode_function, library

_ALWAYS = 1
_STICKY = 2


def fail(function, nth=1, status=2, always=False, sticky=False):
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
    sticky : bool, default False
        Whether the context in use is lost with the call, as by a device fault: everything in it answers `status` from
        then on. That is the thread's current context; without one, the context of a handle among the arguments;
        without that, every context.

    Raises
    ------
    ValueError
        The emulated driver has no such function, or `nth` or `status` is out of range.
    """
    nth, status = operator.index(nth), operator.index(status)
    if not 1 <= nth < 1 << 63:
        raise ValueError(f"nth is 1 for the next call, not {nth}")
    if not 1 <= status < 1 << 31:
        raise ValueError(f"status {status} is no failure")
    mode = (_ALWAYS if always else 0) | (_STICKY if sticky else 0)
    library().se_cy_emulator_fail(encode_function(function), nth, status, mode)


def clear_failures():
    """Forget every failure asked for by `fail`. A context that is lost stays lost."""
    library().se_cy_emulator_clear_failures()


def calls(function=None):
    """Return how often a driver function was called in this process, failed calls included.

    Parameters
    ----------
    function : str, optional
        Its name; all functions together if not given.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        The emulated driver has no such function.
    """
    return library().se_cy_emulator_calls(None if function is None else encode_function(function))


def hide(*functions):
    """Make `cuGetProcAddress` find no such functions, as in a driver that lacks them.

    cuda-python asks for all entry points at once, with its first driver call: call this right after `use_emulator`.

    Parameters
    ----------
    *functions : str
        Their names.

    Raises
    ------
    RuntimeError
        One was asked for already, so that whoever asked can still call it. None of them is hidden then.
    ValueError
        The emulated driver has no such function.
    """
    names = [encode_function(function, is_controlled=False) for function in functions]
    for name in names:
        if library().se_cy_emulator_hide(name):
            raise RuntimeError(f"{name.decode()} was asked for already: hide it before the first driver call")
