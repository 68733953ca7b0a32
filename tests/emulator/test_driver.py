# SPDX-License-Identifier: Apache-2.0
"""Builds the scenarios of driver_*.cpp and runs each on the emulated driver, in a process of its own."""

import subprocess
from pathlib import Path

import pytest
from helpers.cuda_header import cuda_include

from se_cy import emulator

SOURCES = sorted(Path(__file__).parent.glob("driver_*.cpp"))


@pytest.mark.emulator
def test_driver_scenarios_pass(tmp_path):
    program = tmp_path / "driver_main"
    # The driver is loaded by the program itself, before its first call: nothing is linked.
    subprocess.run(
        ["g++", "-std=c++17", "-O1", "-fPIE", f"-isystem{cuda_include()}", "-rdynamic", "-pthread", "-Wl,-z,lazy",
         "-Wl,--unresolved-symbols=ignore-all", *map(str, SOURCES), "-ldl", "-o", str(program)],
        check=True,
    )
    result = subprocess.run([program, emulator.library_path()], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
