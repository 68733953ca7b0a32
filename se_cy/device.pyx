# SPDX-License-Identifier: Apache-2.0
"""Device: the façade over one GPU; creates what the floors above offer and owns its module cache.

Floor 5. One object per ordinal, for the life of the process; may be shared by threads.
"""
import operator
import uuid as _uuid
from typing import NamedTuple

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUcontext, CUdevice, CUdevice_attribute, CUresult, CUuuid

from se_cy.code.interned cimport KIND_CUBIN, Code, intern_code
from se_cy.code.jit_options cimport read_jit_options
from se_cy.code.loaded cimport LoadedModule
from se_cy.code.modules cimport ModuleCache, module_cache
from se_cy.code.spec cimport KernelLoaderSpec
from se_cy.driver.context cimport PrimaryContext, device_attribute, enter, leave, primary_context
from se_cy.driver.guards cimport guard
from se_cy.driver.library cimport ensure_driver
from se_cy.driver.status cimport check
from se_cy.launch.kernel cimport kernel_of
from se_cy.launch.module cimport module_over
from se_cy.memory cimport allocate, copy_to_device
from se_cy.slots cimport newfunc, se_cy_set_new
from se_cy.stream cimport Stream, create_stream, legacy_default_stream

from se_cy.driver.library import driver_info
from se_cy.driver.status import CudaError, DriverNotFoundError, ModuleUnloadedError

cdef dict _ordinal_to_device = {}

cdef dict _attribute_numbers = {
    "multiprocessor_count": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    "warp_size": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE,
    "clock_rate": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
    "max_threads_per_block": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    "max_threads_per_multiprocessor": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
    "max_registers_per_block": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
    "max_shared_bytes_per_block": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
    "max_shared_bytes_per_block_opt_in":
        <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    "l2_bytes": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
    "supports_cooperative_launch": <int>CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
}


class DeviceAttributes(NamedTuple):
    """What `Device.attributes` answers (`cuDeviceGetAttribute`); sizes in bytes, the clock rate in kHz."""

    multiprocessor_count: int
    warp_size: int
    clock_rate: int
    max_threads_per_block: int
    max_threads_per_multiprocessor: int
    max_registers_per_block: int
    max_shared_bytes_per_block: int
    max_shared_bytes_per_block_opt_in: int
    l2_bytes: int
    supports_cooperative_launch: int


class MemoryInfo(NamedTuple):
    """What `Device.memory_info` answers (`cuMemGetInfo`), in bytes."""

    free: int
    total: int


cdef int _count() except -1:
    cdef int count = 0
    ensure_driver()
    check(cydriver.cuDeviceGetCount(&count), "cuDeviceGetCount")
    return count


cdef str _name_of(int ordinal):
    cdef char[256] name
    check(cydriver.cuDeviceGetName(name, sizeof(name), <CUdevice>ordinal), "cuDeviceGetName")
    return (<bytes>(<char *>name)).decode("utf-8", "replace")


@cython.final
cdef class Device:
    """One GPU: ``Device(0)``. The same object for the same ordinal.

    Nothing is set up on the GPU before something is created on it: then its primary context is retained, the one that
    torch, CuPy and the CUDA runtime use too. The calling thread's current context is never changed.

    Parameters
    ----------
    ordinal : int
        As the driver counts, which is among the devices that CUDA_VISIBLE_DEVICES leaves.

    Attributes
    ----------
    name : str
        The driver's name for it, such as "NVIDIA H200" (`cuDeviceGetName`).
    modules : ModuleCache
        What it has loaded.

    Raises
    ------
    DriverNotFoundError
        No CUDA driver, or one older than 12.4.
    ValueError
        No device of that ordinal.
    """

    cdef PrimaryContext context
    cdef readonly ModuleCache modules
    cdef Stream default_stream_
    cdef readonly str name

    @staticmethod
    def count():
        """How many devices the driver sees; 0 without a driver or a device."""
        try:
            return _count()
        except DriverNotFoundError:
            return 0
        except CudaError as error:
            if error.status == <int>CUresult.CUDA_ERROR_NO_DEVICE:
                return 0
            raise

    @staticmethod
    def current():
        """The device of the calling thread's current context, or device 0 where there is none."""
        cdef CUcontext context = NULL
        cdef CUdevice ordinal = 0
        ensure_driver()
        check(cydriver.cuCtxGetCurrent(&context), "cuCtxGetCurrent")
        if context != NULL:
            check(cydriver.cuCtxGetDevice(&ordinal), "cuCtxGetDevice")
        return Device(<int>ordinal)

    @property
    def ordinal(self):
        return self.context.ordinal

    @property
    def uuid(self):
        """A `uuid.UUID`, the same in all processes (`cuDeviceGetUuid`)."""
        cdef CUuuid value
        guard()
        check(cydriver.cuDeviceGetUuid(&value, <CUdevice>self.context.ordinal), "cuDeviceGetUuid")
        return _uuid.UUID(bytes=(<char *>&value)[:16])

    @property
    def compute_capability(self):
        """(major, minor), such as (9, 0)."""
        return self.context.major, self.context.minor

    @property
    def arch(self):
        """The compute capability as compilers write it, such as "sm_90"."""
        return f"sm_{self.context.major}{self.context.minor}"

    @property
    def attributes(self):
        """Sizes and limits: a `DeviceAttributes`."""
        return DeviceAttributes(*[
            device_attribute(self.context.ordinal, _attribute_numbers[field]) for field in DeviceAttributes._fields])

    @property
    def is_emulated(self):
        """True on se_cy's emulated driver."""
        return driver_info().is_emulated

    @property
    def handle(self):
        """The `CUdevice` as an int."""
        return self.context.ordinal

    def memory_info(self):
        """Free and total memory (`cuMemGetInfo`).

        Returns
        -------
        MemoryInfo
        """
        cdef size_t free = 0
        cdef size_t total = 0
        cdef CUresult status
        self.context.ensure()
        entered = enter(self.context)
        try:
            with nogil:
                status = cydriver.cuMemGetInfo(&free, &total)
            check(status, "cuMemGetInfo")
        finally:
            leave(entered)
        return MemoryInfo(free, total)

    def create_kernel(self, KernelLoaderSpec spec not None):
        """The spec's kernel on this device: its code is loaded at most once.

        Parameters
        ----------
        spec : KernelLoaderSpec

        Returns
        -------
        Kernel
            The same object while one lives.

        Raises
        ------
        NoVariantError
            The spec has no code for this device.
        KernelNotFoundError
            The code has no kernel of that name; the message lists those it has.
        JitError
            The driver could not load the code; `.log` has its reasons. Nothing is left in the cache.
        """
        cdef LoadedModule module = self.modules.module_of(spec)
        try:
            return kernel_of(module, spec.name)
        except ModuleUnloadedError:
            if not module.is_unloaded:
                raise
        # Cleared by another thread between the two: the next attempt loads anew.
        return self.create_kernel(spec)

    def load(self, code, *, shared=True, options=None):
        """Load code, or find it loaded.

        Parameters
        ----------
        code : Code, or what `Code` takes
        shared : bool
            The module is the one that all get who ask for the same code and options on this device, with the same
            global variables. False loads one that is the caller's own, and unloaded at the next `synchronize` or
            `clear` after it and its kernels were dropped.
        options : mapping, optional
            What is asked of the driver's compiler for PTX: ``max_registers`` (per thread, 1 to 255),
            ``optimization_level`` (0 to 4, the default), ``line_info`` (bool), ``cache_mode`` ("ca" or "cg"). The same
            code with other options is another module. A cubin is compiled already: they change nothing there.

        Returns
        -------
        Module

        Raises
        ------
        JitError
            The driver could not load it. Nothing is left in the cache.
        ValueError, TypeError
            `code` is not code, or `options` has something that is no option or no value of it.
        """
        cdef Code piece = intern_code(code, None)
        cdef tuple jit_options = read_jit_options(options)
        if piece.c_kind == KIND_CUBIN:
            jit_options = ()
        self.modules.follow_context()
        if shared:
            return module_over(self.modules.module_of_code(piece, jit_options))
        return module_over(self.modules.load_own(piece, jit_options))

    def preload(self, *specs):
        """Load the code of specs, and every function of it (`cuFuncLoad`), so that no launch loads anything.

        The driver may load a function at its first launch, and wait for the device then: behind a kernel that never
        ends, for ever.

        Parameters
        ----------
        *specs : KernelLoaderSpec
        """
        cdef KernelLoaderSpec spec
        for spec in specs:
            self.modules.module_of(spec).load_functions()

    def clear(self, wait=True):
        """Unload every module. Their kernels raise `ModuleUnloadedError` from now on.

        Parameters
        ----------
        wait : bool
            Unload now, which waits for all work of the context; else at the next `clear` or `synchronize`.
        """
        guard()
        self.modules.clear(wait)

    def create_stream(self, *, non_blocking=False, priority=0):
        """Create a stream (`cuStreamCreateWithPriority`).

        Parameters
        ----------
        non_blocking : bool
            Free of the legacy default stream's implicit order: neither waits for the other.
        priority : int
            Lower numbers run first; the driver clamps to what the device has.

        Returns
        -------
        Stream
        """
        return create_stream(self.context, non_blocking, operator.index(priority))

    @property
    def default_stream(self):
        """The legacy default stream: what work without a stream goes to."""
        if self.default_stream_ is None:
            self.default_stream_ = legacy_default_stream(self.context)
        return self.default_stream_

    def allocate(self, shape, dtype, *, Stream stream=None):
        """Allocate memory; its content is undefined.

        Parameters
        ----------
        shape : int or tuple of int
        dtype : numpy.dtype or what it takes
        stream : Stream, optional
            Allocate, copy and free in this stream's order (`cuMemAllocAsync`); else `cuMemAlloc`.

        Returns
        -------
        DeviceMemory

        Raises
        ------
        OutOfMemoryError
            The device has not that much memory free.
        """
        return allocate(self.context, shape, dtype, stream)

    def to_device(self, array, *, Stream stream=None):
        """Allocate memory and copy a host array into it, and wait for the copy.

        Parameters
        ----------
        array : array_like
        stream : Stream, optional
            As for `allocate`.

        Returns
        -------
        DeviceMemory
            Of the array's shape and dtype, C-contiguous.
        """
        return copy_to_device(self.context, array, stream)

    def synchronize(self):
        """Wait for all work of the device's primary context (`cuCtxSynchronize`).

        Memory that was dropped, and modules that wait to be unloaded, are handed back to the driver then.
        """
        self.context.synchronize()
        self.modules.drain()

    def __reduce__(self):
        return Device, (self.context.ordinal,)

    def __repr__(self):
        return f"<se_cy.Device {self.context.ordinal}: {self.name}, {self.arch}>"


def is_available():
    """True if there is a usable driver with at least one device."""
    try:
        return _count() > 0
    except CudaError:
        return False


def _device_of(ordinal=0):
    cdef Device device
    if isinstance(ordinal, bool):
        raise TypeError("a device ordinal is an int; got a bool")
    try:
        number = operator.index(ordinal)
    except TypeError:
        raise TypeError(f"a device ordinal is an int; got {ordinal!r} of type {type(ordinal).__name__}") from None
    if number in _ordinal_to_device:
        return _ordinal_to_device[number]
    count = _count()
    if not 0 <= number < count:
        raise ValueError(f"there is no device {number}: the driver sees {count}" + (
            f", 0 to {count - 1}" if count else ""))
    device = Device.__new__(Device)
    device.context = primary_context(number)
    device.name = _name_of(number)
    device.modules = module_cache(device.context, lambda loaded: module_over(loaded))
    device = _ordinal_to_device.setdefault(number, device)
    device.context.device = device
    return device


cdef PyObject *_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) except NULL:
    """`Device(ordinal)` returns the object that exists, which a constructor in Cython can't."""
    device = _device_of(*<tuple>args, **(<dict>kwargs if kwargs != NULL else {}))
    Py_INCREF(device)
    return <PyObject *>device


se_cy_set_new(<PyTypeObject *>Device, <newfunc>_new)
