# SPDX-License-Identifier: Apache-2.0
from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok


def test_parameters_have_offset_and_size(kernel):
    function = kernel("take_mixed")
    assert ok(driver.cuFuncGetParamInfo(function, 0)) == (0, 24)
    assert ok(driver.cuFuncGetParamInfo(function, 1)) == (24, 8)
    assert answer(driver.cuFuncGetParamInfo(function, 2)) == "INVALID_VALUE"


@in_own_process
def test_version_needs_no_initialisation():
    assert ok(driver.cuDriverGetVersion()) >= 12040
    assert answer(driver.cuDeviceGetCount()) == "NOT_INITIALIZED"
