# SPDX-License-Identifier: Apache-2.0
from cuda.bindings import driver
from helpers.driver_api import answer, ok


def test_parameters_have_offset_and_size(kernel):
    function = kernel("take_mixed")
    assert ok(driver.cuFuncGetParamInfo(function, 0)) == (0, 24)
    assert ok(driver.cuFuncGetParamInfo(function, 1)) == (24, 8)
    assert answer(driver.cuFuncGetParamInfo(function, 2)) == "INVALID_VALUE"


def test_large_parameter_counts_like_any_other(kernel):
    function = kernel("take_large")
    assert ok(driver.cuFuncGetParamInfo(function, 0)) == (0, 8000)
    assert ok(driver.cuFuncGetParamInfo(function, 1)) == (8000, 8)


def test_kernel_without_parameters_has_none(kernel):
    assert answer(driver.cuFuncGetParamInfo(kernel("nothing"), 0)) == "INVALID_VALUE"
