# SPDX-License-Identifier: Apache-2.0
import ctypes
from pathlib import Path

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.kernels import get, launch, load, read_int

NAMES = {line.split("(")[0].removeprefix(".visible .entry ")
         for line in (Path(__file__).parent / "kernels.ptx").read_text().splitlines()
         if line.startswith(".visible .entry")}


def test_module_names_its_functions(module):
    count = ok(driver.cuModuleGetFunctionCount(module))
    functions = ok(driver.cuModuleEnumerateFunctions(count, module))
    assert {ok(driver.cuFuncGetName(function)).decode() for function in functions} == NAMES
    assert count == len(NAMES)


def test_function_is_one_and_knows_its_module(module, kernel):
    nothing = kernel("nothing")
    assert int(kernel("nothing")) == int(nothing)
    assert int(ok(driver.cuFuncGetModule(nothing))) == int(module)


def test_absent_names_are_not_found(module):
    assert answer(driver.cuModuleGetFunction(module, b"absent")) == "NOT_FOUND"
    assert answer(driver.cuModuleGetGlobal(module, b"absent")) == "NOT_FOUND"


def test_each_load_has_variables_of_its_own(module, memory):
    other = load()
    (first, size), (second, _) = (ok(driver.cuModuleGetGlobal(loaded, b"counter")) for loaded in (module, other))
    assert size == 4 and int(first) != int(second)
    ok(launch(get(module, "count"), (int(memory), ctypes.c_void_p)))
    assert (read_int(memory), read_int(first), read_int(second)) == (8, 8, 7)
    ok(driver.cuModuleUnload(other))


def test_variable_without_visible_is_found(module):
    """nvcc's PTX says .global, not .visible .global, of a __device__ variable."""
    assert ".visible .global" not in (Path(__file__).parent / "kernels.ptx").read_text()
    ok(driver.cuModuleGetGlobal(module, b"counter"))


@pytest.mark.emulator  # on a GPU some do and some do not
def test_function_addresses_come_back_after_an_unload(context):
    first = load()
    function = get(first, "nothing")
    ok(driver.cuModuleUnload(first))
    second = load()
    assert int(get(second, "nothing")) == int(function)
    ok(driver.cuModuleUnload(second))
