# SPDX-License-Identifier: Apache-2.0
"""In which order pending work runs, and who runs it."""
import operator
from contextlib import contextmanager

from se_cy.emulator.library import library


def seed(n=None):
    """Choose the order in which pending work runs, out of all orders that streams and events allow.

    By default work is late: a wait runs only what leads to it, in the order of the calls. With a seed each step of a
    wait runs a slice of any work of the process whose predecessors are done, so that a missing wait or an early free
    shows in different ways. The same seed and the same calls by one thread give the same order.

    Parameters
    ----------
    n : int, optional
        Taken modulo 2**64; None goes back to the default.
    """
    from ctypes import byref, c_uint64

    library().se_cy_emulator_seed(None if n is None else byref(c_uint64(operator.index(n))))


@contextmanager
def progress():
    """Run pending work in a thread of the emulated driver while the block lasts.

    For host code that polls page-locked memory and calls no driver function: without it nothing runs before a driver
    call waits.

    Raises
    ------
    RuntimeError
        The system has no thread left.
    """
    begun = library().se_cy_emulator_begin_progress()
    if not begun:
        raise RuntimeError("no thread can be started to run pending work")
    try:
        yield
    finally:
        library().se_cy_emulator_end_progress(begun)
