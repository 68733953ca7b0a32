# SPDX-License-Identifier: Apache-2.0
"""JIT options: what a caller asks of the driver's PTX compiler, in one normal form that can be compared.

Floor 2; needs no driver. Stateless.
"""
import operator

from cuda.bindings.cydriver cimport CUjit_cacheMode, CUjit_option

cdef dict _numbers = {
    "max_registers": <int>CUjit_option.CU_JIT_MAX_REGISTERS,
    "optimization_level": <int>CUjit_option.CU_JIT_OPTIMIZATION_LEVEL,
    "line_info": <int>CUjit_option.CU_JIT_GENERATE_LINE_INFO,
    "cache_mode": <int>CUjit_option.CU_JIT_CACHE_MODE,
}
cdef dict _names = {number: name for name, number in _numbers.items()}

cdef dict _cache_modes = {
    "cg": <int>CUjit_cacheMode.CU_JIT_CACHE_OPTION_CG,
    "ca": <int>CUjit_cacheMode.CU_JIT_CACHE_OPTION_CA,
}

cdef int HIGHEST_OPTIMIZATION = 4  # the driver's default
cdef int MOST_REGISTERS = 255      # of a thread, on every architecture that a supported driver knows


cdef object _integer(str name, object value, int lowest, int highest):
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"JIT option {name} is an int; got {value!r} of type {type(value).__name__}") from None
    if not lowest <= number <= highest:
        raise ValueError(f"JIT option {name} is {lowest} to {highest}; got {number}")
    return number


cdef object _value(str name, object value):
    """What the driver is told; None where that is what it does anyway."""
    if name == "max_registers":
        return _integer(name, value, 1, MOST_REGISTERS)
    if name == "optimization_level":
        level = _integer(name, value, 0, HIGHEST_OPTIMIZATION)
        return level if level != HIGHEST_OPTIMIZATION else None
    if name == "line_info":
        if not isinstance(value, bool):
            raise TypeError(f"JIT option line_info is a bool; got {value!r} of type {type(value).__name__}")
        return 1 if value else None
    if not isinstance(value, str) or value not in _cache_modes:
        raise ValueError(f"JIT option cache_mode is 'ca' or 'cg'; got {value!r}")
    return _cache_modes[value]


cdef tuple read_jit_options(object options):
    cdef list pairs = []
    if options is None:
        return ()
    if not hasattr(options, "items"):
        raise TypeError(f"options is a mapping; got {options!r} of type {type(options).__name__}")
    for name, value in options.items():
        if name not in _numbers:
            raise ValueError(f"{name!r} is no JIT option: there are {', '.join(_numbers)}")
        if value is not None:
            value = _value(name, value)
        if value is not None:
            pairs.append((_numbers[name], value))
    return tuple(sorted(pairs))


cdef str describe_jit_options(tuple pairs):
    return ", ".join([f"{_names[number]}={value}" for number, value in pairs])
