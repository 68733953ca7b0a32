# SPDX-License-Identifier: Apache-2.0
"""Which driver library this process uses, and its one initialisation.

Floor 1. Initialised under the GIL and once, so that calls without the GIL never meet cuda-python's own lazy loading.
"""
import os
from typing import NamedTuple

from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUdriverProcAddress_flags, CUresult

from se_cy.driver.guards cimport begin_guarding, guard, process
from se_cy.driver.status cimport error_of

from se_cy.driver.status import CudaError, DriverNotFoundError

cdef extern from *:
    """
    #include <dlfcn.h>
    #include <link.h>

    /* The library that a load by the driver's soname finds in this process, or NULL while there is none. */
    static const char *se_cy_loaded_driver(int *is_emulated) {
        void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        struct link_map *map = NULL;
        if (library == NULL)
            return NULL;
        *is_emulated = dlsym(library, "se_cy_emulator_version") != NULL;
        if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
            map = NULL;
        dlclose(library); /* only the reference that RTLD_NOLOAD added */
        return map != NULL ? map->l_name : "";
    }
    """
    const char *se_cy_loaded_driver(int *is_emulated) nogil

cdef extern from "<dlfcn.h>" nogil:
    void *dlopen(const char *path, int flags)
    char *dlerror()
    int RTLD_NOW
    int RTLD_GLOBAL

# cuFuncGetParamInfo, from which every launch takes its parameter layout, came with CUDA 12.4.
cdef int MINIMUM_DRIVER = 12040

driver_version = 0
launch_kernel = NULL
launch_kernel_ex = NULL
get_current_context = NULL
push_context = NULL
pop_context = NULL


class DriverInfo(NamedTuple):
    """What `driver_info` found.

    Attributes
    ----------
    version : tuple of int or None
        The CUDA version that the driver implements, such as (13, 0); None without a usable driver.
    library : str or None
        The file of the loaded driver library.
    is_emulated : bool
        True where that library is se_cy's emulated driver.
    error : str or None
        Why the driver can't be used; None where it can.
    """

    version: tuple | None
    library: str | None
    is_emulated: bool
    error: str | None


cdef tuple _loaded():
    cdef int is_emulated = 0
    cdef const char *path = se_cy_loaded_driver(&is_emulated)
    if path == NULL:
        return None, False
    return os.fsdecode(<bytes>path), is_emulated != 0


cdef str version_name(int version):
    return f"{version // 1000}.{version % 1000 // 10}"


cdef int _find(const char *name, void **address) except -1:
    cdef CUresult status = cydriver.cuGetProcAddress(
        name, address, MINIMUM_DRIVER, CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL)
    if status != CUresult.CUDA_SUCCESS or address[0] == NULL:
        raise DriverNotFoundError(f"the driver {_loaded()[0]} has no {name.decode('ascii')}")
    return 0


cdef int ensure_driver() except -1:
    """Load and initialise the driver, unless that is done.

    A failure is not remembered: an answer such as CUDA_ERROR_SYSTEM_NOT_READY can heal.
    """
    global driver_version
    cdef CUresult status
    cdef int version = 0
    guard()
    if process.initialised:
        return 0
    begin_guarding()
    try:
        status = cydriver.cuDriverGetVersion(&version)
    except RuntimeError as error:
        raise DriverNotFoundError(
            f"no CUDA driver that can be used: libcuda.so.1 can't be loaded ({error})",
            hint="install the NVIDIA driver, or set SE_CY_DRIVER=emulator to run on se_cy's emulated driver",
        ) from error
    if status != CUresult.CUDA_SUCCESS:
        raise error_of(status, "cuDriverGetVersion")
    if version < MINIMUM_DRIVER:
        raise DriverNotFoundError(
            f"the driver {_loaded()[0]} implements CUDA {version_name(version)}, and se_cy needs "
            f"{version_name(MINIMUM_DRIVER)} or newer",
            hint="update the NVIDIA driver",
        )
    process.initialised = True
    try:
        status = cydriver.cuInit(0)
    except:
        process.initialised = False
        raise
    if status != CUresult.CUDA_SUCCESS:
        process.initialised = False
        error = error_of(status, "cuInit")
        error.add_note(f"the driver library is {_loaded()[0]}")
        raise error
    try:
        _find("cuLaunchKernel", <void **>&launch_kernel)
        _find("cuLaunchKernelEx", <void **>&launch_kernel_ex)
        _find("cuCtxGetCurrent", <void **>&get_current_context)
        _find("cuCtxPushCurrent", <void **>&push_context)
        _find("cuCtxPopCurrent", <void **>&pop_context)
    except:
        process.initialised = False
        raise
    driver_version = version
    return 0


def driver_info():
    """Say which driver this process uses, loading it if need be.

    Returns
    -------
    DriverInfo
        Never raises for a driver that is missing, too old or without devices: `error` says so.
    """
    cdef int version = 0
    error = None
    try:
        ensure_driver()
    except CudaError as failure:
        error = str(failure)
    library, is_emulated = _loaded()
    if library is not None and not process.forked:
        try:
            cydriver.cuDriverGetVersion(&version)
        except RuntimeError:
            pass  # the library has no entry points: `error` says so
    return DriverInfo((version // 1000, version % 1000 // 10) if version else None, library, is_emulated, error)


def use_emulator(devices=None):
    """Make the emulated driver the one that this process uses.

    Must come before anything has loaded a CUDA driver: a process has one driver, the first.

    Parameters
    ----------
    devices : int or sequence, optional
        How many devices, or the compute capability of each, as "9.0", "sm_90" or (9, 0). One device of compute
        capability 9.0 by default.

    Raises
    ------
    RuntimeError
        Another driver library is loaded already (it is named), or the emulated one is in use with other devices.
    ValueError
        `devices` can't be read.
    """
    from se_cy import emulator

    cdef bytes path
    description = emulator.parse_devices(devices)
    library, is_emulated = _loaded()
    if library is not None and not is_emulated:
        raise RuntimeError(f"a CUDA driver is already loaded in this process ({library}); call use_emulator() first")
    if library is None:
        path = os.fsencode(emulator.library_path())
        if dlopen(path, RTLD_NOW | RTLD_GLOBAL) == NULL:
            raise RuntimeError(f"the emulated driver can't be loaded: {os.fsdecode(<bytes>dlerror())}")
    if devices is not None or library is None:
        emulator.configure(description)
