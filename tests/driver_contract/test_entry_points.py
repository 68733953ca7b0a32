# SPDX-License-Identifier: Apache-2.0
"""Driver functions by name and version. A null name is never asked for: it crashed the real driver."""

import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, ok

Result = driver.CUdriverProcAddressQueryResult
FOUND = Result.CU_GET_PROC_ADDRESS_SUCCESS
ABSENT = Result.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
TOO_OLD = Result.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT


@pytest.fixture(autouse=True)
def initialised():
    ok(driver.cuInit(0))


def find(name, version=12040):
    """The address of a function as that version has it, or None, and what is known of the name."""
    return ok(driver.cuGetProcAddress(name, version, 0))


def test_function_is_found():
    address, result = find(b"cuMemAlloc")
    assert address and result == FOUND


def test_each_version_has_its_own():
    (old, _), (new, _) = find(b"cuGetProcAddress", 11030), find(b"cuGetProcAddress", 12000)
    assert old and new and old != new
    (old, _), (new, _) = find(b"cuCtxGetDevice", 2000), find(b"cuCtxGetDevice", 12000)
    assert old and old == new


def test_unknown_name_is_null():
    assert find(b"cuNoSuchThing") == (0, ABSENT)


def test_name_with_a_version_is_unknown():
    assert find(b"cuMemAlloc_v2") == (0, ABSENT)


def test_function_of_a_later_version_is_null():
    assert find(b"cuFuncGetParamInfo", 12000) == (0, TOO_OLD)


def test_version_above_the_drivers_is_refused():
    later = ok(driver.cuDriverGetVersion()) + 10
    assert answer(driver.cuGetProcAddress(b"cuMemAlloc", later, 0)) == "INVALID_VALUE"
