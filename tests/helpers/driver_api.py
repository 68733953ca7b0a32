# SPDX-License-Identifier: Apache-2.0
"""The driver API as cuda.bindings offers it, with its answers made short, and tests in processes of their own."""

import functools
import inspect
import subprocess
import sys
from pathlib import Path

from cuda.bindings import driver

TESTS = Path(__file__).parent.parent


def name_of(status):
    """The facts page's name of a CUresult: "INVALID_VALUE"; "SUCCESS"."""
    return driver.CUresult(status).name.removeprefix("CUDA_").removeprefix("ERROR_")


def answer(returned):
    """The name of the status that a driver call answered."""
    return name_of(returned[0])


def ok(returned):
    """What a driver call that must succeed returned: nothing, one value, or a tuple."""
    status, *values = returned
    assert status == driver.CUresult.CUDA_SUCCESS, name_of(status)
    return values[0] if len(values) == 1 else tuple(values) or None


def in_own_process(test):
    """Run a test in a new process, without pytest: it takes no fixture but `driver_option` and prints nothing.

    For what would spoil the driver for other tests: resets, faults, forks.
    """

    @functools.wraps(test)
    def run(driver_option):
        program = (
            "import importlib.util\n"
            f"spec = importlib.util.spec_from_file_location('contract', {inspect.getfile(test)!r})\n"
            "module = importlib.util.module_from_spec(spec)\n"
            "spec.loader.exec_module(module)\n"
            f"module.{test.__name__}.body()\n"
        )
        child = subprocess.run(
            [sys.executable, "-c", _USE_EMULATOR + program if driver_option == "emulator" else program],
            capture_output=True, text=True, timeout=120, cwd=TESTS,
        )
        assert child.returncode == 0 and child.stderr == "", (
            f"exit status {child.returncode}\nstdout: {child.stdout}\nstderr: {child.stderr}"
        )

    run.body = test
    del run.__wrapped__  # pytest would read the body's signature
    return run


_USE_EMULATOR = "import se_cy\nse_cy.use_emulator(devices=['9.0', '8.0'])\n"
