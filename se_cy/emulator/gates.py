# SPDX-License-Identifier: Apache-2.0
"""Driver calls that wait at their start."""
import operator
import os
import threading
import time
from functools import cache

from se_cy.emulator.library import encode_function, library


class Block:
    """Holds calls of one driver function at their start. Made by `block`; a context manager."""

    def __init__(self, function):
        name = encode_function(function)
        _release_when_main_thread_ends()
        self._function = function
        self._gate = library().se_cy_emulator_close_gate(name)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()

    def __repr__(self):
        return f"<block of {self._function}>"

    def wait_until_reached(self, count=1, timeout=60.0):
        """Wait until calls wait here.

        Parameters
        ----------
        count : int, default 1
            How many; at least 1.
        timeout : float, default 60.0
            Seconds; at least 0.

        Raises
        ------
        TimeoutError
            So many did not come in time.
        ValueError
            `count` or `timeout` is out of range.
        RuntimeError
            The calls are no longer held; or one was made by a thread that holds the GIL, and went on: nobody could
            have released it.
        """
        count = operator.index(count)
        if not 1 <= count < 1 << 63:
            raise ValueError(f"count is how many calls to wait for, 1 or more, not {count}")
        # NaN compares with nothing: a wait for it would never end.
        if not timeout >= 0:
            raise ValueError(f"timeout is a number of seconds, 0 or more, not {timeout!r}")
        end = time.monotonic() + timeout
        while True:
            # In parts, so that Ctrl-C is heard.
            seconds = min(max(end - time.monotonic(), 0.0), 0.1)
            answer = library().se_cy_emulator_wait_at_gate(self._gate, count, seconds)
            if answer == 1:
                return
            if answer == -1:
                raise RuntimeError(f"calls of {self._function} are not held any more")
            if answer == -2:
                raise RuntimeError(f"a call of {self._function} was made with the GIL held: it can't be held up")
            if time.monotonic() >= end:
                raise TimeoutError(f"fewer than {count} calls of {self._function} came in {timeout} seconds")

    def release(self):
        """Let the calls go on, and later ones too. May be called twice."""
        library().se_cy_emulator_open_gate(self._gate)


def block(function):
    """Hold calls of a driver function at their start, from now until the block is released.

    A held call has no lock of the emulated driver and not the GIL: other driver calls go on. A call by a thread that
    holds the GIL is let through. Every call is released when the main thread ends.

    Parameters
    ----------
    function : str
        Its name.

    Returns
    -------
    Block
        A context manager, with `wait_until_reached(count=1, timeout=60.0)` and `release()`.

    Raises
    ------
    ValueError
        The emulated driver has no such function.
    """
    return Block(function)


@cache
def _release_when_main_thread_ends():
    # The interpreter waits for threads before it runs exit handlers: a thread in a held call would keep it for ever.
    def release():
        threading.main_thread().join()
        library().se_cy_emulator_open_all_gates()

    os.register_at_fork(after_in_child=_release_when_main_thread_ends.cache_clear)
    threading.Thread(target=release, name="se_cy.emulator.block", daemon=True).start()
