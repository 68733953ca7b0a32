# SPDX-License-Identifier: Apache-2.0
"""The command line: `se_cy info` and `se_cy demo`."""

import argparse
import importlib.metadata
import platform
import subprocess
import sys


def has_gpu():
    """True if a CUDA device answers, asked in a child process.

    A process that has loaded the real driver, even one without devices, can't use the emulated one any more.
    """
    probe = "import sys, se_cy; sys.exit(0 if se_cy.is_available() else 1)"
    # -P: in a checkout, the current folder has an uncompiled se_cy.
    return subprocess.run([sys.executable, "-P", "-c", probe], capture_output=True).returncode == 0


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def info():
    """Print the driver, the devices and the versions that matter in a report."""
    import se_cy

    driver = se_cy.driver_info()
    print(f"se_cy          {se_cy.__version__}")
    print(f"cuda-bindings  {version_of('cuda-bindings')}")
    print(f"numpy          {version_of('numpy')}")
    print(f"Python         {platform.python_version()} on {platform.platform()}")
    version = f"CUDA {driver.version[0]}.{driver.version[1]}" if driver.version else "none"
    print(f"driver         {version}{', emulated' if driver.is_emulated else ''}")
    print(f"library        {driver.library or 'none'}")
    if driver.error:
        print(f"               {driver.error}")
        return 1
    for ordinal in range(se_cy.Device.count()):
        device = se_cy.Device(ordinal)
        memory = device.memory_info()
        print(
            f"device {ordinal}       {device.name}, {device.arch}, {device.attributes.multiprocessor_count} "
            f"multiprocessors, {memory.total / 2**30:.1f} GiB, {device.uuid}"
        )
    return 0


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="se_cy", description="Load and launch CUDA kernels from Python.")
    parser.add_argument("--version", action="version", version=f"se_cy {version_of('se_cy')}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print the driver, the devices and versions")
    commands.add_parser("demo", help="run saxpy on the GPU, or on the emulated driver where there is none")
    command = parser.parse_args(arguments).command
    if command == "info":
        return info()
    from se_cy import demo

    return demo.run()
