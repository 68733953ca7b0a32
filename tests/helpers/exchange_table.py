# SPDX-License-Identifier: Apache-2.0
"""Tensor types of packages that are not there: pointers that say which stream their package has current."""

import ctypes
import types

_STREAM_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class _Table(ctypes.Structure):
    pass


_Table._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("previous", ctypes.POINTER(_Table)),
    ("conversions", ctypes.c_void_p * 4),
    ("current_work_stream", _STREAM_CALL),
]


class Package:
    """A package whose tensors have DLPack's C exchange table.

    Parameters
    ----------
    name : str
    major : int
        Of the table's version.
    previous : Package, optional
        Whose table stands behind this one, for those who know no newer version.
    """

    def __init__(self, name, major=1, previous=None):
        self.current = 0
        self.asked = []  # (device type, device) of each question
        self._call = _STREAM_CALL(self._answer)
        self._table = _Table(major, 3)
        if previous is not None:
            self._table.previous = ctypes.pointer(previous._table)
        self._table.current_work_stream = self._call
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._name = b"dlpack_exchange_api"
        capsule = new(ctypes.addressof(self._table), self._name, None)
        # An int is passed as a pointer, so that a launch reads no memory that is not there.
        self.tensor = type("Tensor", (int,), {"__module__": name, "__dlpack_c_exchange_api__": capsule})

    def _answer(self, device_type, device, cu_stream):
        self.asked.append((device_type, device))
        cu_stream[0] = self.current
        return 0


def package_without_table(name, current):
    """A module of that name, torch or cupy, and its tensor type; `current(ordinal)` is its current stream's handle."""
    module = types.ModuleType(name)
    if name == "torch":
        module.cuda = types.SimpleNamespace(
            current_stream=lambda ordinal: types.SimpleNamespace(cuda_stream=current(ordinal)))
    else:
        module.cuda = types.SimpleNamespace(
            get_current_stream=lambda ordinal: types.SimpleNamespace(ptr=current(ordinal)))
    return module, type("Tensor", (int,), {"__module__": f"{name}.core"})
