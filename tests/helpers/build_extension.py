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


def build_extension(pyx_path: str | os.PathLike, out_dir: str | os.PathLike, language: str = "c++") -> ModuleType:
    """Compile one .pyx file and import the result. No header but Python's and the compiler's own is found.

    Parameters
    ----------
    pyx_path : path
        The module's source. It finds the .pxd files of se_cy through `sys.path`, where the package is installed.
    out_dir : path
        Where the generated file and the shared library go; must exist.
    language : {"c++", "c"}

    Returns
    -------
    module
        The imported extension, named like the file. It is not entered into `sys.modules`.

    Raises
    ------
    RuntimeError
        Cython or the compiler failed; the message holds the command and all it printed.
    """
    pyx_path, out_dir = Path(pyx_path).resolve(), Path(out_dir).resolve()
    name = pyx_path.stem
    is_cpp = language == "c++"
    source_path = out_dir / f"{name}.{'cpp' if is_cpp else 'c'}"
    library_path = out_dir / (name + importlib.machinery.EXTENSION_SUFFIXES[0])
    compiler = (os.environ.get("CXX") or "g++") if is_cpp else (os.environ.get("CC") or "gcc")
    _run([sys.executable, "-m", "cython", "-3", *(["--cplus"] if is_cpp else []), str(pyx_path), "-o",
          str(source_path)], out_dir)
    _run([*compiler.split(), "-std=c++17" if is_cpp else "-std=c11", "-O2", "-fPIC", "-shared", "-fno-strict-aliasing",
          f"-I{sysconfig.get_path('include')}", str(source_path), "-o", str(library_path)], out_dir)
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
