# SPDX-License-Identifier: Apache-2.0
"""What the tests of the emulated driver's control share."""

import threading
from pathlib import Path

from cuda.bindings import driver

TESTS = Path(__file__).parent.parent
PTX_PATH = TESTS / "driver_contract/kernels.ptx"
PTX = PTX_PATH.read_bytes()

# How programs of child processes begin: with the driver API and the kernels, and with a context too.
OPEN = f"""
from pathlib import Path
import ctypes, os, sys, threading, time
sys.path.insert(0, {str(TESTS)!r})
import se_cy
from se_cy import emulator
from cuda.bindings import driver
from helpers.driver_api import answer, ok
from helpers.emulated import PTX, in_thread, launch
"""
START = OPEN + """
ok(driver.cuInit(0))
context = ok(driver.cuDevicePrimaryCtxRetain(0))
ok(driver.cuCtxSetCurrent(context))
"""


def launch(function, *arguments, stream=0):
    """Launch one thread; each argument is a pair of a value and a ctypes type."""
    values = tuple(zip(*arguments)) or 0
    return driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, values, 0)


def in_thread(target, *arguments):
    """Start a thread and return it."""
    thread = threading.Thread(target=target, args=arguments)
    thread.start()
    return thread
