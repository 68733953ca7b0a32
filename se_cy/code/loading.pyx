# SPDX-License-Identifier: Apache-2.0
"""One load by the driver: the image, the JIT's options, its log, and what is said about it.

Floor 2. Runs in the thread that asks, without the GIL while the driver works.
"""
import re
import time

from cpython.bytes cimport PyBytes_AS_STRING
from cuda.bindings cimport cydriver
from cuda.bindings.cydriver cimport CUjit_option, CUmodule, CUresult
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc

from se_cy.code.interned cimport KIND_PTX, Code
from se_cy.code.jit_options cimport describe_jit_options
from se_cy.code.loaded cimport LoadedModule
from se_cy.code.target cimport ptx_version
from se_cy.driver cimport library
from se_cy.driver.context cimport PrimaryContext, enter, leave
from se_cy.driver.status cimport error_of

from se_cy.driver.status import JitError
from se_cy.log import logger

cdef enum:
    LOG_BYTES = 16384          # of the driver's error log that an exception can show
    LOG_OPTIONS = 2
    MOST_OPTIONS = 8           # with those for the log
    LONG_PTX_BYTES = 256 << 10 # compiling more than this can look like a hang: 7 MB took an H200's driver 16 s
    INFO = 20                  # logging.INFO and logging.DEBUG, without importing it
    DEBUG = 10

_LINE_NUMBER = re.compile(r"\bline (\d+)")
cdef int LINES_SHOWN = 3       # of the PTX, in an exception


cdef bint _is_long(LoadedModule module):
    return module.code.c_kind == KIND_PTX and len(module.code.data) > LONG_PTX_BYTES


cdef double load_into_driver(LoadedModule module) except -1:
    """Load the module's code into its context; how long that took, in milliseconds.

    But for long PTX, of which something is said first, this allocates nothing that a garbage collection follows on: the
    code it runs could ask for the module that is being loaded.
    """
    if _is_long(module):
        logger().info("device %d: the driver compiles %d bytes of PTX now, unless its cache has them",
                      module.context.ordinal, len(module.code.data))
    started = time.perf_counter()
    _load(module)
    return (time.perf_counter() - started) * 1e3


cdef int say_loaded(LoadedModule module, double milliseconds) except -1:
    level = INFO if _is_long(module) else DEBUG
    logger().log(level, "device %d: loaded %r in %.3f ms", module.context.ordinal, module.code, milliseconds)
    return 0


cdef int _load(LoadedModule module) except -1:
    cdef CUmodule cu_module = NULL
    cdef CUresult status
    cdef const char *image = PyBytes_AS_STRING(module.code.data)
    cdef CUjit_option[MOST_OPTIONS] options
    cdef void *values[MOST_OPTIONS]
    cdef unsigned int count = LOG_OPTIONS
    cdef char *log = <char *>malloc(LOG_BYTES)
    cdef int entered
    if log == NULL:
        raise MemoryError()
    log[0] = 0
    options[0], values[0] = CUjit_option.CU_JIT_ERROR_LOG_BUFFER, log
    options[1], values[1] = CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, <void *><uintptr_t>LOG_BYTES
    try:
        for number, value in module.jit_options:
            options[count] = <CUjit_option><int>number
            values[count] = <void *><uintptr_t>value
            count += 1
        entered = enter(module.context)
        try:
            with nogil:
                status = cydriver.cuModuleLoadDataEx(&cu_module, image, count, options, values)
            if status == CUresult.CUDA_SUCCESS:
                module.cu_module = cu_module
        finally:
            leave(entered)
        if status != CUresult.CUDA_SUCCESS:
            log[LOG_BYTES - 1] = 0
            raise _load_error(module, status, (<bytes>log).decode("utf-8", "replace").strip())
        return 0
    finally:
        free(log)


cdef object _load_error(LoadedModule module, CUresult status, str log):
    cdef Code code = module.code
    cdef PrimaryContext context = module.context
    error = error_of(status, "cuModuleLoadDataEx")
    message = f"{error.args[0]}\n  the code: {code!r}, device {context.ordinal} of compute capability " \
              f"{context.major}.{context.minor}"
    if module.jit_options:
        message += f", JIT options {describe_jit_options(module.jit_options)}"
    if status == CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION and code.c_kind == KIND_PTX:
        major, minor = ptx_version(code.data)
        version = library.driver_version
        message += (f"\n  its PTX version is {major}.{minor}, newer than this driver knows (CUDA {version // 1000}."
                    f"{version % 1000 // 10}): update the driver, or compile with an older toolkit")
    if log:
        message += f"\n  the driver's log:\n{log}"
        if code.c_kind == KIND_PTX:
            message += _lines_named(log, code.data)
    error.args = (message,)
    if isinstance(error, JitError):
        error.log = log
    return error


cdef str _lines_named(str log, bytes ptx):
    """The lines of PTX that the log complains of first."""
    cdef str text = ""
    lines = ptx.split(b"\n")
    for number in list(dict.fromkeys([int(number) for number in _LINE_NUMBER.findall(log)]))[:LINES_SHOWN]:
        if 1 <= number <= len(lines):
            text += f"\n  line {number} of the PTX: {lines[number - 1].decode('utf-8', 'replace').strip()[:200]}"
    return text
