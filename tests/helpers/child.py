# SPDX-License-Identifier: Apache-2.0
"""Run a program in a process of its own."""

import os
import subprocess
import sys
import textwrap


def run_python(program, *, driver="emulator", library_path=None, environment=None, timeout=120):
    """Run Python source in a child process.

    Parameters
    ----------
    program : str
        Dedented before it runs.
    driver : str or None
        SE_CY_DRIVER; None leaves it unset.
    library_path : path, optional
        A folder that the loader searches first.
    environment : dict, optional
        More variables.

    Returns
    -------
    subprocess.CompletedProcess
        With text output.
    """
    variables = {name: value for name, value in os.environ.items() if name not in ("SE_CY_DRIVER", "SE_CY_DEBUG")}
    if driver is not None:
        variables["SE_CY_DRIVER"] = driver
    if library_path is not None:
        variables["LD_LIBRARY_PATH"] = str(library_path)
    variables |= environment or {}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=variables,
        cwd=os.path.dirname(__file__),
    )


def check_python(program, **options):
    """Run Python source in a child process that must succeed and write nothing to stderr; return its output."""
    child = run_python(program, **options)
    assert child.returncode == 0 and child.stderr == "", (
        f"exit status {child.returncode}\nstdout: {child.stdout}\nstderr: {child.stderr}"
    )
    return child.stdout
