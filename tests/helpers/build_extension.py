# SPDX-License-Identifier: Apache-2.0
"""Compiles an outside Cython extension against the installed se_cy, as a user of its .pxd files would."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType


def build_extension(pyx_path: str | os.PathLike, out_dir: str | os.PathLike) -> ModuleType:
    """Compile one .pyx file as C++ and import the result.

    Parameters
    ----------
    pyx_path : path
        The module's source. It finds the .pxd files of se_cy through `sys.path`, where the package is installed.
    out_dir : path
        Where the C++ file and the shared library go; must exist.

    Returns
    -------
    module
        The imported extension, named like the file. It is not entered into `sys.modules`.

    Raises
    ------
    RuntimeError
        The Cython or the C++ compiler failed; the message holds the command and all it printed.
    """
    pyx_path, out_dir = Path(pyx_path).resolve(), Path(out_dir).resolve()
    name = pyx_path.stem
    cpp_path = out_dir / f"{name}.cpp"
    library_path = out_dir / (name + importlib.machinery.EXTENSION_SUFFIXES[0])
    compiler = os.environ.get("CXX") or "g++"
    _run([sys.executable, "-m", "cython", "-3", "--cplus", str(pyx_path), "-o", str(cpp_path)], out_dir)
    _run([*compiler.split(), "-std=c++17", "-O2", "-fPIC", "-shared", "-fno-strict-aliasing",
          f"-I{sysconfig.get_path('include')}", str(cpp_path), "-o", str(library_path)], out_dir)
    spec = importlib.util.spec_from_file_location(name, library_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(command: list[str], directory: Path) -> None:
    # Run in the checkout, `-m cython` would take se_cy's sources for the installed package.
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True,
                          env=os.environ | {"PYTHONSAFEPATH": "1"})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
