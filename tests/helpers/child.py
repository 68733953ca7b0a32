# SPDX-License-Identifier: Apache-2.0
"""Run a program in a process of its own."""

import os
import subprocess
import sys
import textwrap


def run_python(program, *, driver="emulator", library_path=None, timeout=120):
    """Run Python source in a child process.

    Parameters
    ----------
    program : str
        Dedented before it runs.
    driver : str or None
        SE_CY_DRIVER; None leaves it unset.
    library_path : path, optional
        A folder that the loader searches first.

    Returns
    -------
    subprocess.CompletedProcess
        With text output.
    """
    environment = {name: value for name, value in os.environ.items() if name not in ("SE_CY_DRIVER", "SE_CY_DEBUG")}
    if driver is not None:
        environment["SE_CY_DRIVER"] = driver
    if library_path is not None:
        environment["LD_LIBRARY_PATH"] = str(library_path)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        cwd=os.path.dirname(__file__),
    )


def check_python(program, **options):
    """Run Python source in a child process that must succeed and write nothing to stderr; return its output."""
    child = run_python(program, **options)
    assert child.returncode == 0 and child.stderr == "", (
        f"exit status {child.returncode}\nstdout: {child.stdout}\nstderr: {child.stderr}"
    )
    return child.stdout
