# SPDX-License-Identifier: Apache-2.0
"""Compiles the C and Cython files of the benchmarks where they run, once per content, into bench/build/."""

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

BUILD = Path(__file__).resolve().parent / "build"


def _compiler(variable, *names):
    chosen = os.environ.get(variable)
    if chosen:
        return shlex.split(chosen)
    for name in names:
        if shutil.which(name):
            return [name]
    raise NotImplementedError(f"no compiler: none of {', '.join(names)} is on the PATH")


def _once(sources, flags, make):
    """The library that `make(path)` writes, made unless one of the same sources, flags and interpreter is there."""
    name = sources[0].stem
    digest = hashlib.sha256(repr((sys.implementation.cache_tag, sys.prefix, flags)).encode())
    for source in sources:
        digest.update(source.read_bytes())
    target = BUILD / f"{name}-{digest.hexdigest()[:16]}" / f"{name}.so"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            made = Path(folder) / target.name
            make(made)
            os.replace(made, target)  # whole or not at all: asv may start two processes
    return target


def _run(command):
    # Without the current folder on its path: in a checkout, `-m cython` would take uncompiled sources for se_cy.
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONSAFEPATH": "1"})
    if done.returncode:
        raise RuntimeError(f"{shlex.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def shared_library(source, *flags):
    """Compile one C or C++ file to a shared library.

    Parameters
    ----------
    source : pathlib.Path
    *flags : str
        For the compiler.

    Returns
    -------
    pathlib.Path
    """

    is_cpp = source.suffix == ".cpp"

    def make(target):
        compiler = _compiler("CXX", "c++", "g++") if is_cpp else _compiler("CC", "cc", "gcc")
        _run([*compiler, "-O2", "-shared", "-fPIC", *flags, source, "-o", target, "-ldl"])

    return _once([source], flags, make)


def c_extension(source, *flags):
    """Compile and import one C file that is a Python extension module.

    Parameters
    ----------
    source : pathlib.Path
    *flags : str
        For the compiler.

    Raises
    ------
    NotImplementedError
        Python's headers are not installed: asv takes that for "skip this".
    """
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").exists():
        raise NotImplementedError(f"no Python.h in {include}")
    return _imported(source.stem, shared_library(source, f"-I{include}", *flags))


def cython_extension(source):
    """Compile one .pyx file as C++ against the installed se_cy, and import it.

    Raises
    ------
    NotImplementedError
        Cython is not installed.
    """
    if importlib.util.find_spec("Cython") is None:
        raise NotImplementedError("Cython is not installed")

    def make(target):
        generated = target.with_suffix(".cpp")
        _run([sys.executable, "-m", "cython", "-3", "--cplus", source, "-o", generated])
        _run([*_compiler("CXX", "c++", "g++"), "-O2", "-std=c++17", "-shared", "-fPIC", "-fno-strict-aliasing",
              f"-I{sysconfig.get_path('include')}", generated, "-o", target])

    import se_cy.code

    package = Path(se_cy.code.__file__).parents[1]
    return _imported(source.stem, _once([source, *sorted(package.rglob("*.pxd"))], (), make))


def _imported(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
