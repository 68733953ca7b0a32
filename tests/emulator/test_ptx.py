# SPDX-License-Identifier: Apache-2.0
"""Builds the PTX half of the emulated driver with its C++ tests, under sanitizers, and runs them."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.cuda_header import cuda_include

HERE = Path(__file__).parent
EMULATOR = HERE.parent.parent / "se_cy" / "emulator"
SOURCES = [
    *sorted((EMULATOR / "ptx").glob("*.cpp")),
    *sorted((EMULATOR / "interpreter").glob("*.cpp")),
    *(EMULATOR / "state" / f"{name}.cpp" for name in ("memory", "history", "call_site")),
    *sorted(HERE.glob("ptx_*.cpp")),
    *sorted(HERE.glob("interpreter_*.cpp")),
]


@pytest.mark.emulator
def test_ptx_and_interpreter_tests_pass_under_sanitizers(tmp_path):
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
             "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", f"-I{EMULATOR}",
             f"-isystem{cuda_include()}"]
    objects = [tmp_path / f"{path.parent.name}_{path.stem}.o" for path in SOURCES]

    def compile_one(source, target):
        subprocess.run(["g++", *flags, "-c", str(source), "-o", str(target)], check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compile_one, SOURCES, objects))
    program = tmp_path / "ptx_main"
    subprocess.run(["g++", *flags, *map(str, objects), "-o", str(program)], check=True)
    result = subprocess.run([program, HERE.parent / "kernels"], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
