# SPDX-License-Identifier: Apache-2.0
"""How other packages launch: a statement, and what its names stand for. All that can stay out of the loop does."""

import ctypes

from arguments import LENGTH, A, text


def cuda_core(ptx, name, count, pointers):
    """`cuda.core.launch`.

    Parameters
    ----------
    ptx : bytes
    name : str
        Of the kernel.
    count : int
        Of its arguments.
    pointers : dict

    Raises
    ------
    ImportError
    """
    import numpy as np
    from cuda.core import Device, LaunchConfig, ObjectCode, launch

    device = Device(0)
    device.set_current()
    names = {
        "launch": launch,
        "stream": device.create_stream(),
        "configuration": LaunchConfig(grid=1, block=LENGTH),
        "kernel": ObjectCode.from_ptx(ptx).get_kernel(name),
        "a": np.float32(A),
        "n": np.int32(LENGTH),
    }
    return f"launch(stream, configuration, kernel, {text(count, a='a')})", names | pointers


def cuda_bindings(function, stream, count, pointers):
    """`cuda.bindings.driver.cuLaunchKernel`, which packs a tuple of values by a tuple of ctypes types.

    Parameters
    ----------
    function, stream : int
        Handles.
    count : int
        Of the arguments.
    pointers : dict
    """
    from cuda.bindings import driver

    types = [ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    names = {
        "launch": driver.cuLaunchKernel,
        "function": driver.CUfunction(function),
        "stream": driver.CUstream(stream),
        "types": tuple(types[i % 5] for i in range(count)),
        "n": LENGTH,
    }
    values = f"({text(count)},)" if count else "()"
    return f"launch(function, 1, 1, 1, {LENGTH}, 1, 1, 0, stream, ({values}, types), 0)", names | pointers


def cupy(ptx_path):
    """A function of a `cupy.RawModule` with saxpy, over CuPy's own arrays and stream.

    Raises
    ------
    ImportError
    """
    import cupy
    import numpy as np

    stream = cupy.cuda.Stream(non_blocking=True)
    stream.use()
    names = {name: cupy.zeros(LENGTH, cupy.float32) for name in ("x", "y", "out")}
    names |= {
        "saxpy": cupy.RawModule(path=str(ptx_path)).get_function("saxpy"),
        "a": np.float32(A),
        "n": np.int32(LENGTH),
        "stream": stream,  # kept: the current stream is looked up by its handle
    }
    return f"saxpy((1,), ({LENGTH},), ({text(5, a='a')}))", names
