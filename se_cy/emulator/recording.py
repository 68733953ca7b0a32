# SPDX-License-Identifier: Apache-2.0
"""A log of driver calls."""
import threading
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from se_cy.emulator.library import library

# Of CUlaunchAttributeID.
_CLUSTER_DIMENSION = 4
_ATTRIBUTE_NAMES = {
    0: "ignore",
    1: "access_policy_window",
    2: "cooperative",
    3: "synchronization_policy",
    _CLUSTER_DIMENSION: "cluster_dimension",
    5: "cluster_scheduling_policy_preference",
    6: "programmatic_stream_serialization",
    7: "programmatic_event",
    8: "priority",
    9: "mem_sync_domain_map",
    10: "mem_sync_domain",
    14: "preferred_shared_memory_carveout",
}


class Call(NamedTuple):
    """One driver call.

    Attributes
    ----------
    function : str
        Its name in ``cuda.h``, without a version.
    arguments : tuple of int
        In the order of ``cuda.h``; pointers and handles as numbers.
    thread : int
        The native id of the calling thread, as of `threading.get_native_id`.
    context : int
        The handle of the calling thread's current context; 0 without one.
    has_gil : bool
        Whether the caller held the GIL.
    kernel : str
        The kernel's name where the call launches one; else empty.
    parameters : tuple of bytes
        The value of each of the kernel's parameters at the time of the call.
    attributes : dict
        The attributes of a `cuLaunchKernelEx`, such as ``{"priority": -1, "cluster_dimension": (2, 1, 1)}``, by their
        names in ``cuda.h`` without the prefix; the number where the name is not known.
    """

    function: str
    arguments: tuple
    thread: int
    context: int
    has_gil: bool
    kernel: str
    parameters: tuple
    attributes: dict


class Recording(Sequence):
    """The calls of a recording, as `Call` objects: those so far while it goes on. Made by `record`."""

    def __init__(self):
        self._number = 0
        self._calls = []
        self._lock = threading.Lock()

    def __enter__(self):
        number = library().se_cy_emulator_begin_recording()
        if not number:
            raise RuntimeError("driver calls are being recorded already: one recording at a time")
        with self._lock:
            self._number = number
            self._calls = []
        return self

    def __exit__(self, *exception):
        library().se_cy_emulator_end_recording(self._number)
        self._take()

    def __len__(self):
        return len(self._take())

    def __getitem__(self, index):
        return self._take()[index]

    def __repr__(self):
        return f"<recording of {len(self)} driver calls>"

    def of(self, function):
        """Return the calls of one function, as a list."""
        return [call for call in self if call.function == function]

    @property
    def functions(self):
        """The function of each call, as a list."""
        return [call.function for call in self]

    def _take(self):
        from ctypes import byref

        with self._lock:
            recorded = _recorded_type()()
            while self._number and library().se_cy_emulator_take_recorded(self._number, byref(recorded)):
                self._calls.append(_call_of(recorded))
            return self._calls


def record():
    """Record driver calls, of every thread, while the block lasts.

    Returns
    -------
    Recording
        A context manager and a sequence of `Call`, which can be read inside the block and after it; `functions` is
        the list of their names, `of(function)` the calls of one. A call is in it once it has begun.

    Raises
    ------
    RuntimeError
        On entering: another recording is going on.
    """
    return Recording()


@cache
def _recorded_type():
    import ctypes

    class Recorded(ctypes.Structure):  # se_cy_emulator_call of control.h
        _fields_ = (
            ("function", ctypes.c_char_p),
            ("arguments", ctypes.POINTER(ctypes.c_int64)),
            ("argument_count", ctypes.c_size_t),
            ("thread", ctypes.c_int),
            ("has_gil", ctypes.c_int),
            ("context", ctypes.c_uint64),
            ("kernel", ctypes.c_char_p),
            ("parameters", ctypes.c_void_p),
            ("parameter_bytes", ctypes.POINTER(ctypes.c_uint32)),
            ("parameter_count", ctypes.c_size_t),
            ("attributes", ctypes.POINTER(ctypes.c_int64)),
            ("attribute_count", ctypes.c_size_t),
        )

    return Recorded


def _call_of(recorded):
    from ctypes import string_at

    sizes = recorded.parameter_bytes[:recorded.parameter_count]
    values = string_at(recorded.parameters, sum(sizes)) if sizes else b""
    parameters = []
    for size in sizes:
        parameters.append(values[:size])
        values = values[size:]
    return Call(recorded.function.decode(), tuple(recorded.arguments[:recorded.argument_count]), recorded.thread,
                recorded.context, bool(recorded.has_gil), recorded.kernel.decode(), tuple(parameters),
                _attributes_of(recorded))


def _attributes_of(recorded):
    numbers = recorded.attributes[:4 * recorded.attribute_count]
    attributes = {}
    for i in range(0, len(numbers), 4):
        number, *values = numbers[i:i + 4]
        value = tuple(values) if number == _CLUSTER_DIMENSION else values[0]
        attributes[_ATTRIBUTE_NAMES.get(number, number)] = value
    return attributes
