# SPDX-License-Identifier: Apache-2.0
"""Ways to ask again for a kernel that is loaded. Each makes a function that asks so many times: nanoseconds of one."""

import tempfile
import time
from pathlib import Path

import kernels
from gpu.map_of_text import MapOfText
from gpu.table import timed

NAME = "p5"
_COPIED_BYTES = 64_000_000  # that a burst's copies take at most, unless one alone takes more


def _timed(statement, names):
    """Statements in a loop."""
    return lambda count: timed(statement, count, names)()


def _timed_with_copies(ask, copy, nbytes):
    """Calls with a copy each, equal and new, so that nothing remembers its hash; making it is not timed."""

    def burst(count):
        copies = [copy() for _ in range(min(count, max(_COPIED_BYTES // nbytes, 1)))]
        start = time.perf_counter_ns()
        for one in copies:
            ask(one)
        return (time.perf_counter_ns() - start) / len(copies)

    return burst


def _cupy_source(nbytes):
    parameters = "float a, const float *x, const float *y, float *out, int n"
    kernel = f'extern "C" __global__ void {NAME}({parameters}) {{}}\n'
    return kernels.comments(nbytes - len(kernel)) + kernel


class Ways:
    """Each way over one piece of code of a size, or the source of it.

    Parameters
    ----------
    device : se_cy.Device
    nbytes : int
    """

    def __init__(self, device, nbytes):
        import se_cy

        self.nbytes = nbytes
        self.ptx = kernels.ptx(5, nbytes)
        self.KernelLoaderSpec, self.create_kernel = se_cy.KernelLoaderSpec, device.create_kernel
        self.code = se_cy.Code(self.ptx)
        self.spec = se_cy.KernelLoaderSpec(NAME).add_ptx(self.code)
        self.kernel = device.create_kernel(self.spec)

    def se_cy_spec(self):
        return _timed("create_kernel(spec)", {"create_kernel": self.create_kernel, "spec": self.spec})

    def se_cy_new_spec(self):
        return _timed(f'create_kernel(KernelLoaderSpec("{NAME}").add_ptx(code))', {
            "create_kernel": self.create_kernel, "KernelLoaderSpec": self.KernelLoaderSpec, "code": self.code})

    def se_cy_equal_copy(self):
        return _timed_with_copies(lambda ptx: self.create_kernel(self.KernelLoaderSpec(NAME).add_ptx(ptx)),
                                  lambda: bytes(bytearray(self.ptx)), self.nbytes)

    def map_of_text(self):
        cache, function = MapOfText(), self.kernel.handle
        cache.enter(self.ptx, function)
        return lambda count: cache.look_up(self.ptx, function, count)

    def cupy_module_kept(self):
        import cupy

        # From a file, the only way in which CuPy takes PTX.
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "kernel.ptx"
        path.write_bytes(self.ptx)
        module = cupy.RawModule(path=str(path))
        return _timed(f'module.get_function("{NAME}").kernel', {"module": module})

    def cupy_same_source(self):
        import cupy

        return _timed(f'RawModule(code=source).get_function("{NAME}").kernel', {
            "RawModule": cupy.RawModule, "source": _cupy_source(self.nbytes)})

    def cupy_equal_copy(self):
        import cupy

        source = _cupy_source(self.nbytes).encode()
        return _timed_with_copies(lambda text: cupy.RawModule(code=text).get_function(NAME).kernel,
                                  source.decode, self.nbytes)

    def cuda_core_module_kept(self):
        return _timed(f'module.get_kernel("{NAME}")', {"module": _object_code().from_ptx(self.ptx)})

    def cuda_core_from_ptx(self):
        return _timed(f'ObjectCode.from_ptx(ptx).get_kernel("{NAME}")', {
            "ObjectCode": _object_code(), "ptx": self.ptx})


def _object_code():
    from cuda.core import Device, ObjectCode

    Device(0).set_current()
    return ObjectCode


# The order of a legend: how each is written, what it asks.
TITLES = {
    "se_cy_spec": "se_cy: create_kernel(spec)",
    "se_cy_new_spec": "se_cy: new spec, known Code",
    "se_cy_equal_copy": "se_cy: new spec, equal copy of the bytes",
    "map_of_text": "C++: std::map<std::string>",
    "cupy_module_kept": "CuPy: get_function of a kept RawModule",
    "cupy_same_source": "CuPy: new RawModule, same str",
    "cupy_equal_copy": "CuPy: new RawModule, equal copy of the str",
    "cuda_core_module_kept": "cuda.core: get_kernel of a kept ObjectCode",
    "cuda_core_from_ptx": "cuda.core: new ObjectCode from the bytes",
}
