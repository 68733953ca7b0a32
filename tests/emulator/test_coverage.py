# SPDX-License-Identifier: Apache-2.0
"""Every driver function that se_cy calls is one of the emulated driver's."""

import pathlib
import re

import pytest
from cuda.bindings import driver
from helpers.driver_api import ok

# Installed packages carry no .pyx, so the source is read where the tests are.
PACKAGE = pathlib.Path(__file__).parent.parent.parent / "se_cy"
CALL = re.compile(r"\bcydriver\.(cu[A-Z]\w*)")
LOOK_UP = re.compile(r"\b(?:cuGetProcAddress|_find)\(\s*c?b?[\"'](\w+)[\"']")
FOUND = driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SUCCESS


def functions_called(folder):
    """The driver functions that the Cython sources in a folder name."""
    texts = [path.read_text() for pattern in ("*.pyx", "*.pxd") for path in folder.rglob(pattern)]
    return {name for text in texts for pattern in (CALL, LOOK_UP) for name in pattern.findall(text)}


def absent(names):
    """The names that the driver in use does not find."""
    version = ok(driver.cuDriverGetVersion())
    return sorted(name for name in names if ok(driver.cuGetProcAddress(name.encode(), version, 0))[1] != FOUND)


@pytest.mark.emulator
def test_every_function_that_is_called_is_there():
    names = functions_called(PACKAGE)
    assert {"cuInit", "cuModuleLoadDataEx", "cuLaunchKernel", "cuLaunchKernelEx"} <= names
    assert not absent(names)


@pytest.mark.emulator
def test_calls_of_what_is_not_there_are_caught(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "call.pyx").write_text("status = cydriver.cuMadeUp(&value)\nother = cydriver.CUresult.CUDA_SUCCESS\n")
    (tmp_path / "folder/pointer.pxd").write_text("call = <void *>cydriver.cuInventedToo\n")
    (tmp_path / "look_up.pyx").write_text('cydriver.cuGetProcAddress(\n    "cuFoundByName", &function, 12040)\n')
    names = functions_called(tmp_path)
    assert names == {"cuMadeUp", "cuInventedToo", "cuFoundByName", "cuGetProcAddress"}
    assert absent(names) == ["cuFoundByName", "cuInventedToo", "cuMadeUp"]
