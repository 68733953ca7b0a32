# SPDX-License-Identifier: Apache-2.0
import pytest
from cuda.bindings import driver
from helpers.driver_api import answer, in_own_process, ok

Attribute = driver.CUdevice_attribute


@pytest.fixture(autouse=True)
def initialised():
    ok(driver.cuInit(0))


@in_own_process
def test_only_the_version_is_known_before_initialisation():
    assert ok(driver.cuDriverGetVersion()) >= 12040
    assert answer(driver.cuDeviceGetCount()) == "NOT_INITIALIZED"
    assert answer(driver.cuDeviceGet(0)) == "NOT_INITIALIZED"
    assert answer(driver.cuCtxGetCurrent()) == "NOT_INITIALIZED"


def test_initialisation_takes_no_flags():
    assert answer(driver.cuInit(1)) == "INVALID_VALUE"
    ok(driver.cuInit(0))


def test_devices_go_by_ordinal():
    count = ok(driver.cuDeviceGetCount())
    assert count >= 1
    assert [int(ok(driver.cuDeviceGet(ordinal))) for ordinal in range(count)] == list(range(count))
    assert answer(driver.cuDeviceGet(count)) == "INVALID_DEVICE"
    assert answer(driver.cuDeviceGet(-1)) == "INVALID_DEVICE"


def test_device_has_attributes():
    assert ok(driver.cuDeviceGetAttribute(Attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)) == 1024
    assert ok(driver.cuDeviceGetAttribute(Attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)) == 32
    assert ok(driver.cuDeviceGetAttribute(Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0)) >= 7
    assert answer(driver.cuDeviceGetAttribute(Attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99)) == "INVALID_DEVICE"
    assert answer(driver.cuDeviceGetAttribute(100000, 0)) == "INVALID_VALUE"


def test_device_has_a_name_an_identity_and_memory():
    assert ok(driver.cuDeviceGetName(64, 0)).strip(b"\0")
    assert any(ok(driver.cuDeviceGetUuid(0)).bytes)
    assert ok(driver.cuDeviceTotalMem(0)) > 1 << 30


def test_errors_have_names_and_texts():
    refused = driver.CUresult.CUDA_ERROR_INVALID_PTX
    assert ok(driver.cuGetErrorName(refused)) == b"CUDA_ERROR_INVALID_PTX"
    assert ok(driver.cuGetErrorString(refused))
    assert answer(driver.cuGetErrorName(123456)) == "INVALID_VALUE"
